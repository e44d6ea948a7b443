// Balanced trees over points that are put into the builder's memory one by one, from wherever they lie.
#ifndef SAPWOOD_TREE_BALANCED_FILLED_H
#define SAPWOOD_TREE_BALANCED_FILLED_H

#include "tree/layout.h"

// Where the points go: coordinate a of point i is real number a*pitch + i.
typedef struct sap_columns {
    void* coords;
    int32_t* ids; // to be filled in ascending order
    int64_t pitch;
} sap_columns;

typedef struct sap_filler {
    // Writes the points and their ids; returns how many. Coordinates are as sap_tree_build takes them, with no minus
    // zero. The tree still is what it was: its points may be among them.
    int64_t (*fill)(void* context, const sap_columns* columns);
    void* context;
} sap_filler;

// Builds into a tree with device, options, shape.dims and shape.real_bits set, over at most `most` points, in memory
// that leaves room to grow. The tree is as it was if this fails. The device must have no progress callback. Errors:
// SAP_ERROR_MEMORY, SAP_ERROR_RANGE.
sap_status sap_tree_build_filled_cpu(sap_tree* tree, int64_t most, const sap_filler* filler);
// The same over `count` points, in memory for these, into a slice of a tree, which is set; the device may have a progress
// callback. Further errors: SAP_ERROR_CANCELLED, which leaves the tree without points.
sap_status sap_tree_build_slice_filled_cpu(sap_tree* tree, int64_t count, const sap_filler* filler);
// As sap_tree_rebuild_slice, on a CPU, over as many points as `like` has, and of their kind (tree/tree.c).
sap_status sap_tree_fill_slice(sap_device* device, const sap_rows* like, const sap_tree_options* complete,
                               const sap_slice* slice, const sap_filler* filler, sap_tree** tree);

#endif
