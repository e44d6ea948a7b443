// PCD: what its readers of coordinates and of other fields share.
#ifndef SAPWOOD_FILES_PCD_H
#define SAPWOOD_FILES_PCD_H

#include "files/cells.h"

typedef enum sap_pcd_data { SAP_PCD_NONE, SAP_PCD_ASCII, SAP_PCD_BINARY, SAP_PCD_COMPRESSED } sap_pcd_data;

typedef struct sap_pcd_header {
    sap_span fields, sizes, types, counts; // the values of these lines
    int64_t fields_line;
    int64_t width, height, points; // -1: not given
    sap_pcd_data data;
    sap_lines lines; // behind the header: where the data begin
    // What follows from the above.
    int32_t dims;
    int64_t numbers; // in a row
    size_t row_bytes;
    int64_t place[SAP_MAX_DIMS]; // which number of a row is this coordinate; -1: none
    size_t offset[SAP_MAX_DIMS]; // its byte in a row
    int64_t count[SAP_MAX_DIMS]; // how many numbers its field has
    sap_cell cell[SAP_MAX_DIMS];
} sap_pcd_header;

// A field as the header has it.
typedef struct sap_pcd_field {
    sap_span name;
    int64_t number; // from 1
    int64_t count;
    sap_cell cell;
} sap_pcd_field;

// Takes the next field off the lines of the header, whose rests the caller keeps; false if there is none, or if it is
// not as it must be, `bad` says how.
bool sap_pcd_field_next(sap_pcd_header* rest, sap_pcd_field* field, const char** bad);
// Which coordinate a field is, or -1.
int32_t sap_pcd_axis(const sap_source* source, const sap_pcd_field* field);

// Gives points that were read their other fields; `bytes` is the first row, or, where the data were compressed, the
// first field of all points. Of text nothing: the lines are read.
sap_status sap_pcd_fields(const sap_pcd_header* h, const unsigned char* bytes, sap_point_set* set);

#endif
