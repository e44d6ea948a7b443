// Searches over trees in bytes (sapwood/gl.h), drawn a tile at a time.
#ifndef SAPWOOD_NEAREST_GRID_RGBA8_GL_H
#define SAPWOOD_NEAREST_GRID_RGBA8_GL_H

#include "device/gl.h"

enum { SAP_GL_RGBA8_TILE = 512 }; // pixels on a side, at most: GLSL ES 1.00 may know places no better

// A tree in textures, and a tile of answers.
typedef struct sap_gl_rgba8 {
    const sap_rgba8_tree* form;
    const sap_rgba8_search* search;
    GLuint nodes, ids, tile;
} sap_gl_rgba8;

void sap_gl_rgba8_create(sap_gl_call* call, const sap_rgba8_tree* form, const sap_rgba8_search* search,
                         sap_gl_rgba8* made);
// Draws into the tile what a rectangle of the grid (x, y, width, height), no larger than it, has as ids or distances.
void sap_gl_rgba8_draw(sap_gl_call* call, const sap_gl_rgba8* with, const sap_grid* grid, const int32_t rectangle[4],
                       bool distances);
void sap_gl_rgba8_free(sap_gl_call* call, sap_gl_rgba8* made);

#endif
