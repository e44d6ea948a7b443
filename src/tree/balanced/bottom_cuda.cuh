// Subtrees whose points fit into shared memory: one block builds each, down to the leaves.
//
// A level that the block splits together has so few nodes that each gets the same number of warps, and each warp an
// equal part of its node's points: the node of a point follows from its place. A histogram over the node's extent
// narrows the candidates for the median to a warp of points, which are ranked in the total order. Nodes of at most
// WARP_POINTS points, each with everything below it, then belong to one warp, which waits for no other warp
// (warp_cuda.cuh).
#ifndef SAPWOOD_TREE_BALANCED_BOTTOM_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_BOTTOM_CUDA_CUH

#include "tree/balanced/median_cuda.cuh"

enum {
    BOTTOM_THREADS = 512,
    BOTTOM_WARPS = BOTTOM_THREADS / SAP_WARP,
    WARP_ITEMS = 8, // points a lane, at most
    WARP_POINTS = SAP_WARP * WARP_ITEMS,
    BOTTOM_POINTS = BOTTOM_WARPS * WARP_POINTS,
    BOTTOM_NODES = BOTTOM_WARPS / 2, // nodes of a level that the block splits together, at most
    BOTTOM_BINS = 512                // of a node's histogram
};

// A node that the block splits.
template <typename real> struct bottom_node {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    sap_median<real> median;
    int start, middle, end;
    int found, min_id;        // found: candidates that are listed
    real pivot[SAP_MAX_DIMS]; // the median, from its axis on
    int pivot_id;
    int list[SAP_WARP]; // the candidates' places
};

// Shared memory: this, then ids[capacity], then real coords[dims][capacity].
template <typename real> struct bottom_shared {
    bottom_node<real> node[BOTTOM_NODES];
    int bins[BOTTOM_NODES * BOTTOM_BINS];
    int smaller[BOTTOM_WARPS]; // points of each warp that go left
    int unfinished;
};

template <typename real> static __host__ __device__ inline size_t bottom_bytes(int dims, int capacity) {
    return (sizeof(bottom_shared<real>) + 15) / 16 * 16 +
           (size_t)capacity * (sizeof(int32_t) + (size_t)dims * sizeof(real));
}

// A block's points and its subtree. dims 0: known at run time only.
template <typename real, int dims> struct bottom_block {
    const sap_cuda_build* build;
    bottom_shared<real>* shared;
    int32_t* ids;
    real* coords;
    int capacity, count; // columns are `capacity` long
    int64_t first;       // rank of the first point in the whole tree
    int64_t root;        // number of the subtree among those of its depth
    __device__ __forceinline__ int axes() const { return dims ? dims : build->dims; }
    __device__ __forceinline__ real* column(int axis) const { return coords + axis * capacity; }
};

// Points [start, end) of the block, by their places in its arrays.
typedef struct warp_range {
    int start, end;
} warp_range;

// First place of node `index` of the level `level` below the subtree's root.
template <typename real, int dims>
static __device__ __forceinline__ int local_rank(const bottom_block<real, dims>& k, int level, int index) {
    return (int)(sap_rank(*k.build, k.build->top + level, (k.root << level) + index) - k.first);
}

// Whether point x comes before point y (both by place) in the total order along `axis`.
template <typename real, int dims>
static __device__ bool comes_before(const bottom_block<real, dims>& k, int axis, int x, int y) {
    for (int c = 0; c < k.axes(); c++) {
        const real* column = k.column(sap_next_axis(axis, c, k.axes()));
        if (column[x] != column[y]) return column[x] < column[y];
    }
    return k.ids[x] < k.ids[y];
}

// Tight bounds of a warp's points along an axis.
template <typename real, int dims>
static __device__ __forceinline__ void warp_bounds(const bottom_block<real, dims>& k, warp_range r, int axis,
                                                   typename sap_ordinal<real>::type* low,
                                                   typename sap_ordinal<real>::type* high) {
    const real* column = k.column(axis);
    real least = (real)INFINITY, most = -(real)INFINITY;
#pragma unroll 4
    for (int i = r.start + sap_lane(); i < r.end; i += SAP_WARP) {
        least = sap_least(least, column[i]);
        most = sap_most(most, column[i]);
    }
    *low = sap_warp_min(sap_ordinal_of(least));
    *high = sap_warp_max(sap_ordinal_of(most));
}

template <typename real, int dims>
static __device__ __forceinline__ int warp_min_id(const bottom_block<real, dims>& k, warp_range r) {
    unsigned int least = (unsigned int)INT32_MAX;
    for (int i = r.start + sap_lane(); i < r.end; i += SAP_WARP) least = min(least, (unsigned int)k.ids[i]);
    return (int)sap_warp_min(least);
}

// ---- Loading

template <typename real, int dims> static __device__ void bottom_load(const bottom_block<real, dims>& k, real most) {
    const sap_cuda_build& b = *k.build;
    if (b.top > 0) {
        const real* coords = (const real*)b.points.coords[0] + k.first;
        for (int a = 0; a < k.axes(); a++)
#pragma unroll 4
            for (int i = (int)threadIdx.x; i < k.count; i += BOTTOM_THREADS)
                k.column(a)[i] = coords[a * b.points.pitch + i];
#pragma unroll 4
        for (int i = (int)threadIdx.x; i < k.count; i += BOTTOM_THREADS) k.ids[i] = b.points.ids[0][k.first + i];
        return;
    }
    for (int i = (int)threadIdx.x; i < k.count; i += BOTTOM_THREADS) {
        const int64_t row = b.points.keep ? b.points.keep[i] : i;
        const real* from = (const real*)b.points.rows + row * b.points.stride;
        bool good = true;
        for (int a = 0; a < k.axes(); a++) {
            const real x = from[a] + 0; // minus zero becomes zero
            good = good && x >= -most && x <= most;
            k.column(a)[i] = x;
        }
        k.ids[i] = (int32_t)row;
        if (!good) sap_report_bad(b, row);
    }
}

// ---- Nodes that the block splits. Below, `n` is the warp's node and `r` its part of the node's points.

template <typename real, int dims>
static __device__ void bottom_clear(const bottom_block<real, dims>& k, int level, int nodes) {
    bottom_shared<real>* s = k.shared;
    for (int i = (int)threadIdx.x; i < nodes; i += BOTTOM_THREADS) {
        bottom_node<real>* n = &s->node[i];
        n->start = local_rank(k, level, i);
        n->middle = local_rank(k, level + 1, 2 * i + 1);
        n->end = local_rank(k, level, i + 1);
        SAP_ASSERT(n->start <= n->middle && n->middle <= n->end && n->end <= k.count);
        n->min_id = INT32_MAX;
        for (int a = 0; a < k.axes(); a++) {
            n->lower[a] = sap_ordinal_highest<real>();
            n->upper[a] = sap_ordinal_lowest<real>();
        }
    }
    __syncthreads();
}

// Tight boxes and smallest ids.
template <typename real, int dims>
static __device__ void bottom_bounds(const bottom_block<real, dims>& k, bottom_node<real>* n, warp_range r) {
    typedef typename sap_ordinal<real>::type ordinal;
    for (int a = 0; a < k.axes(); a++) {
        ordinal low, high;
        warp_bounds(k, r, a, &low, &high);
        if (sap_lane() != 0) continue;
        atomicMin(&n->lower[a], low);
        atomicMax(&n->upper[a], high);
    }
    const int least = warp_min_id(k, r);
    if (sap_lane() == 0) atomicMin(&n->min_id, least);
    __syncthreads();
}

// Chooses the nodes' axes and begins the search for their medians; writes boxes that the tree keeps.
template <typename real, int dims>
static __device__ void bottom_begin(const bottom_block<real, dims>& k, int level, int nodes) {
    const sap_cuda_build& b = *k.build;
    const int depth = b.top + level, stored = sap_stored_level(b, depth);
    for (int i = (int)threadIdx.x; i < nodes; i += BOTTOM_THREADS) {
        bottom_node<real>* n = &k.shared->node[i];
        n->median.axis = sap_choose_axis<real>(b, depth, n->end - n->start, n->lower, n->upper);
        sap_median_begin(&n->median, n->lower[n->median.axis], n->upper[n->median.axis], n->end - n->start,
                         BOTTOM_BINS);
        n->found = 0;
    }
    if (stored < 0) return;
    for (int i = (int)threadIdx.x; i < nodes * k.axes(); i += BOTTOM_THREADS) {
        const int node = i / k.axes(), a = i % k.axes();
        const bottom_node<real>* n = &k.shared->node[node];
        real* box = sap_stored_box<real>(b, stored, (k.root << level) + node) + 2 * SAP_GROUP * a;
        box[0] = sap_real_of(n->lower[a]);
        box[SAP_GROUP] = sap_real_of(n->upper[a]);
        if (a == 0) *sap_stored_min_id(b, stored, (k.root << level) + node) = n->min_id;
    }
}

// Whether a point is a candidate, and its key in the component at which the search stands. Points that differ from the
// pivot found so far in an earlier component are not.
template <typename real, int dims>
static __device__ __forceinline__ bool bottom_candidate(const bottom_block<real, dims>& k, const bottom_node<real>* n,
                                                        int i, typename sap_ordinal<real>::type* key) {
    const sap_median<real>& m = n->median;
    for (int c = 0; c < m.component; c++)
        if (k.column(sap_next_axis(n->median.axis, c, k.axes()))[i] != n->pivot[c]) return false;
    *key = m.component == k.axes() ? (typename sap_ordinal<real>::type)k.ids[i]
                                   : sap_ordinal_of(k.column(sap_next_axis(n->median.axis, m.component, k.axes()))[i]);
    return *key >= m.low && *key <= m.high;
}

// One warp finds the bin in which the median of its node lies, and narrows the candidates to it. Of one key that too
// many points have, the next component decides.
template <typename real, int dims>
static __device__ void bottom_narrow(const bottom_block<real, dims>& k, bottom_node<real>* n, const int* bins) {
    enum { EACH = BOTTOM_BINS / SAP_WARP };
    sap_median<real> m = n->median;
    const int rank = n->middle - n->start - m.below, lane = sap_lane();
    int own[EACH], sum = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        own[i] = bins[lane * EACH + i];
        sum += own[i];
    }
    int before = sum;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const int other = __shfl_up_sync(SAP_ALL_LANES, before, (unsigned int)step);
        if (lane >= step) before += other;
    }
    before -= sum;
    const int finder_lane = __ffs((int)__ballot_sync(SAP_ALL_LANES, rank >= before && rank < before + sum)) - 1;
    int bin = lane * EACH, inside = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (inside == 0 && rank < before + own[i]) {
            inside = own[i];
            bin += i;
        }
        if (inside == 0) before += own[i];
    }
    bin = __shfl_sync(SAP_ALL_LANES, bin, finder_lane);
    before = __shfl_sync(SAP_ALL_LANES, before, finder_lane);
    inside = __shfl_sync(SAP_ALL_LANES, inside, finder_lane);
    sap_median_take(&m, bin, BOTTOM_BINS, before, inside);
    if (inside > SAP_WARP) {
        if (lane == 0) k.shared->unfinished = 1;
        if (m.low == m.high) {
            if (lane == 0) n->pivot[m.component] = sap_real_of(m.low);
            sap_median_next(&m, k.axes(), n->lower, n->upper);
        }
    }
    __syncwarp(); // all have read it
    if (lane == 0) n->median = m;
}

// Narrows each node's candidates for the median to at most a warp of points.
template <typename real, int dims>
static __device__ void bottom_select(const bottom_block<real, dims>& k, bottom_node<real>* n, int nodes, warp_range r) {
    typedef typename sap_ordinal<real>::type ordinal;
    bottom_shared<real>* s = k.shared;
    int* bins = s->bins + (n - s->node) * BOTTOM_BINS;
    for (;;) {
        for (int i = (int)threadIdx.x; i < nodes * BOTTOM_BINS; i += BOTTOM_THREADS) s->bins[i] = 0;
        if (threadIdx.x == 0) s->unfinished = 0;
        __syncthreads();
        const sap_median<real> m = n->median;
        if (m.candidates > SAP_WARP && m.scale > 0) {
            const real* column = k.column(n->median.axis);
#pragma unroll 4
            for (int i = r.start + sap_lane(); i < r.end; i += SAP_WARP)
                atomicAdd(&bins[sap_median_bin(m, column[i], BOTTOM_BINS)], 1);
        } else if (m.candidates > SAP_WARP) {
            const int shift = sap_median_shift(m, BOTTOM_BINS);
            for (int i = r.start + sap_lane(); i < r.end; i += SAP_WARP) {
                ordinal key;
                if (bottom_candidate(k, n, i, &key)) atomicAdd(&bins[(int)((key - m.low) >> shift)], 1);
            }
        }
        __syncthreads();
        const int warp = (int)threadIdx.x / SAP_WARP;
        if (warp < nodes && s->node[warp].median.candidates > SAP_WARP)
            bottom_narrow(k, &s->node[warp], s->bins + warp * BOTTOM_BINS);
        __syncthreads();
        const bool again = s->unfinished;
        __syncthreads();
        if (!again) return;
    }
}

// Lists the candidates; one warp a node ranks them, which gives the median; writes the nodes.
template <typename real, int dims>
static __device__ void bottom_pivots(const bottom_block<real, dims>& k, bottom_node<real>* n, int level, int nodes,
                                     warp_range r) {
    typedef typename sap_ordinal<real>::type ordinal;
#pragma unroll 4
    for (int i = r.start + sap_lane(); i < r.end; i += SAP_WARP) {
        ordinal key;
        if (!bottom_candidate(k, n, i, &key)) continue;
        const int at = atomicAdd(&n->found, 1);
        SAP_ASSERT(at < SAP_WARP);
        n->list[at] = i;
    }
    __syncthreads();
    const int warp = (int)threadIdx.x / SAP_WARP, lane = sap_lane();
    if (warp < nodes) {
        bottom_node<real>* own = &k.shared->node[warp];
        const int target = own->middle - own->start - own->median.below;
        int rank = 0, place = -1;
        if (lane < own->found) {
            place = own->list[lane];
            for (int j = 0; j < own->found; j++) rank += comes_before(k, own->median.axis, own->list[j], place);
        }
        const unsigned int chosen = __ballot_sync(SAP_ALL_LANES, place >= 0 && rank == target);
        SAP_ASSERT(chosen != 0 && own->found == own->median.candidates);
        place = __shfl_sync(SAP_ALL_LANES, place, __ffs((int)chosen) - 1);
        if (lane < k.axes()) own->pivot[lane] = k.column(sap_next_axis(own->median.axis, lane, k.axes()))[place];
        if (lane == 0) {
            own->pivot_id = k.ids[place];
            sap_write_node<real>(*k.build, k.build->top + level, (k.root << level) + warp, own->median.axis,
                                 k.column(own->median.axis)[place]);
        }
    }
    __syncthreads();
}

template <typename real, int dims>
static __device__ bool tied_before_pivot(const bottom_block<real, dims>& k, const bottom_node<real>* n, int i) {
    for (int c = 1; c < k.axes(); c++) {
        const real x = k.column(sap_next_axis(n->median.axis, c, k.axes()))[i];
        if (x != n->pivot[c]) return x < n->pivot[c];
    }
    return k.ids[i] < n->pivot_id;
}

// Moves the `items` of a lane to places to[] (-1: the lane has no such item), in place: a column at a time, through
// registers.
template <typename real, int dims, int items, bool block>
static __device__ __forceinline__ void move_items(const bottom_block<real, dims>& k, int from, const int* to) {
    for (int a = 0; a < k.axes(); a++) {
        real* column = k.column(a);
        real x[items];
#pragma unroll
        for (int j = 0; j < items; j++)
            if (to[j] >= 0) x[j] = column[from + j * SAP_WARP];
        wait_for_group<block>();
#pragma unroll
        for (int j = 0; j < items; j++)
            if (to[j] >= 0) column[to[j]] = x[j];
    }
    int32_t id[items];
#pragma unroll
    for (int j = 0; j < items; j++)
        if (to[j] >= 0) id[j] = k.ids[from + j * SAP_WARP];
    wait_for_group<block>();
#pragma unroll
    for (int j = 0; j < items; j++)
        if (to[j] >= 0) k.ids[to[j]] = id[j];
    wait_for_group<block>();
}

// Moves all points to their sides. `part`: the warp's number among those of its node.
template <typename real, int dims>
static __device__ void bottom_partition(const bottom_block<real, dims>& k, const bottom_node<real>* n, warp_range r,
                                        int part) {
    const int warp = (int)threadIdx.x / SAP_WARP;
    const real* column = k.column(n->median.axis);
    const real pivot = n->pivot[0];
    unsigned int low[WARP_ITEMS];
    int total = 0, to[WARP_ITEMS];
#pragma unroll
    for (int j = 0; j < WARP_ITEMS; j++) {
        const int i = r.start + j * SAP_WARP + sap_lane();
        bool less = false;
        if (i < r.end) {
            const real x = column[i];
            less = x < pivot || (x == pivot && tied_before_pivot(k, n, i));
        }
        low[j] = __ballot_sync(SAP_ALL_LANES, less);
        total += __popc(low[j]);
    }
    if (sap_lane() == 0) k.shared->smaller[warp] = total;
    __syncthreads();
    int at_low = n->start, at_high = n->middle + r.start - n->start;
    for (int i = warp - part; i < warp; i++) {
        at_low += k.shared->smaller[i];
        at_high -= k.shared->smaller[i];
    }
#pragma unroll
    for (int j = 0; j < WARP_ITEMS; j++) {
        const int i = r.start + j * SAP_WARP + sap_lane(), here = min(SAP_WARP, max(0, r.end - (i - sap_lane())));
        const int lows_before = __popc(low[j] & sap_lanes_below());
        to[j] = low[j] >> sap_lane() & 1 ? at_low + lows_before : at_high + sap_lane() - lows_before;
        if (i >= r.end) to[j] = -1;
        at_low += __popc(low[j]);
        at_high += here - __popc(low[j]);
    }
    move_items<real, dims, WARP_ITEMS, true>(k, r.start + sap_lane(), to);
}

#include "tree/balanced/warp_cuda.cuh"

// Splits one level of nodes together.
template <typename real, int dims> static __device__ void bottom_split(const bottom_block<real, dims>& k, int level) {
    const int nodes = 1 << level, parts = BOTTOM_WARPS / nodes, warp = (int)threadIdx.x / SAP_WARP, part = warp % parts;
    bottom_node<real>* n = &k.shared->node[warp / parts];
    bottom_clear(k, level, nodes);
    const int count = n->end - n->start;
    SAP_ASSERT(nodes <= BOTTOM_NODES && count <= parts * WARP_POINTS);
    const warp_range r = {n->start + count * part / parts, n->start + count * (part + 1) / parts};
    bottom_bounds(k, n, r);
    bottom_begin(k, level, nodes);
    __syncthreads();
    bottom_select(k, n, nodes, r);
    bottom_pivots(k, n, level, nodes, r);
    bottom_partition(k, n, r, part);
}

// Builds one subtree.
template <typename real, int dims>
static __global__ void __launch_bounds__(BOTTOM_THREADS, 2)
    build_bottom(const __grid_constant__ sap_cuda_build b, int capacity, real most) {
    SAP_CUDA_SHARED(bottom_shared<real>, shared);
    sap_cuda_await_before();
    bottom_block<real, dims> k;
    k.build = &b;
    k.shared = shared;
    k.ids = (int32_t*)((unsigned char*)shared + (sizeof(bottom_shared<real>) + 15) / 16 * 16);
    k.coords = (real*)(k.ids + capacity);
    k.capacity = capacity;
    k.root = blockIdx.x;
    k.first = sap_rank(b, b.top, k.root);
    k.count = (int)(sap_rank(b, b.top, k.root + 1) - k.first);
    if (b.top > 0 && sap_build_is_bad(b)) return;
    SAP_ASSERT(k.count >= 0 && k.count <= capacity);
    bottom_load(k, most);
    __syncthreads();
    if (b.top == 0 && sap_build_is_bad(b)) return; // all of a block agree: the barrier is behind the reports
    int level = 0;
    const int levels = b.depth - b.top;
    for (; level < levels && (k.count + (1 << level) - 1) >> level > WARP_POINTS; level++) bottom_split(k, level);
    for (int node = (int)threadIdx.x / SAP_WARP; node < 1 << level; node += BOTTOM_WARPS) build_below(k, level, node);
}

#endif
