// A second form of a tree over triangles on a CUDA device, in which rays traverse it fastest. It is kept beside the
// tree's own arrays, which serve everything else.
//
// A side is a word for the child on one side of a plane: an inner node's number among the inner nodes, in preorder; or
// SAP_MESH_SIDE_LEAF and the place of a leaf's first triangle; or SAP_MESH_SIDE_EMPTY. An inner node is 16 bytes, one
// load: the bits of its plane, its left side, its right side, its axis. A walk loads no leaf nodes and skips empty
// leaves.
//
// The triangles of a leaf are contiguous: a triangle in several leaves is stored in each. A triangle is three times 16
// bytes: the x of its corners, their y, their z, each with the triangle's number in the mesh; SAP_MESH_LAST is set in
// the number of a leaf's last triangle. A ray reads the three in the order of its own axes.
#ifndef SAPWOOD_MESH_MESH_CUDA_H
#define SAPWOOD_MESH_MESH_CUDA_H

#include "device/cuda.h"
#include "mesh/layout.h"

#define SAP_MESH_SIDE_LEAF  0x80000000u
#define SAP_MESH_SIDE_EMPTY 0xffffffffu
#define SAP_MESH_LAST       0x80000000u

// The memory that the last build needed, in list entries: the next build starts with as much.
typedef struct sap_mesh_cuda_capacities {
    int64_t parts, tops, nodes, positions; // positions: of staged references
} sap_mesh_cuda_capacities;

typedef struct sap_mesh_cuda {
    uint4* nodes;      // [inner nodes]
    float4* triangles; // [3 * references]
    uint32_t root;     // the side that is the whole tree
    size_t node_bytes, triangle_bytes;
    sap_mesh_cuda_capacities capacities;
} sap_mesh_cuda;

static inline sap_mesh_cuda* sap_mesh_cuda_of(const sap_mesh_tree* tree) { return (sap_mesh_cuda*)tree->beside; }

// ---- mesh/mesh_cuda.cu

// Gives a tree arrays of this shape and the form above, in its present memory if that suffices. positions: places for
// triangles, at least as many as there are references. Contents are undefined. On failure the tree is unchanged.
void sap_mesh_cuda_reserve(sap_cuda_call* call, sap_mesh_tree* tree, const sap_mesh_tree_shape* shape,
                           int64_t positions);

#endif
