// Columns of binary numbers of any plain type and byte order, as they lie in a file.
#ifndef SAPWOOD_FILES_CELLS_H
#define SAPWOOD_FILES_CELLS_H

#include "files/source.h"

// The type of a number: kind 'i', 'u' or 'f' of 1, 2, 4 or 8 bytes (no 'f' of 1).
typedef struct sap_cell {
    char kind;
    uint8_t bytes;
    bool big_endian;
} sap_cell;

// A column: number i begins at first + i*stride.
typedef struct sap_column {
    const unsigned char* first;
    size_t stride;
    sap_cell cell;
} sap_column;

double sap_cell_double(const unsigned char* at, sap_cell cell);

// Whether floats hold every number of the column: its type says so, or all of its integers are floats.
bool sap_column_fits_float(const sap_column* column, int64_t count);

// Refuses a number of the columns that is beyond the range of a float, if floats are wanted.
sap_status sap_columns_check(const sap_source* source, const sap_column* columns, int32_t dims, int64_t count);

// Stores `dims` columns of `count` numbers as the points of a sink.
void sap_columns_store(const sap_column* columns, int32_t dims, int64_t count, const sap_sink* sink);

#endif
