// The top of a sliding-midpoint tree: one kernel whose blocks run together loads the points and divides all large nodes
// of a level at once, level by level.
//
// A level takes two phases. First a warp for each child of the last level's nodes makes it a leaf, the root of a small
// subtree, or chooses its plane from its cell and its tight box. Then the blocks move the points, tile by tile: where a
// tile's points go follows from how many points of the tiles before it go left, which is found by looking back at what
// those have published (Merrill and Garland 2016). The children's boxes come out of the same pass.
//
// With the voxel volume heuristic two phases between them choose the planes (choose_cuda.cuh).
//
// From the halving depth on, a block for each node finds its median in a phase between the two; few trees are so deep.
#ifndef SAPWOOD_TREE_SLIDING_TOP_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_TOP_CUDA_CUH

#include "tree/sliding/build_cuda.cuh"

enum { SAP_TOP_WARPS = SAP_TOP_THREADS / SAP_WARP, SAP_DIGITS = 256 };

template <typename real> struct sap_top_shared {
    typename sap_ordinal<real>::type box[4 * SAP_MAX_DIMS];   // of both sides, as in sap_sliding_job.boxes
    typename sap_ordinal<real>::type value[SAP_MAX_DIMS + 1]; // components of a median
    sap_sliding_part part;                                    // that is being divided
    unsigned int warp_left[SAP_TOP_WARPS];
    unsigned int digit, rank;
    union {
        unsigned int histogram[SAP_DIGITS];
        unsigned int below[SAP_MAX_DIMS * SAP_VVH_PARTS]; // as in sap_sliding_job.below
    };
};

// ---- Boxes

// Puts the bounds of a warp's points along an axis into the block's box of a side.
template <typename real>
static __device__ __forceinline__ void sap_top_widen(typename sap_ordinal<real>::type* box, real lower, real upper) {
    typename sap_ordinal<real>::type least = sap_warp_min(sap_ordinal_of(lower));
    typename sap_ordinal<real>::type most = sap_warp_max(sap_ordinal_of(upper));
    if (sap_lane() != 0 || least > most) return;
    atomicMax(&box[0], (typename sap_ordinal<real>::type) ~least);
    atomicMax(&box[1], most);
}

// Puts the block's boxes into those of a part's sides.
template <typename real>
static __device__ __forceinline__ void sap_top_publish(const sap_sliding_job<real>& j, const sap_top_shared<real>* s,
                                                       int64_t part, int sides) {
    __syncthreads();
    if ((int)threadIdx.x < sides * 2 * j.dims) {
        typename sap_ordinal<real>::type bound = s->box[threadIdx.x];
        if (bound) atomicMax(&j.boxes[part * 4 * j.dims + threadIdx.x], bound);
    }
}

template <typename real>
static __device__ __forceinline__ void sap_top_clear(const sap_sliding_job<real>& j, sap_top_shared<real>* s) {
    if ((int)threadIdx.x < 4 * j.dims) s->box[threadIdx.x] = 0;
}

// ---- Loading

// Copies a tile of rows into buffer 0 and widens the box of the root, which is the left child of part 0 of level -1.
template <typename real>
static __device__ void sap_top_load(const sap_sliding_job<real>& j, int64_t tile, sap_top_shared<real>* s) {
    const int64_t first = tile * SAP_TILE + threadIdx.x;
    bool good = true;
    sap_top_clear(j, s);
    __syncthreads();
    for (int a = 0; a < j.dims; a++) {
        real* column = sap_column(j, 0, a);
        real lower = (real)INFINITY, upper = -(real)INFINITY;
        SAP_UNROLL
        for (int item = 0; item < SAP_TOP_ITEMS; item++) {
            int64_t i = first + item * SAP_TOP_THREADS;
            if (i >= j.count) continue;
            int64_t row = j.keep ? (int64_t)j.keep[i] : i;
            real x = j.rows[row * j.stride + a] + (real)0; // minus zero becomes zero
            column[i] = x;
            lower = x < lower ? x : lower;
            upper = x > upper ? x : upper;
            good = good && x >= -j.largest && x <= j.largest;
        }
        sap_top_widen(&s->box[2 * a], lower, upper);
    }
    SAP_UNROLL
    for (int item = 0; item < SAP_TOP_ITEMS; item++) {
        int64_t i = first + item * SAP_TOP_THREADS;
        if (i < j.count) j.ids[i] = j.keep ? j.keep[i] : (int32_t)i;
    }
    if (!good) j.state->bad = 1;
    sap_top_publish(j, s, j.parts, 1);
}

// The part above the root, and the root, whose children it has.
template <typename real> static __device__ void sap_top_begin(const sap_sliding_job<real>& j) {
    sap_sliding_part above = {};
    above.node = -1;
    above.count = above.left_count = j.count;
    j.part[j.parts] = above;
    j.state->listed[1] = 1ull << 32;
}

// ---- Planes

// Adds one entry a piece for a leaf, one for a small subtree.
template <typename real>
static __device__ void sap_top_add_bottom(const sap_sliding_job<real>& j, int32_t node, int count, bool leaf,
                                          real lower, real upper) {
    const int lane = sap_lane(), pieces = leaf && count > SAP_PIECE ? (count + SAP_PIECE - 1) / SAP_PIECE : 1;
    unsigned int first = 0, cell = 0;
    if (lane == 0) first = atomicAdd(&j.state->bottoms, (unsigned int)pieces);
    if (lane == 0 && !leaf) cell = atomicAdd(&j.state->small, 1u);
    first = __shfl_sync(SAP_ALL_LANES, first, 0);
    cell = __shfl_sync(SAP_ALL_LANES, cell, 0);
    for (int i = lane; i < pieces; i += SAP_WARP) {
        sap_sliding_bottom entry = {node, i, (int32_t)cell};
        j.bottoms[first + (unsigned int)i] = entry;
    }
    if (leaf || lane >= j.dims) return;
    j.small_cells[((int64_t)cell * j.dims + lane) * 2] = lower;
    j.small_cells[((int64_t)cell * j.dims + lane) * 2 + 1] = upper;
}

// Lists a part for this level, with its tiles; lanes bring its cell and its box.
template <typename real>
static __device__ void sap_top_add_part(const sap_sliding_job<real>& j, int parity, const sap_sliding_part& part,
                                        real split, real lower, real upper, real least, real most) {
    const int lane = sap_lane();
    unsigned long long old = 0;
    if (lane == 0) old = atomicAdd(&j.state->listed[parity], 1ull << 32 | (unsigned long long)(unsigned int)part.tiles);
    old = __shfl_sync(SAP_ALL_LANES, old, 0);
    const int64_t number = (int64_t)(old >> 32), at = parity * j.parts + number;
    const int first_tile = (int)(unsigned int)old;
    SAP_ASSERT(number < j.parts);
    for (int i = lane; i < part.tiles; i += SAP_WARP) j.tile_part[first_tile + i] = (int32_t)number;
    for (int i = lane; j.vvh && i < j.dims * SAP_VVH_PARTS; i += SAP_WARP)
        j.below[number * j.dims * SAP_VVH_PARTS + i] = 0;
    if (lane < j.dims) {
        j.cells[(at * j.dims + lane) * 2] = lower;
        j.cells[(at * j.dims + lane) * 2 + 1] = upper;
        for (int side = 0; side < 2; side++) { // points that stay where they are are all equal
            typename sap_ordinal<real>::type* box = j.boxes + ((at * 2 + side) * j.dims + lane) * 2;
            box[0] = part.tiles ? 0 : (typename sap_ordinal<real>::type) ~sap_ordinal_of(least);
            box[1] = part.tiles ? 0 : sap_ordinal_of(most);
        }
    }
    if (lane != 0) return;
    j.part[at] = part;
    j.part[at].first_tile = first_tile;
    j.planes[at * j.dims] = split;
    if (part.by_rank) j.ranked[atomicAdd(&j.state->ranked[parity], 1u)] = (int32_t)number;
}

// Where a child's points are once its parent's have been moved.
static __device__ __forceinline__ sap_sliding_part sap_top_child(const sap_sliding_part& parent, bool right) {
    sap_sliding_part child = {};
    SAP_ASSERT(parent.left_count >= 0 && parent.left_count <= parent.count);
    bool behind = right != (parent.components == 0 && parent.reversed);
    child.count = right ? parent.count - parent.left_count : parent.left_count;
    child.begin = behind ? parent.begin + (parent.count - child.count) : parent.begin;
    child.depth = parent.node < 0 ? 0 : parent.depth + 1;
    child.node = parent.children + (right ? 1 : 0);
    child.buffer = (int8_t)(parent.components == 0 ? parent.buffer : parent.buffer ^ 1);
    child.reversed = parent.components == 0 ? parent.reversed : right;
    return child;
}

// Decides what becomes of a child of the level before, and writes its node.
template <typename real>
static __device__ void sap_top_plan(const sap_sliding_job<real>& j, int parity, int64_t parent_at, bool right) {
    const int lane = sap_lane();
    const sap_sliding_part parent = j.part[parent_at];
    sap_sliding_part child = sap_top_child(parent, right);
    if (parent.node < 0 && right) return;
    real lower = 0, upper = 0, least = 0, most = 0, side = 0;
    if (lane < j.dims && child.count > 0) {
        const typename sap_ordinal<real>::type* box = j.boxes + ((parent_at * 2 + right) * j.dims + lane) * 2;
        least = sap_real_of((typename sap_ordinal<real>::type) ~box[0]);
        most = sap_real_of(box[1]);
        const bool tight = parent.node < 0 || j.vvh;
        lower = tight ? least : j.cells[(parent_at * j.dims + lane) * 2];
        upper = tight ? most : j.cells[(parent_at * j.dims + lane) * 2 + 1];
        if (!tight && parent.components != 0 && lane == parent.axis)
            (right ? lower : upper) = j.planes[parent_at * j.dims];
        side = least == most ? 0 : sap_sliding_side(lower, upper);
    }
    SAP_ASSERT(child.depth <= SAP_MAX_DEPTH);
    sap_sliding_node node = {};
    bool leaf = child.count <= j.leaf_size, small = !leaf && child.count <= j.small;
    real split = 0;
    if (!leaf && !small) {
        child.axis = sap_sliding_longest(j, child.depth, side);
        child.tiles = (int)(((int64_t)child.count + SAP_TILE - 1) / SAP_TILE);
        if (child.axis < 0) {
            child.axis = child.tiles = 0;
            child.left_count = child.count / 2;
            split = __shfl_sync(SAP_ALL_LANES, least, 0);
            leaf = child.count <= SAP_LEAF_MAX_EQUAL;
        } else if (child.depth >= j.halving_depth) {
            child.by_rank = true;
        } else {
            child.components = 1; // of the sliding rule's plane; sap_top_choose puts another in its place
            real middle = sap_sliding_centre(lower, upper);
            split = __shfl_sync(SAP_ALL_LANES, sap_sliding_moved(middle, least, most), child.axis);
        }
    }
    if (lane == 0 && !leaf && !small) node.children = child.children = 1 + (int32_t)atomicAdd(&j.state->nodes, 2u);
    child.children = __shfl_sync(SAP_ALL_LANES, child.children, 0);
    if (leaf || small)
        sap_top_add_bottom(j, child.node, child.count, leaf, lower, upper);
    else
        sap_top_add_part(j, parity, child, split, lower, upper, least, most);
    if (lane != 0) return;
    node.split = (double)split;
    node.parent = parent.node;
    node.begin = child.begin;
    node.count = child.count;
    node.depth = child.depth;
    node.axis = child.axis;
    node.least = INT32_MAX;
    if (child.count > 0)
        node.least = j.ids[child.buffer * j.pitch + sap_rank_of(child.begin, child.count, child.reversed, 0)];
    node.leaf = leaf;
    node.reversed = child.reversed;
    node.buffer = child.buffer;
    j.nodes[child.node] = node;
}

#endif
