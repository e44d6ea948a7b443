// Points that came to a GPU with their ids, rank by rank, put in the order of these.
#include "cluster/share_cuda.cuh"

#include <cub/device/device_radix_sort.cuh>

enum {
    MERGED_RUNS = 32, // in one pass
    MERGED_TILE = 32 * SHARE_THREADS
};

// What came from each rank, one behind the other.
typedef struct name_runs {
    int64_t start[MERGED_RUNS + 1];
    int count;
} name_runs;

// Whether any id is less than the one before it.
typedef struct name_falls {
    int between, within; // runs
} name_falls;

static __global__ void __launch_bounds__(SHARE_THREADS)
    name_look(const int64_t* ids, int64_t count, const __grid_constant__ name_runs runs, name_falls* falls) {
    for (int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * SHARE_THREADS) {
        if (i == 0 || ids[i] >= ids[i - 1]) continue;
        bool begins = false;
        for (int r = 1; r < runs.count; r++) begins = begins || runs.start[r] == i;
        *(begins ? &falls->between : &falls->within) = 1;
    }
}

static __global__ void __launch_bounds__(SHARE_THREADS) name_number(int64_t count, uint32_t* numbers) {
    const int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x;
    if (i < count) numbers[i] = (uint32_t)i;
}

typedef struct name_shared {
    int64_t from[MERGED_RUNS], to[MERGED_RUNS]; // what of other runs lies between the ids of a tile
} name_shared;

// Puts the points of a run where they belong among those of all runs: of equal ids first that of the first run. A block
// looks for the part of each other run that its tile falls into, so that its points have not far to look.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_merge(const real* coords, int dims, const int64_t* ids, const __grid_constant__ name_runs runs, int run,
               real* to, int64_t* named) {
    SAP_CUDA_SHARED(name_shared, part);
    const int64_t begin = runs.start[run] + (int64_t)blockIdx.x * MERGED_TILE;
    const int64_t end = min(begin + MERGED_TILE, runs.start[run + 1]);
    for (int r = (int)threadIdx.x; r < 2 * runs.count; r += SHARE_THREADS) {
        const int other = r / 2;
        const int64_t at = runs.start[other] + share_below(ids, runs.start[other], runs.start[other + 1],
                                                           ids[r % 2 ? end - 1 : begin], other < run);
        if (r % 2)
            part->to[other] = at;
        else
            part->from[other] = at;
    }
    __syncthreads();
    for (int64_t i = begin + threadIdx.x; i < end; i += SHARE_THREADS) {
        const int64_t id = ids[i];
        int64_t place = i - runs.start[run];
        for (int r = 0; r < runs.count; r++)
            if (r != run)
                place += part->from[r] - runs.start[r] + share_below(ids, part->from[r], part->to[r], id, r < run);
        named[place] = id;
        for (int a = 0; a < dims; a++) to[place * dims + a] = coords[i * dims + a];
    }
}

template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_gather(const real* coords, int dims, const uint32_t* from, int64_t count, real* to) {
    for (int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * SHARE_THREADS)
        for (int a = 0; a < dims; a++) to[i * dims + a] = coords[(int64_t)from[i] * dims + a];
}

template <typename real>
static void launch_gather(sap_share* s, const void* coords, const uint32_t* from, int64_t count, void* to) {
    sap_cuda_launch(&s->call, name_gather<real>, share_grid(s, count, 0), (const real*)coords, (int)s->rows.dims, from,
                    count, (real*)to);
}

template <typename real>
static void launch_merge(sap_share* s, const void* coords, const int64_t* ids, const name_runs& runs, void* to,
                         int64_t* named) {
    for (int r = 0; r < runs.count; r++) {
        sap_cuda_grid grid = sap_cuda_grid_for(runs.start[r + 1] - runs.start[r], MERGED_TILE);
        grid.threads = SHARE_THREADS;
        grid.shared = sizeof(name_shared);
        sap_cuda_launch(&s->call, name_merge<real>, grid, (const real*)coords, (int)s->rows.dims, ids, runs, r,
                        (real*)to, named);
    }
}

// Sorts points by their ids.
static const void* sort_by_id(sap_share* s, const void* coords, int64_t* ids, int64_t count) {
    sap_cuda_call* call = &s->call;
    size_t bytes = 0;
    uint32_t* numbers = (uint32_t*)sap_cuda_take(call, (size_t)count * sizeof *numbers);
    sap_cuda_launch(call, name_number, sap_cuda_grid_for(count, SHARE_THREADS), count, numbers);
    uint64_t* spare_keys = (uint64_t*)sap_cuda_take(call, (size_t)count * sizeof *spare_keys);
    uint32_t* spare = (uint32_t*)sap_cuda_take(call, (size_t)count * sizeof *spare);
    void* sorted = sap_cuda_take(call, (size_t)count * share_width(s));
    cub::DoubleBuffer<uint64_t> keys((uint64_t*)ids, spare_keys);
    cub::DoubleBuffer<uint32_t> values(numbers, spare);
    if (call->status != SAP_OK) return coords;
    sap_cuda_expect(call, cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, values, count, 0, 63, call->cuda->stream),
                    "planning a sort");
    void* room = sap_cuda_take(call, bytes + 1);
    if (call->status != SAP_OK) return coords;
    sap_cuda_expect(call, cub::DeviceRadixSort::SortPairs(room, bytes, keys, values, count, 0, 63, call->cuda->stream),
                    "sorting points");
    if (keys.Current() != (uint64_t*)ids) sap_cuda_copy(call, ids, keys.Current(), (size_t)count * sizeof *ids);
    SHARE_BY_REAL(s, launch_gather, s, coords, (const uint32_t*)values.Current(), count, sorted);
    if (call->status != SAP_OK) return coords;
    const void* done[] = {room, spare, spare_keys, numbers};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) sap_cuda_give(call, done[i]);
    s->sorted = sorted;
    return sorted;
}

static name_falls find_falls(sap_share* s, const int64_t* ids, int64_t count, const name_runs& runs) {
    name_falls falls = {0, 0};
    name_falls* there = (name_falls*)share_take(s, &s->counts, sizeof falls);
    sap_cuda_fill(&s->call, there, 0, sizeof falls);
    sap_cuda_launch(&s->call, name_look, share_grid(s, count, 0), ids, count, runs, there);
    sap_cuda_fetch(&s->call, &falls, there, sizeof falls);
    return falls;
}

bool share_ids_ascend(sap_share* s, const int64_t* ids, int64_t count) {
    name_runs one;
    memset((void*)&one, 0, sizeof one);
    return count < 2 || !find_falls(s, ids, count, one).within;
}

const void* share_order_by_id(sap_share* s, const sap_share_move* m, int32_t own, const void* coords,
                              const int64_t* ids, int64_t* named, int64_t count) {
    sap_cuda_call* call = &s->call;
    name_runs runs;
    memset((void*)&runs, 0, sizeof runs);
    const bool few = m->ranks <= MERGED_RUNS;
    runs.count = few ? (int)m->ranks : 0;
    for (int r = 0; r <= runs.count && few; r++) runs.start[r] = share_coming(m, own, r);
    const name_falls falls = find_falls(s, ids, count, runs);
    if (call->status != SAP_OK) return coords;
    if (falls.between && !falls.within) {
        void* merged = sap_cuda_take(call, (size_t)count * share_width(s));
        if (call->status == SAP_OK) SHARE_BY_REAL(s, launch_merge, s, coords, ids, runs, merged, named);
        s->sorted = merged;
        return merged;
    }
    sap_cuda_copy(call, named, ids, (size_t)count * sizeof *named);
    return falls.within ? sort_by_id(s, coords, named, count) : coords;
}
