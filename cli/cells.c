// How a picture of nearest points is coloured: by point, with edges; or by distance, or by the work that it took.
#include "cells.h"

#include <math.h>

static void set(uint8_t* pixel, double red, double green, double blue) {
    const double color[3] = {red, green, blue};
    for (int c = 0; c < 3; c++) {
        double value = color[c] < 0 ? 0 : color[c] > 1 ? 1 : color[c];
        pixel[c] = (uint8_t)(value * 255 + 0.5);
    }
}

// A colour that belongs to an id, neither dark nor pale.
static void color_of(int32_t id, double color[3]) {
    uint32_t bits = (uint32_t)id * 2654435761u;
    for (int c = 0; c < 3; c++) {
        bits = (bits ^ (bits >> 15)) * 2246822519u;
        color[c] = 0.3 + 0.6 * (double)(bits >> 8) * 0x1p-24;
    }
}

// From dark blue over green to yellow.
static void set_heat(uint8_t* pixel, double heat) {
    set(pixel, heat * heat * 0.98, 0.05 + 0.85 * heat, 0.33 + 0.9 * heat * (1 - heat) - 0.2 * heat);
}

static int64_t pixel_count(const sap_cli_cells* cells) { return cells->width * cells->height; }

static bool is_edge(const sap_cli_cells* cells, int64_t i) {
    const int64_t width = cells->width, x = i % width;
    const int32_t *ids = cells->ids, id = ids[i];
    return (x + 1 < width && ids[i + 1] != id) || (i + width < pixel_count(cells) && ids[i + width] != id);
}

static double largest_distance(const sap_cli_cells* cells) {
    float largest = 0;
    for (int64_t i = 0; i < pixel_count(cells); i++)
        if (cells->ids[i] >= 0 && cells->distance2[i] > largest) largest = cells->distance2[i];
    return sqrt((double)largest);
}

void sap_cli_cells_paint(const sap_cli_cells* cells, uint8_t* pixels) {
    double largest = largest_distance(cells);
    int32_t most = 1;
    for (int64_t i = 0; cells->leaves && i < pixel_count(cells); i++)
        most = cells->leaves[i] > most ? cells->leaves[i] : most;
    for (int64_t i = 0; i < pixel_count(cells); i++) {
        uint8_t* pixel = pixels + 3 * i;
        double color[3] = {1, 1, 1}, distance = sqrt((double)cells->distance2[i]);
        if (cells->leaves) {
            set_heat(pixel, log(1.0 + cells->leaves[i]) / log(1.0 + most));
        } else if (cells->ids[i] < 0) {
            set(pixel, 1, 1, 1);
        } else if (cells->style == SAP_STYLE_DISTANCES) {
            set_heat(pixel, largest > 0 ? distance / largest : 0);
        } else if (cells->style == SAP_STYLE_EDGES) {
            double shade = is_edge(cells, i) ? 0.1 : 1;
            set(pixel, shade, shade, shade);
        } else {
            color_of(cells->ids[i], color);
            double shade = distance < 1.5 * cells->pixel_size && cells->dims == 2 ? 0.15 : is_edge(cells, i) ? 0.6 : 1;
            set(pixel, color[0] * shade, color[1] * shade, color[2] * shade);
        }
    }
}
