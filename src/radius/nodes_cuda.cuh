// Nodes of trees of either kind, as walks of whole warps need them.
#ifndef SAPWOOD_RADIUS_NODES_CUDA_CUH
#define SAPWOOD_RADIUS_NODES_CUDA_CUH

#include "base/assert.h"
#include "radius/radius_cuda.h"
#include "tree/explicit/node_cuda.cuh"
#include "tree/tree_cuda.h"

// A leaf, or leaves side by side that are scanned as one. Lane l looks at slot l - share * stride of block number
// `share` after `block`, and at the slots 32, 64, … further on.
typedef struct sap_radius_leaf {
    const unsigned char* block;
    int stride, slots; // slots in all blocks; those of no point are infinitely far away
    int share;
} sap_radius_leaf;

// A node as the walk needs it.
typedef struct sap_radius_node {
    bool is_leaf;
    uint32_t lower, upper; // of an inner node
    sap_radius_leaf leaf;  // of a leaf
} sap_radius_node;

template <typename real>
static __device__ __forceinline__ sap_radius_node sap_radius_node_at(const sap_tree& tree, const sap_radius_pass& pass,
                                                                     uint32_t node, int share, int axes) {
    const sap_tree_shape& shape = tree.shape;
    const unsigned char* blocks = tree.arrays + shape.block_at;
    const int64_t slot_bytes = (int64_t)axes * (int)sizeof(real) + (int)sizeof(int32_t);
    sap_radius_node at;
    if (shape.kind == SAP_TREE_BALANCED) {
        const int depth = shape.depth - pass.merged;
        at.is_leaf = node >> depth != 0;
        at.lower = 2 * node;
        at.upper = 2 * node + 1;
        at.leaf.stride = shape.stride;
        at.leaf.slots = shape.stride << pass.merged;
        at.leaf.share = share;
        at.leaf.block = blocks + (int64_t)(node - (1u << depth)) * at.leaf.slots * slot_bytes;
        return at;
    }
    const typename sap_node_of<real>::type read = sap_node_at<real>(tree, node);
    at.is_leaf = sap_link_is_leaf(read.link);
    at.lower = node + 1;
    at.upper = node + sap_link_right(read.link);
    at.leaf.slots = sap_link_count(read.link);
    at.leaf.stride = sap_explicit_slots<real>(at.leaf.slots);
    at.leaf.share = 0;
    at.leaf.block = blocks + (at.is_leaf ? (int64_t)read.bits : 0) * slot_bytes;
    return at;
}

// How many points lie below a node.
template <typename real>
static __device__ __forceinline__ int sap_radius_below(const sap_tree& tree, uint32_t node, uint32_t end, int lane) {
    const sap_tree_shape& shape = tree.shape;
    if (shape.kind == SAP_TREE_BALANCED) {
        const int below = shape.depth - (31 - __clz((int)node));
        const int64_t first = ((int64_t)node << below) - shape.leaves, last = first + ((int64_t)1 << below);
        return (int)(sap_cuda_leaf_rank(shape, last) - sap_cuda_leaf_rank(shape, first));
    }
    int count = 0;
    for (uint32_t at = node + (uint32_t)lane; at < end; at += SAP_WARP) {
        const uint32_t link = sap_node_at<real>(tree, at).link;
        if (sap_link_is_leaf(link)) count += sap_link_count(link);
    }
    for (int step = SAP_WARP / 2; step; step /= 2) count += __shfl_xor_sync(SAP_ALL_LANES, count, step);
    return count;
}

#endif
