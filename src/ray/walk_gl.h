// A rectangle of rays through a tree over triangles, one ray per texel. Their walks continue from pass to pass until
// all have ended.
#ifndef SAPWOOD_RAY_WALK_GL_H
#define SAPWOOD_RAY_WALK_GL_H

#include "mesh/textures_gl.h"

enum { SAP_GL_WALK_PLACE, SAP_GL_WALK_FOUND, SAP_GL_WALK_TEXTURES };
#define SAP_GL_WALK_ENDED 0xffffffffu // in the place of a node, the first word of a place

typedef struct sap_gl_walk {
    const sap_mesh_tree* tree;
    int32_t width, height;                 // of the rectangle: at most that of the textures
    bool listed;                           // rays take two texels each, in one texture of twice the width
    bool any;                              // any hit will do
    bool begun;                            // else the next pass begins the walks
    int now;                               // which of the two states was written last
    GLuint state[2][SAP_GL_WALK_TEXTURES]; // RGBA32UI; ray.glsl says what is in them
    GLuint outcome;                        // what sap_gl_walk_answer reads
} sap_gl_walk;

// sap_gl_walk_drop must be called even if this fails.
void sap_gl_walk_make(sap_gl_call* call, const sap_mesh_tree* tree, const int32_t size[2], bool listed,
                      sap_gl_walk* walk);
void sap_gl_walk_drop(sap_gl_call* call, sap_gl_walk* walk);
// Every walk visits about `rounds` more nodes and triangles, or as many as a pass allows. RGBA32UI textures: listed,
// rays[0] with sap_ray as they lie in memory; else origins and directions.
void sap_gl_walk_advance(sap_gl_call* call, sap_gl_walk* walk, const GLuint rays[2], int32_t rounds);
// The outcome of the walks so far. It is requested and read in two steps, so that a program can do other things until
// the GPU has finished.
typedef struct sap_gl_walk_outcome {
    bool left;    // some walks have not ended
    bool hits;    // some rays have hit something
    int64_t rays; // that have visited a node: they pass through the tree's box
} sap_gl_walk_outcome;

void sap_gl_walk_ask(sap_gl_call* call, sap_gl_walk* walk);
sap_gl_walk_outcome sap_gl_walk_answer(sap_gl_call* call, const sap_gl_walk* walk);

#endif
