// The leaves of a tree of either kind, one after another, and their points: for searches by the tree's own points.
#ifndef SAPWOOD_TREE_LEAVES_H
#define SAPWOOD_TREE_LEAVES_H

#include "tree/layout.h"
#include <string.h>

// The points of a leaf: coordinate a of slot i is real number a*stride + i.
typedef struct sap_leaf_block {
    const unsigned char* coords;
    const int32_t* ids;
    int32_t count, stride;
} sap_leaf_block;

// How many places there are where a leaf can be: leaves of a balanced tree, nodes of an explicit one.
static inline int64_t sap_leaf_places(const sap_tree* tree) {
    return tree->shape.kind == SAP_TREE_BALANCED ? tree->shape.leaves : tree->shape.nodes;
}

// The leaf at a place; its count is 0 where an explicit tree has an inner node.
static inline sap_leaf_block sap_leaf_block_at(const sap_tree* tree, int64_t place) {
    const sap_tree_shape* shape = &tree->shape;
    SAP_ASSERT(place >= 0 && place < sap_leaf_places(tree));
    sap_leaf_block leaf;
    int64_t slot;
    if (shape->kind == SAP_TREE_BALANCED) {
        leaf.count = (int32_t)(sap_leaf_rank(shape, place + 1) - sap_leaf_rank(shape, place));
        leaf.stride = shape->stride;
        slot = place * shape->stride;
    } else {
        slot = 0;
        leaf.count = 0;
        sap_explicit_leaf(tree, place, &slot, &leaf.count);
        leaf.stride = sap_leaf_stride(leaf.count, shape->real_bits);
    }
    leaf.coords = sap_block(tree, slot);
    leaf.ids =
        (const int32_t*)(const void*)(leaf.coords + (size_t)shape->dims * (size_t)leaf.stride * sap_real_bytes(shape));
    return leaf;
}

// Copies the coordinates of a leaf's point to real point[dims].
static inline void sap_leaf_point(const sap_tree* tree, const sap_leaf_block* leaf, int32_t slot, void* point) {
    const size_t real_bytes = sap_real_bytes(&tree->shape);
    SAP_ASSERT(slot >= 0 && slot < leaf->count);
    for (int32_t axis = 0; axis < tree->shape.dims; ++axis)
        memcpy((unsigned char*)point + (size_t)axis * real_bytes,
               leaf->coords + ((size_t)axis * (size_t)leaf->stride + (size_t)slot) * real_bytes, real_bytes);
}

#endif
