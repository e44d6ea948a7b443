// A tree of either kind with a tight box for each node, made for one call: nodes in preorder, the lower child next to
// its parent. What searches of trees against trees walk.
#ifndef SAPWOOD_PAIRS_BOXED_H
#define SAPWOOD_PAIRS_BOXED_H

#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_boxed_node {
    uint32_t upper; // number of the upper child; 0: a leaf
    int32_t count;  // points below
    int32_t stride; // slots of a leaf's block
    int64_t slot;   // the first of them
} sap_boxed_node;

typedef struct sap_boxed {
    const sap_tree* tree;
    sap_boxed_node* nodes;
    uint32_t count;     // nodes; 0 of an empty tree
    void* boxes;        // real[count][2][dims]: lower and upper corners
    double* sums;       // [count] weights below each node; NULL: unweighted
    double* weights;    // [slots + SAP_BOXED_SPARE] of the point in each slot, 0 where there is none
    sap_scratch memory; // holds all of these
    size_t bytes;       // of it that they take
} sap_boxed;

enum { SAP_BOXED_SPARE = 32 }; // weights that may be read behind the last slot

static inline bool sap_boxed_is_leaf(const sap_boxed* boxed, uint32_t node) { return boxed->nodes[node].upper == 0; }

// Coordinates of a leaf's points: axis a of slot i is real number a*stride + i.
static inline const void* sap_boxed_coords(const sap_boxed* boxed, uint32_t node) {
    SAP_ASSERT(node < boxed->count && sap_boxed_is_leaf(boxed, node));
    return sap_block(boxed->tree, boxed->nodes[node].slot);
}

static inline const int32_t* sap_boxed_ids(const sap_boxed* boxed, uint32_t node) {
    const sap_tree_shape* shape = &boxed->tree->shape;
    const size_t coords = (size_t)shape->dims * (size_t)boxed->nodes[node].stride * sap_real_bytes(shape);
    return (const int32_t*)(const void*)((const unsigned char*)sap_boxed_coords(boxed, node) + coords);
}

// Weights of a leaf's points; NULL: unweighted.
static inline const double* sap_boxed_weights(const sap_boxed* boxed, uint32_t leaf) {
    return boxed->weights ? boxed->weights + boxed->nodes[leaf].slot : NULL;
}

// Makes the nodes, and with weights (by id) their sums: of a leaf in the order of its slots, of an inner node lower
// child plus upper child. The tree's arrays are in host memory. Hand boxed->memory back in the end.
struct sap_pairs_kernels;
sap_status sap_boxed_make(const sap_tree* tree, const double* weights, const struct sap_pairs_kernels* kernels,
                          sap_boxed* boxed);

#ifdef __cplusplus
}
#endif
#endif
