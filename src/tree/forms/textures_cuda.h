// Copies trees that were built on a GPU into buffers of OpenGL on the same GPU, without going through host memory.
#ifndef SAPWOOD_TREE_FORMS_TEXTURES_CUDA_H
#define SAPWOOD_TREE_FORMS_TEXTURES_CUDA_H

#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAP_TEXTURE_NODES, SAP_TEXTURE_SMALLEST, SAP_TEXTURE_BOXES, SAP_TEXTURE_BLOCKS, SAP_TEXTURES };

// Fills buffers with what tree/forms/textures_gl.c puts into its textures of a balanced tree of 2- or 3-D floats whose
// stride is a multiple of four. `resources` begins as NULLs and keeps what CUDA calls the buffers by. The context of
// the buffers must be current. SAP_ERROR_UNSUPPORTED, with nothing in the log: CUDA and OpenGL do not share memory
// here.
sap_status sap_tree_to_buffers_cuda(const sap_tree* tree, const unsigned int buffers[SAP_TEXTURES],
                                    void* resources[SAP_TEXTURES]);
// To be called before the buffers are deleted.
void sap_buffers_forget_cuda(void* resources[SAP_TEXTURES]);

#ifdef __cplusplus
}
#endif
#endif
