// Samples on a GPU. Farthest points: all blocks run at once, and each has a share of the points, which it compares with the
// point that was chosen last; then it looks at what the others found farthest. Poisson disks: in each round all points are
// taken that come before all that are left within the radius, in the order of hashes of their ids, and rule these out. The
// outcome is that of trying one after another (Blelloch, Fineman and Shun 2012), after about log n rounds.
#include "cloud/ops.h"
#include "cloud/poisson.h"
#include "cloud/show_cuda.cuh"
#include "compact/prefix_sum_cuda.h"

// ---- Farthest points

enum { FARTHEST_WARPS = 32, FARTHEST_THREADS = FARTHEST_WARPS * SAP_WARP, FARTHEST_AT_ONCE = 4 };

// A point and how far it is from the sample. The farther comes first, then the smaller id.
template <typename real> struct farthest_point {
    real distance2; // -1: there is none, or it is of the sample
    int id;
    int64_t place; // among the tree's own points
};

template <typename real>
static __device__ __forceinline__ bool farthest_first(const farthest_point<real>& a, const farthest_point<real>& b) {
    return a.distance2 > b.distance2 || (a.distance2 == b.distance2 && a.id < b.id);
}

template <typename real> struct farthest_task {
    const real* points; // [count][dims]
    const int32_t* ids;
    const int64_t* bad;
    int64_t count, most;
    int dims, start;
    real* distance2;             // [count] to the sample
    farthest_point<real>* found; // [2][blocks]
    unsigned int* arrived;
    int32_t* chosen; // [most]
};

// The first of what the lanes of a warp have.
template <typename real>
static __device__ __forceinline__ farthest_point<real> farthest_of_warp(farthest_point<real> own) {
    for (int step = SAP_WARP / 2; step > 0; step /= 2) {
        farthest_point<real> other;
        other.distance2 = __shfl_xor_sync(SAP_ALL_LANES, own.distance2, step);
        other.id = __shfl_xor_sync(SAP_ALL_LANES, own.id, step);
        other.place = __shfl_xor_sync(SAP_ALL_LANES, own.place, step);
        if (farthest_first(other, own)) own = other;
    }
    return own;
}

template <typename real> struct farthest_shared { farthest_point<real> of_warp[FARTHEST_WARPS], of_all; };

// The first of what all threads of all blocks have.
template <typename real>
static __device__ __forceinline__ farthest_point<real>
farthest_of_all(const farthest_task<real>& task, const farthest_point<real>& own, unsigned int* rounds,
                farthest_shared<real>* shared) {
    static_assert((int)FARTHEST_WARPS == (int)SAP_WARP, "a warp has what the warps of its block found");
    farthest_point<real>* found = task.found + (*rounds % 2) * gridDim.x; // slow blocks may still read the other half
    const int warp = (int)threadIdx.x / SAP_WARP;
    farthest_point<real> first = farthest_of_warp(own);
    if (sap_lane() == 0) shared->of_warp[warp] = first;
    __syncthreads();
    if (warp == 0) first = farthest_of_warp(shared->of_warp[sap_lane()]);
    if (threadIdx.x == 0) found[blockIdx.x] = first;
    sap_cuda_meet(task.arrived, rounds);
    if (warp == 0) {
        for (unsigned int i = sap_lane(); i < gridDim.x; i += SAP_WARP) {
            const volatile farthest_point<real>* at = found + i;
            const farthest_point<real> other = {at->distance2, at->id, at->place};
            if (farthest_first(other, first)) first = other;
        }
        first = farthest_of_warp(first);
        if (sap_lane() == 0) shared->of_all = first;
    }
    __syncthreads();
    return shared->of_all;
}

// Compares points i, i + step and so on with the one that was chosen last; *own becomes the first of what is left of them. All are
// read before any is written, so that no read waits for another.
template <typename real>
static __device__ __forceinline__ void farthest_compare(const farthest_task<real>& task, int64_t i, int64_t step,
                                                        const farthest_point<real>& chosen, const real* to,
                                                        farthest_point<real>* own) {
    real sum[FARTHEST_AT_ONCE], least[FARTHEST_AT_ONCE];
    int id[FARTHEST_AT_ONCE];
#pragma unroll
    for (int j = 0; j < FARTHEST_AT_ONCE; j++) {
        const bool is_given = i + j * step < task.count;
        id[j] = is_given ? task.ids[i + j * step] : -1;
        least[j] = id[j] >= 0 ? task.distance2[i + j * step] : 0;
        sum[j] = 0;
    }
    for (int a = 0; a < task.dims; a++) {
        const real at = to[a];
#pragma unroll
        for (int j = 0; j < FARTHEST_AT_ONCE; j++) {
            const real d = (id[j] >= 0 ? task.points[(i + j * step) * task.dims + a] : 0) - at;
            sum[j] = a ? sum[j] + d * d : d * d;
        }
    }
#pragma unroll
    for (int j = 0; j < FARTHEST_AT_ONCE; j++) {
        const int64_t place = i + j * step;
        if (id[j] < 0) continue;
        const farthest_point<real> point = {place == chosen.place ? (real)-1
                                            : sum[j] < least[j]   ? sum[j]
                                                                  : least[j],
                                            id[j], place};
        task.distance2[place] = point.distance2;
        if (farthest_first(point, *own)) *own = point;
    }
}

template <typename real>
static __global__ void __launch_bounds__(FARTHEST_THREADS)
    sample_farthest(const __grid_constant__ farthest_task<real> task) {
    SAP_CUDA_SHARED(farthest_shared<real>, shared);
    const int64_t first = (int64_t)blockIdx.x * FARTHEST_THREADS + threadIdx.x;
    const int64_t step = (int64_t)gridDim.x * FARTHEST_THREADS;
    unsigned int rounds = 0;
    if (*task.bad != INT64_MAX) return;
    // The first: ids from the start on count as farther than those before it.
    farthest_point<real> own = {-1, SAP_NO_ID, 0};
    for (int64_t i = first; i < task.count; i += step) {
        if (task.ids[i] < 0) continue;
        const farthest_point<real> point = {(real)(task.ids[i] >= task.start), task.ids[i], i};
        if (farthest_first(point, own)) own = point;
        task.distance2[i] = (real)INFINITY;
    }
    for (int64_t chosen = 0; chosen < task.most; chosen++) {
        const farthest_point<real> next = farthest_of_all(task, own, &rounds, shared);
        const real* to = task.points + next.place * task.dims;
        if (first == 0) task.chosen[chosen] = next.id;
        own.distance2 = -1;
        own.id = SAP_NO_ID;
        for (int64_t i = first; i < task.count; i += FARTHEST_AT_ONCE * step)
            farthest_compare(task, i, step, next, to, &own);
    }
}

template <typename real> static void find_farthest(sap_cuda_call* call, sap_sample_job* job) {
    const sap_tree* tree = job->tree;
    const int64_t points = tree->shape.count;
    job->count = job->options.most < points ? job->options.most : points;
    const sap_cuda_queries own = sap_cuda_queries_from(call, tree, tree);
    const size_t shared = sizeof(farthest_shared<real>);
    const void* kernel = (const void*)sample_farthest<real>;
    const int64_t resident = sap_cuda_resident(call, kernel, FARTHEST_THREADS, shared);
    sap_cuda_grid grid = sap_cuda_grid_for(own.count, FARTHEST_THREADS);
    // One for each multiprocessor: the more there are, the longer they wait for one another.
    if (grid.blocks > call->cuda->multiprocessors) grid.blocks = call->cuda->multiprocessors;
    if (grid.blocks > resident) grid.blocks = resident;
    grid.shared = shared;
    grid.together = true;
    farthest_task<real> task;
    task.points = (const real*)own.coords;
    task.ids = own.rows;
    task.bad = sap_cuda_tree_of(tree)->bad;
    task.count = own.count;
    task.most = job->count;
    task.dims = tree->shape.dims;
    task.start = job->options.start;
    task.distance2 = (real*)sap_cuda_take(call, (size_t)own.count * sizeof(real));
    task.found = (farthest_point<real>*)sap_cuda_take(call, 2 * (size_t)grid.blocks * sizeof *task.found);
    task.arrived = (unsigned int*)sap_cuda_take(call, sizeof *task.arrived);
    task.chosen = (int32_t*)sap_cuda_out(call, job->ids, (size_t)job->count * sizeof *task.chosen);
    sap_cuda_fill(call, task.arrived, 0, sizeof *task.arrived);
    sap_cuda_launch(call, sample_farthest<real>, grid, task);
}

// ---- Poisson disks

enum {
    POISSON_OUT,
    POISSON_LEFT,
    POISSON_NEW,
    POISSON_TAKEN
}; // what a point is. Out: of the tree, too. New: of this round

// Takes a point that is left if there is none before it within the radius; the first that there is ends the search. States
// change meanwhile: a new point was left. See cloud/show_cuda.cuh.
template <typename real> struct poisson_take_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = true };
    uint64_t seed;
    uint8_t* states; // by id

    struct state {
        uint64_t key;
        bool asks;
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&)[3]) const {
        s.asks = row >= 0 && states[row] == POISSON_LEFT;
        s.key = s.asks ? sap_poisson_key(seed, (uint32_t)row) : 0;
    }
    __device__ __forceinline__ bool enters(state& s, const walk_tree<real>&, const real*, unsigned int, real) const {
        return !has_enough(s);
    }
    __device__ __forceinline__ bool has_enough(const state& s) const { return !s.asks; }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int id, real, const real (&)[3]) const {
        const bool is_in = *(const volatile uint8_t*)(states + id) != POISSON_OUT;
        s.asks = s.asks && !(is_in && sap_poisson_key(seed, (uint32_t)id) < s.key);
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int) const {
        if (s.asks) states[row] = POISSON_NEW;
    }
};

// Rules out what lies within the radius of a new point: no other new one does.
template <typename real> struct poisson_rule_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = true };
    uint8_t* states; // by id

    struct state {
        int id; // -1: it is not new
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&)[3]) const {
        s.id = row >= 0 && states[row] == POISSON_NEW ? (int)row : -1;
    }
    __device__ __forceinline__ bool enters(state& s, const walk_tree<real>&, const real*, unsigned int, real) const {
        return !has_enough(s);
    }
    __device__ __forceinline__ bool has_enough(const state& s) const { return s.id < 0; }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int id, real, const real (&)[3]) const {
        if (id != s.id) states[id] = POISSON_OUT;
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int) const {
        if (s.id >= 0) states[row] = POISSON_TAKEN;
    }
};

static __global__ void __launch_bounds__(SHOW_THREADS)
    poisson_begin(const int32_t* ids, int64_t count, const int64_t* bad, uint8_t* states) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < count && *bad == INT64_MAX && ids[i] >= 0) states[ids[i]] = POISSON_LEFT;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    poisson_left(const uint8_t* states, int64_t points, unsigned int* left) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    const unsigned int lanes = __ballot_sync(SAP_ALL_LANES, i < points && states[i] == POISSON_LEFT);
    if (sap_lane() == 0 && lanes) atomicAdd(left, (unsigned int)__popc(lanes));
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    poisson_flags(const uint8_t* states, int64_t points, int64_t* flags) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < points) flags[i] = states[i] == POISSON_TAKEN;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    poisson_ids(const uint8_t* states, int64_t points, const int64_t* places, int32_t* ids) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < points && states[i] == POISSON_TAKEN) ids[places[i]] = (int32_t)i;
}

template <typename real> static void find_poisson(sap_cuda_call* call, sap_sample_job* job) {
    const sap_tree* tree = job->tree;
    const int64_t n = tree->shape.source_count;
    const sap_cuda_grid points = sap_cuda_grid_for(n, SHOW_THREADS);
    const cloud_asking asking = {tree, sap_cuda_queries_from(call, tree, tree), 0, false, job->limit2};
    uint8_t* const states = (uint8_t*)sap_cuda_take(call, (size_t)n);
    const poisson_take_sink<real> take = {job->options.seed, states};
    const poisson_rule_sink<real> rule = {states};
    unsigned int* const left = (unsigned int*)sap_cuda_take(call, sizeof *left);
    int64_t* const places = (int64_t*)sap_cuda_take(call, (size_t)(n + 1) * sizeof *places);
    unsigned int waiting = 1;
    if (call->status != SAP_OK) return;
    sap_cuda_fill(call, states, POISSON_OUT, (size_t)n);
    sap_cuda_launch(call, poisson_begin, sap_cuda_grid_for(asking.queries.count, SHOW_THREADS), asking.queries.rows,
                    asking.queries.count, (const int64_t*)sap_cuda_tree_of(tree)->bad, states);
    while (call->status == SAP_OK && waiting > 0) {
        cloud_show_ball<real>(call, asking, take);
        cloud_show_ball<real>(call, asking, rule);
        sap_cuda_fill(call, left, 0, sizeof *left);
        sap_cuda_launch(call, poisson_left, points, (const uint8_t*)states, n, left);
        sap_cuda_fetch(call, &waiting, left, sizeof waiting);
    }
    sap_cuda_launch(call, poisson_flags, points, (const uint8_t*)states, n, places + 1);
    sap_prefix_sum_cuda(call, places, n);
    sap_cuda_fetch(call, &job->count, places + n, sizeof job->count);
    int32_t* ids = (int32_t*)sap_cuda_out(call, job->ids, (size_t)job->count * sizeof *ids);
    sap_cuda_launch(call, poisson_ids, points, (const uint8_t*)states, n, (const int64_t*)places, ids);
}

// ---- All of it

sap_status sap_cloud_sample_cuda(sap_sample_job* job) {
    const sap_tree* tree = job->tree;
    const bool is_poisson = job->options.kind == SAP_SAMPLE_POISSON;
    int64_t bad = INT64_MAX;
    sap_cuda_call call;
    if (tree->shape.count == 0) return SAP_OK;
    sap_cuda_begin(&call, tree->device);
    sap_cuda_fetch(&call, &bad, sap_cuda_tree_of(tree)->bad, sizeof bad);
    if (call.status != SAP_OK || bad != INT64_MAX) return sap_cuda_end(&call, SAP_OK); // not built: it has no points
    if (tree->shape.real_bits == 64)
        (is_poisson ? find_poisson<double> : find_farthest<double>)(&call, job);
    else
        (is_poisson ? find_poisson<float> : find_farthest<float>)(&call, job);
    return sap_cuda_end(&call, SAP_OK);
}
