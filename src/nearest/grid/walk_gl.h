// A rectangle of walks through a tree, one for each texel, that go on from pass to pass until all have ended.
#ifndef SAPWOOD_NEAREST_GRID_WALK_GL_H
#define SAPWOOD_NEAREST_GRID_WALK_GL_H

#include "sapwood/gl.h"
#include "tree/forms/textures_gl.h"

enum {
    SAP_GL_MOST_K = 8,
    SAP_GL_FRAME_LISTS = 4,  // textures that hold two neighbours each
    SAP_GL_TILE_TEXTURES = 4 // ids and squared distances of a tile's two rows
};

struct sap_gl_frame {
    const sap_tree* tree; // first: nearest/grid/frame.c finds the device by it
    int32_t width, height;
    int32_t k, capacity; // neighbours asked for, and kept; 0: points are counted
    float limit2;
    bool stack;                         // walks keep one; else a bit a level
    GLuint columns, rows;               // of a grid
    GLuint hints[2];                    // of large blocks of it, and of small ones
    GLuint tiles[SAP_GL_TILE_TEXTURES]; // of a grid, when walks are of tiles
    GLuint queries;                     // of rows of queries
    GLuint unfinished;                  // for each block of pixels, whether a walk has not ended
    float block_radius[2];              // no pixel of a block is farther from its middle, large and small
    float ways[4];                      // from pixel to pixel, as nearest.glsl says
    bool has_queries;                   // the grid or the queries are in the textures
    bool tiled;                         // the walks began as tiles
    bool begun;
    int current;                             // which of the two states was written last
    GLuint state[2][1 + SAP_GL_FRAME_LISTS]; // places, and lists when more than one neighbour is asked for
};

// Makes textures for width * height walks, still without queries. Call sap_gl_walk_free also after a failure.
void sap_gl_walk_create(sap_gl_call* call, const sap_tree* tree, const int32_t size[2], int32_t k, float limit2,
                        sap_walk walk, sap_gl_frame* frame);
// Whether shaders have a walk: if not, a sentence says so.
sap_status sap_gl_walk_check(const sap_tree* tree, sap_walk walk);
// Gives the walks a part of a grid that begins at column and row `first`. All walks restart.
void sap_gl_walk_begin_grid(sap_gl_call* call, sap_gl_frame* frame, const sap_grid* grid, const int32_t first[2]);
// Gives the walks width * height queries of four floats each. All walks restart.
void sap_gl_walk_begin_queries(sap_gl_call* call, sap_gl_frame* frame, const float* queries);
// How many leaves a walk can scan in one pass, since a driver may end long loops.
int32_t sap_gl_walk_most_leaves(const sap_gl_call* call, const sap_gl_frame* frame);
// Draws a pass in which each walk scans up to `leaves` more leaves, and no more than a pass can.
void sap_gl_walk_pass(sap_gl_call* call, sap_gl_frame* frame, int32_t leaves);
// Whether any walk has not ended. Waits for the passes so far.
bool sap_gl_walk_any_left(sap_gl_call* call, sap_gl_frame* frame);
// The answers of a rectangle of walks that have ended, ids of each, or counts, and behind them all squared distances, if
// they are wanted; only where sap_gl_has_buffers. NULL on failure, else to be read until sap_gl_buffer_landed
// (nearest/grid/answers_gl.c).
const void* sap_gl_walk_land(sap_gl_call* call, const sap_gl_frame* frame, const int32_t rectangle[4], bool distances);
void sap_gl_walk_free(sap_gl_call* call, sap_gl_frame* frame);

#endif
