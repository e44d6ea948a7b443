// A tree over triangles as textures. Shaders read them through mesh/texture.h.
#ifndef SAPWOOD_MESH_TEXTURES_GL_H
#define SAPWOOD_MESH_TEXTURES_GL_H

#include "device/gl.h"
#include "mesh/layout.h"

enum { SAP_MESH_TEXTURE_NODES, SAP_MESH_TEXTURE_TRIANGLES, SAP_MESH_TEXTURES };

// The textures that a GL device keeps beside a tree's arrays, which lie in host memory.
typedef struct sap_gl_mesh {
    GLuint texture[SAP_MESH_TEXTURES]; // 0: not made yet
    int32_t shifts[SAP_MESH_TEXTURES]; // binary logarithms of their widths
    int64_t builds;                    // of trees in this place
} sap_gl_mesh;

// The tree's textures, which are made if necessary. NULL on failure.
const sap_gl_mesh* sap_gl_mesh_of(sap_gl_call* call, const sap_mesh_tree* tree);
// Adds them to a pass as inputs, from input[0] on, and sets the program's uniforms. Returns the number of inputs.
int sap_gl_mesh_bind(sap_gl_call* call, const sap_mesh_tree* tree, const sap_gl_mesh* textures, sap_gl_pass* pass);

#endif
