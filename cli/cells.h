// How a picture of nearest points is coloured.
#ifndef SAPWOOD_CLI_CELLS_H
#define SAPWOOD_CLI_CELLS_H

#include "options.h"

// What was found from each pixel, rows from top to bottom.
typedef struct sap_cli_cells {
    int64_t width, height;
    int32_t dims;      // of the points
    double pixel_size; // the longer side of a pixel, in units of the points
    const int32_t* ids;
    const float* distance2;
    const int32_t* leaves; // looked at: SAP_STYLE_DEPTH; else NULL
    sap_cli_style style;
} sap_cli_cells;

// Paints pixels[3*width*height], sRGB.
void sap_cli_cells_paint(const sap_cli_cells* cells, uint8_t* pixels);

#endif
