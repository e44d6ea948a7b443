// The header of an NPY file, for points and volumes.
#ifndef SAPWOOD_FILES_NPY_H
#define SAPWOOD_FILES_NPY_H

#include "files/cells.h"

enum { SAP_NPY_AXES = 3 };

typedef struct sap_npy_header {
    sap_cell cell;
    bool fortran_order;
    int axes, most_axes;         // that there are; that there may be
    int64_t sides[SAP_NPY_AXES]; // 1 of axes that there are not
    size_t data;                 // byte at which the numbers begin
} sap_npy_header;

// Reads a header of up to so many axes, 2 or 3. Whether the file holds the numbers is not looked at.
sap_status sap_npy_header_read(const sap_source* source, int most_axes, sap_npy_header* header);

#endif
