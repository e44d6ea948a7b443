// The box walk on the GPU: a warp for each box. In the tree each lane tests a walk box: in a balanced tree 32
// descendants of a node side by side, five levels at a time, else the two children. In a leaf each lane tests a point.
// Hits are numbered by a vote, so they are written side by side, in the tree's own order. Not the shared text, whose
// stack of cells would take kilobytes of each thread's memory.
#ifndef SAPWOOD_BOX_BOX_KERNELS_CUDA_CUH
#define SAPWOOD_BOX_BOX_KERNELS_CUDA_CUH

#include "base/assert.h"
#include "tree/explicit/node_cuda.cuh"
#include "tree/tree_cuda.h"

enum { SAP_BOX_WARPS = 4, SAP_BOX_THREADS = SAP_BOX_WARPS * SAP_WARP, SAP_BOX_STEP = 5 };

// One pass over the boxes, which counts or collects. All arrays lie on the GPU.
typedef struct sap_box_pass {
    const void* walk_boxes; // see tree/tree_cuda.h
    const int64_t* bad;     // the same
    const void *lower, *upper;
    int64_t lower_stride, upper_stride;
    const int32_t* rows; // the row of each box, NULL: its own number
    int64_t count;
    int64_t* counts;        // to write: how many points there are, by row
    const int64_t* offsets; // [all_rows + 1]: where each row begins
    int64_t all_rows, room;
    int32_t* ids; // [room]
} sap_box_pass;

// Nodes side by side, and which of them the box meets and holds. They are children of one node of an explicit tree, or
// first, first + 1, … of a balanced one.
typedef struct sap_box_nodes {
    uint32_t first, second;
    uint32_t end; // explicit trees: the first node behind those below `second`
    uint32_t met, held;
} sap_box_nodes;

// The state of a warp's walk, the same in all lanes but for the lane's number.
template <typename real> struct sap_box_walk {
    const real *lower, *upper;
    int64_t start; // where the box's row begins
    sap_box_nodes* stack;
    int lane, axes;
    int found;
};

// ---- Leaves

// Takes the points of a leaf that lie in the box, or all of them.
template <typename real, bool collect>
static __device__ __forceinline__ void sap_box_take_leaf(sap_box_walk<real>& walk, const sap_tree& tree,
                                                         const sap_box_pass& pass, uint32_t node, bool is_held) {
    const sap_tree_shape& shape = tree.shape;
    int64_t slot;
    int count, stride;
    if (shape.kind == SAP_TREE_BALANCED) {
        const int64_t leaf = (int64_t)node - shape.leaves;
        slot = leaf * shape.stride;
        stride = shape.stride;
        count = (int)(((leaf + 1) * shape.count >> shape.depth) - (leaf * shape.count >> shape.depth));
    } else {
        const typename sap_node_of<real>::type at = sap_node_at<real>(tree, node);
        slot = (int64_t)at.bits;
        count = sap_link_count(at.link);
        stride = sap_explicit_slots<real>(count);
    }
    const real* coords = sap_explicit_block<real>(tree, slot);
    const int32_t* ids = (const int32_t*)(const void*)(coords + walk.axes * stride);
    for (int from = 0; from < count; from += SAP_WARP) {
        const int at = from + walk.lane;
        bool hits = at < count;
        for (int axis = 0; !is_held && hits && axis < walk.axes; axis++) {
            const real x = coords[axis * stride + at];
            hits = walk.lower[axis] <= x && x <= walk.upper[axis];
        }
        const uint32_t votes = __ballot_sync(SAP_ALL_LANES, hits);
        if (collect) {
            const int64_t to = walk.start + walk.found + __popc(votes & ((1u << walk.lane) - 1));
            SAP_ASSERT(!hits || to < pass.offsets[pass.all_rows]);
            if (hits && to < pass.room) pass.ids[to] = ids[at];
        }
        walk.found += __popc(votes);
    }
}

// ---- Subtrees inside the box

template <typename real, bool collect>
static __device__ __forceinline__ void sap_box_take_below(sap_box_walk<real>& walk, const sap_tree& tree,
                                                          const sap_box_pass& pass, uint32_t node, uint32_t end) {
    const sap_tree_shape& shape = tree.shape;
    if (shape.kind == SAP_TREE_BALANCED) {
        const int below = shape.depth - (31 - __clz((int)node));
        const int64_t first = (int64_t)node << below, last = first + ((int64_t)1 << below);
        if (collect) {
            for (int64_t leaf = first; leaf < last; leaf++)
                sap_box_take_leaf<real, collect>(walk, tree, pass, (uint32_t)leaf, true);
        } else
            walk.found += (int)(((last - shape.leaves) * shape.count >> shape.depth) -
                                ((first - shape.leaves) * shape.count >> shape.depth));
        return;
    }
    if (collect) {
        for (uint32_t at = node; at < end; at++)
            if (sap_link_is_leaf(sap_node_at<real>(tree, at).link))
                sap_box_take_leaf<real, collect>(walk, tree, pass, at, true);
        return;
    }
    int count = 0;
    for (uint32_t at = node + (uint32_t)walk.lane; at < end; at += SAP_WARP) {
        const uint32_t link = sap_node_at<real>(tree, at).link;
        if (sap_link_is_leaf(link)) count += sap_link_count(link);
    }
    for (int step = SAP_WARP / 2; step; step /= 2) count += __shfl_xor_sync(SAP_ALL_LANES, count, step);
    walk.found += count;
}

// ---- Nodes

// Which of the lanes' nodes the box meets and holds; lanes from `given` on have none.
template <typename real>
static __device__ __forceinline__ void sap_box_test(const sap_box_walk<real>& walk, const sap_box_pass& pass, int given,
                                                    sap_box_nodes& nodes, uint32_t node) {
    const real* sides =
        (const real*)pass.walk_boxes + (size_t)node * (size_t)sap_walk_box_reals(walk.axes, (int)sizeof(real) * 8);
    bool meets = walk.lane < given, holds = meets;
    for (int axis = 0; meets && axis < walk.axes; axis++) {
        const real lower = walk.lower[axis], upper = walk.upper[axis], least = sides[2 * axis],
                   most = sides[2 * axis + 1];
        meets = least <= upper && lower <= most;
        holds = holds && lower <= least && most <= upper;
    }
    nodes.met = __ballot_sync(SAP_ALL_LANES, meets);
    nodes.held = __ballot_sync(SAP_ALL_LANES, meets && holds);
}

// The nodes below an inner node.
template <typename real>
static __device__ __forceinline__ sap_box_nodes sap_box_below(const sap_box_walk<real>& walk, const sap_tree& tree,
                                                              const sap_box_pass& pass, uint32_t node, uint32_t end) {
    const sap_tree_shape& shape = tree.shape;
    sap_box_nodes nodes;
    nodes.end = end;
    if (shape.kind == SAP_TREE_BALANCED) {
        const int below = shape.depth - (31 - __clz((int)node)), step = below < SAP_BOX_STEP ? below : SAP_BOX_STEP;
        nodes.first = node << step;
        nodes.second = nodes.first + 1;
        sap_box_test(walk, pass, 1 << step, nodes, walk.lane < 1 << step ? nodes.first + walk.lane : nodes.first);
    } else {
        nodes.first = node + 1;
        nodes.second = node + sap_link_right(sap_node_at<real>(tree, node).link);
        sap_box_test(walk, pass, 2, nodes, walk.lane == 1 ? nodes.second : nodes.first);
    }
    return nodes;
}

template <typename real> static __device__ __forceinline__ bool sap_box_is_leaf(const sap_tree& tree, uint32_t node) {
    const sap_tree_shape& shape = tree.shape;
    if (shape.kind == SAP_TREE_BALANCED) return node >> shape.depth != 0;
    return sap_link_is_leaf(sap_node_at<real>(tree, node).link);
}

// Takes a box through the tree, the lower child always first.
template <typename real, bool collect>
static __device__ __forceinline__ void sap_box_traverse(sap_box_walk<real>& walk, const sap_tree& tree,
                                                        const sap_box_pass& pass) {
    const uint32_t root = tree.shape.kind == SAP_TREE_BALANCED ? 1 : 0;
    int waiting = 0;
    sap_box_nodes nodes = {root, (uint32_t)tree.shape.nodes, (uint32_t)tree.shape.nodes, 0, 0};
    sap_box_test(walk, pass, 1, nodes, root);
    while (nodes.met) {
        const int number = __ffs((int)nodes.met) - 1;
        const bool is_balanced = tree.shape.kind == SAP_TREE_BALANCED;
        const uint32_t node = is_balanced || !number ? nodes.first + (uint32_t)number : nodes.second;
        const uint32_t end = number ? nodes.end : nodes.second;
        const bool is_held = nodes.held >> number & 1;
        nodes.met &= nodes.met - 1;
        if (is_held) {
            sap_box_take_below<real, collect>(walk, tree, pass, node, end);
        } else if (sap_box_is_leaf<real>(tree, node)) {
            sap_box_take_leaf<real, collect>(walk, tree, pass, node, false);
        } else {
            if (nodes.met) {
                SAP_ASSERT(waiting < tree.shape.depth);
                if (walk.lane == 0) walk.stack[waiting] = nodes;
                waiting++;
                __syncwarp();
            }
            nodes = sap_box_below(walk, tree, pass, node, end);
        }
        if (!nodes.met && waiting > 0) {
            nodes = walk.stack[--waiting];
            __syncwarp();
        }
    }
}

// ---- The kernel

template <typename real, bool collect>
static __global__ void __launch_bounds__(SAP_BOX_THREADS) sap_box_kernel(const sap_tree tree, const sap_box_pass pass) {
    SAP_CUDA_SHARED(sap_box_nodes, stacks);
    const int warp = (int)threadIdx.x / SAP_WARP;
    const int64_t number = (int64_t)blockIdx.x * SAP_BOX_WARPS + warp;
    if (number >= pass.count) return;
    const int64_t row = pass.rows ? pass.rows[number] : number;
    sap_box_walk<real> walk;
    walk.lower = (const real*)pass.lower + row * pass.lower_stride;
    walk.upper = (const real*)pass.upper + row * pass.upper_stride;
    walk.stack = stacks + warp * tree.shape.depth;
    walk.lane = (int)threadIdx.x % SAP_WARP;
    walk.axes = tree.shape.dims;
    walk.start = collect ? pass.offsets[row] : 0;
    walk.found = 0;
    bool asks = *pass.bad == INT64_MAX;
    for (int axis = 0; axis < walk.axes; axis++) asks = asks && walk.lower[axis] <= walk.upper[axis];
    if (collect) asks = asks && walk.start < pass.offsets[row + 1] && walk.start < pass.room;
    if (asks) sap_box_traverse<real, collect>(walk, tree, pass);
    if (!collect && walk.lane == 0) pass.counts[row] = walk.found;
}

#endif
