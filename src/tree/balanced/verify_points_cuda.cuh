// The check of a balanced tree on a GPU, first part: points in their total order, and the leaves. Included once, by
// verify_cuda.cu.
#ifndef SAPWOOD_TREE_BALANCED_VERIFY_POINTS_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_VERIFY_POINTS_CUDA_CUH

#include "tree/tree_cuda.h"
#include "tree/verify_cuda.cuh"

#define NO_SLOT 0xffffffffu

// A point where it lies, as a number of its slot, and its coordinate on the axis in question.
template <typename real> struct place {
    real x;
    uint32_t slot; // NO_SLOT: there is no point
};

// Places of many nodes: the first (even column) and the last (odd column) on each axis, a row a node.
template <typename real> struct places {
    real* x;
    uint32_t* slot;
    int32_t* min_id;
    int32_t columns; // 2 * dims
    int64_t rows;

    __device__ __forceinline__ place<real> get(int column, int64_t row) const {
        SAP_ASSERT(column >= 0 && column < columns && row >= 0 && row < rows);
        return {x[column * rows + row], slot[column * rows + row]};
    }
    __device__ __forceinline__ void set(int column, int64_t row, place<real> what) const {
        SAP_ASSERT(column >= 0 && column < columns && row >= 0 && row < rows);
        x[column * rows + row] = what.x;
        slot[column * rows + row] = what.slot;
    }
};

template <typename real> struct check {
    sap_tree tree;
    point_check<real> points;
    int32_t width;       // threads for a leaf
    int32_t item_bits;   // a block takes 2^item_bits nodes of depth `depth`
    int32_t depth;       // of those: the leaves' first
    places<real> lower;  // of the nodes taken, from the kernel before; not for leaves
    places<real> higher; // of their ancestors, for the kernel that follows
    verdict* found;
};

// ---- What lies in the arrays

static __device__ __forceinline__ int64_t first_rank(const sap_tree_shape* s, int32_t depth, int64_t index) {
    return sap_cuda_leaf_rank(*s, index << (s->depth - depth));
}

static __device__ __forceinline__ int32_t count_below(const sap_tree_shape* s, int32_t depth, int64_t index) {
    return (int32_t)(first_rank(s, depth, index + 1) - first_rank(s, depth, index));
}

template <typename real> static __device__ __forceinline__ const real* leaf_coords(const check<real>& c, int64_t leaf) {
    const sap_tree_shape* s = &c.tree.shape;
    const size_t slot_bytes = (size_t)s->dims * sizeof(real) + sizeof(int32_t);
    return (const real*)(const void*)(c.tree.arrays + s->block_at + (size_t)(leaf * s->stride) * slot_bytes);
}

template <typename real>
static __device__ __forceinline__ const int32_t* leaf_ids(const check<real>& c, const real* coords) {
    return (const int32_t*)(const void*)(coords + (int64_t)c.tree.shape.dims * c.tree.shape.stride);
}

// ---- The total order

// Points that are equal on the axis, by the axes that follow and their ids.
template <typename real>
static __device__ bool tie_before(const check<real>& c, int axis, uint32_t p_slot, uint32_t q_slot) {
    const sap_tree_shape* s = &c.tree.shape;
    const uint32_t stride = (uint32_t)s->stride, p = p_slot % stride, q = q_slot % stride;
    const real *p_leaf = leaf_coords(c, p_slot / stride), *q_leaf = leaf_coords(c, q_slot / stride);
    for (int i = 1, a = axis; i < s->dims; ++i) {
        a = a + 1 < s->dims ? a + 1 : 0;
        const real x = p_leaf[a * s->stride + (int)p], y = q_leaf[a * s->stride + (int)q];
        if (x != y) return x < y;
    }
    return leaf_ids(c, p_leaf)[p] < leaf_ids(c, q_leaf)[q];
}

template <typename real>
static __device__ __forceinline__ bool before(const check<real>& c, int axis, place<real> p, place<real> q) {
    return p.x != q.x ? p.x < q.x : tie_before(c, axis, p.slot, q.slot);
}

// The better of two places in a column.
template <typename real>
static __device__ __forceinline__ place<real> merge(const check<real>& c, int column, place<real> p, place<real> q) {
    if (q.slot == NO_SLOT) return p;
    if (p.slot == NO_SLOT) return q;
    const bool last = column & 1;
    return before(c, column / 2, last ? p : q, last ? q : p) ? q : p;
}

// ---- A leaf, by `width` neighbouring threads of a warp

// The first point of a leaf on an axis (column 2*axis) or the last one (column 2*axis + 1), of what the lanes found in
// their slots, for the lane that is to write it down. All lanes of the warp take part.
template <typename real>
static __device__ __forceinline__ bool end_of_leaf(const check<real>& c, int column, int lane, place<real>* end) {
    const int in_warp = (int)threadIdx.x % SAP_WARP, lane_0 = in_warp - lane;
    const real none = column & 1 ? -(real)INFINITY : (real)INFINITY;
    real best = end->slot == NO_SLOT ? none : end->x;
    for (int step = c.width / 2; step > 0; step /= 2) {
        const real other = __shfl_xor_sync(SAP_ALL_LANES, best, step);
        best = column & 1 ? max(best, other) : min(best, other);
    }
    if (end->x != best) end->slot = NO_SLOT;
    const uint32_t in_leaf = 0xffffffffu >> (SAP_WARP - c.width) << lane_0;
    const uint32_t candidates = __ballot_sync(SAP_ALL_LANES, end->slot != NO_SLOT) & in_leaf;
    if (__any_sync(SAP_ALL_LANES, __popc(candidates) > 1)) {
        for (int step = c.width / 2; step > 0; step /= 2) {
            const place<real> other = {__shfl_xor_sync(SAP_ALL_LANES, end->x, step),
                                       __shfl_xor_sync(SAP_ALL_LANES, end->slot, step)};
            *end = merge(c, column, *end, other);
        }
    }
    return in_warp == (candidates ? __ffs((int)candidates) - 1 : lane_0);
}

template <typename real>
static __device__ __forceinline__ void take_leaf(const check<real>& c, const places<real>& p, int item, int64_t leaf,
                                                 const real* coords, int32_t count, int lane) {
    const int stride = c.tree.shape.stride;
    for (int a = 0; a < c.tree.shape.dims; ++a) {
        place<real> first = {0, NO_SLOT}, last = {0, NO_SLOT};
        for (int i = lane; i < count; i += c.width) {
            const place<real> here = {coords[a * stride + i], (uint32_t)(leaf * stride + i)};
            first = merge(c, 2 * a, first, here);
            last = merge(c, 2 * a + 1, last, here);
        }
        const bool writes_first = end_of_leaf(c, 2 * a, lane, &first);
        if (writes_first && item >= 0) p.set(2 * a, item, first);
        const bool writes_last = end_of_leaf(c, 2 * a + 1, lane, &last);
        if (writes_last && item >= 0) p.set(2 * a + 1, item, last);
    }
    if (lane == 0 && item >= 0) p.min_id[item] = count ? leaf_ids(c, coords)[0] : SAP_NO_ID;
}

template <typename real>
static __device__ bool take_leaves(const check<real>& c, const places<real>& p, int64_t first, int items) {
    const int group = (int)threadIdx.x / c.width, lane = (int)threadIdx.x % c.width, groups = VERIFY_THREADS / c.width;
    bool wrong = false;
    for (int from = 0; from < items; from += groups) {
        const int item = from + group;
        const bool there = item < items; // its lanes take part in any case
        const int64_t leaf = first + (there ? item : 0);
        const int32_t count = there ? count_below(&c.tree.shape, c.depth, leaf) : 0;
        const real* coords = leaf_coords(c, leaf);
        if (there) wrong |= wrong_points(c.points, coords, c.tree.shape.stride, count, lane, c.width);
        take_leaf(c, p, there ? item : -1, leaf, coords, count, lane);
    }
    return wrong;
}

#endif
