// What a processor does with trees over triangles.
#ifndef SAPWOOD_MESH_OPS_H
#define SAPWOOD_MESH_OPS_H

#include "device/device.h"
#include "sapwood/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_mesh_ops {
    // Builds into a tree whose device and options are set. On failure the tree is as it was.
    sap_status (*build)(sap_mesh_tree* tree, const sap_mesh* mesh);
    // (optional) Refits a tree to a mesh of as many triangles. loss: NULL, or its expected cost against that of the tree as
    // it was built. *too_far: nothing was done, for the tree would have more references than a builder allows, or a leaf
    // of too many triangles. On failure the tree is as it was.
    sap_status (*refit)(sap_mesh_tree* tree, const sap_mesh* mesh, double* loss, bool* too_far);
    // (optional) As those of sap_tree_ops; copy_out copies all arrays. NULL: the arrays are host memory.
    sap_status (*copy_in)(sap_mesh_tree* tree, const unsigned char* arrays);
    sap_status (*copy_out)(const sap_mesh_tree* tree, void* to);
    void (*free_arrays)(sap_mesh_tree* tree);
} sap_mesh_ops;

sap_status sap_mesh_build_cpu(sap_mesh_tree* tree, const sap_mesh* mesh);
sap_status sap_mesh_refit_cpu(sap_mesh_tree* tree, const sap_mesh* mesh, double* loss, bool* too_far);

sap_status sap_mesh_build_cuda(sap_mesh_tree* tree, const sap_mesh* mesh);
sap_status sap_mesh_copy_in_cuda(sap_mesh_tree* tree, const unsigned char* arrays);
sap_status sap_mesh_copy_out_cuda(const sap_mesh_tree* tree, void* to);
void sap_mesh_free_arrays_cuda(sap_mesh_tree* tree);

sap_status sap_mesh_build_gl(sap_mesh_tree* tree, const sap_mesh* mesh);
sap_status sap_mesh_copy_in_gl(sap_mesh_tree* tree, const unsigned char* arrays);
void sap_mesh_free_arrays_gl(sap_mesh_tree* tree);

#ifdef __cplusplus
}
#endif
#endif
