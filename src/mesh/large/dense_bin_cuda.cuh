// A block searches the events in one bin of a node. If they are too many to compare each with all others, histograms of
// their ordinals narrow them down: what a bound rules out could not have been chosen.
#ifndef SAPWOOD_MESH_LARGE_DENSE_BIN_CUDA_CUH
#define SAPWOOD_MESH_LARGE_DENSE_BIN_CUDA_CUH

#include "mesh/large/plane_search_cuda.cuh"

static __device__ __forceinline__ uint32_t sap_mesh_first_of(const sap_mesh_range* r, uint32_t sub) {
    return r->low + (sub << r->shift);
}
static __device__ __forceinline__ uint32_t sap_mesh_last_of(const sap_mesh_range* r, uint32_t sub) {
    const uint32_t first = sap_mesh_first_of(r, sub), others = (1u << r->shift) - 1;
    return r->high - first < others ? r->high : first + others;
}
// The parts that start below a bin, and those that end above it.
static __device__ __forceinline__ uint32_t sap_mesh_before(const sap_mesh_range* r, uint32_t sub) {
    return r->before + r->starts[sub];
}
static __device__ __forceinline__ uint32_t sap_mesh_after(const sap_mesh_range* r, uint32_t sub) {
    return r->after + r->stops[SAP_MESH_SUBS] - r->stops[sub + 1];
}

// A lower bound of the costs of all planes between two places.
static __device__ __forceinline__ float sap_mesh_bound_between(const sap_mesh_plane_search* search, int axis,
                                                               float from, float to, uint32_t before, uint32_t after) {
    const float base = search->measure.base[axis], per = search->measure.per[axis];
    return sap_split_cost(search->traversal, search->intersection,
                          sap_share(base, per, from - search->cell.lower[axis]),
                          sap_share(base, per, search->cell.upper[axis] - to), (float)before, (float)after);
}

// Counts the events of a range in its bins.
static __device__ void sap_mesh_fill_range(sap_mesh_plane_search* search, const sap_mesh_ends& ends, sap_mesh_range* r,
                                           uint32_t low, uint32_t high, uint32_t before, uint32_t after) {
    const int i = (int)threadIdx.x, bits = low < high ? sap_bits_between(low, high) : 0;
    const int shift = bits > SAP_MESH_SUB_BITS ? bits - SAP_MESH_SUB_BITS : 0;
    SAP_ASSERT(low <= high && (high - low) >> shift < SAP_MESH_SUBS);
    r->starts[i] = r->stops[i] = 0;
    __syncthreads();
    for (int kind = SAP_MESH_STARTS; kind <= SAP_MESH_STOPS; kind++) {
        uint32_t* bins = kind == SAP_MESH_STARTS ? r->starts : r->stops;
        for (uint32_t k = threadIdx.x; k < ends.count[kind]; k += SAP_MESH_THREADS) {
            const uint32_t ordinal = sap_ordinal_of(ends.at[kind][k]);
            if (ordinal >= low && ordinal <= high) atomicAdd(&bins[(ordinal - low) >> shift], 1u);
        }
    }
    __syncthreads();
    uint32_t starts, stops;
    const uint32_t own_starts = r->starts[i], own_stops = r->stops[i];
    const uint32_t starts_before = sap_mesh_block_scan(search->s, own_starts, &starts);
    const uint32_t stops_before = sap_mesh_block_scan(search->s, own_stops, &stops);
    r->starts[i] = starts_before;
    r->stops[i] = stops_before;
    r->done[i] = own_starts + own_stops == 0;
    if (i == 0) {
        r->starts[SAP_MESH_SUBS] = starts;
        r->stops[SAP_MESH_SUBS] = stops;
        r->low = low;
        r->high = high;
        r->before = before;
        r->after = after;
        r->shift = shift;
    }
    __syncthreads();
}

// Tries the one plane of a bin that is a single ordinal.
static __device__ void sap_mesh_try_plane(sap_mesh_plane_search* search, const sap_mesh_ends& ends, int axis, float at,
                                          uint32_t before, uint32_t after) {
    uint32_t in_plane = 0;
    for (uint32_t i = threadIdx.x; i < ends.count[SAP_MESH_FLAT]; i += SAP_MESH_THREADS)
        in_plane += ends.at[SAP_MESH_FLAT][i] == at;
    sap_mesh_try_end(search, axis, at, before, sap_mesh_block_sum(search->s, in_plane), after);
}

// Collects and tries the events in the taken bins of a range: `starts` and `stops` of them.
static __device__ void sap_mesh_try_bins(sap_mesh_plane_search* search, const sap_mesh_ends& ends, int axis,
                                         const sap_mesh_range* r, const bool* taken, uint32_t starts, uint32_t stops) {
    sap_mesh_search_shared* s = search->s;
    const uint32_t at[SAP_MESH_KINDS] = {0, starts, starts + stops};
    SAP_ASSERT(starts + stops <= SAP_MESH_ENDS_TRIED);
    if (threadIdx.x < SAP_MESH_KINDS) s->held_count[threadIdx.x] = 0;
    __syncthreads();
    for (int kind = 0; kind < SAP_MESH_KINDS; kind++)
        for (uint32_t k = threadIdx.x; k < ends.count[kind]; k += SAP_MESH_THREADS) {
            const uint32_t ordinal = sap_ordinal_of(ends.at[kind][k]);
            if (ordinal < r->low || ordinal > r->high || !taken[(ordinal - r->low) >> r->shift]) continue;
            s->held[at[kind] + atomicAdd(&s->held_count[kind], 1u)] = ends.at[kind][k];
        }
    __syncthreads();
    sap_mesh_ends held;
    for (int k = 0; k < SAP_MESH_KINDS; k++) {
        held.at[k] = s->held + at[k];
        held.count[k] = s->held_count[k];
    }
    for (uint32_t i = threadIdx.x; i < starts + stops; i += SAP_MESH_THREADS) {
        const uint32_t sub = (sap_ordinal_of(s->held[i]) - r->low) >> r->shift;
        sap_mesh_count_end(search, held, axis, s->held[i], sap_real_of(sap_mesh_first_of(r, sub)),
                           sap_real_of(sap_mesh_last_of(r, sub)), sap_mesh_before(r, sub), sap_mesh_after(r, sub));
    }
    sap_mesh_agree(search);
}

// Tries the bins of a range that bounds do not rule out. Returns the first of them with too many events, which is to be
// divided further, or -1.
static __device__ int sap_mesh_search_range(sap_mesh_plane_search* search, const sap_mesh_ends& ends, int axis,
                                            sap_mesh_range* r, bool* taken) {
    const int i = (int)threadIdx.x;
    const uint32_t starts = r->starts[i + 1] - r->starts[i], stops = r->stops[i + 1] - r->stops[i];
    const uint32_t room = (uint32_t)sap_room_for_bin(starts, stops);
    for (;;) {
        bool wanted = false;
        float bound = INFINITY;
        if (!r->done[i]) {
            bound = sap_mesh_bound_between(search, axis, sap_real_of(sap_mesh_first_of(r, (uint32_t)i)),
                                           sap_real_of(sap_mesh_last_of(r, (uint32_t)i)),
                                           sap_mesh_before(r, (uint32_t)i), sap_mesh_after(r, (uint32_t)i));
            wanted = !(bound > search->best.cost);
        }
        const unsigned long long key = (unsigned long long)sap_ordinal_of(bound) << 32 | (unsigned)i;
        const unsigned long long first = sap_mesh_block_min(search->s, wanted ? key : ~0ull);
        if (first == ~0ull) return -1;
        // Take the most promising bin, and as many more as can be compared with each other.
        const float least = sap_real_of((uint32_t)(first >> 32));
        const int leader = (int)(first & 0xffffffffu);
        float limit = search->best.cost;
        bool own = wanted, many = true;
        for (int k = 0; k < SAP_MESH_HALVINGS && many; k++) {
            own = wanted && !(bound > limit);
            many = sap_mesh_block_sum(search->s, own ? room : 0) > SAP_MESH_ENDS_TRIED;
            limit = 0.5f * (least + limit);
        }
        if (many) own = i == leader;
        const bool is_dense = many && sap_mesh_block_sum(search->s, own ? room : 0) > SAP_MESH_ENDS_TRIED;
        taken[i] = own;
        if (own) r->done[i] = true;
        const uint32_t all_starts = sap_mesh_block_sum(search->s, own ? starts : 0);
        const uint32_t all_stops = sap_mesh_block_sum(search->s, own ? stops : 0);
        if (is_dense) return leader;
        sap_mesh_try_bins(search, ends, axis, r, taken, all_starts, all_stops);
    }
}

// Tries all events of a bin that has few.
static __device__ void sap_mesh_try_bin(sap_mesh_plane_search* search, const sap_mesh_chosen_bin& bin,
                                        sap_mesh_ends ends) {
    uint32_t at = 0;
    for (int kind = 0; kind < SAP_MESH_KINDS; kind++) {
        float* held = search->s->held + at;
        for (uint32_t k = threadIdx.x; k < ends.count[kind]; k += SAP_MESH_THREADS) held[k] = ends.at[kind][k];
        ends.at[kind] = held;
        at += ends.count[kind];
    }
    SAP_ASSERT(at <= SAP_MESH_ENDS_TRIED);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < ends.count[SAP_MESH_STARTS] + ends.count[SAP_MESH_STOPS]; i += SAP_MESH_THREADS)
        sap_mesh_count_end(search, ends, bin.axis, search->s->held[i], -INFINITY, INFINITY, bin.before, bin.after);
    sap_mesh_agree(search);
}

// Searches the events of one bin of the node.
static __device__ void sap_mesh_search_bin(sap_mesh_plane_search* search, const sap_mesh_chosen_bin& bin,
                                           const float* all) {
    sap_mesh_search_shared* s = search->s;
    const sap_mesh_ends ends = sap_mesh_ends_of(bin, all);
    bool* taken = s->taken;
    // The bin's edges, moved apart by more than rounding errors.
    const float from = sap_bin_edge(search->cell, bin.axis, bin.number),
                to = sap_bin_edge(search->cell, bin.axis, bin.number + 1);
    const float margin = (to - from) / SAP_MESH_BINS;
    uint32_t low = sap_ordinal_of(from - margin);
    const uint32_t high = sap_ordinal_of(to + margin);
    if (sap_mesh_bound_between(search, bin.axis, from - margin, to + margin, bin.before, bin.after) > search->best.cost)
        return;
    if (bin.room <= SAP_MESH_ENDS_TRIED) {
        sap_mesh_try_bin(search, bin, ends);
        return;
    }
    sap_mesh_fill_range(search, ends, &s->ranges[0], low, high, bin.before, bin.after);
    for (int level = 0; level >= 0;) {
        sap_mesh_range* r = &s->ranges[level];
        const int dense = sap_mesh_search_range(search, ends, bin.axis, r, taken);
        if (dense < 0) {
            level--;
            continue;
        }
        const uint32_t sub = (uint32_t)dense, before = sap_mesh_before(r, sub), after = sap_mesh_after(r, sub);
        low = sap_mesh_first_of(r, sub);
        SAP_ASSERT(r->shift == 0 || level + 1 < SAP_MESH_SUB_LEVELS);
        if (r->shift)
            sap_mesh_fill_range(search, ends, &s->ranges[++level], low, sap_mesh_last_of(r, sub), before, after);
        else
            sap_mesh_try_plane(search, ends, bin.axis, sap_real_of(low), before, after);
    }
}

#endif
