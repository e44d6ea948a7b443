// How kernels read and write a node of an explicit tree (tree/layout.h). A node is read in one load: arrays begin at
// multiples of 64.
#ifndef SAPWOOD_TREE_EXPLICIT_NODE_CUDA_CUH
#define SAPWOOD_TREE_EXPLICIT_NODE_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"
#include "tree/layout.h"

template <typename real> struct sap_node_of;
template <> struct sap_node_of<float> { typedef sap_node_f32 type; };
template <> struct sap_node_of<double> { typedef sap_node_f64 type; };

static __device__ __forceinline__ void sap_node_load(const void* nodes, int64_t at, sap_node_f32* node) {
    const uint2 words = ((const uint2*)nodes)[at];
    node->bits = words.x;
    node->link = words.y;
}
static __device__ __forceinline__ void sap_node_load(const void* nodes, int64_t at, sap_node_f64* node) {
    const ulonglong2 words = ((const ulonglong2*)nodes)[at];
    node->bits = words.x;
    node->link = (uint32_t)words.y;
    node->zero = (uint32_t)(words.y >> 32);
}

template <typename real>
static __device__ __forceinline__ typename sap_node_of<real>::type sap_node_read(const void* nodes, int64_t at) {
    typename sap_node_of<real>::type node;
    sap_node_load(nodes, at, &node);
    return node;
}
template <typename real>
static __device__ __forceinline__ typename sap_node_of<real>::type sap_node_at(const sap_tree& tree, int64_t at) {
    return sap_node_read<real>(tree.arrays + tree.shape.node_at, at);
}

// Of a node's link: whether it is a leaf; of a leaf, its points; of an inner node, how far its right child is.
static __device__ __forceinline__ bool sap_link_is_leaf(uint32_t link) {
    return (link & SAP_NODE_LEAF) == SAP_NODE_LEAF;
}
static __device__ __forceinline__ int sap_link_count(uint32_t link) { return (int)(link >> 5); }
static __device__ __forceinline__ uint32_t sap_link_right(uint32_t link) { return link >> 5; }

static __device__ __forceinline__ float sap_node_split(sap_node_f32 node) { return __uint_as_float(node.bits); }
static __device__ __forceinline__ double sap_node_split(sap_node_f64 node) {
    return __longlong_as_double((long long)node.bits);
}

// Writes an inner node (its split) or a leaf (its first slot).
static __device__ __forceinline__ void sap_node_write(unsigned char* nodes, int64_t at, float split, int64_t slot,
                                                      uint32_t link) {
    sap_node_f32 node;
    SAP_ASSERT(slot >= 0 && slot <= (int64_t)UINT32_MAX);
    node.bits = sap_link_is_leaf(link) ? (uint32_t)slot : __float_as_uint(split);
    node.link = link;
    ((sap_node_f32*)(void*)nodes)[at] = node;
}
static __device__ __forceinline__ void sap_node_write(unsigned char* nodes, int64_t at, double split, int64_t slot,
                                                      uint32_t link) {
    sap_node_f64 node;
    node.bits = sap_link_is_leaf(link) ? (uint64_t)slot : (uint64_t)__double_as_longlong(split);
    node.link = link;
    node.zero = 0;
    ((sap_node_f64*)(void*)nodes)[at] = node;
}

// sap_leaf_stride and sap_block of tree/layout.h.
template <typename real> static __device__ __forceinline__ int sap_explicit_slots(int count) {
    const int unit = count > 4 ? 4 : (int)sizeof(real) / 4;
    return (count + unit - 1) / unit * unit;
}
template <typename real>
static __device__ __forceinline__ const real* sap_explicit_block(const sap_tree& tree, int64_t slot) {
    const size_t slot_bytes = (size_t)tree.shape.dims * sizeof(real) + sizeof(int32_t);
    return (const real*)(const void*)(tree.arrays + tree.shape.block_at + (size_t)slot * slot_bytes);
}

#endif
