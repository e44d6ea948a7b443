// Samples of points far from one another: what is known of each node of a tree, and the kernel that adds a point.
#ifndef SAPWOOD_CLOUD_FARTHEST_H
#define SAPWOOD_CLOUD_FARTHEST_H

#include "pairs/boxed.h"

// Of each slot the squared distance to the nearest point of the sample: infinite before there is one, -1 for points of the
// sample. Of each node the slot of the farthest point below, of several that with the smallest id, and its distance.
typedef struct sap_farthest {
    const sap_boxed* boxed;
    void* distance2;   // real[slots + SAP_BOXED_SPARE]
    void* greatest;    // real[nodes]
    int32_t* ids;      // [nodes] of the farthest point
    uint32_t* leaves;  // [nodes] the leaf that it is in
    uint32_t* visited; // [nodes] room to note inner nodes
} sap_farthest;

typedef struct sap_farthest_kernels {
    // Makes all distances infinite.
    void (*begin)(sap_farthest* f);
    // Adds the point with this id, which is in this leaf, to the sample.
    void (*add)(sap_farthest* f, uint32_t leaf, int32_t id);
} sap_farthest_kernels;

#endif
