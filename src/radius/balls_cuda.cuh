// What the radius walk is asked: balls by some measure (tree/told_cuda.cuh), or boxes. Which nodes they reach or hold,
// and which points they find.
//
// Bounds are from tight boxes, not from cells. They hold for distances as they are computed: see math/distance.h.
#ifndef SAPWOOD_RADIUS_BALLS_CUDA_CUH
#define SAPWOOD_RADIUS_BALLS_CUDA_CUH

#include "radius/nodes_cuda.cuh"
#include "tree/told_cuda.cuh"
#include "tree/tree_cuda.h"

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

// ---- Loading

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

// ---- Nodes

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

// ---- Points

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

#endif
