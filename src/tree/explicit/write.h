// What a builder of explicit trees on the CPU hands over, whatever its split rule: the nodes above the subtrees, a
// draft of each subtree, and the points in the order of the leaves. Places are given to the parts when all sizes are
// known; then all threads write the tree's arrays.
#ifndef SAPWOOD_TREE_EXPLICIT_WRITE_H
#define SAPWOOD_TREE_EXPLICIT_WRITE_H

#include "tree/layout.h"

// A node before its place in the tree is known.
typedef struct sap_explicit_node {
    double split;
    uint32_t link; // as in the tree
} sap_explicit_node;

// Nodes that one thread has laid out in preorder; several subtrees one after another.
typedef struct sap_explicit_draft {
    sap_scratch memory;
    int64_t count, capacity;
} sap_explicit_draft;

// A node above the subtrees, or the root of one.
typedef struct sap_explicit_top {
    int64_t left, right; // indices of the children; -1: the root of a subtree
    double split;        // of a node above the subtrees; so is the axis
    int64_t first;       // of a subtree: the rank of its first point
    int64_t draft_at;    // of a subtree: its first node in its draft
    int64_t leaves;      // of a subtree
    int32_t axis;
    int32_t draft, deepest, fullest; // of a subtree: whose draft; its deepest leaf; the points in its fullest leaf
    int64_t nodes, slots;            // in everything below, itself included; above subtrees: set by sap_explicit_place
    int64_t node_at, slot_at;        // its place in the tree, set by sap_explicit_place
} sap_explicit_top;

typedef struct sap_explicit_parts {
    sap_tree* tree;
    const void* coords; // the points by rank: axis a begins at element a * pitch
    const int32_t* ids;
    int64_t pitch;
    sap_explicit_draft* drafts; // one for each thread
    sap_explicit_top* top;      // the root first, children behind their parents
    int64_t top_count, top_capacity;
    int32_t dims, real_bits, threads;
} sap_explicit_parts;

static inline sap_explicit_node* sap_explicit_draft_nodes(const sap_explicit_draft* draft) {
    return (sap_explicit_node*)(void*)draft->memory.memory;
}

// ---- tree/explicit/write_cpu.c
// Gives every part its place in the tree and fills in the counts of the shape. False if an offset does not fit a link.
bool sap_explicit_place(sap_explicit_parts* parts, sap_tree_shape* shape);
// Writes the arrays of the tree, which has room for them.
void sap_explicit_write(const sap_explicit_parts* b);

#endif
