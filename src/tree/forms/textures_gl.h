// A tree of 2- or 3-D floats as textures; src/tree/forms/texture.h is how shaders read them.
#ifndef SAPWOOD_TREE_FORMS_TEXTURES_GL_H
#define SAPWOOD_TREE_FORMS_TEXTURES_GL_H

#include "device/gl.h"
#include "tree/forms/textures_cuda.h"
#include "tree/layout.h"

// What a GL device keeps beside a tree's arrays, which lie in host memory.
typedef struct sap_gl_tree {
    GLuint texture[SAP_TEXTURES]; // 0: not made yet
    int64_t texels[SAP_TEXTURES];
    int32_t shifts[SAP_TEXTURES]; // logarithms of the textures' widths
    int32_t quads;                // texels of one coordinate of a leaf, unless its points are all equal
    sap_tree_kind kind;           // of the tree that the textures were made for
    bool stale;                   // the textures are those of an older tree
    bool on_gpu_only;             // the arrays are those of an older tree: the textures came from CUDA
    GLuint buffer[SAP_TEXTURES];  // that CUDA fills
    int64_t buffer_bytes[SAP_TEXTURES];
    void* resource[SAP_TEXTURES]; // what CUDA calls them by
} sap_gl_tree;

// The tree's textures, made if they are not there. NULL on failure.
const sap_gl_tree* sap_gl_tree_of(sap_gl_call* call, const sap_tree* tree);
// Names them as inputs of a pass, from input[0] on, and sets the program's uniforms. How many inputs there are.
int sap_gl_tree_bind(sap_gl_call* call, const sap_tree* tree, const sap_gl_tree* textures, sap_gl_pass* pass);

#endif
