// What a CUDA device keeps with a tree over triangles beside its arrays.
#ifndef SAPWOOD_MESH_MESH_CUDA_H
#define SAPWOOD_MESH_MESH_CUDA_H

#include "device/cuda.h"
#include "mesh/layout.h"

// How much a build has needed beyond what meshes of its size usually do: the next one starts with it.
typedef struct sap_mesh_cuda_rooms {
    int64_t parts, tops, nodes, positions; // positions: of staged references
} sap_mesh_cuda_rooms;

// The triangles once more, in the order of the tree's array, in the form that a thread loads fastest: three times 16
// bytes. Of each corner x, y, z; then the bits of the triangle's number in the mesh, and two floats that say nothing.
typedef struct sap_mesh_cuda {
    float4* triangles; // [3 * triangles]
    size_t bytes;
    sap_mesh_cuda_rooms rooms; // that the last build needed
} sap_mesh_cuda;

static inline sap_mesh_cuda* sap_mesh_cuda_of(const sap_mesh_tree* tree) { return (sap_mesh_cuda*)tree->beside; }

// ---- mesh/mesh_cuda.cu

// Gives a tree arrays of this shape, and what stands beside them, in the memory it has if that suffices. Contents are
// undefined. On failure the tree is as it was.
void sap_mesh_cuda_reserve(sap_cuda_call* call, sap_mesh_tree* tree, const sap_mesh_tree_shape* shape);

#endif
