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
// Points that are not left out.
static inline int64_t sap_cli_cloud_counted(const sap_cli_cloud* cloud) {
    return cloud->reference.info.source_count - cloud->reference.info.not_finite;
}

// Which rows of points are written.
typedef struct sap_cli_rows {
    const int32_t* ids; // NULL: all, in their order
    int64_t count;
} sap_cli_rows;

// Writes points, their fields and columns to -o, or as text to standard output. Columns have a row for each point, and
// take the place of fields of the same name.
sap_cli_exit sap_cli_cloud_write(sap_cli* cli, const sap_cli_points* points, const sap_cli_column* columns, int count,
                                 sap_cli_rows rows);
// The same to a path (NULL: text on standard output).
sap_cli_exit sap_cli_cloud_write_to(sap_cli* cli, const char* path, const sap_cli_points* points,
                                    const sap_cli_column* columns, int count, sap_cli_rows rows);
// All rows.
static inline sap_cli_rows sap_cli_all_rows(const sap_cli_points* points) {
    return (sap_cli_rows){NULL, points->count};
}
size_t sap_cli_field_bytes(sap_field_type type);
// ---- thinned.c
// The fields of the cells of a grid, in memory that is to be freed: those of the point that stands for each, or, if that is
// a mean, the means of what is real, and of colours and intensities; else those of the first point. NULL after saying why.
sap_field* sap_cli_thinned_fields(sap_cli* cli, const sap_cli_points* points, const sap_thinned* thinned, bool means);

// ---- cloud.c
// Writes a set to a path that an option names (NULL: text on standard output).
sap_cli_exit sap_cli_set_write(sap_cli* cli, const char* path, const sap_point_set* set);
// Begins and ends the JSON report of a verb; what the verb has to say goes between.
void sap_cli_cloud_report_begin(sap_cli* cli, const sap_cli_cloud* cloud, sap_json* json);
void sap_cli_cloud_report_end(sap_cli* cli, const sap_cli_cloud* cloud, sap_json* json);

#endif
