// A tree over instances on a CUDA device: the nodes of instance/layout.h, and for each instance the inverse of its
// transform and its mesh as kernels read it.
#ifndef SAPWOOD_INSTANCE_INSTANCE_CUDA_CUH
#define SAPWOOD_INSTANCE_INSTANCE_CUDA_CUH

#include "instance/moved.h"
#include "ray/walk_cuda.cuh"

typedef struct sap_placed_on_cuda {
    double inverse[12]; // from the world to the mesh
    int64_t before;     // triangles of the instances before it
    sap_mesh_on_cuda mesh;
} sap_placed_on_cuda;

static inline const sap_placed_on_cuda* sap_instances_on_cuda(const sap_instance_tree* t) {
    return (const sap_placed_on_cuda*)(t->arrays + t->placed_at);
}

#endif
