// Points drawn as discs that face the camera: the nearest one in each pixel is seen, and steps in depth darken what lies
// behind them. Twice as many rows and columns are drawn as the picture has.
#ifndef SAPWOOD_CLI_DISCS_H
#define SAPWOOD_CLI_DISCS_H

#include "output.h"

#include "sapwood/render.h"

typedef struct sap_cli_discs {
    const float* places; // [3*count]
    int64_t count;
    double radius, extent; // of a disc; of all points together
    int32_t width, height; // of the picture
    // All of the picture's quarter pixels. To be freed.
    float* depths;
    int32_t* ids; // -1: none
} sap_cli_discs;

// Draws depths and ids.
sap_cli_exit sap_cli_discs_draw(sap_cli* cli, const sap_camera* camera, sap_cli_discs* discs);
void sap_cli_discs_free(sap_cli_discs* discs);
// How bright a quarter pixel is that shows something: above 0, at most 1.
double sap_cli_discs_light(const sap_cli_discs* discs, int64_t x, int64_t y);

#endif
