// A tree over triangles as textures; src/mesh/texture.h is how shaders read them.
#ifndef SAPWOOD_MESH_TEXTURES_GL_H
#define SAPWOOD_MESH_TEXTURES_GL_H

#include "device/gl.h"
#include "mesh/layout.h"

enum { SAP_MESH_TEXTURE_NODES, SAP_MESH_TEXTURE_TRIANGLES, SAP_MESH_TEXTURES };

// What a GL device keeps beside a tree's arrays, which lie in host memory.
typedef struct sap_gl_mesh {
    GLuint texture[SAP_MESH_TEXTURES]; // 0: not made yet, or of an older tree
    int32_t shifts[SAP_MESH_TEXTURES]; // logarithms of their widths
    int64_t builds;                    // of trees in this place
} sap_gl_mesh;

// The tree's textures, made if they are not there. NULL on failure.
const sap_gl_mesh* sap_gl_mesh_of(sap_gl_call* call, const sap_mesh_tree* tree);
// Names them as inputs of a pass, from input[0] on, and sets the program's uniforms. How many inputs there are.
int sap_gl_mesh_bind(sap_gl_call* call, const sap_mesh_tree* tree, const sap_gl_mesh* textures, sap_gl_pass* pass);

#endif
