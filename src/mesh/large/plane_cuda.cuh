// A block finds HIGH's plane of a large node by the rules of mesh/planes.h. Where the CPU sorts and sweeps, threads
// count: each compares one event with all others.
#ifndef SAPWOOD_MESH_LARGE_PLANE_CUDA_CUH
#define SAPWOOD_MESH_LARGE_PLANE_CUDA_CUH

#include "mesh/large/dense_bin_cuda.cuh"

// ---- Bins

static __device__ __forceinline__ int sap_mesh_edge_of(const sap_mesh_box& cell, const float scale[3], float4 end,
                                                       int axis) {
    return axis * SAP_MESH_BINS + sap_bin_of(sap_mesh_along(end, axis), cell.lower[axis], scale[axis]);
}

// Calls visit(part) for a thread's share of the parts, every step-th from `first` on, several loads at once. Also for
// holes; behind the last part for holes that do not exist.
template <typename visitor>
static __device__ __forceinline__ void sap_mesh_each_part(const sap_mesh_cuda_part* parts, int32_t count, int32_t first,
                                                          int32_t step, visitor visit) {
    for (int32_t from = first; from < count; from += step * SAP_MESH_FIND_LOADS) {
        sap_mesh_cuda_part part[SAP_MESH_FIND_LOADS];
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_FIND_LOADS; k++) {
            const int32_t i = from + k * step;
            part[k] = i < count ? sap_mesh_part_load(&parts[i]) : sap_mesh_hole();
        }
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_FIND_LOADS; k++) visit(part[k]);
    }
}

static __device__ void sap_mesh_fill_find_bins(sap_mesh_plane_search* search, const sap_mesh_cuda_part* parts,
                                               int32_t room, const float scale[3]) {
    sap_mesh_search_shared* s = search->s;
    for (int i = (int)threadIdx.x; i < 2 * SAP_MESH_EDGES; i += SAP_MESH_THREADS) (&s->bins[0][0])[i] = 0;
    __syncthreads();
    const auto count = [&](const sap_mesh_cuda_part& part) {
        if (sap_mesh_part_triangle(part) == SAP_MESH_HOLE) return;
        SAP_UNROLL
        for (int a = 0; a < 3; a++) {
            atomicAdd(&s->bins[0][sap_mesh_edge_of(search->cell, scale, part.lower, a)], 1u);
            atomicAdd(&s->bins[1][sap_mesh_edge_of(search->cell, scale, part.upper, a)], 1u);
        }
    };
    sap_mesh_each_part(parts, room, (int32_t)threadIdx.x, SAP_MESH_THREADS, count);
    __syncthreads();
}

// The sums of a row's bins before each of a lane's two bins.
static __device__ __forceinline__ uint2 sap_mesh_scan_row(const uint32_t* row) {
    const uint32_t first = row[2 * sap_lane()], second = row[2 * sap_lane() + 1];
    uint32_t sum = first + second;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const uint32_t other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned)step);
        if (sap_lane() >= step) sum += other;
    }
    return make_uint2(sum - first - second, sum - second);
}

// Tries the bins' edges and chooses the bins to search.
static __device__ void sap_mesh_choose_bins(sap_mesh_plane_search* search, uint32_t count, const float scale[3]) {
    sap_mesh_search_shared* s = search->s;
    const int i = (int)threadIdx.x, axis = i / SAP_MESH_BINS, bin = i % SAP_MESH_BINS, warp = i / SAP_WARP;
    uint32_t starts = 0, stops = 0, left = 0, right = 0;
    const bool can = i < SAP_MESH_EDGES && (axis == 0 ? scale[0] : axis == 1 ? scale[1] : scale[2]) > 0;
    if (i < SAP_MESH_EDGES) {
        starts = s->bins[0][i];
        stops = s->bins[1][i];
    }
    __syncthreads();
    if (warp < 6) { // each takes a row
        uint32_t* row = &s->bins[0][0] + warp * SAP_MESH_BINS;
        const uint2 before = sap_mesh_scan_row(row);
        row[2 * sap_lane()] = before.x;
        row[2 * sap_lane() + 1] = before.y;
    }
    __syncthreads();
    if (can) {
        left = s->bins[0][i];
        right = count - s->bins[1][i];
        SAP_ASSERT(left <= count && s->bins[1][i] + stops <= count);
        const float at = sap_bin_edge(search->cell, axis, bin);
        if (bin && sap_is_candidate(search->cell, search->measure, axis, at))
            sap_mesh_offer(search, axis, at, false, left, right);
    }
    if (i < SAP_MESH_EDGES) s->choice.number[i] = -1;
    sap_mesh_agree(search);
    unsigned long long key = ~0ull; // as sap_bin_precedes
    if (can && (starts || stops)) {
        const float bound = sap_bin_with_bound(search->cell, search->measure, axis, bin, search->traversal,
                                               search->intersection, (float)left, (float)(right - stops))
                                .bound;
        if (bound < search->best.cost) key = (unsigned long long)sap_ordinal_of(bound) << 32 | (unsigned)i;
    }
    int chosen = 0;
    uint32_t used = 0; // of the memory for events
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
    SAP_ASSERT(chosen <= SAP_MESH_CHOSEN && used <= 3 * (int64_t)count);
    if (i == 0) {
        s->choice.count = chosen;
        s->room = used;
    }
    __syncthreads();
}

// Calls put(bin, kind, end) for each event of a part in a chosen bin.
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

// Collects the events in the chosen bins.
static __device__ void sap_mesh_gather_ends(sap_mesh_plane_search* search, const sap_mesh_cuda_part* parts,
                                            int32_t room, const float scale[3], float* ends) {
    sap_mesh_choice* choice = &search->s->choice;
    const auto put = [=](int bin, int kind, float end) {
        sap_mesh_chosen_bin* to = &choice->bins[bin];
        ends[to->at[kind] + atomicAdd(&to->count[kind], 1u)] = end + 0.0f; // -0 becomes 0
    };
    sap_mesh_each_part(parts, room, (int32_t)threadIdx.x, SAP_MESH_THREADS, [&](const sap_mesh_cuda_part& part) {
        sap_mesh_visit_ends(search->cell, scale, choice->number, choice->count, part, put);
    });
    __syncthreads();
}

// Tries all events, if they are few.
static __device__ void sap_mesh_try_held(sap_mesh_plane_search* search) {
    const sap_mesh_search_shared* s = search->s;
    for (uint32_t i = threadIdx.x; i < s->room; i += SAP_MESH_THREADS)
        for (int j = 0; j < s->choice.count; j++) {
            const sap_mesh_chosen_bin& bin = s->choice.bins[j];
            const bool start = i - bin.at[SAP_MESH_STARTS] < bin.count[SAP_MESH_STARTS];
            const bool stop = i - bin.at[SAP_MESH_STOPS] < bin.count[SAP_MESH_STOPS];
            if (start || stop)
                sap_mesh_count_end(search, sap_mesh_ends_of(bin, s->held), bin.axis, s->held[i], -INFINITY, INFINITY,
                                   bin.before, bin.after);
        }
    sap_mesh_agree(search);
}

// ---- The plane

static __device__ void sap_mesh_plane_search_begin(const sap_mesh_cuda_build& b, const sap_mesh_box& cell,
                                                   sap_mesh_search_shared* s, sap_mesh_plane_search* search,
                                                   float scale[3]) {
    search->traversal = b.rules.traversal;
    search->intersection = b.rules.intersection;
    search->cell = cell;
    search->measure = sap_mesh_measure(cell, b.state->radius);
    search->s = s;
    search->best.cost = INFINITY;
    search->best.plane.axis = -1;
    search->best.plane.at = 0.0f;
    search->best.plane.planar_left = false;
    for (int a = 0; a < 3; a++) scale[a] = sap_bin_scale(cell, search->measure, a);
}

static __device__ void sap_mesh_search_bins(sap_mesh_plane_search* search, const float* ends) {
    for (int j = 0; j < search->s->choice.count; j++) sap_mesh_search_bin(search, search->s->choice.bins[j], ends);
}

// A block finds the plane of a job's node; axis -1 if there is none. scratch: memory for three floats for each part.
static __device__ sap_plane sap_mesh_find_plane(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job,
                                                float* scratch, sap_mesh_search_shared* s) {
    const sap_mesh_cuda_part* parts = b.parts + job->first;
    sap_mesh_plane_search search;
    float scale[3];
    sap_mesh_plane_search_begin(b, job->cell, s, &search, scale);
    sap_mesh_fill_find_bins(&search, parts, job->room, scale);
    sap_mesh_choose_bins(&search, (uint32_t)job->count, scale);
    if (s->choice.count == 0) return search.best.plane;
    bool few = s->room <= SAP_MESH_ENDS_HELD;
    for (int j = 0; j < s->choice.count; j++) few = few && s->choice.bins[j].room <= SAP_MESH_ENDS_TRIED;
    sap_mesh_gather_ends(&search, parts, job->room, scale, few ? s->held : scratch);
    if (few)
        sap_mesh_try_held(&search);
    else
        sap_mesh_search_bins(&search, scratch);
    return search.best.plane;
}

#endif
