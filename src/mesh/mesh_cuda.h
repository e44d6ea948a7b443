// What a CUDA device keeps with a tree over triangles beside its arrays.
#ifndef SAPWOOD_MESH_MESH_CUDA_H
#define SAPWOOD_MESH_MESH_CUDA_H

#include "device/cuda.h"
#include "mesh/layout.h"

// The triangles once more, in the order of the tree's array, in the form that a thread loads fastest: three times 16
// bytes. Of each corner x, y, z; then the bits of the triangle's number in the mesh, and two floats that say nothing.
typedef struct sap_mesh_cuda {
    float4* triangles; // [3 * triangles]
    size_t bytes;
} sap_mesh_cuda;

static inline const sap_mesh_cuda* sap_mesh_cuda_of(const sap_mesh_tree* tree) {
    return (const sap_mesh_cuda*)tree->beside;
}

#endif
