// The bottom of a sliding-midpoint tree: one warp walks a small subtree in preorder. The points' coordinates lie in
// shared memory; what a division moves are 16-bit references to them, in two lists, as in build_cuda.cuh.
//
// Each lane holds the cell's side along one axis. Going down changes one side, and coming back restores it; with the voxel
// volume heuristic each node sets it to the tight box of its points. Sides along
// which the points of a node are equal count as zero from that node down: a lane remembers from which depth.
#ifndef SAPWOOD_TREE_SLIDING_SUBTREE_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_SUBTREE_CUDA_CUH

#include "tree/sliding/build_cuda.cuh"

// A node above the current one.
template <typename real> struct sap_small_step {
    real split, lower, upper;    // the side that is divided
    int32_t node;                // counted from the subtree's root
    uint16_t begin, left, count; // references
    uint8_t axis;
    bool buffer, reversed, right; // its own list and order; whether the walk is in its right child
};

// A node of a subtree, and the walk's place.
template <typename real> struct sap_small_walk {
    real* coords;       // axis a at coords + a * small
    uint16_t* lists[2]; // of references
    sap_small_step<real>* steps;
    int height;
    int begin, count, depth;
    bool buffer, reversed;
    real lower, upper; // this lane's side
    int flat;          // the depth from which on the points are equal along this lane's axis
};

static inline __host__ __device__ size_t sap_small_bytes(int dims, int small, int real_bytes) {
    size_t step = real_bytes == 8 ? sizeof(sap_small_step<double>) : sizeof(sap_small_step<float>);
    return (size_t)small * ((size_t)(dims * real_bytes) + 4) + SAP_MAX_DEPTH * step;
}

template <typename real>
static __device__ __forceinline__ const uint16_t* sap_small_list(const sap_small_walk<real>& w) {
    return w.buffer ? w.lists[1] : w.lists[0];
}
template <typename real>
static __device__ __forceinline__ uint16_t* sap_small_other_list(const sap_small_walk<real>& w) {
    return w.buffer ? w.lists[0] : w.lists[1];
}
// The i-th point of the current node.
template <typename real> static __device__ __forceinline__ int sap_small_point(const sap_small_walk<real>& w, int i) {
    return sap_small_list(w)[sap_rank_of(w.begin, w.count, w.reversed, i)];
}

// Whether point `at` comes before a plane of `components` (see sap_sliding_part): the first is `bound`, and lane c
// holds component c. By the whole warp.
template <typename real>
static __device__ __forceinline__ bool sap_small_left(const sap_sliding_job<real>& j, const sap_small_walk<real>& w,
                                                      int at, int axis, int components, real bound, real plane,
                                                      int id) {
    real x = w.coords[axis * j.small + at];
    bool left = x < bound, tied = x == bound;
    for (int c = 1; c < components && c < j.dims; c++) {
        x = w.coords[(axis + c) % j.dims * j.small + at];
        bound = __shfl_sync(SAP_ALL_LANES, plane, c);
        left = left || (tied && x < bound);
        tied = tied && x == bound;
    }
    // References ascend with the ids.
    return left || (components > j.dims && tied && at < id);
}

// Moves references to their sides; how many go left.
template <typename real>
static __device__ int sap_small_divide(const sap_sliding_job<real>& j, const sap_small_walk<real>& w, int axis,
                                       int components, real plane, int id) {
    uint16_t* to = sap_small_other_list(w);
    const real bound = __shfl_sync(SAP_ALL_LANES, plane, 0);
    int left = 0;
    for (int base = 0; base < w.count; base += SAP_WARP) {
        const int i = base + sap_lane();
        const bool here = i < w.count;
        const int at = here ? sap_small_point(w, i) : sap_small_point(w, 0);
        const bool goes = sap_small_left(j, w, at, axis, components, bound, plane, id) && here;
        const unsigned int mask = __ballot_sync(SAP_ALL_LANES, goes);
        const int rank = left + __popc(mask & sap_lanes_below());
        if (here) to[goes ? w.begin + rank : w.begin + w.count - 1 - (i - rank)] = (uint16_t)at;
        left += __popc(mask);
    }
    __syncwarp();
    SAP_ASSERT(left <= w.count);
    return left;
}

// The tight box; each lane gets its axis.
template <typename real>
static __device__ void sap_small_extent(const sap_sliding_job<real>& j, const sap_small_walk<real>& w, real* least,
                                        real* most) {
    typedef typename sap_ordinal<real>::type ordinal;
    for (int a = 0; a < j.dims; a++) {
        real lower = (real)INFINITY, upper = -(real)INFINITY;
        for (int i = sap_lane(); i < w.count; i += SAP_WARP) {
            real x = w.coords[a * j.small + sap_small_point(w, i)];
            lower = x < lower ? x : lower;
            upper = x > upper ? x : upper;
        }
        ordinal low = sap_warp_min(sap_ordinal_of(lower)), high = sap_warp_max(sap_ordinal_of(upper));
        if (sap_lane() != a) continue;
        *least = sap_real_of(low);
        *most = sap_real_of(high);
    }
}

// The coordinate of rank `rank` among `count` candidates, bit by bit.
template <typename real>
static __device__ real sap_small_select(const sap_small_walk<real>& w, const real* column, const uint16_t* tied,
                                        int count, int rank) {
    typedef typename sap_ordinal<real>::type ordinal;
    SAP_ASSERT(rank >= 0 && rank < count);
    ordinal value = 0;
    for (int shift = (int)sizeof(ordinal) * 8 - 1; shift >= 0; shift--) {
        int zeros = 0;
        for (int base = 0; base < count; base += SAP_WARP) {
            const int i = base + sap_lane();
            bool zero = false;
            if (i < count)
                zero = sap_ordinal_of(column[tied ? tied[i] : sap_small_point(w, i)]) >> shift == value >> shift;
            zeros += __popc(__ballot_sync(SAP_ALL_LANES, zero));
        }
        if (rank < zeros) continue;
        rank -= zeros;
        value |= (ordinal)1 << shift;
    }
    return sap_real_of(value);
}

// Keeps the candidates that have `value`, in the node's other list; how many have less goes to `less`.
template <typename real>
static __device__ int sap_small_ties(const sap_small_walk<real>& w, const real* column, real value, bool listed,
                                     int count, int* less) {
    uint16_t* tied = sap_small_other_list(w) + w.begin;
    int kept = 0;
    *less = 0;
    for (int base = 0; base < count; base += SAP_WARP) {
        const int i = base + sap_lane();
        const bool here = i < count;
        const int at = !here ? 0 : listed ? tied[i] : sap_small_point(w, i);
        const real x = column[at];
        *less += __popc(__ballot_sync(SAP_ALL_LANES, here && x < value));
        const unsigned int equal = __ballot_sync(SAP_ALL_LANES, here && x == value);
        if (here && x == value) tied[kept + __popc(equal & sap_lanes_below())] = (uint16_t)at;
        kept += __popc(equal);
    }
    __syncwarp();
    return kept;
}

// The median in the total order: lane c gets component c. How many components tell the halves apart.
template <typename real>
static __device__ int sap_small_median(const sap_sliding_job<real>& j, const sap_small_walk<real>& w, int axis,
                                       real* plane, int* id) {
    const uint16_t* tied = sap_small_other_list(w) + w.begin;
    int rank = w.count / 2, count = w.count;
    for (int c = 0; c < j.dims; c++) {
        const real* column = w.coords + (axis + c) % j.dims * j.small;
        real value = sap_small_select(w, column, c ? tied : NULL, count, rank);
        int less;
        count = sap_small_ties(w, column, value, c > 0, count, &less);
        if (sap_lane() == c) *plane = value;
        rank -= less;
        if (rank == 0) return c + 1;
    }
    SAP_ASSERT(rank < count);
    *id = tied[rank];
    __syncwarp();
    return j.dims + 1;
}

// The plane of the voxel volume heuristic in the node's tight box, whose widest side is along *axis; changes the axis.
template <typename real>
static __device__ real sap_small_choose(const sap_sliding_job<real>& j, const sap_small_walk<real>& w, int* axis) {
    sap_vvh_best<real> best = {-1, 0, -1};
    for (int a = 0; a < j.dims; a++) {
        const real lower = __shfl_sync(SAP_ALL_LANES, w.lower, a), upper = __shfl_sync(SAP_ALL_LANES, w.upper, a);
        if (!(lower < upper) || (j.cycle && a != *axis)) continue;
        const real plane = sap_vvh_plane(lower, upper, sap_lane());
        unsigned int below = 0;
        for (int base = 0; base < w.count; base += SAP_WARP) {
            const int i = base + sap_lane();
            const real x = i < w.count ? w.coords[a * j.small + sap_small_point(w, i)] : (real)INFINITY;
            below += sap_vvh_below(x, plane);
        }
        sap_vvh_consider(&best, j.radius, a, lower, upper, plane, below, w.count);
    }
    *axis = best.axis;
    return best.plane;
}

// Divides the current node into step `height`; false if it is a leaf, as its points are equal.
template <typename real>
static __device__ bool sap_small_split(const sap_sliding_job<real>& j, sap_small_walk<real>& w) {
    const bool by_rank = w.depth >= j.halving_depth;
    int axis = -1, left = 0;
    real side = 0, plane = 0;
    if (!j.vvh) {
        side = w.flat <= w.depth ? 0 : sap_sliding_side(w.lower, w.upper);
        axis = sap_sliding_longest(j, w.depth, side);
        if (axis < 0) return false;
        plane = __shfl_sync(SAP_ALL_LANES, sap_sliding_centre(w.lower, w.upper), axis);
        if (!by_rank) left = sap_small_divide(j, w, axis, 1, plane, 0);
    }
    if (left == 0 || left == w.count) {
        real least = 0, most = 0;
        sap_small_extent(j, w, &least, &most);
        if (j.vvh) {
            w.lower = least;
            w.upper = most;
            side = sap_sliding_side(least, most);
        }
        if (least == most && w.flat > w.depth) w.flat = w.depth;
        if (w.flat <= w.depth) side = 0;
        axis = sap_sliding_longest(j, w.depth, side);
        if (axis < 0) return false;
        plane = sap_sliding_moved(sap_sliding_centre(w.lower, w.upper), least, most);
        plane = __shfl_sync(SAP_ALL_LANES, plane, axis);
        if (j.vvh && !by_rank) plane = sap_small_choose(j, w, &axis);
        int id = 0, components = by_rank ? sap_small_median(j, w, axis, &plane, &id) : 1;
        left = sap_small_divide(j, w, axis, components, plane, id);
        plane = __shfl_sync(SAP_ALL_LANES, plane, 0);
    }
    SAP_ASSERT(w.height < SAP_MAX_DEPTH && left > 0 && left < w.count);
    sap_small_step<real>* step = &w.steps[w.height];
    if (sap_lane() == axis) {
        step->lower = w.lower;
        step->upper = w.upper;
        step->split = plane;
        step->axis = (uint8_t)axis;
        step->begin = (uint16_t)w.begin;
        step->left = (uint16_t)left;
        step->count = (uint16_t)w.count;
        step->buffer = w.buffer;
        step->reversed = w.reversed;
        step->right = false;
    }
    __syncwarp();
    return true;
}

// Goes to a child of the topmost step.
template <typename real> static __device__ void sap_small_enter(sap_small_walk<real>& w, bool right) {
    SAP_ASSERT(w.height > 0);
    const sap_small_step<real>* step = &w.steps[w.height - 1];
    w.begin = right ? step->begin + step->left : step->begin;
    w.count = right ? step->count - step->left : step->left;
    w.buffer = !step->buffer;
    w.reversed = right;
    if (sap_lane() != step->axis) return;
    w.lower = right ? step->split : step->lower;
    w.upper = right ? step->upper : step->split;
}

// Goes from a leaf to the next node: the right child of the lowest step whose left one is done. False at the end.
template <typename real> static __device__ bool sap_small_next(sap_small_walk<real>& w) {
    while (w.height > 0) {
        sap_small_step<real>* step = &w.steps[w.height - 1];
        const bool done = step->right;
        if (!done) {
            if (w.flat >= w.depth) w.flat = INT32_MAX;
            sap_small_enter(w, true);
            __syncwarp();
            if (sap_lane() == 0) step->right = true;
            __syncwarp();
            return true;
        }
        if (sap_lane() == step->axis) w.lower = step->lower;
        w.height--;
        w.depth--;
    }
    return false;
}

// Loads a subtree's points in the order of their ids, and its cell.
template <typename real>
static __device__ sap_small_walk<real> sap_small_begin(const sap_sliding_job<real>& j, const sap_sliding_node& root,
                                                       int32_t cell, unsigned char* memory) {
    const int lane = sap_lane();
    sap_small_walk<real> w = {};
    w.steps = (sap_small_step<real>*)(void*)memory;
    w.coords = (real*)(void*)(w.steps + SAP_MAX_DEPTH);
    w.lists[0] = (uint16_t*)(void*)(w.coords + j.dims * j.small);
    w.lists[1] = w.lists[0] + j.small;
    SAP_ASSERT(root.count <= j.small);
    w.count = root.count;
    w.depth = root.depth;
    w.flat = INT32_MAX;
    if (lane < j.dims) {
        w.lower = j.small_cells[((int64_t)cell * j.dims + lane) * 2];
        w.upper = j.small_cells[((int64_t)cell * j.dims + lane) * 2 + 1];
    }
    for (int a = 0; a < j.dims; a++) {
        const real* column = sap_column(j, root.buffer, a);
        for (int i = lane; i < w.count; i += SAP_WARP)
            w.coords[a * j.small + i] = column[sap_rank_of(root.begin, root.count, root.reversed, i)];
    }
    for (int i = lane; i < w.count; i += SAP_WARP) w.lists[0][i] = (uint16_t)i;
    __syncwarp();
    return w;
}

#endif
