// What the verbs of clouds share: points that are read, and written again with columns beside them.
#ifndef SAPWOOD_CLI_CLOUD_H
#define SAPWOOD_CLI_CLOUD_H

#include "input.h"
#include "records.h"

enum { SAP_CLI_MOST_COLUMNS = 16 }; // that a verb adds

// A column: `width` numbers a row make that many of them, with names of their own.
typedef struct sap_cli_column {
    const char* names[3];
    const char* type; // as in sap_cli_field
    const void* values;
    int width;
} sap_cli_column;

// All zero can be closed.
typedef struct sap_cli_cloud {
    sap_cli_reference reference;
    double work_seconds;
} sap_cli_cloud;

// Checks, before work begins, that outputs can be written: points with columns to the first.
sap_cli_exit sap_cli_cloud_check(sap_cli* cli, const sap_cli_output* outputs, int count);
// The same where POINTS may be a saved tree.
sap_cli_exit sap_cli_cloud_check_outputs(sap_cli* cli, const sap_cli_output* outputs, int count);
// Reads POINTS and builds a tree over them.
sap_cli_exit sap_cli_cloud_open(sap_cli* cli, sap_cli_cloud* cloud);
void sap_cli_cloud_close(sap_cli_cloud* cloud);

// Writes points and columns to -o, or as text to standard output: the rows whose `keep` is not 0 (NULL: all).
sap_cli_exit sap_cli_cloud_write(sap_cli* cli, const sap_cli_cloud* cloud, const sap_cli_column* columns, int count,
                                 const uint8_t* keep);
// Begins and ends the JSON report of a verb; what the verb has to say goes between.
void sap_cli_cloud_report_begin(sap_cli* cli, const sap_cli_cloud* cloud, sap_json* json);
void sap_cli_cloud_report_end(sap_cli* cli, const sap_cli_cloud* cloud, sap_json* json);

#endif
