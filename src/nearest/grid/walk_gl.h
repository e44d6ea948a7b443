// A rectangle of walks through a tree, a walk a texel, that go on from pass to pass until all have ended.
#ifndef SAPWOOD_NEAREST_GRID_WALK_GL_H
#define SAPWOOD_NEAREST_GRID_WALK_GL_H

#include "sapwood/gl.h"
#include "tree/forms/textures_gl.h"

enum {
    SAP_GL_MOST_K = 8,
    SAP_GL_FRAME_LISTS = 4 // textures that hold two neighbours each
};

struct sap_gl_frame {
    const sap_tree* tree; // first: nearest/grid/frame.c finds the device by it
    int32_t width, height;
    int32_t k, capacity; // neighbours asked for, and kept; 0: points are counted
    float limit2;
    GLuint columns, rows, hints; // of a grid
    GLuint queries;              // else
    GLuint left;                 // for blocks of pixels, whether a walk has not ended
    float reach;                 // of a block of pixels
    bool placed;                 // the grid or the queries are in the textures
    bool begun;
    int now;                                 // which of the two states was written last
    GLuint state[2][1 + SAP_GL_FRAME_LISTS]; // places, and lists when more than one neighbour is asked for
};

// Textures for width * height walks; queries are still to be given. On failure sap_gl_frame_drop is still due.
void sap_gl_frame_make(sap_gl_call* call, const sap_tree* tree, const int32_t size[2], int32_t k, float limit2,
                       sap_gl_frame* frame);
// The walks of a part of a grid that begins at column and row `first`; all begin anew.
void sap_gl_frame_look(sap_gl_call* call, sap_gl_frame* frame, const sap_grid* grid, const int32_t first[2]);
// Queries that stand one behind the other, four floats each, width * height of them; all begin anew.
void sap_gl_frame_ask(sap_gl_call* call, sap_gl_frame* frame, const float* queries);
// How many leaves a pass can look at, since the driver may end loops.
int32_t sap_gl_frame_most(const sap_gl_call* call, const sap_gl_frame* frame);
// Lets every walk look at so many more leaves, or at as many as a pass can.
void sap_gl_frame_go(sap_gl_call* call, sap_gl_frame* frame, int32_t leaves);
// Whether any walk has not ended, which waits for the passes so far.
bool sap_gl_frame_left(sap_gl_call* call, sap_gl_frame* frame);
void sap_gl_frame_drop(sap_gl_call* call, sap_gl_frame* frame);

#endif
