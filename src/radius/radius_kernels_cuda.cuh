// The radius walk on the GPU. A warp takes up to 32 queries through the tree together, with one stack of nodes and of
// the queries that reach each: there each lane is a query, and all test the same box. In a leaf each lane is a point:
// for one query after the other that reaches the leaf, 32 points are tested at once. Points are read in whole lines of
// memory. Hits are numbered by a vote, so they are written side by side, in the tree's own order.
//
// Queries that lie close together share nodes and leaves. If they do not, a node is visited for one query alone, which
// takes some five times as many instructions for each query. Leaves cost the same either way, because only the queries
// that reach one are tested there.
//
// Bounds are from tight boxes, not from cells. They hold for distances as they are computed: see math/distance.h.
//
// A query is a ball by some measure (tree/told_cuda.cuh), or a box: its lower corner, then its upper one.
#ifndef SAPWOOD_RADIUS_RADIUS_KERNELS_CUDA_CUH
#define SAPWOOD_RADIUS_RADIUS_KERNELS_CUDA_CUH

#include "base/assert.h"
#include "radius/radius_cuda.h"
#include "tree/explicit/node_cuda.cuh"
#include "tree/told_cuda.cuh"
#include "tree/tree_cuda.h"

enum { SAP_RADIUS_WARPS = 4, SAP_RADIUS_THREADS = SAP_RADIUS_WARPS * SAP_WARP };

// Measures besides those of sap_cuda_measure: squared Euclidean distances where nothing else was told; boxes.
enum { SAP_RADIUS_PLAIN = -1, SAP_RADIUS_BOX = -2 };

// What a measure has to know besides the queries.
typedef struct sap_radius_no_more {
    char unused;
} sap_radius_no_more;
typedef struct sap_radius_corners {
    const void* upper; // real[][stride], by row
    int64_t stride;
    bool around; // where a side's lower end is above its upper one, it leads around the period
} sap_radius_corners;
template <typename real, int measure> struct sap_radius_more { typedef sap_cuda_told<real> type; };
template <typename real> struct sap_radius_more<real, SAP_RADIUS_PLAIN> { typedef sap_radius_no_more type; };
template <typename real> struct sap_radius_more<real, SAP_RADIUS_BOX> { typedef sap_radius_corners type; };

// A node that waits on the stack.
typedef struct __align__(16) sap_radius_waiting {
    uint32_t node;
    uint32_t end;  // explicit trees: the first node behind those below it
    uint32_t mask; // the queries that reach it
    uint32_t unused;
}
sap_radius_waiting;

// Reals that are read 16 bytes at a time.
template <typename real, int reals> struct __align__(16) sap_radius_vector { real at[reals]; };

template <typename real, int dims, int measure> struct sap_radius_sizes {
    static const int unit = 16 / (int)sizeof(real);
    static const int box = (2 * dims + 1 + unit - 1) / unit * unit; // reals of a walk box
    static const int corners = measure == SAP_RADIUS_BOX ? 2 : 1;   // of a query
    // Reals between queries in shared memory. Where the number of dimensions is not known, an odd number, so that the
    // lanes may read one axis at once.
    static const int query = dims ? (corners * dims + unit - 1) / unit * unit : corners * SAP_MAX_DIMS + 1;
    static const int point = dims ? dims : 1;         // reals of a point that a lane keeps in registers
    static const int own = dims ? corners * dims : 1; // and of its query
};

// Behind it lie the stacks of the block's warps, with as many places each as the tree has levels.
template <typename real, int dims, int measure> struct sap_radius_shared {
    sap_radius_vector<real, sap_radius_sizes<real, dims, measure>::query * SAP_WARP> queries[SAP_RADIUS_WARPS];
    int64_t start[SAP_RADIUS_WARPS][SAP_WARP]; // where each query's row begins
};

// A leaf, or leaves side by side that are scanned as one. Lane l looks at slot l - share * stride of block number
// `share` after `block`, and at the slots 32, 64, … further on.
typedef struct sap_radius_leaf {
    const unsigned char* block;
    int stride, slots; // slots in all blocks; those of no point are infinitely far away
    int share;
} sap_radius_leaf;

// The state of a warp's walk. "lane:" marks what differs between lanes.
template <typename real, int dims, int measure> struct sap_radius_walk {
    typedef sap_radius_sizes<real, dims, measure> sizes;
    const typename sap_radius_more<real, measure>::type* more;
    const real* queries; // in shared memory
    const int64_t* start;
    sap_radius_waiting* stack;
    real own[sizes::own]; // lane: its query, if the number of dimensions is known
    real limit2;          // lane: of its query, if the search was told radii
    int lane;             // lane
    int after;            // lane: only ids above this
    int share;            // lane: see sap_radius_leaf
    int found;            // lane: hits of its query so far
};

// ---- Boxes of nodes

// Whether a lane's query reaches a node, and whether it holds all of its points.
typedef struct sap_radius_reach {
    bool reaches, holds;
} sap_radius_reach;

// Whether an interval reaches another, and holds it. One that leads around has its lower end above its upper one.
template <typename real>
static __device__ __forceinline__ void sap_radius_reach_along(real lower, real upper, real least, real most,
                                                              sap_radius_reach* reach) {
    const bool around = lower > upper, below = least <= upper, above = lower <= most;
    const bool from = lower <= least, to = most <= upper;
    reach->reaches = reach->reaches && ((below && above) || (around && (below || above)));
    reach->holds = reach->holds && ((from && to) || (around && (from || to)));
}

template <typename real, int dims, int measure>
static __device__ __forceinline__ sap_radius_reach sap_radius_reach_of(const sap_radius_walk<real, dims, measure>& walk,
                                                                       const sap_radius_pass& pass, uint32_t node,
                                                                       int axes) {
    typedef sap_radius_sizes<real, dims, measure> sizes;
    const void* boxes = pass.boxes;
    sap_radius_vector<real, sizes::box> box;
    if (dims) box = ((const sap_radius_vector<real, sizes::box>*)boxes)[node];
    const real* sides =
        dims ? box.at : (const real*)boxes + (size_t)node * (size_t)sap_walk_box_reals(axes, (int)sizeof(real) * 8);
    const real* query = dims ? walk.own : walk.queries + walk.lane * sizes::query;
    sap_radius_reach reach = {true, true};
    real nearest2 = 0, farthest2 = 0;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : axes); axis++) {
        const real least = sides[2 * axis], most = sides[2 * axis + 1];
        if constexpr (measure == SAP_RADIUS_BOX) {
            sap_radius_reach_along(query[axis], query[(dims ? dims : axes) + axis], least, most, &reach);
            continue;
        }
        const real below = query[axis] - least, above = most - query[axis];
        const real outside = max(-below, -above), across = max(below, above);
        if constexpr (measure >= 0) {
            const real nearest = sap_told_nearest<measure>(*walk.more, axis, outside, across);
            const real farthest = sap_told_farthest<measure>(*walk.more, axis, outside, across);
            nearest2 = axis ? sap_told_join<measure>(*walk.more, nearest2, nearest) : nearest;
            farthest2 = axis ? sap_told_join<measure>(*walk.more, farthest2, farthest) : farthest;
            continue;
        }
        const real aside = max(outside, (real)0);
        nearest2 = axis ? nearest2 + aside * aside : aside * aside;
        farthest2 = axis ? farthest2 + across * across : across * across;
    }
    if (measure != SAP_RADIUS_BOX) {
        reach.reaches = nearest2 <= walk.limit2;
        reach.holds = farthest2 <= walk.limit2;
    }
    return reach;
}

// Whether the search leaves points out whose distance would do.
template <typename real, int dims, int measure>
static __device__ __forceinline__ bool sap_radius_has_mask(const sap_radius_walk<real, dims, measure>& walk) {
    if constexpr (measure >= 0) return walk.more->keep != NULL;
    return false;
}

// How many points lie below a node.
template <typename real>
static __device__ __forceinline__ int sap_radius_below(const sap_tree& tree, uint32_t node, uint32_t end, int lane) {
    const sap_tree_shape& shape = tree.shape;
    if (shape.kind == SAP_TREE_BALANCED) {
        const int below = shape.depth - (31 - __clz((int)node));
        const int64_t first = ((int64_t)node << below) - shape.leaves, last = first + ((int64_t)1 << below);
        return (int)((last * shape.count >> shape.depth) - (first * shape.count >> shape.depth));
    }
    int count = 0;
    for (uint32_t at = node + (uint32_t)lane; at < end; at += SAP_WARP) {
        const uint32_t link = sap_node_at<real>(tree, at).link;
        if (sap_link_is_leaf(link)) count += sap_link_count(link);
    }
    for (int step = SAP_WARP / 2; step; step /= 2) count += __shfl_xor_sync(SAP_ALL_LANES, count, step);
    return count;
}

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

// ---- Leaves

// Whether a query in shared memory finds a lane's point, and how far that is: *distance2, but for boxes.
template <typename real, int dims, int measure>
static __device__ __forceinline__ bool sap_radius_hits(const sap_radius_walk<real, dims, measure>& walk, int number,
                                                       const real* kept, const real* coords, int stride, int axes,
                                                       real* distance2) {
    typedef sap_radius_sizes<real, dims, measure> sizes;
    sap_radius_vector<real, sizes::query> all;
    if (dims) all = ((const sap_radius_vector<real, sizes::query>*)(const void*)walk.queries)[number];
    const real* query = dims ? all.at : walk.queries + number * sizes::query;
    bool inside = true;
    real sum = 0;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : axes); axis++) {
        const real x = dims ? kept[dims ? axis : 0] : coords[axis * stride];
        if constexpr (measure == SAP_RADIUS_BOX) {
            const real lower = query[axis], upper = query[(dims ? dims : axes) + axis];
            const bool from = lower <= x, to = x <= upper, around = lower > upper && x < (real)INFINITY;
            inside = inside && ((from && to) || (around && (from || to)));
        } else if constexpr (measure >= 0) {
            const real term = sap_told_along<measure>(*walk.more, axis, query[axis] - x);
            sum = axis ? sap_told_join<measure>(*walk.more, sum, term) : term;
        } else {
            const real offset = query[axis] - x;
            sum = axis ? sum + offset * offset : offset * offset;
        }
    }
    if (measure == SAP_RADIUS_BOX) return inside;
    *distance2 = sum;
    return sum <= (measure >= 0 ? __shfl_sync(SAP_ALL_LANES, walk.limit2, number) : walk.limit2);
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

// ---- The walk

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

// ---- Periods

// Whether a way around an axis may be within a lane's radius, by squared Euclidean distances.
template <typename real, int dims, int measure>
static __device__ __forceinline__ bool sap_radius_goes_around(const sap_radius_walk<real, dims, measure>& walk,
                                                              int axes) {
    real least = (real)INFINITY;
    if constexpr (measure >= 0) {
        const real* query = dims ? walk.own : walk.queries + walk.lane * sap_radius_sizes<real, dims, measure>::query;
        SAP_UNROLL
        for (int axis = 0; axis < (dims ? dims : axes); axis++)
            least = sap_told_least(least, sap_told_around(*walk.more, axis, query[axis]));
    }
    return least * least <= walk.limit2;
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

// Brings a lane's query into shared memory and its registers. False if it is not finite.
template <typename real, int dims, int measure>
static __device__ __forceinline__ bool sap_radius_load(sap_radius_walk<real, dims, measure>& walk,
                                                       const sap_radius_pass& pass, real* room, int64_t number,
                                                       int axes) {
    const real *query = (const real*)pass.queries + number * pass.stride, most = sizeof(real) == 4 ? FLT_MAX : DBL_MAX;
    bool is_finite = true;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : axes); axis++) {
        const real value = query[axis];
        is_finite = is_finite && value >= -most && value <= most;
        room[axis] = value;
        if (dims) walk.own[dims ? axis : 0] = value;
    }
    return is_finite;
}

// The same for a box. False if it holds nothing. Infinite sides become finite: places of a leaf that hold no point are
// infinitely far.
template <typename real, int dims>
static __device__ __forceinline__ bool sap_radius_load_box(sap_radius_walk<real, dims, SAP_RADIUS_BOX>& walk,
                                                           const sap_radius_pass& pass, real* room, int64_t number,
                                                           int64_t row, int axes) {
    const real most = sizeof(real) == 4 ? FLT_MAX : DBL_MAX;
    const real* lowers = (const real*)pass.queries + number * pass.stride;
    const real* uppers = (const real*)walk.more->upper + row * walk.more->stride;
    bool is_box = true;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : axes); axis++) {
        const real lower = lowers[axis], upper = uppers[axis];
        is_box = is_box && lower <= most && upper >= -most && (lower <= upper || (walk.more->around && lower > upper));
        const real corner[2] = {max(lower, -most), min(upper, most)};
        room[axis] = corner[0];
        room[(dims ? dims : axes) + axis] = corner[1];
        if (dims) walk.own[dims ? axis : 0] = corner[0];
        if (dims) walk.own[dims ? dims + axis : 0] = corner[1];
    }
    return is_box;
}

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
