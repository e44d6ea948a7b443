// The bottom of the sliding-midpoint builder: a warp counts a subtree or a leaf, then writes it; between the two every
// part gets its place in the tree.
#ifndef SAPWOOD_TREE_SLIDING_WRITE_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_WRITE_CUDA_CUH

#include "tree/sliding/subtree_cuda.cuh"

// What a warp has counted, or where it writes.
typedef struct sap_small_sums {
    int64_t nodes, slots;
    int deepest, fullest;
} sap_small_sums;

// ---- Leaves

// Writes one piece of a leaf of the top; the first one with its node.
template <typename real>
static __device__ void sap_small_write_leaf(const sap_sliding_job<real>& j, const sap_sliding_node& leaf, int piece) {
    const int stride = sap_explicit_slots<real>(leaf.count), lane = sap_lane();
    const int from = piece * SAP_PIECE;
    const int to = stride - from > SAP_PIECE ? from + SAP_PIECE : stride;
    real* out = (real*)(void*)(j.out_blocks + (size_t)leaf.slot_at * ((size_t)j.dims * sizeof(real) + 4));
    for (int a = 0; a < j.dims; a++, out += stride) {
        const real* column = sap_column(j, leaf.buffer, a);
        for (int i = from + lane; i < to; i += SAP_WARP)
            out[i] = i < leaf.count ? column[sap_rank_of(leaf.begin, leaf.count, leaf.reversed, i)] : (real)INFINITY;
    }
    const int32_t* ids = j.ids + leaf.buffer * j.pitch;
    for (int i = from + lane; i < to; i += SAP_WARP)
        ((int32_t*)(void*)out)[i] = i < leaf.count ? ids[sap_rank_of(leaf.begin, leaf.count, leaf.reversed, i)] : -1;
    if (lane != 0 || piece != 0) return;
    sap_node_write(j.out_nodes, leaf.node_at, (real)0, leaf.slot_at, (uint32_t)leaf.count << 5 | SAP_NODE_LEAF);
    j.out_least[leaf.node_at] = leaf.least;
}

// Writes the block of the leaf that the walk of a subtree has reached.
template <typename real>
static __device__ void sap_small_write_block(const sap_sliding_job<real>& j, const sap_sliding_node& root,
                                             const sap_small_walk<real>& w, int64_t slot) {
    const int stride = sap_explicit_slots<real>(w.count);
    real* out = (real*)(void*)(j.out_blocks + (size_t)slot * ((size_t)j.dims * sizeof(real) + 4));
    const int32_t* ids = j.ids + root.buffer * j.pitch;
    for (int i = sap_lane(); i < stride; i += SAP_WARP) {
        const bool here = i < w.count;
        const int point = here ? sap_small_point(w, i) : 0;
        for (int a = 0; a < j.dims; a++) out[a * stride + i] = here ? w.coords[a * j.small + point] : (real)INFINITY;
        ((int32_t*)(void*)(out + j.dims * stride))[i] =
            here ? ids[sap_rank_of(root.begin, root.count, root.reversed, point)] : -1;
    }
}

// ---- Subtrees

// Writes the inner node whose right child is node `next` of the subtree.
template <typename real>
static __device__ __forceinline__ void sap_small_write_inner(const sap_sliding_job<real>& j,
                                                             const sap_sliding_node& root,
                                                             const sap_small_step<real>* step, int64_t next) {
    const int64_t at = root.node_at + step->node;
    const uint32_t offset = (uint32_t)(next - step->node);
    SAP_ASSERT(offset >= 2 && at + offset < root.node_at + root.nodes);
    sap_node_write(j.out_nodes, at, step->split, 0, offset << 5 | step->axis);
}

// Writes the smallest id of the node that the walk has reached.
template <typename real>
static __device__ __forceinline__ void sap_small_write_least(const sap_sliding_job<real>& j,
                                                             const sap_sliding_node& root,
                                                             const sap_small_walk<real>& w, int64_t node) {
    const int first = sap_rank_of(root.begin, root.count, root.reversed, sap_small_point(w, 0));
    j.out_least[root.node_at + node] = j.ids[root.buffer * j.pitch + first];
}

// Walks a subtree in preorder, counting or writing.
template <typename real, bool writes>
static __device__ sap_small_sums sap_small_subtree(const sap_sliding_job<real>& j, const sap_sliding_node& root,
                                                   int32_t cell, unsigned char* memory) {
    sap_small_sums sums = {};
    SAP_ASSERT(root.count > j.leaf_size && root.count <= j.small);
    sap_small_walk<real> w = sap_small_begin(j, root, cell, memory);
    const int lane = sap_lane();
    for (bool more = true; more;) {
        if (writes && lane == 0) sap_small_write_least(j, root, w, sums.nodes);
        if (w.count > j.leaf_size && sap_small_split(j, w)) {
            SAP_ASSERT(w.height < SAP_MAX_DEPTH);
            if (lane == 0) w.steps[w.height].node = (int32_t)sums.nodes;
            sums.nodes++;
            w.height++;
            w.depth++;
            sap_small_enter(w, false);
            continue;
        }
        if (writes) sap_small_write_block(j, root, w, root.slot_at + sums.slots);
        if (writes && lane == 0)
            sap_node_write(j.out_nodes, root.node_at + sums.nodes, (real)0, root.slot_at + sums.slots,
                           (uint32_t)w.count << 5 | SAP_NODE_LEAF);
        sums.nodes++;
        sums.slots += sap_explicit_slots<real>(w.count);
        sums.deepest = max(sums.deepest, w.depth);
        sums.fullest = max(sums.fullest, w.count);
        more = sap_small_next(w);
        if (writes && more && lane == 0) sap_small_write_inner(j, root, &w.steps[w.height - 1], sums.nodes);
    }
    __syncwarp();
    SAP_ASSERT(!writes || (sums.nodes == root.nodes && sums.slots == root.slots)); // as it was counted
    return sums;
}

// Adds a subtree's sizes to those of the nodes above it: the second of two children to arrive goes on to their parent.
template <typename real>
static __device__ void sap_small_climb(const sap_sliding_job<real>& j, int32_t at, sap_small_sums sums) {
    for (;;) {
        sap_sliding_node* node = &j.nodes[at];
        node->nodes = sums.nodes;
        node->slots = sums.slots;
        if (at == 0) break;
        __threadfence();
        const int before = atomicAdd(&j.nodes[node->parent].arrived, 1);
        SAP_ASSERT(before < 2);
        if (before == 0) return;
        __threadfence();
        const sap_sliding_node* sibling = node + (at & 1 ? 1 : -1);
        const int64_t others = *(const volatile int64_t*)&sibling->nodes, left = at & 1 ? sums.nodes : others;
        if ((left + 1) >> 27) atomicMax(&j.state->far, 1);
        sums.slots += *(const volatile int64_t*)&sibling->slots;
        sums.nodes += others + 1;
        at = node->parent;
    }
    j.state->total_nodes = sums.nodes;
    j.state->total_slots = sums.slots;
}

// Warps take one entry of the bottom after another, to count what is there or to write it.
template <typename real, bool writes>
static __global__ void __launch_bounds__(SAP_WARP) sap_small_build(sap_sliding_job<real> j) {
    SAP_CUDA_SHARED(unsigned char, memory);
    const unsigned int entries = j.state->bottoms;
    if (j.state->bad) return;
    for (;;) {
        unsigned int taken = 0;
        if (sap_lane() == 0) taken = atomicAdd(&j.state->tickets[writes ? 1 : 0], 1u);
        taken = __shfl_sync(SAP_ALL_LANES, taken, 0);
        if (taken >= entries) return;
        const sap_sliding_bottom entry = j.bottoms[taken];
        const sap_sliding_node node = j.nodes[entry.node];
        if (node.leaf && writes) sap_small_write_leaf(j, node, entry.piece);
        if (node.leaf && (writes || entry.piece)) continue;
        sap_small_sums sums = {1, sap_explicit_slots<real>(node.count), node.depth, node.count};
        if (!node.leaf) sums = sap_small_subtree<real, writes>(j, node, entry.cell, memory);
        if (writes || sap_lane() != 0) continue;
        atomicMax(&j.state->deepest, sums.deepest);
        atomicMax(&j.state->fullest, sums.fullest);
        sap_small_climb(j, entry.node, sums);
    }
}

// Finds the place of each node of the top, and writes those that have children.
template <typename real>
static __global__ void __launch_bounds__(SAP_TOP_THREADS) sap_top_place(sap_sliding_job<real> j, int64_t count) {
    const int64_t at = (int64_t)blockIdx.x * SAP_TOP_THREADS + threadIdx.x;
    if (at >= count) return;
    int64_t node_at = 0, slot_at = 0;
    for (int64_t up = at; up > 0; up = j.nodes[up].parent) {
        node_at++;
        if (up & 1) continue;
        node_at += j.nodes[up - 1].nodes;
        slot_at += j.nodes[up - 1].slots;
    }
    sap_sliding_node* node = &j.nodes[at];
    node->node_at = node_at;
    node->slot_at = slot_at;
    if (!node->children) return;
    const uint32_t offset = (uint32_t)(1 + j.nodes[node->children].nodes);
    sap_node_write(j.out_nodes, node_at, (real)node->split, 0, offset << 5 | (uint32_t)node->axis);
    j.out_least[node_at] = node->least;
}

#endif
