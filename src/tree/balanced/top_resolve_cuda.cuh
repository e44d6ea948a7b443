// The builder's top: one block a node puts the candidates that are left in their places, which completes the node, and
// begins its children.
#ifndef SAPWOOD_TREE_BALANCED_TOP_RESOLVE_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_RESOLVE_CUDA_CUH

#include "tree/balanced/top_partition_cuda.cuh"
#include "tree/balanced/top_select_cuda.cuh"

// Whether candidate x (a rank) comes before y, their keys being equal. The block reads what the level has written.
template <typename real, int dims>
static __device__ bool top_tied_before(const top_block<real, dims>& k, int axis, int component, unsigned int x,
                                       unsigned int y) {
    for (int c = component + 1; c < k.axes(); c++) {
        const int a = sap_next_axis(axis, c, k.axes());
        if (*k.at(a, x) != *k.at(a, y)) return *k.at(a, x) < *k.at(a, y);
    }
    return k.from_ids[x] < k.from_ids[y];
}

// Moves candidates first + j * TOP_THREADS + thread, for all j below `each`, to ranks to[j] (negative: there is none),
// and takes the bounds of those that go to side[j]; negative: not of that one. A column is asked for while the one
// before it is written.
template <int each, typename real, int dims>
static __device__ __forceinline__ void top_rearrange(const top_block<real, dims>& k, int64_t first, const int64_t* to,
                                                     const int* side) {
    const int64_t pitch = k.pitch, from = first + threadIdx.x;
    real x[each], next[each];
    int32_t id[each];
#pragma unroll
    for (int j = 0; j < each; j++) {
        next[j] = to[j] >= 0 ? k.to[from + j * TOP_THREADS] : 0;
        id[j] = to[j] >= 0 ? k.to_ids[from + j * TOP_THREADS] : 0;
    }
    for (int a = 0; a < k.axes(); a++) {
        real least[2] = {(real)INFINITY, (real)INFINITY}, most[2] = {-(real)INFINITY, -(real)INFINITY};
#pragma unroll
        for (int j = 0; j < each; j++) {
            x[j] = next[j];
            if (a + 1 < k.axes() && to[j] >= 0) next[j] = k.to[(a + 1) * pitch + from + j * TOP_THREADS];
        }
        __syncthreads(); // all have read the column
#pragma unroll
        for (int j = 0; j < each; j++) {
            if (to[j] < 0) continue;
            k.to[a * pitch + to[j]] = x[j];
            if (side[j] < 0) continue;
            least[side[j]] = sap_least(least[side[j]], x[j]);
            most[side[j]] = sap_most(most[side[j]], x[j]);
        }
        top_take_bounds(k, 0, a, least[0], most[0]);
        top_take_bounds(k, 1, a, least[1], most[1]);
    }
    int min_id[2] = {INT32_MAX, INT32_MAX};
#pragma unroll
    for (int j = 0; j < each; j++) {
        if (to[j] < 0) continue;
        k.to_ids[to[j]] = id[j];
        if (side[j] >= 0) min_id[side[j]] = min(min_id[side[j]], id[j]);
    }
    top_take_min_id(k, 0, min_id[0]);
    top_take_min_id(k, 1, min_id[1]);
    __syncthreads();
}

// Where the thread's candidates first + j * TOP_THREADS + thread are, relative to those of `median`: two bits each.
template <typename real, int dims>
static __device__ unsigned int
top_candidate_kinds(const top_block<real, dims>& k, int axis, const sap_median<real>& median,
                    const typename sap_ordinal<real>::type* pivot, unsigned int first, int count) {
    typedef typename sap_ordinal<real>::type ordinal;
    static_assert(2 * TOP_EACH <= 32 && TOP_NONE == 3, "two bits tell where a candidate is");
    unsigned int kinds = ~0u;
    if (median.component > 0) { // later components decide, which is rare
#pragma unroll 1
        for (int j = 0; j < TOP_EACH && j * TOP_THREADS + (int)threadIdx.x < count; j++) {
            const top_point<real, dims> p = {&k, first + j * TOP_THREADS + threadIdx.x};
            ordinal key;
            const int kind = top_class(median, pivot, axis, k.axes(), p, p.coordinate(axis), &key);
            kinds ^= (unsigned int)(kind ^ TOP_NONE) << 2 * j;
        }
        return kinds;
    }
#pragma unroll
    for (int j = 0; j < TOP_EACH; j++) {
        const unsigned int i = j * TOP_THREADS + threadIdx.x;
        if ((int)i >= count) continue;
        const ordinal key = sap_ordinal_of(*k.at(axis, first + i));
        const int kind = key < median.low ? TOP_BEFORE : key <= median.high ? TOP_AMONG : TOP_AFTER;
        kinds ^= (unsigned int)(kind ^ TOP_NONE) << 2 * j;
    }
    return kinds;
}

// Narrows the candidates to so few that they can be ranked, and puts the others to their sides.
template <typename real, int dims>
static __device__ void top_sort_out(const top_block<real, dims>& k, int64_t index, int axis,
                                    const typename sap_ordinal<real>::type* pivot) {
    top_shared<real, dims>* s = k.shared;
    const sap_median<real> all = s->node.median;
    SAP_ASSERT(all.candidates <= TOP_CANDIDATES);
    const unsigned int first = (unsigned int)(k.rank(index) + all.below);
    while (s->node.median.candidates > TOP_RANKED) {
        top_fill_bins(k, axis, pivot, first, first + (unsigned int)all.candidates);
        top_narrow(k, index, axis, s->bins);
    }
    const sap_median<real> median = s->node.median;
    if (threadIdx.x < 3) s->count[threadIdx.x][0] = 0;
    __syncthreads();
    const unsigned int kinds = top_candidate_kinds(k, axis, median, pivot, first, all.candidates);
    int64_t to[TOP_EACH];
    int side[TOP_EACH];
#pragma unroll
    for (int j = 0; j < TOP_EACH; j++) {
        const int kind = kinds >> 2 * j & 3;
        int next[3] = {0, 0, 0};
        const int place = top_place(kind, __ballot_sync(SAP_ALL_LANES, kind != TOP_NONE), next);
#pragma unroll
        for (int c = 0; c < 3; c++) {
            if (sap_lane() == 0 && next[c]) next[c] = atomicAdd(&s->count[c][0], next[c]);
            next[c] = __shfl_sync(SAP_ALL_LANES, next[c], 0);
        }
        const int64_t base = kind == TOP_BEFORE  ? first + next[TOP_BEFORE]
                             : kind == TOP_AMONG ? k.rank(index) + median.below + next[TOP_AMONG]
                                                 : k.rank(index) + median.below + median.candidates + next[TOP_AFTER];
        to[j] = kind == TOP_NONE ? -1 : base + place;
        side[j] = kind == TOP_BEFORE ? 0 : kind == TOP_AFTER ? 1 : -1;
    }
    top_rearrange<TOP_EACH>(k, first, to, side);
}

// The rank of the thread's candidate among all; every thread has one at most. A lane keeps each SAP_WARP-th key, and
// the warp's candidates are compared with all keys at once, one after the other.
template <typename real, int dims>
static __device__ int top_rank(const top_block<real, dims>& k, int axis, const sap_median<real>& median,
                               unsigned int first) {
    typedef typename sap_ordinal<real>::type ordinal;
    enum { KEYS = TOP_RANKED / SAP_WARP };
    top_shared<real, dims>* s = k.shared;
    const int count = median.candidates, component = median.component, thread = (int)threadIdx.x, lane = sap_lane();
    SAP_ASSERT(count > 0 && count <= TOP_RANKED);
    if (thread < count)
        s->key[thread] = component == k.axes()
                             ? (ordinal)k.from_ids[first + threadIdx.x]
                             : sap_ordinal_of(*k.at(sap_next_axis(axis, component, k.axes()), first + threadIdx.x));
    __syncthreads();
    if (thread - lane >= count) return 0;
    ordinal keys[KEYS];
#pragma unroll
    for (int i = 0; i < KEYS; i++) keys[i] = i * SAP_WARP + lane < count ? s->key[i * SAP_WARP + lane] : ~(ordinal)0;
    int rank = 0;
    for (int other = 0; other < SAP_WARP && thread - lane + other < count; other++) {
        const int own = thread - lane + other;
        const ordinal key = s->key[own];
        int before = 0, equal = 0;
#pragma unroll
        for (int i = 0; i < KEYS; i++) {
            if (i * SAP_WARP >= count) break;
            before += __popc(__ballot_sync(SAP_ALL_LANES, keys[i] < key));
            equal += __popc(__ballot_sync(SAP_ALL_LANES, keys[i] == key));
        }
        for (int i = 0; equal > 1 && i < count; i += SAP_WARP) // not itself alone
            before += __popc(
                __ballot_sync(SAP_ALL_LANES, i + lane < count && i + lane != own && s->key[i + lane] == key &&
                                                 top_tied_before(k, axis, component, first + (unsigned int)(i + lane),
                                                                 first + (unsigned int)own)));
        if (lane == other) rank = before;
    }
    return rank;
}

// Puts a node's candidates in order, which completes it, and begins its children.
template <typename real, int dims> static __device__ void top_resolve(top_block<real, dims> k, int64_t index) {
    const sap_cuda_build& b = *k.build;
    top_shared<real, dims>* s = k.shared;
    const int64_t heap = k.heap(index), middle = sap_rank(b, k.level + 1, 2 * index + 1);
    const int axis = k.work->axis[heap], thread = (int)threadIdx.x;
    k.from = k.to;
    k.row_step = 1;
    k.axis_step = k.pitch;
    k.from_ids = k.to_ids;
    top_clear_bounds(k);
    if (s->node.median.candidates > TOP_RANKED) top_sort_out(k, index, axis, k.work->pivot + heap * k.axes());
    const sap_median<real> median = s->node.median;
    const unsigned int first = (unsigned int)(k.rank(index) + median.below);
    const int rank = top_rank(k, axis, median, first);
    int64_t to = -1;
    if (thread < median.candidates) {
        to = (int64_t)first + rank;
        if (to == middle) sap_write_node<real>(b, k.level, index, axis, *k.at(axis, first + threadIdx.x));
    }
    const int side = to < middle ? 0 : 1;
    top_rearrange<1>(k, first, &to, &side);
    top_merge_bounds(k, index);
    if (thread < 2 && k.level + 1 < b.top)
        top_begin(k, k.level + 1, 2 * index + thread, s->bound[thread][0], s->bound[thread][1], s->side_min_id[thread]);
    __syncthreads();
}

#endif
