// The quick check of balanced trees, in registers: whether a subtree is right. It is linear in the points and names
// nothing: what is wrong with a subtree that it does not accept, and whether anything is, verify.h finds out.
#ifndef SAPWOOD_TREE_BALANCED_ACCEPT_H
#define SAPWOOD_TREE_BALANCED_ACCEPT_H

#include "tree/layout.h"

typedef struct sap_subtree_check {
    const sap_tree* tree;
    int32_t depth; // of the subtree's root
    int64_t index; // of the root among the nodes of its depth
    int32_t* ids;  // the id of the point of each rank goes to ids[rank]
    // Whether the halves of a node, which meet in one coordinate of its axis, are in the axis's total order. Points of
    // that coordinate must be looked for: at most `patience` are, and then the answer is false.
    bool (*in_order)(struct sap_subtree_check* check, int32_t depth, int64_t index, int32_t axis);
    int64_t patience;
} sap_subtree_check;

// One set per instruction set and precision.
typedef struct sap_accept_kernels {
    // False if something is wrong, if there are leaves without points, or if patience ends. Writes the tight box of the
    // points to lower[dims], upper[dims] (reals), and their smallest id.
    bool (*accept)(sap_subtree_check* check, void* lower, void* upper, int32_t* min_id);
} sap_accept_kernels;

#endif
