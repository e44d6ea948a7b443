// Trees over triangles in host memory, also of devices whose memory the host cannot read.
#ifndef SAPWOOD_MESH_HOST_VIEW_H
#define SAPWOOD_MESH_HOST_VIEW_H

#include "mesh/layout.h"

// A tree whose arrays lie in host memory: they are the tree's own, or a copy.
typedef struct sap_mesh_view {
    sap_mesh_tree tree;
    sap_scratch copy;
} sap_mesh_view;

static inline sap_status sap_mesh_view_open(const sap_mesh_tree* tree, sap_mesh_view* view) {
    sap_device* device = tree->device;
    view->tree = *tree;
    view->copy.memory = NULL;
    view->copy.bytes = 0;
    if (!device->rooms.mesh->copy_out) return SAP_OK;
    if (!sap_scratch_take(device, tree->shape.bytes + SAP_ALIGNMENT, &view->copy))
        return sap_fail(device, SAP_ERROR_MEMORY, "no host memory for a copy of a tree of %zu bytes",
                        tree->shape.bytes);
    view->tree.arrays = view->copy.memory;
    for (size_t i = 0; i < SAP_ALIGNMENT; i++) view->tree.arrays[tree->shape.bytes + i] = 0;
    sap_status status = device->rooms.mesh->copy_out(tree, view->tree.arrays);
    if (status != SAP_OK) sap_scratch_give(device, &view->copy);
    return status;
}

static inline void sap_mesh_view_close(sap_mesh_view* view) { sap_scratch_give(view->tree.device, &view->copy); }

#endif
