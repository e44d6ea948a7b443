// HIGH's plane of a node of many parts, by a block: the rules of mesh/planes.h. What the CPU sorts and sweeps, threads
// count: each takes an end of a part and counts the others beside it. Where a bin is too crowded for that, it is
// narrowed down by histograms of its ends' ordinals: what a bound rules out could not have been chosen.
#ifndef SAPWOOD_MESH_PLANES_CUDA_CUH
#define SAPWOOD_MESH_PLANES_CUDA_CUH

#include "mesh/divide_cuda.cuh"

enum {
    SAP_MESH_ENDS_HELD = 2048, // ends of parts, of all bins, that are looked at at once
    SAP_MESH_ENDS_TRIED = 512, // of one bin, each of which is counted against the others
    SAP_MESH_HALVINGS = 8,
    SAP_MESH_SUBS = 256, // bins of a histogram of ordinals, a thread each
    SAP_MESH_SUB_BITS = 8,
    SAP_MESH_SUB_LEVELS = 4, // 32 bits
    SAP_MESH_FIND_LOADS = 4, // of parts that a thread has under way
    SAP_MESH_EDGES = 3 * SAP_MESH_BINS
};

enum sap_mesh_kind { SAP_MESH_STARTS, SAP_MESH_STOPS, SAP_MESH_FLAT, SAP_MESH_KINDS };

// Ends of parts: where they start, where they end, and where those without extent lie.
typedef struct sap_mesh_ends {
    const float* at[SAP_MESH_KINDS];
    uint32_t count[SAP_MESH_KINDS];
} sap_mesh_ends;

typedef struct sap_mesh_chosen_bin {
    int axis, number;
    uint32_t before, after, room;
    uint32_t at[SAP_MESH_KINDS], count[SAP_MESH_KINDS]; // of its ends: where they are, and how many
} sap_mesh_chosen_bin;

// The bins that are searched, the first first.
typedef struct sap_mesh_choice {
    int count;
    int8_t number[SAP_MESH_EDGES]; // of each bin, or -1
    sap_mesh_chosen_bin bins[SAP_MESH_CHOSEN];
} sap_mesh_choice;

// Ordinals of one axis, low … high, in bins of 1 << shift.
typedef struct sap_mesh_range {
    uint32_t low, high, before, after;
    int shift;
    uint32_t starts[SAP_MESH_SUBS + 1], stops[SAP_MESH_SUBS + 1]; // before each bin
    bool done[SAP_MESH_SUBS];
} sap_mesh_range;

typedef struct sap_mesh_find_shared {
    unsigned long long of_warps[SAP_MESH_WARPS];
    uint32_t bins[2][SAP_MESH_EDGES]; // starts, ends
    sap_mesh_choice choice;
    uint32_t room; // for the ends of parts in chosen bins
    bool taken[SAP_MESH_SUBS];
    float held[SAP_MESH_ENDS_HELD];
    uint32_t held_count[SAP_MESH_KINDS];
    sap_mesh_range ranges[SAP_MESH_SUB_LEVELS];
} sap_mesh_find_shared;

typedef struct sap_mesh_priced {
    float cost;
    sap_plane plane;
} sap_mesh_priced;

// What the node is judged by; all threads have the same.
typedef struct sap_mesh_finder {
    float traversal, intersection;
    sap_mesh_box cell;
    sap_measure measure;
    sap_mesh_find_shared* s;
    sap_mesh_priced best;
} sap_mesh_finder;

// ---- All threads of the block

static __device__ unsigned long long sap_mesh_block_min(sap_mesh_find_shared* s, unsigned long long x) {
    x = sap_warp_min(x);
    if (sap_lane() == 0) s->of_warps[threadIdx.x / SAP_WARP] = x;
    __syncthreads();
    for (int i = 0; i < SAP_MESH_WARPS; i++) x = s->of_warps[i] < x ? s->of_warps[i] : x;
    __syncthreads();
    return x;
}

static __device__ uint32_t sap_mesh_block_sum(sap_mesh_find_shared* s, uint32_t x) {
    x = sap_warp_sum(x);
    if (sap_lane() == 0) s->of_warps[threadIdx.x / SAP_WARP] = x;
    __syncthreads();
    x = 0;
    for (int i = 0; i < SAP_MESH_WARPS; i++) x += (uint32_t)s->of_warps[i];
    __syncthreads();
    return x;
}

// The sum of all threads before this one; the whole of all.
static __device__ uint32_t sap_mesh_block_scan(sap_mesh_find_shared* s, uint32_t x, uint32_t* whole) {
    uint32_t sum = x;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const uint32_t other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned)step);
        if (sap_lane() >= step) sum += other;
    }
    if (sap_lane() == SAP_WARP - 1) s->of_warps[threadIdx.x / SAP_WARP] = sum;
    __syncthreads();
    uint32_t before = 0;
    *whole = 0;
    for (int i = 0; i < SAP_MESH_WARPS; i++) {
        if (i < (int)threadIdx.x / SAP_WARP) before += (uint32_t)s->of_warps[i];
        *whole += (uint32_t)s->of_warps[i];
    }
    __syncthreads();
    return before + sum - x;
}

// Of all threads' best planes the first.
static __device__ void sap_mesh_agree(sap_mesh_finder* f) {
    const sap_plane own = f->best.plane;
    const unsigned long long price = own.axis < 0 ? ~0ull
                                                  : (unsigned long long)sap_ordinal_of(f->best.cost) << 3 |
                                                        (unsigned)(2 * own.axis + own.planar_left);
    const unsigned long long least = sap_mesh_block_min(f->s, price);
    const unsigned long long at = sap_mesh_block_min(f->s, price == least ? sap_ordinal_of(own.at) : ~0ull);
    if (least == ~0ull) return;
    f->best.cost = sap_real_of((uint32_t)(least >> 3));
    f->best.plane.axis = (int)(least >> 1 & 3);
    f->best.plane.planar_left = least & 1;
    f->best.plane.at = sap_real_of((uint32_t)at);
}

// ---- Each thread on its own

static __device__ void sap_mesh_offer(sap_mesh_finder* f, int axis, float at, bool planar_left, uint32_t left,
                                      uint32_t right) {
    sap_plane plane;
    plane.axis = axis;
    plane.at = at + 0.0f;
    plane.planar_left = planar_left;
    const float cost =
        sap_cell_cost(f->cell, f->measure, axis, at, f->traversal, f->intersection, (float)left, (float)right);
    if (!sap_plane_precedes(cost, plane, f->best.cost, f->best.plane)) return;
    f->best.cost = cost;
    f->best.plane = plane;
}

// A plane that is an end of parts, with those in it to the right and to the left.
static __device__ void sap_mesh_try_end(sap_mesh_finder* f, int axis, float at, uint32_t left, uint32_t in_plane,
                                        uint32_t right) {
    if (!sap_is_candidate(f->cell, f->measure, axis, at)) return;
    sap_mesh_offer(f, axis, at, false, left, right + in_plane);
    if (in_plane) sap_mesh_offer(f, axis, at, true, left + in_plane, right);
}

// Counts what an end leaves on either side, among the ends from … to, which `before` and `after` others enclose.
static __device__ void sap_mesh_count_end(sap_mesh_finder* f, const sap_mesh_ends& ends, int axis, float at, float from,
                                          float to, uint32_t before, uint32_t after) {
    uint32_t in_plane = 0;
    for (uint32_t i = 0; i < ends.count[SAP_MESH_STARTS]; i++) {
        const float start = ends.at[SAP_MESH_STARTS][i];
        before += start >= from && start < at;
    }
    for (uint32_t i = 0; i < ends.count[SAP_MESH_STOPS]; i++) {
        const float stop = ends.at[SAP_MESH_STOPS][i];
        after += stop <= to && stop > at;
    }
    for (uint32_t i = 0; i < ends.count[SAP_MESH_FLAT]; i++) in_plane += ends.at[SAP_MESH_FLAT][i] == at;
    sap_mesh_try_end(f, axis, at, before, in_plane, after);
}

// ---- Bins

static __device__ __forceinline__ int sap_mesh_edge_of(const sap_mesh_box& cell, const float scale[3], float4 end,
                                                       int axis) {
    return axis * SAP_MESH_BINS + sap_bin_of(sap_mesh_along(end, axis), cell.lower[axis], scale[axis]);
}

static __device__ __forceinline__ void sap_mesh_load_some(const sap_mesh_cuda_part* parts, int32_t from, int32_t count,
                                                          int32_t step, sap_mesh_cuda_part* part) {
    SAP_UNROLL
    for (int k = 0; k < SAP_MESH_FIND_LOADS; k++) {
        const int32_t i = from + k * step;
        part[k] = i < count ? sap_mesh_part_load(&parts[i]) : sap_mesh_hole();
    }
}

static __device__ void sap_mesh_fill_find_bins(sap_mesh_finder* f, const sap_mesh_cuda_part* parts, int32_t room,
                                               const float scale[3]) {
    sap_mesh_find_shared* s = f->s;
    for (int i = (int)threadIdx.x; i < 2 * SAP_MESH_EDGES; i += SAP_MESH_THREADS) (&s->bins[0][0])[i] = 0;
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < room; i += SAP_MESH_THREADS * SAP_MESH_FIND_LOADS) {
        sap_mesh_cuda_part part[SAP_MESH_FIND_LOADS];
        sap_mesh_load_some(parts, i, room, SAP_MESH_THREADS, part);
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_FIND_LOADS; k++) {
            if (sap_mesh_part_triangle(part[k]) == SAP_MESH_HOLE) continue;
            SAP_UNROLL
            for (int a = 0; a < 3; a++) {
                atomicAdd(&s->bins[0][sap_mesh_edge_of(f->cell, scale, part[k].lower, a)], 1u);
                atomicAdd(&s->bins[1][sap_mesh_edge_of(f->cell, scale, part[k].upper, a)], 1u);
            }
        }
    }
    __syncthreads();
}

// The sums of a row's bins before each of two that a lane has; the sum of all.
static __device__ __forceinline__ uint2 sap_mesh_scan_row(const uint32_t* row) {
    const uint32_t first = row[2 * sap_lane()], second = row[2 * sap_lane() + 1];
    uint32_t sum = first + second;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const uint32_t other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned)step);
        if (sap_lane() >= step) sum += other;
    }
    return make_uint2(sum - first - second, sum - second);
}

// Tries the bins' edges and chooses the bins that are searched.
static __device__ void sap_mesh_choose_bins(sap_mesh_finder* f, uint32_t count, const float scale[3]) {
    sap_mesh_find_shared* s = f->s;
    const int i = (int)threadIdx.x, axis = i / SAP_MESH_BINS, bin = i % SAP_MESH_BINS, warp = i / SAP_WARP;
    uint32_t starts = 0, stops = 0, left = 0, right = 0;
    const bool can = i < SAP_MESH_EDGES && (axis == 0 ? scale[0] : axis == 1 ? scale[1] : scale[2]) > 0;
    if (i < SAP_MESH_EDGES) {
        starts = s->bins[0][i];
        stops = s->bins[1][i];
    }
    __syncthreads();
    if (warp < 6) { // a row each
        uint32_t* row = &s->bins[0][0] + warp * SAP_MESH_BINS;
        const uint2 before = sap_mesh_scan_row(row);
        row[2 * sap_lane()] = before.x;
        row[2 * sap_lane() + 1] = before.y;
    }
    __syncthreads();
    if (can) {
        left = s->bins[0][i];
        right = count - s->bins[1][i];
        const float at = sap_bin_edge(f->cell, axis, bin);
        if (bin && sap_is_candidate(f->cell, f->measure, axis, at)) sap_mesh_offer(f, axis, at, false, left, right);
    }
    if (i < SAP_MESH_EDGES) s->choice.number[i] = -1;
    sap_mesh_agree(f);
    unsigned long long key = ~0ull; // as sap_bin_precedes
    if (can && (starts || stops)) {
        const float bound = sap_bin_with_bound(f->cell, f->measure, axis, bin, f->traversal, f->intersection,
                                               (float)left, (float)(right - stops))
                                .bound;
        if (bound < f->best.cost) key = (unsigned long long)sap_ordinal_of(bound) << 32 | (unsigned)i;
    }
    int chosen = 0;
    uint32_t used = 0; // of the room for ends
    for (; chosen < SAP_MESH_CHOSEN; chosen++) {
        const unsigned long long first = sap_mesh_block_min(s, key);
        if (first == ~0ull) break;
        if (key == first) {
            key = ~0ull;
            sap_mesh_chosen_bin* own = &s->choice.bins[chosen];
            const uint32_t room = (uint32_t)sap_room_for_bin(starts, stops);
            *own = {axis, bin, left, right - stops, room, {used, used + starts, used + starts + stops}, {0, 0, 0}};
            s->choice.number[i] = (int8_t)chosen;
        }
        __syncthreads();
        const uint32_t room = s->choice.bins[chosen].room;
        if ((int64_t)used + room > 3 * (int64_t)count) break;
        used += room;
    }
    __syncthreads();
    if (i == 0) {
        s->choice.count = chosen;
        s->room = used;
    }
    __syncthreads();
}

// Shows the ends of a part that lie in chosen bins to put(bin, kind, end).
template <typename visitor>
static __device__ __forceinline__ void sap_mesh_visit_ends(const sap_mesh_box& cell, const float scale[3],
                                                           const int8_t* number, int chosen,
                                                           const sap_mesh_cuda_part& part, visitor put) {
    if (sap_mesh_part_triangle(part) == SAP_MESH_HOLE) return;
    SAP_UNROLL
    for (int a = 0; a < 3; a++) {
        const float lower = sap_mesh_along(part.lower, a), upper = sap_mesh_along(part.upper, a);
        const int from = number[sap_mesh_edge_of(cell, scale, part.lower, a)];
        const int to = number[sap_mesh_edge_of(cell, scale, part.upper, a)];
        if (from >= 0 && from < chosen) {
            put(from, SAP_MESH_STARTS, lower);
            if (lower == upper) put(from, SAP_MESH_FLAT, lower);
        }
        if (to >= 0 && to < chosen) put(to, SAP_MESH_STOPS, upper);
    }
}

// Collects the ends of parts in the chosen bins.
static __device__ void sap_mesh_gather_ends(sap_mesh_finder* f, const sap_mesh_cuda_part* parts, int32_t room,
                                            const float scale[3], float* ends) {
    sap_mesh_choice* choice = &f->s->choice;
    for (int32_t i = (int32_t)threadIdx.x; i < room; i += SAP_MESH_THREADS * SAP_MESH_FIND_LOADS) {
        sap_mesh_cuda_part part[SAP_MESH_FIND_LOADS];
        sap_mesh_load_some(parts, i, room, SAP_MESH_THREADS, part);
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_FIND_LOADS; k++)
            sap_mesh_visit_ends(f->cell, scale, choice->number, choice->count, part[k],
                                [=](int bin, int kind, float end) {
                                    sap_mesh_chosen_bin* to = &choice->bins[bin];
                                    ends[to->at[kind] + atomicAdd(&to->count[kind], 1u)] = end + 0.0f; // -0 becomes 0
                                });
    }
    __syncthreads();
}

static __device__ __forceinline__ sap_mesh_ends sap_mesh_ends_of(const sap_mesh_chosen_bin& bin, const float* ends) {
    sap_mesh_ends of;
    for (int k = 0; k < SAP_MESH_KINDS; k++) {
        of.at[k] = ends + bin.at[k];
        of.count[k] = bin.count[k];
    }
    return of;
}

// Few ends: all are tried.
static __device__ void sap_mesh_try_held(sap_mesh_finder* f) {
    const sap_mesh_find_shared* s = f->s;
    for (uint32_t i = threadIdx.x; i < s->room; i += SAP_MESH_THREADS)
        for (int j = 0; j < s->choice.count; j++) {
            const sap_mesh_chosen_bin& bin = s->choice.bins[j];
            const bool start = i - bin.at[SAP_MESH_STARTS] < bin.count[SAP_MESH_STARTS];
            const bool stop = i - bin.at[SAP_MESH_STOPS] < bin.count[SAP_MESH_STOPS];
            if (start || stop)
                sap_mesh_count_end(f, sap_mesh_ends_of(bin, s->held), bin.axis, s->held[i], -INFINITY, INFINITY,
                                   bin.before, bin.after);
        }
    sap_mesh_agree(f);
}

// ---- Crowded bins

static __device__ __forceinline__ uint32_t sap_mesh_first_of(const sap_mesh_range* r, uint32_t sub) {
    return r->low + (sub << r->shift);
}
static __device__ __forceinline__ uint32_t sap_mesh_last_of(const sap_mesh_range* r, uint32_t sub) {
    const uint32_t first = sap_mesh_first_of(r, sub), others = (1u << r->shift) - 1;
    return r->high - first < others ? r->high : first + others;
}
// Parts that start below a bin, that end behind it.
static __device__ __forceinline__ uint32_t sap_mesh_before(const sap_mesh_range* r, uint32_t sub) {
    return r->before + r->starts[sub];
}
static __device__ __forceinline__ uint32_t sap_mesh_after(const sap_mesh_range* r, uint32_t sub) {
    return r->after + r->stops[SAP_MESH_SUBS] - r->stops[sub + 1];
}

// No plane between two places costs less.
static __device__ __forceinline__ float sap_mesh_bound_between(const sap_mesh_finder* f, int axis, float from, float to,
                                                               uint32_t before, uint32_t after) {
    const float base = f->measure.base[axis], per = f->measure.per[axis];
    return sap_split_cost(f->traversal, f->intersection, sap_share(base, per, from - f->cell.lower[axis]),
                          sap_share(base, per, f->cell.upper[axis] - to), (float)before, (float)after);
}

// Counts the ends of a range in its bins.
static __device__ void sap_mesh_fill_range(sap_mesh_finder* f, const sap_mesh_ends& ends, sap_mesh_range* r,
                                           uint32_t low, uint32_t high, uint32_t before, uint32_t after) {
    const int i = (int)threadIdx.x, bits = low < high ? sap_bits_between(low, high) : 0;
    const int shift = bits > SAP_MESH_SUB_BITS ? bits - SAP_MESH_SUB_BITS : 0;
    r->starts[i] = r->stops[i] = 0;
    __syncthreads();
    for (int kind = SAP_MESH_STARTS; kind <= SAP_MESH_STOPS; kind++)
        for (uint32_t k = threadIdx.x; k < ends.count[kind]; k += SAP_MESH_THREADS) {
            const uint32_t ordinal = sap_ordinal_of(ends.at[kind][k]);
            if (ordinal < low || ordinal > high) continue;
            atomicAdd(&(kind == SAP_MESH_STARTS ? r->starts : r->stops)[(ordinal - low) >> shift], 1u);
        }
    __syncthreads();
    uint32_t starts, stops;
    const uint32_t own_starts = r->starts[i], own_stops = r->stops[i];
    const uint32_t starts_before = sap_mesh_block_scan(f->s, own_starts, &starts);
    const uint32_t stops_before = sap_mesh_block_scan(f->s, own_stops, &stops);
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

// All ends of a bin of ordinals are one plane.
static __device__ void sap_mesh_try_one(sap_mesh_finder* f, const sap_mesh_ends& ends, int axis, float at,
                                        uint32_t before, uint32_t after) {
    uint32_t in_plane = 0;
    for (uint32_t i = threadIdx.x; i < ends.count[SAP_MESH_FLAT]; i += SAP_MESH_THREADS)
        in_plane += ends.at[SAP_MESH_FLAT][i] == at;
    sap_mesh_try_end(f, axis, at, before, sap_mesh_block_sum(f->s, in_plane), after);
}

// Collects the ends in some bins of a range, room for `starts` and `stops` of them, and tries them.
static __device__ void sap_mesh_try_some(sap_mesh_finder* f, const sap_mesh_ends& ends, int axis,
                                         const sap_mesh_range* r, const bool* taken, uint32_t starts, uint32_t stops) {
    sap_mesh_find_shared* s = f->s;
    const uint32_t at[SAP_MESH_KINDS] = {0, starts, starts + stops};
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
        sap_mesh_count_end(f, held, axis, s->held[i], sap_real_of(sap_mesh_first_of(r, sub)),
                           sap_real_of(sap_mesh_last_of(r, sub)), sap_mesh_before(r, sub), sap_mesh_after(r, sub));
    }
    sap_mesh_agree(f);
}

// Tries what bounds leave of a range; the first of its bins that are too crowded, to be looked at on its own, or -1.
static __device__ int sap_mesh_search_range(sap_mesh_finder* f, const sap_mesh_ends& ends, int axis, sap_mesh_range* r,
                                            bool* taken) {
    const int i = (int)threadIdx.x;
    const uint32_t starts = r->starts[i + 1] - r->starts[i], stops = r->stops[i + 1] - r->stops[i];
    const uint32_t room = (uint32_t)sap_room_for_bin(starts, stops);
    for (;;) {
        bool wanted = false;
        float bound = INFINITY;
        if (!r->done[i]) {
            bound = sap_mesh_bound_between(f, axis, sap_real_of(sap_mesh_first_of(r, (uint32_t)i)),
                                           sap_real_of(sap_mesh_last_of(r, (uint32_t)i)),
                                           sap_mesh_before(r, (uint32_t)i), sap_mesh_after(r, (uint32_t)i));
            wanted = !(bound > f->best.cost);
        }
        const unsigned long long key = (unsigned long long)sap_ordinal_of(bound) << 32 | (unsigned)i;
        const unsigned long long first = sap_mesh_block_min(f->s, wanted ? key : ~0ull);
        if (first == ~0ull) return -1;
        // The most promising, and as many more as can be counted against each other.
        const float least = sap_real_of((uint32_t)(first >> 32));
        const int leader = (int)(first & 0xffffffffu);
        float limit = f->best.cost;
        bool own = wanted, many = true;
        for (int k = 0; k < SAP_MESH_HALVINGS && many; k++) {
            own = wanted && !(bound > limit);
            many = sap_mesh_block_sum(f->s, own ? room : 0) > SAP_MESH_ENDS_TRIED;
            limit = 0.5f * (least + limit);
        }
        if (many) own = i == leader;
        const bool crowded = many && sap_mesh_block_sum(f->s, own ? room : 0) > SAP_MESH_ENDS_TRIED;
        taken[i] = own;
        if (own) r->done[i] = true;
        const uint32_t all_starts = sap_mesh_block_sum(f->s, own ? starts : 0);
        const uint32_t all_stops = sap_mesh_block_sum(f->s, own ? stops : 0);
        if (crowded) return leader;
        sap_mesh_try_some(f, ends, axis, r, taken, all_starts, all_stops);
    }
}

// A bin of few ends: all are tried.
static __device__ void sap_mesh_try_bin(sap_mesh_finder* f, const sap_mesh_chosen_bin& bin, sap_mesh_ends ends) {
    uint32_t at = 0;
    for (int kind = 0; kind < SAP_MESH_KINDS; kind++) {
        float* held = f->s->held + at;
        for (uint32_t k = threadIdx.x; k < ends.count[kind]; k += SAP_MESH_THREADS) held[k] = ends.at[kind][k];
        ends.at[kind] = held;
        at += ends.count[kind];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < ends.count[SAP_MESH_STARTS] + ends.count[SAP_MESH_STOPS]; i += SAP_MESH_THREADS)
        sap_mesh_count_end(f, ends, bin.axis, f->s->held[i], -INFINITY, INFINITY, bin.before, bin.after);
    sap_mesh_agree(f);
}

// The ends of one bin of the node: the most promising first, crowded ones narrowed down.
static __device__ void sap_mesh_search_bin(sap_mesh_finder* f, const sap_mesh_chosen_bin& bin, const float* all) {
    sap_mesh_find_shared* s = f->s;
    const sap_mesh_ends ends = sap_mesh_ends_of(bin, all);
    bool* taken = s->taken;
    // The bin's edges, moved apart by more than rounding may have moved them.
    const float from = sap_bin_edge(f->cell, bin.axis, bin.number),
                to = sap_bin_edge(f->cell, bin.axis, bin.number + 1);
    const float margin = (to - from) / SAP_MESH_BINS;
    uint32_t low = sap_ordinal_of(from - margin);
    const uint32_t high = sap_ordinal_of(to + margin);
    if (sap_mesh_bound_between(f, bin.axis, from - margin, to + margin, bin.before, bin.after) > f->best.cost) return;
    if (bin.room <= SAP_MESH_ENDS_TRIED) {
        sap_mesh_try_bin(f, bin, ends);
        return;
    }
    sap_mesh_fill_range(f, ends, &s->ranges[0], low, high, bin.before, bin.after);
    for (int level = 0; level >= 0;) {
        sap_mesh_range* r = &s->ranges[level];
        const int crowd = sap_mesh_search_range(f, ends, bin.axis, r, taken);
        if (crowd < 0) {
            level--;
            continue;
        }
        const uint32_t sub = (uint32_t)crowd, before = sap_mesh_before(r, sub), after = sap_mesh_after(r, sub);
        low = sap_mesh_first_of(r, sub);
        if (r->shift)
            sap_mesh_fill_range(f, ends, &s->ranges[++level], low, sap_mesh_last_of(r, sub), before, after);
        else
            sap_mesh_try_one(f, ends, bin.axis, sap_real_of(low), before, after);
    }
}

// ---- The plane

static __device__ void sap_mesh_finder_begin(const sap_mesh_cuda_build& b, const sap_mesh_box& cell,
                                             sap_mesh_find_shared* s, sap_mesh_finder* f, float scale[3]) {
    f->traversal = b.rules.traversal;
    f->intersection = b.rules.intersection;
    f->cell = cell;
    f->measure = sap_mesh_measure(cell, b.state->radius);
    f->s = s;
    f->best.cost = INFINITY;
    f->best.plane.axis = -1;
    f->best.plane.at = 0.0f;
    f->best.plane.planar_left = false;
    for (int a = 0; a < 3; a++) scale[a] = sap_bin_scale(cell, f->measure, a);
}

static __device__ void sap_mesh_search_bins(sap_mesh_finder* f, const float* ends) {
    for (int j = 0; j < f->s->choice.count; j++) sap_mesh_search_bin(f, f->s->choice.bins[j], ends);
}

// A block finds the plane of a node of so many places; `scratch`: memory for three floats for each part. Without a
// plane the axis is -1.
static __device__ sap_plane sap_mesh_find_plane(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job,
                                                float* scratch, sap_mesh_find_shared* s) {
    const sap_mesh_cuda_part* parts = b.parts + job->first;
    sap_mesh_finder f;
    float scale[3];
    sap_mesh_finder_begin(b, job->cell, s, &f, scale);
    sap_mesh_fill_find_bins(&f, parts, job->room, scale);
    sap_mesh_choose_bins(&f, (uint32_t)job->count, scale);
    if (s->choice.count == 0) return f.best.plane;
    bool few = s->room <= SAP_MESH_ENDS_HELD;
    for (int j = 0; j < s->choice.count; j++) few = few && s->choice.bins[j].room <= SAP_MESH_ENDS_TRIED;
    sap_mesh_gather_ends(&f, parts, job->room, scale, few ? s->held : scratch);
    if (few)
        sap_mesh_try_held(&f);
    else
        sap_mesh_search_bins(&f, scratch);
    return f.best.plane;
}

#endif
