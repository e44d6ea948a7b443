// A balanced tree of 2- or 3-D floats as textures; src/tree/texture.h is how shaders read them.
#ifndef SAPWOOD_TREE_TEXTURES_GL_H
#define SAPWOOD_TREE_TEXTURES_GL_H

#include "device/gl.h"
#include "tree/layout.h"

// What a GL device keeps beside a tree's arrays, which lie in host memory.
typedef struct sap_gl_tree {
    GLuint nodes, smallest, boxes, blocks; // 0: not made yet
    int32_t quads;                  // texels of one coordinate of a leaf
    int32_t shifts[4];              // logarithms of the textures' widths
} sap_gl_tree;

// The tree's textures, made if they are not there. NULL on failure.
const sap_gl_tree* sap_gl_tree_of(sap_gl_call* call, const sap_tree* tree);
// Names them as inputs of a pass, from input[0] on, and sets the program's uniforms. How many inputs there are.
int sap_gl_tree_bind(sap_gl_call* call, const sap_tree* tree, const sap_gl_tree* textures, sap_gl_pass* pass);

#endif
