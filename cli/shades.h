// The colours of points: their own, or those that a field stands for.
#ifndef SAPWOOD_CLI_SHADES_H
#define SAPWOOD_CLI_SHADES_H

#include "input.h"

// How points are coloured.
typedef struct sap_cli_shades {
    const sap_field* colors[3]; // red, green, blue; NULL: by a number
    double most;                // of these
    const sap_field* classes;   // a colour for each number; NULL: by a scale
    double* values;             // of each point, to be freed; NULL: none
    double low, high;           // the ends of the scale
    const char* name;           // of what is shown
} sap_cli_shades;

// Chooses what --color names: by default the points' own colours, else their height along `up`.
sap_cli_exit sap_cli_shades_choose(sap_cli* cli, const sap_cli_points* points, const float* places, const float up[3],
                                   sap_cli_shades* shades);
// The colour of a point, 0 … 255 each.
void sap_cli_shade(const sap_cli_shades* shades, int64_t point, double color[3]);

// ---- thinned.c
// A number of a field.
double sap_cli_field_number(const sap_field* field, int64_t row);

#endif
