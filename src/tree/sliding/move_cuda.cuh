// How the top of a sliding-midpoint tree finds medians and moves points: the second half of top_cuda.cuh.
#ifndef SAPWOOD_TREE_SLIDING_MOVE_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_MOVE_CUDA_CUH

#include "tree/sliding/choose_cuda.cuh"

// ---- Medians in the total order: their components one after another, eight bits at a time.

// A component of a point's key, counted from the part's axis; the last one is the id.
template <typename real>
static __device__ __forceinline__ typename sap_ordinal<real>::type
sap_top_component(const sap_sliding_job<real>& j, const sap_sliding_part& part, int component, int64_t at) {
    if (component == j.dims) return (unsigned int)j.ids[part.buffer * j.pitch + at];
    return sap_ordinal_of(sap_column(j, part.buffer, (part.axis + component) % j.dims)[at]);
}

// Counts the digits at `shift` of the points that have the components and the higher bits found so far.
template <typename real>
static __device__ void sap_top_histogram(const sap_sliding_job<real>& j, const sap_sliding_part& part, int component,
                                         int shift, sap_top_shared<real>* s) {
    typedef typename sap_ordinal<real>::type ordinal;
    s->histogram[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < part.count; i += SAP_TOP_THREADS) {
        bool equal = true;
        for (int c = 0; c < component && equal; c++)
            equal = sap_top_component(j, part, c, part.begin + i) == s->value[c];
        if (!equal) continue;
        ordinal key = sap_top_component(j, part, component, part.begin + i);
        if (key >> shift >> 8 == s->value[component] >> shift >> 8)
            atomicAdd(&s->histogram[key >> shift & (SAP_DIGITS - 1)], 1u);
    }
    __syncthreads();
}

// Finds the digit in which the wanted rank lies, and the rank among the points that have it.
template <typename real> static __device__ void sap_top_digit(sap_top_shared<real>* s) {
    const int lane = sap_lane(), each = SAP_DIGITS / SAP_WARP;
    if (threadIdx.x < SAP_WARP) {
        unsigned int sum = 0, rank = s->rank;
        for (int i = 0; i < each; i++) sum += s->histogram[lane * each + i];
        unsigned int before = sum;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            unsigned int other = __shfl_up_sync(SAP_ALL_LANES, before, (unsigned int)step);
            if (lane >= step) before += other;
        }
        before -= sum;
        __syncwarp(); // all have read the rank
        for (int i = 0; i < each; i++) {
            unsigned int count = s->histogram[lane * each + i];
            if (rank >= before && rank - before < count) {
                s->digit = (unsigned int)(lane * each + i);
                s->rank = rank - before;
            }
            before += count;
        }
    }
    __syncthreads();
}

// A block finds the median of a part: as many of its components as are needed to tell the halves apart.
template <typename real>
static __device__ void sap_top_median(const sap_sliding_job<real>& j, int64_t at, sap_top_shared<real>* s) {
    typedef typename sap_ordinal<real>::type ordinal;
    const sap_sliding_part& part = s->part;
    int component = 0;
    if (threadIdx.x == 0) {
        s->part = j.part[at];
        s->rank = (unsigned int)(part.count / 2);
    }
    for (bool more = true; more; component++) {
        SAP_ASSERT(component <= j.dims);
        int bits = component < j.dims ? (int)sizeof(ordinal) * 8 : 32;
        if (threadIdx.x == 0) s->value[component] = 0;
        for (int shift = bits - 8; shift >= 0; shift -= 8) {
            sap_top_histogram(j, part, component, shift, s);
            sap_top_digit(s);
            if (threadIdx.x == 0) s->value[component] |= (ordinal)s->digit << shift;
        }
        __syncthreads();
        more = s->rank > 0;
        __syncthreads();
    }
    if ((int)threadIdx.x < component && (int)threadIdx.x < j.dims)
        j.planes[at * j.dims + threadIdx.x] = sap_real_of(s->value[threadIdx.x]);
    if (threadIdx.x == 0) {
        j.part[at].components = component;
        j.part[at].id = component > j.dims ? (int32_t)s->value[j.dims] : 0;
        j.nodes[part.node].split = (double)sap_real_of(s->value[0]);
    }
    __syncthreads();
}

// Whether a point comes before the plane.
template <typename real>
static __device__ __forceinline__ bool sap_top_left(const sap_sliding_job<real>& j, const sap_sliding_part& part,
                                                    const real* plane, int64_t at) {
    real x = sap_column(j, part.buffer, part.axis)[at];
    if (part.components == 1 || x != plane[0]) return x < plane[0];
    for (int c = 1; c < part.components && c < j.dims; c++) {
        x = sap_column(j, part.buffer, (part.axis + c) % j.dims)[at];
        if (x != plane[c]) return x < plane[c];
    }
    return part.components > j.dims && j.ids[part.buffer * j.pitch + at] < part.id;
}

// ---- Moving

// What a tile publishes: epoch << 32 | points that go left, in the tile itself (odd epochs) or up to its end (even).
static __device__ __forceinline__ unsigned long long sap_top_epoch(int level, bool up_to_end) {
    return (unsigned long long)(2 * level + 1 + (up_to_end ? 1 : 0)) << 32;
}

// Publishes a tile's number and finds how many points of its part's tiles before it go left. By one warp.
static __device__ unsigned int sap_top_look_back(unsigned long long* published, int level, int64_t first, int64_t tile,
                                                 unsigned int left) {
    const int lane = sap_lane();
    const unsigned long long own = sap_top_epoch(level, false), end = sap_top_epoch(level, true);
    if (lane == 0) atomicExch(&published[tile], (tile == first ? end : own) | left);
    unsigned int before = 0;
    for (int64_t behind = tile; behind > first; behind -= SAP_WARP) {
        const int64_t at = behind - 1 - lane;
        unsigned long long seen = end;
        if (at >= first)
            while ((seen = *(volatile unsigned long long*)&published[at]) < own) SAP_CUDA_SPIN();
        __syncwarp();
        unsigned int ends = __ballot_sync(SAP_ALL_LANES, seen >= end);
        unsigned int counts = ends && lane > __ffs((int)ends) - 1 ? 0 : (unsigned int)seen;
        for (int step = 16; step; step /= 2) counts += __shfl_xor_sync(SAP_ALL_LANES, counts, step);
        before += counts;
        if (ends) break;
    }
    if (lane == 0 && tile != first) atomicExch(&published[tile], end | (before + left));
    return before;
}

// Adds up what the warps of a tile found: then s->warp_left is what comes before each within the part.
template <typename real>
static __device__ void sap_top_scan(const sap_sliding_job<real>& j, int level, int64_t at, int64_t tile,
                                    const sap_sliding_part& part, sap_top_shared<real>* s) {
    const int lane = sap_lane();
    unsigned int own = lane < SAP_TOP_WARPS ? s->warp_left[lane] : 0, sum = own;
    for (int step = 1; step < SAP_TOP_WARPS; step *= 2) {
        unsigned int other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned int)step);
        if (lane >= step) sum += other;
    }
    unsigned int all = __shfl_sync(SAP_ALL_LANES, sum, SAP_TOP_WARPS - 1);
    SAP_ASSERT(tile >= part.first_tile && tile < part.first_tile + part.tiles);
    unsigned int before = sap_top_look_back(j.tile_left, level, part.first_tile, tile, all);
    if (lane < SAP_TOP_WARPS) s->warp_left[lane] = before + sum - own;
    if (lane == 0 && tile == part.first_tile + part.tiles - 1) j.part[at].left_count = (int32_t)(before + all);
}

// Moves a thread's points along one axis and widens the boxes of both sides.
template <typename real>
static __device__ __forceinline__ void sap_top_move_axis(const sap_sliding_job<real>& j, const sap_sliding_part& part,
                                                         int axis, unsigned int first, const int* to, unsigned int left,
                                                         sap_top_shared<real>* s) {
    const real* from_column = sap_column(j, part.buffer, axis);
    real* to_column = sap_column(j, part.buffer ^ 1, axis);
    real lower[2] = {(real)INFINITY, (real)INFINITY}, upper[2] = {-(real)INFINITY, -(real)INFINITY};
    SAP_UNROLL
    for (int item = 0; item < SAP_TOP_ITEMS; item++) {
        const unsigned int i = first + item * SAP_WARP;
        if (i >= (unsigned int)part.count) continue;
        real x = from_column[sap_rank_of(part.begin, part.count, part.reversed, (int)i)];
        to_column[to[item]] = x;
        bool goes = left >> item & 1;
        lower[0] = goes && x < lower[0] ? x : lower[0];
        upper[0] = goes && x > upper[0] ? x : upper[0];
        lower[1] = !goes && x < lower[1] ? x : lower[1];
        upper[1] = !goes && x > upper[1] ? x : upper[1];
    }
    sap_top_widen(&s->box[2 * axis], lower[0], upper[0]);
    sap_top_widen(&s->box[2 * (j.dims + axis)], lower[1], upper[1]);
}

// A block moves a tile of a part. Each warp has SAP_TOP_ITEMS times 32 points in a row.
template <typename real>
static __device__ void sap_top_move(const sap_sliding_job<real>& j, int level, int64_t tile, sap_top_shared<real>* s) {
    const int64_t at = (level & 1) * j.parts + j.tile_part[tile];
    const sap_sliding_part& part = s->part;
    const real* plane = j.planes + at * j.dims;
    if (threadIdx.x == 0) s->part = j.part[at];
    __syncthreads();
    const int warp = (int)threadIdx.x / SAP_WARP;
    const unsigned int first = (unsigned int)(tile - part.first_tile) * SAP_TILE +
                               (unsigned int)(warp * SAP_WARP * SAP_TOP_ITEMS + sap_lane());
    unsigned int left = 0, lefts = 0; // bit of each item; so many of the warp's items before
    int to[SAP_TOP_ITEMS];
    SAP_UNROLL
    for (int item = 0; item < SAP_TOP_ITEMS; item++) {
        const unsigned int i = first + item * SAP_WARP;
        bool goes = i < (unsigned int)part.count &&
                    sap_top_left(j, part, plane, sap_rank_of(part.begin, part.count, part.reversed, (int)i));
        unsigned int mask = __ballot_sync(SAP_ALL_LANES, goes);
        to[item] = (int)(lefts + (unsigned int)__popc(mask & sap_lanes_below()));
        lefts += (unsigned int)__popc(mask);
        left |= (unsigned int)goes << item;
    }
    if (sap_lane() == 0) s->warp_left[warp] = lefts;
    sap_top_clear(j, s);
    __syncthreads();
    if (warp == 0) sap_top_scan(j, level, at, tile, part, s);
    __syncthreads();
    const int before = (int)s->warp_left[warp];
    SAP_UNROLL
    for (int item = 0; item < SAP_TOP_ITEMS; item++) {
        int rank = before + to[item]; // among those that go left
        int behind = (int)(first + item * SAP_WARP) - rank;
        to[item] = left >> item & 1 ? part.begin + rank : part.begin + (part.count - 1 - behind);
    }
#pragma unroll 1
    for (int axis = 0; axis < j.dims; axis++) sap_top_move_axis(j, part, axis, first, to, left, s);
    SAP_UNROLL
    for (int item = 0; item < SAP_TOP_ITEMS; item++) {
        const unsigned int i = first + item * SAP_WARP;
        if (i < (unsigned int)part.count)
            j.ids[(part.buffer ^ 1) * j.pitch + to[item]] =
                j.ids[part.buffer * j.pitch + sap_rank_of(part.begin, part.count, part.reversed, (int)i)];
    }
    sap_top_publish(j, s, at, 2);
}

// ---- The kernel

template <typename real>
static __global__ void __launch_bounds__(SAP_TOP_THREADS, sizeof(real) == 4 ? 4 : 3)
    sap_top_build(sap_sliding_job<real> j) {
    SAP_CUDA_SHARED(sap_top_shared<real>, s);
    const int64_t warps = (int64_t)gridDim.x * SAP_TOP_WARPS;
    unsigned int meetings = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) sap_top_begin(j);
    for (int64_t tile = blockIdx.x; tile * SAP_TILE < j.count; tile += gridDim.x) sap_top_load(j, tile, s);
    sap_cuda_meet(&j.state->arrivals, &meetings);
    if (*(volatile int32_t*)&j.state->bad) return;
    for (int level = 0;; level++) {
        const int parity = level & 1;
        int64_t children = (int64_t)(*(volatile unsigned long long*)&j.state->listed[parity ^ 1] >> 32) * 2;
        int64_t warp = (int64_t)blockIdx.x * SAP_TOP_WARPS + threadIdx.x / SAP_WARP;
        for (; warp < children; warp += warps) sap_top_plan(j, parity, (parity ^ 1) * j.parts + warp / 2, warp & 1);
        sap_cuda_meet(&j.state->arrivals, &meetings);
        const unsigned long long listed = *(volatile unsigned long long*)&j.state->listed[parity];
        if (listed >> 32 == 0) return;
        const int64_t ranked = *(volatile unsigned int*)&j.state->ranked[parity];
        for (int64_t i = blockIdx.x; i < ranked; i += gridDim.x) sap_top_median(j, parity * j.parts + j.ranked[i], s);
        const int64_t tiles = (int64_t)(listed & 0xffffffffu);
        if (j.vvh) {
            for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) sap_top_count(j, parity, tile, s);
            sap_cuda_meet(&j.state->arrivals, &meetings);
            warp = (int64_t)blockIdx.x * SAP_TOP_WARPS + threadIdx.x / SAP_WARP;
            for (; warp < (int64_t)(listed >> 32); warp += warps) sap_top_choose(j, parity, warp);
        }
        if (ranked || j.vvh) sap_cuda_meet(&j.state->arrivals, &meetings);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            j.state->listed[parity ^ 1] = 0;
            j.state->ranked[parity ^ 1] = 0;
        }
        for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) sap_top_move(j, level, tile, s);
        sap_cuda_meet(&j.state->arrivals, &meetings);
    }
}

#endif
