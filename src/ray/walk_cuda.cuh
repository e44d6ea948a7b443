// The shared texts of rays as CUDA compiles them, and a tree as the kernels read it.
//
// Kernels that call shared texts take a sap_mesh_tree by value: `arrays` points to GPU memory, `device` and `beside`
// must not be followed there.
#ifndef SAPWOOD_RAY_WALK_CUDA_CUH
#define SAPWOOD_RAY_WALK_CUDA_CUH

#include "mesh/access.h"
#include "mesh/mesh_cuda.h"
#include "ray/ray.h"

#define SAP_MESH_STACK SAP_MESH_DEPTH_MAX
#include "ray/intersect.h"

#include "ray/walk.h"

// A tree in the form of mesh/mesh_cuda.h, as kernels take it.
typedef struct sap_mesh_on_cuda {
    const uint4* nodes;
    const float4* triangles;
    uint32_t root;
    sap_vector lower, upper;
    float magnitude;
} sap_mesh_on_cuda;

static inline sap_mesh_on_cuda sap_mesh_on_cuda_of(const sap_mesh_tree* tree) {
    const sap_mesh_cuda* beside = sap_mesh_cuda_of(tree);
    sap_mesh_on_cuda mesh;
    mesh.nodes = beside->nodes;
    mesh.triangles = beside->triangles;
    mesh.root = beside->root;
    mesh.lower = sap_mesh_lower(tree);
    mesh.upper = sap_mesh_upper(tree);
    mesh.magnitude = sap_mesh_magnitude(tree);
    return mesh;
}

#endif
