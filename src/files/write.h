// What writers of tables and of points share.
#ifndef SAPWOOD_FILES_WRITE_H
#define SAPWOOD_FILES_WRITE_H

#include "files/source.h"
#include "saved/output.h"

// Bytes of a number.
size_t sap_number_bytes(sap_number number);
// Refuses a table that is none. Errors: SAP_ERROR_ARGUMENT.
sap_status sap_table_check(sap_device* device, const sap_table* table);
// Makes the header of an NPY with so many rows of a table's kind; how many bytes it has.
enum { SAP_NPY_HEADER_BYTES = 192 };
size_t sap_npy_header_make(const sap_table* table, int64_t rows, char header[SAP_NPY_HEADER_BYTES]);

// Puts the name of a column, in quotes where it needs them.
void sap_csv_name(sap_output* output, const char* name);
// What stands between the columns of a file with this path: a tab in a .tsv.
char sap_csv_separator(const char* path);
// The format to write a file in: *format, or what the end of the path says. Fails if it holds no points, or no tables.
sap_status sap_write_format(sap_device* device, const char* path, bool of_points, sap_format* format);

#endif
