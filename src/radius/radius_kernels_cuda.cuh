// The radius walk on the GPU. A warp takes up to 32 queries through the tree together, with one stack of nodes and of
// the queries that reach each: there each lane is a query, and all test the same box. In a leaf each lane is a point:
// for one query after the other that reaches the leaf, 32 points are tested at once. Points are read in whole lines of
// memory. Hits are numbered by a vote, so they are written side by side, in the tree's own order.
//
// Queries that lie close together share nodes and leaves. If they do not, a node is visited for one query alone, which
// takes some five times as many instructions for each query. Leaves cost the same either way, because only the queries
// that reach one are tested there.
#ifndef SAPWOOD_RADIUS_RADIUS_KERNELS_CUDA_CUH
#define SAPWOOD_RADIUS_RADIUS_KERNELS_CUDA_CUH

#include "radius/balls_cuda.cuh"

enum { SAP_RADIUS_WARPS = 4, SAP_RADIUS_THREADS = SAP_RADIUS_WARPS * SAP_WARP };

// Behind it lie the stacks of the block's warps, with as many places each as the tree has levels.
template <typename real, int dims, int measure> struct sap_radius_shared {
    sap_radius_vector<real, sap_radius_sizes<real, dims, measure>::query * SAP_WARP> queries[SAP_RADIUS_WARPS];
    int64_t start[SAP_RADIUS_WARPS][SAP_WARP]; // where each query's row begins
};

// ---- The walk

// Those of the queries in `mask` that reach a node. When counting, a query that holds the node's whole box takes the
// number of points below it and need not go there.
template <typename real, int dims, bool collect, int measure>
static __device__ __forceinline__ uint32_t sap_radius_queries_near(sap_radius_walk<real, dims, measure>& walk,
                                                                   const sap_tree& tree, const sap_radius_pass& pass,
                                                                   sap_radius_reach reach, uint32_t node, uint32_t end,
                                                                   uint32_t mask) {
    const bool asks = mask >> walk.lane & 1;
    uint32_t near = __ballot_sync(SAP_ALL_LANES, asks && reach.reaches);
    if (collect || pass.self || !near || sap_radius_has_mask(walk)) return near;
    const uint32_t inside = __ballot_sync(SAP_ALL_LANES, asks && reach.reaches && reach.holds);
    if (!inside) return near;
    const int below = sap_radius_below<real>(tree, node, end, walk.lane);
    SAP_ASSERT(below >= 0 && below <= tree.shape.count);
    if (inside >> walk.lane & 1) walk.found += below;
    return near & ~inside;
}

template <typename real, int dims, bool collect, int measure>
static __device__ __forceinline__ void sap_radius_scan(sap_radius_walk<real, dims, measure>& walk, const sap_tree& tree,
                                                       const sap_radius_pass& pass, const sap_radius_leaf& leaf,
                                                       uint32_t mask) {
    const int axes = dims ? dims : tree.shape.dims;
    const size_t block_bytes = (size_t)leaf.stride * ((size_t)axes * sizeof(real) + sizeof(int32_t));
    const unsigned char* block = leaf.block + (size_t)leaf.share * block_bytes;
    const bool has_mask = sap_radius_has_mask(walk);
    for (int from = 0; from < leaf.slots; from += SAP_WARP) {
        const bool is_slot = from + walk.lane < leaf.slots;
        const int slot = is_slot ? from + walk.lane - leaf.share * leaf.stride : 0;
        const real* coords = (const real*)(const void*)(is_slot ? block : leaf.block) + slot;
        const int32_t* ids = (const int32_t*)(const void*)(coords - slot + axes * leaf.stride) + slot;
        const int id = is_slot && (collect || pass.self || has_mask) ? *ids : -1;
        bool is_kept = is_slot;
        if constexpr (measure >= 0) is_kept = is_slot && (!has_mask || (id >= 0 && sap_told_keeps(*walk.more, id)));
        real kept[sap_radius_sizes<real, dims, measure>::point];
        SAP_UNROLL
        for (int axis = 0; axis < dims; axis++) kept[axis] = coords[axis * leaf.stride];
        for (uint32_t left = mask; left; left &= left - 1) {
            const int number = __ffs((int)left) - 1;
            real distance2 = 0;
            bool hits = sap_radius_hits(walk, number, kept, coords, leaf.stride, axes, &distance2) && is_kept;
            if (measure != SAP_RADIUS_BOX && pass.self) {
                const int after = __shfl_sync(SAP_ALL_LANES, walk.after, number);
                hits = hits && id > after;
            }
            const uint32_t votes = __ballot_sync(SAP_ALL_LANES, hits);
            if (collect && votes) {
                const int before = __shfl_sync(SAP_ALL_LANES, walk.found, number);
                const int64_t at = walk.start[number] + before + __popc(votes & ((1u << walk.lane) - 1));
                SAP_ASSERT(!hits || at < pass.offsets[pass.all_rows]);
                if (hits && at < pass.room) {
                    pass.ids[at] = id;
                    if (measure != SAP_RADIUS_BOX && pass.distance2) ((real*)pass.distance2)[at] = distance2;
                }
            }
            if (walk.lane == number) walk.found += __popc(votes);
        }
    }
}

// Takes the queries in `mask` through the tree, the lower child always first.
template <typename real, int dims, bool collect, int measure>
static __device__ __forceinline__ void sap_radius_traverse(sap_radius_walk<real, dims, measure>& walk,
                                                           const sap_tree& tree, const sap_radius_pass& pass,
                                                           uint32_t mask) {
    uint32_t node = tree.shape.kind == SAP_TREE_BALANCED ? 1 : 0, end = (uint32_t)tree.shape.nodes;
    const int axes = dims ? dims : tree.shape.dims;
    int waiting = 0;
    if (mask) {
        const sap_radius_reach root = sap_radius_reach_of(walk, pass, node, axes);
        mask = sap_radius_queries_near<real, dims, collect>(walk, tree, pass, root, node, end, mask);
    }
    while (mask) {
        const sap_radius_node at = sap_radius_node_at<real>(tree, pass, node, walk.share, axes);
        uint32_t lower = 0, upper = 0;
        if (at.is_leaf) {
            sap_radius_scan<real, dims, collect>(walk, tree, pass, at.leaf, mask);
        } else { // both boxes are loaded before either is used
            const sap_radius_reach below = sap_radius_reach_of(walk, pass, at.lower, axes);
            const sap_radius_reach above = sap_radius_reach_of(walk, pass, at.upper, axes);
            lower = sap_radius_queries_near<real, dims, collect>(walk, tree, pass, below, at.lower, at.upper, mask);
            upper = sap_radius_queries_near<real, dims, collect>(walk, tree, pass, above, at.upper, end, mask);
        }
        node = lower ? at.lower : at.upper;
        if (lower && upper) {
            const sap_radius_waiting later = {at.upper, end, upper, 0};
            SAP_ASSERT(waiting < tree.shape.depth);
            if (walk.lane == 0) walk.stack[waiting] = later;
            waiting++;
            __syncwarp();
        }
        if (lower) end = at.upper;
        mask = lower ? lower : upper;
        if (!mask && waiting > 0) {
            const sap_radius_waiting next = walk.stack[--waiting];
            node = next.node;
            end = next.end;
            mask = next.mask;
            __syncwarp();
        }
    }
}

// For queries that do not go around: without periods, which is faster.
template <typename real, int dims, bool collect, int measure>
static __device__ __forceinline__ void sap_radius_traverse_inside(sap_radius_walk<real, dims, measure>& walk,
                                                                  const sap_tree& tree, const sap_radius_pass& pass,
                                                                  uint32_t mask) {
    if constexpr (measure == SAP_CUDA_AROUND) {
        sap_radius_walk<real, dims, SAP_CUDA_L2> inside;
        static_assert(sizeof inside == sizeof walk, "the walks differ in what they measure alone");
        memcpy(&inside, &walk, sizeof inside);
        sap_radius_traverse<real, dims, collect>(inside, tree, pass, mask);
        walk.found = inside.found;
    }
}

// ---- The kernel
// All parameters are __grid_constant__: if one alone is, nvcc copies the others, byte by byte.
template <typename real, int dims, bool collect, int measure>
static __global__ void __launch_bounds__(SAP_RADIUS_THREADS)
    sap_radius_kernel(const __grid_constant__ sap_tree tree, const __grid_constant__ sap_radius_pass pass,
                      const __grid_constant__ typename sap_radius_more<real, measure>::type more) {
    typedef sap_radius_shared<real, dims, measure> all_shared;
    SAP_CUDA_SHARED(all_shared, shared);
    const int warp = (int)threadIdx.x / SAP_WARP, lane = (int)threadIdx.x % SAP_WARP;
    const int64_t first = ((int64_t)blockIdx.x * SAP_RADIUS_WARPS + warp) * pass.share, number = first + lane;
    const bool is_given = lane < pass.share && number < pass.count, is_bad = *pass.bad != INT64_MAX;
    if (is_bad && pass.self) return; // the ids may be wrong
    if (collect && !pass.cut && pass.offsets[pass.all_rows] > pass.room) return;
    sap_radius_walk<real, dims, measure> walk;
    real* room = shared->queries[warp].at;
    walk.more = &more;
    walk.queries = room;
    walk.start = shared->start[warp];
    walk.stack = (sap_radius_waiting*)(void*)(shared + 1) + warp * tree.shape.depth;
    walk.limit2 = (real)pass.limit2;
    walk.lane = lane;
    walk.share = pass.merged ? lane / tree.shape.stride : 0;
    walk.found = 0;
    SAP_ASSERT(pass.share >= 1 && pass.share <= SAP_WARP);
    const int64_t row = !is_given ? -1 : pass.rows ? pass.rows[number] : number;
    const bool is_mine = row >= 0;
    walk.after = pass.self ? (int)row : -1;
    bool asks = false;
    SAP_UNROLL
    for (int i = 0; i < (dims ? sap_radius_sizes<real, dims, measure>::own : 0); i++) walk.own[i] = 0;
    if (is_mine) {
        real* mine = room + lane * sap_radius_sizes<real, dims, measure>::query;
        const int64_t at = pass.by_row ? row : number;
        if constexpr (measure == SAP_RADIUS_BOX)
            asks = sap_radius_load_box(walk, pass, mine, at, row, tree.shape.dims);
        else
            asks = sap_radius_load(walk, pass, mine, at, tree.shape.dims);
    }
    if constexpr (measure >= 0) {
        if (is_mine && more.limits) walk.limit2 = more.limits[row];
        asks = asks && walk.limit2 >= 0;
    }
    if (collect && is_mine) {
        shared->start[warp][lane] = pass.offsets[row];
        asks = asks && pass.offsets[row + 1] > pass.offsets[row] && pass.offsets[row] < pass.room;
    }
    __syncwarp();
    const uint32_t mask = __ballot_sync(SAP_ALL_LANES, asks && !is_bad);
    if (measure == SAP_CUDA_AROUND && !__any_sync(SAP_ALL_LANES, asks && sap_radius_goes_around(walk, tree.shape.dims)))
        sap_radius_traverse_inside<real, dims, collect>(walk, tree, pass, mask);
    else
        sap_radius_traverse<real, dims, collect>(walk, tree, pass, mask);
    if (!collect && is_mine) pass.counts[row] = walk.found;
}

// ---- Launches

// Queries a warp: few are spread over the whole GPU, at least 16 warps a multiprocessor. And how many levels of leaves
// are scanned as one.
static inline void sap_radius_spread(const sap_cuda_call* call, const sap_tree_shape* shape, sap_radius_pass* pass) {
    const int64_t share = pass->count / (16 * (int64_t)call->cuda->multiprocessors);
    pass->share = share < 1 ? 1 : share > SAP_WARP ? SAP_WARP : (int32_t)share;
    pass->merged = 0;
    while (shape->kind == SAP_TREE_BALANCED && pass->merged < shape->depth &&
           shape->stride << (pass->merged + 1) <= SAP_WARP)
        pass->merged++;
}

template <typename real, int dims, int measure>
static void sap_radius_launch(sap_cuda_call* call, const sap_tree* tree, const sap_radius_pass& pass,
                              const typename sap_radius_more<real, measure>::type& more, bool collect) {
    sap_cuda_grid grid = sap_cuda_grid_for(pass.count, SAP_RADIUS_WARPS * pass.share);
    grid.threads = SAP_RADIUS_THREADS;
    grid.shared = sizeof(sap_radius_shared<real, dims, measure>) +
                  sizeof(sap_radius_waiting) * SAP_RADIUS_WARPS * (size_t)tree->shape.depth;
    SAP_ASSERT(!collect || pass.offsets);
    sap_cuda_launch(
        call, collect ? sap_radius_kernel<real, dims, true, measure> : sap_radius_kernel<real, dims, false, measure>,
        grid, *tree, pass, more);
}

#endif