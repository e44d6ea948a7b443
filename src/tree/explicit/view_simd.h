// An explicit tree as the vector kernels see it.
#ifndef SAPWOOD_TREE_EXPLICIT_VIEW_SIMD_H
#define SAPWOOD_TREE_EXPLICIT_VIEW_SIMD_H

#include "tree/balanced/view_simd.h"

#if SAP_REAL_BITS == 32
typedef sap_node_f32 stored_node;
#else
typedef sap_node_f64 stored_node;
#endif

typedef struct explicit_view {
    const stored_node* nodes;
    const int32_t* min_ids; // the smallest below each node
    const unsigned char* blocks;
    size_t slot_bytes;
    int64_t leaf_size; // a leaf of more points holds equal ones
} explicit_view;

INLINE explicit_view view_explicit(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    SAP_ASSERT(s->kind == SAP_TREE_EXPLICIT && s->real_bits == SAP_REAL_BITS);
    return (explicit_view){.nodes = (const stored_node*)(const void*)(tree->arrays + s->node_at),
                           .min_ids = (const int32_t*)(const void*)(tree->arrays + s->node_min_id_at),
                           .blocks = tree->arrays + s->block_at,
                           .slot_bytes = sap_slot_bytes(s),
                           .leaf_size = tree->options.leaf_size};
}

typedef struct explicit_node {
    int axis;
    bool is_leaf;
    real split;
    int64_t upper; // the child from the split on; the other is the next node
} explicit_node;

INLINE explicit_node explicit_at(const explicit_view* t, int64_t node) {
    const stored_node* stored = &t->nodes[node];
    explicit_node n = {.axis = (int)(stored->link & SAP_NODE_LEAF), .upper = node + (stored->link >> 5)};
    n.is_leaf = n.axis == SAP_NODE_LEAF;
    memcpy(&n.split, &stored->bits, sizeof n.split);
    return n;
}

// The block that begins at a slot and holds so many points, and the leaf as the only one of a view, as far as scans look
// at that.
INLINE const real* explicit_block(const explicit_view* t, uint64_t slot, int32_t points, tree_view* leaf) {
    leaf->points = points;
    leaf->stride = sap_leaf_stride(points, SAP_REAL_BITS);
    leaf->vectors = (leaf->stride + LANES - 1) / LANES;
    leaf->last_lanes = lanes_below(leaf->stride - (leaf->vectors - 1) * LANES);
    return (const real*)(const void*)(t->blocks + (size_t)slot * t->slot_bytes);
}

#endif
