// The search of a block for HIGH's plane of a large node: reductions over all threads, and events, each of which is
// compared with all others.
#ifndef SAPWOOD_MESH_LARGE_PLANE_SEARCH_CUDA_CUH
#define SAPWOOD_MESH_LARGE_PLANE_SEARCH_CUDA_CUH

#include "mesh/large/divide_cuda.cuh"

enum {
    SAP_MESH_ENDS_HELD = 2048, // most events, of all chosen bins, that shared memory holds at once
    SAP_MESH_ENDS_TRIED = 512, // most events that are compared with each other
    SAP_MESH_HALVINGS = 8,
    SAP_MESH_SUBS = 256, // bins of a histogram of ordinals, one per thread
    SAP_MESH_SUB_BITS = 8,
    SAP_MESH_SUB_LEVELS = 4, // 32 bits
    SAP_MESH_FIND_LOADS = 4, // loads of parts that a thread has in flight
    SAP_MESH_EDGES = 3 * SAP_MESH_BINS
};

enum sap_mesh_kind { SAP_MESH_STARTS, SAP_MESH_STOPS, SAP_MESH_FLAT, SAP_MESH_KINDS };

// Events: where parts start, where they end, and where planar parts lie.
typedef struct sap_mesh_ends {
    const float* at[SAP_MESH_KINDS];
    uint32_t count[SAP_MESH_KINDS];
} sap_mesh_ends;

typedef struct sap_mesh_chosen_bin {
    int axis, number;
    uint32_t before, after, room;
    uint32_t at[SAP_MESH_KINDS], count[SAP_MESH_KINDS]; // its events: their place and number
} sap_mesh_chosen_bin;

// The bins that are searched, in order.
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

typedef struct sap_mesh_search_shared {
    unsigned long long of_warps[SAP_MESH_WARPS];
    uint32_t bins[2][SAP_MESH_EDGES]; // starts, ends
    sap_mesh_choice choice;
    uint32_t room; // for the ends of parts in chosen bins
    bool taken[SAP_MESH_SUBS];
    float held[SAP_MESH_ENDS_HELD];
    uint32_t held_count[SAP_MESH_KINDS];
    sap_mesh_range ranges[SAP_MESH_SUB_LEVELS];
} sap_mesh_search_shared;

typedef struct sap_mesh_priced {
    float cost;
    sap_plane plane;
} sap_mesh_priced;

// The node and the best plane so far; the same in all threads.
typedef struct sap_mesh_plane_search {
    float traversal, intersection;
    sap_mesh_box cell;
    sap_measure measure;
    sap_mesh_search_shared* s;
    sap_mesh_priced best;
} sap_mesh_plane_search;

// ---- All threads of the block

static __device__ unsigned long long sap_mesh_block_min(sap_mesh_search_shared* s, unsigned long long x) {
    x = sap_warp_min(x);
    if (sap_lane() == 0) s->of_warps[threadIdx.x / SAP_WARP] = x;
    __syncthreads();
    for (int i = 0; i < SAP_MESH_WARPS; i++) x = s->of_warps[i] < x ? s->of_warps[i] : x;
    __syncthreads();
    return x;
}

static __device__ uint32_t sap_mesh_block_sum(sap_mesh_search_shared* s, uint32_t x) {
    x = sap_warp_sum(x);
    if (sap_lane() == 0) s->of_warps[threadIdx.x / SAP_WARP] = x;
    __syncthreads();
    x = 0;
    for (int i = 0; i < SAP_MESH_WARPS; i++) x += (uint32_t)s->of_warps[i];
    __syncthreads();
    return x;
}

// The sum of all threads before this one. *whole: the sum of all.
static __device__ uint32_t sap_mesh_block_scan(sap_mesh_search_shared* s, uint32_t x, uint32_t* whole) {
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

// Makes the first of all threads' best planes the best of each.
static __device__ void sap_mesh_agree(sap_mesh_plane_search* search) {
    const sap_plane own = search->best.plane;
    const unsigned long long price = own.axis < 0 ? ~0ull
                                                  : (unsigned long long)sap_ordinal_of(search->best.cost) << 3 |
                                                        (unsigned)(2 * own.axis + own.planar_left);
    const unsigned long long least = sap_mesh_block_min(search->s, price);
    const unsigned long long at = sap_mesh_block_min(search->s, price == least ? sap_ordinal_of(own.at) : ~0ull);
    if (least == ~0ull) return;
    search->best.cost = sap_real_of((uint32_t)(least >> 3));
    search->best.plane.axis = (int)(least >> 1 & 3);
    search->best.plane.planar_left = least & 1;
    search->best.plane.at = sap_real_of((uint32_t)at);
}

// ---- Each thread on its own

static __device__ void sap_mesh_offer(sap_mesh_plane_search* search, int axis, float at, bool planar_left,
                                      uint32_t left, uint32_t right) {
    sap_plane plane;
    plane.axis = axis;
    plane.at = at + 0.0f;
    plane.planar_left = planar_left;
    const float cost = sap_cell_cost(search->cell, search->measure, axis, at, search->traversal, search->intersection,
                                     (float)left, (float)right);
    if (!sap_plane_precedes(cost, plane, search->best.cost, search->best.plane)) return;
    search->best.cost = cost;
    search->best.plane = plane;
}

// Tries the plane of an event with the parts in it on the right, then on the left.
static __device__ void sap_mesh_try_end(sap_mesh_plane_search* search, int axis, float at, uint32_t left,
                                        uint32_t in_plane, uint32_t right) {
    if (!sap_is_candidate(search->cell, search->measure, axis, at)) return;
    sap_mesh_offer(search, axis, at, false, left, right + in_plane);
    if (in_plane) sap_mesh_offer(search, axis, at, true, left + in_plane, right);
}

// Tries the plane of an event. Counts the parts on its sides among the events from … to; `before` parts start below
// these, `after` parts end above.
static __device__ void sap_mesh_count_end(sap_mesh_plane_search* search, const sap_mesh_ends& ends, int axis, float at,
                                          float from, float to, uint32_t before, uint32_t after) {
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
    sap_mesh_try_end(search, axis, at, before, in_plane, after);
}

static __device__ __forceinline__ sap_mesh_ends sap_mesh_ends_of(const sap_mesh_chosen_bin& bin, const float* ends) {
    sap_mesh_ends of;
    for (int k = 0; k < SAP_MESH_KINDS; k++) {
        of.at[k] = ends + bin.at[k];
        of.count[k] = bin.count[k];
    }
    SAP_ASSERT(of.at[SAP_MESH_STARTS] + of.count[SAP_MESH_STARTS] == of.at[SAP_MESH_STOPS]);
    SAP_ASSERT(of.at[SAP_MESH_STOPS] + of.count[SAP_MESH_STOPS] == of.at[SAP_MESH_FLAT]);
    SAP_ASSERT(of.count[SAP_MESH_FLAT] <= of.count[SAP_MESH_STARTS]);
    return of;
}

#endif
