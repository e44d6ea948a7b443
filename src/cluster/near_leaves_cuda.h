// The nearest points of all points of a subtree on a GPU, straight into rows over ranks: the walk that finds a row gives it
// its global ids and marks it if other ranks may have something nearer.
#ifndef SAPWOOD_CLUSTER_NEAR_LEAVES_CUDA_H
#define SAPWOOD_CLUSTER_NEAR_LEAVES_CUDA_H

#include "tree/tree_cuda.h"

typedef struct sap_near_leaves {
    const sap_tree* tree;
    sap_cuda_queries queries; // its points, leaf by leaf
    const int64_t* names;     // of its ids
    const void* cell;         // what the planes leave the tree, in host memory: real lower[dims], upper[dims]
    int k;
    bool with_self;
    double limit2;
    // What is made, on the GPU:
    int64_t* ids; // rows
    void* distance2;
    uint32_t* marks;            // a bit for each of the queries whose row may reach beyond the cell
    unsigned long long* marked; // counts them
} sap_near_leaves;

enum { SAP_NEAR_LEAVES_MOST = 16 }; // neighbours

// Whether there is a kernel made for it.
static inline bool sap_near_leaves_fits(const sap_tree* tree, int k) {
    const sap_tree_shape* s = &tree->shape;
    return s->real_bits == 32 && s->dims >= 2 && s->dims <= 4 && k <= SAP_NEAR_LEAVES_MOST;
}

void sap_near_leaves_cuda(sap_cuda_call* call, const sap_near_leaves* leaves);

#endif
