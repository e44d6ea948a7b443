// The header of an NPY file, for points and volumes.
#ifndef SAPWOOD_FILES_NPY_H
#define SAPWOOD_FILES_NPY_H

#include "files/fields.h"

enum { SAP_NPY_AXES = 3 };

// The fields of a structured array that are coordinates of points: x, y and z, or those chosen.
typedef struct sap_npy_fields {
    int64_t count;    // of all fields; 0: a plain array
    size_t row_bytes; // all fields of a row together
    bool found[SAP_MAX_DIMS];
    size_t offset[SAP_MAX_DIMS];
    sap_cell cell[SAP_MAX_DIMS];
    char names[96];           // of the first fields, with ", " between
    sap_field_drafts* others; // what is no coordinate, with its byte in a row as the column's stride; NULL: not wanted
    bool left_out;            // others are no numbers
} sap_npy_fields;

typedef struct sap_npy_header {
    sap_cell cell;
    sap_npy_fields fields;
    bool fortran_order;
    int axes, most_axes;         // that there are; that there may be
    int64_t sides[SAP_NPY_AXES]; // 1 of axes that there are not
    size_t data;                 // byte at which the numbers begin
} sap_npy_header;

// Reads a header of up to so many axes: 2 of points, which may also be structured, or 3. Whether the file holds the numbers is not looked at.
sap_status sap_npy_header_read(const sap_source* source, int most_axes, sap_npy_header* header);

#endif
