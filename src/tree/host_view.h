// Trees whose arrays are in a device's memory, made readable for host code.
#ifndef SAPWOOD_TREE_HOST_VIEW_H
#define SAPWOOD_TREE_HOST_VIEW_H

#include "tree/layout.h"

// The same tree with arrays in host memory: its own, or a copy.
typedef struct sap_host_view {
    sap_tree tree;
    sap_scratch copy;
} sap_host_view;

static inline sap_status sap_host_view_open(const sap_tree* tree, sap_host_view* view) {
    view->tree = *tree;
    view->copy.memory = NULL;
    view->copy.bytes = 0;
    sap_device* device = tree->device;
    if (!device->rooms.tree->copy_out) return SAP_OK;
    if (!sap_scratch_take(device, tree->shape.bytes + SAP_ALIGNMENT, &view->copy))
        return sap_fail(device, SAP_ERROR_MEMORY, "no host memory for a copy of a tree of %zu bytes",
                        tree->shape.bytes);
    view->tree.arrays = view->copy.memory;
    for (size_t i = 0; i < SAP_ALIGNMENT; i++) view->tree.arrays[tree->shape.bytes + i] = 0;
    sap_status status = device->rooms.tree->copy_out(tree, 0, tree->shape.bytes, view->tree.arrays);
    if (status != SAP_OK) sap_scratch_give(device, &view->copy);
    return status;
}

static inline void sap_host_view_close(sap_host_view* view) { sap_scratch_give(view->tree.device, &view->copy); }

#endif
