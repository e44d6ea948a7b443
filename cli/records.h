// Rows of named fields, such as the hits of rays: a structured array in NPY (of one field a plain one), vertices
// in PLY, columns elsewhere.
#ifndef SAPWOOD_CLI_RECORDS_H
#define SAPWOOD_CLI_RECORDS_H

#include "output.h"

typedef struct sap_cli_field {
    const char *name, *type; // as NumPy writes it: f4, f8, i4, i8 or u1
} sap_cli_field;

// The fields of a row follow one another without a gap.
typedef struct sap_cli_records {
    const void* rows;
    int64_t count;
    const sap_cli_field* fields;
    int field_count;
} sap_cli_records;

// Checks, before work begins, that records can be written in the format of a path (NULL: not given). `what`: their
// name, for the sentence.
sap_cli_exit sap_cli_check_records(sap_cli* cli, const char* path, const char* what);
// Writes them to a path (NULL: text on stdout, unless a JSON report goes there).
sap_cli_exit sap_cli_write_records(sap_cli* cli, const char* path, const sap_cli_records* records);

#endif
