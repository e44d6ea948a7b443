// Nearest neighbours by what a search was told, on a GPU: a query a thread and the walk with a stack. The kernels of
// nearest/nearest_cuda.cuh pay for none of this.
#ifndef SAPWOOD_NEAREST_TOLD_CUDA_CUH
#define SAPWOOD_NEAREST_TOLD_CUDA_CUH

#include "nearest/nearest_cuda.cuh"
#include "tree/told_cuda.cuh"

// A query that knows what the search was told: the walks call the functions below for it.
template <typename real, int dims> struct told_query : walk_query<real, dims> { const sap_cuda_told<real>* told; };

template <typename real, int dims>
static __device__ __forceinline__ real walk_bound2(const walk_tree<real>& t, const told_query<real, dims>& q,
                                                   int64_t node, int* id) {
    enum { WIDTH = 16 / sizeof(real), REALS = dims ? (2 * dims + 1 + WIDTH - 1) / WIDTH * WIDTH : WIDTH };
    const int reals = dims ? (int)REALS : sap_walk_box_reals(t.dims, (int)sizeof(real) * 8);
    const real* box = t.boxes + node * reals;
    real bounds[REALS], sum = 0;
#pragma unroll
    for (int i = 0; dims && i < REALS; i += WIDTH) load_reals(box + i, bounds + i);
    const real* sides = dims ? bounds : box;
#pragma unroll
    for (int a = 0; a < SAP_WALK_DIMS; a++) {
        const real aside = walk_aside(sides[2 * a] - q.at[a], q.at[a] - sides[2 * a + 1]);
        const real term = sap_told_along<SAP_CUDA_ANY>(*q.told, a, aside);
        sum = a ? sap_told_join<SAP_CUDA_ANY>(*q.told, sum, term) : term;
    }
    memcpy(id, &sides[2 * SAP_WALK_DIMS], sizeof *id);
    return sum;
}

template <typename real, int dims>
static __device__ __forceinline__ real walk_distance2(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                      const told_query<real, dims>& q, int slot) {
    real sum = 0;
#pragma unroll
    for (int a = 0; a < SAP_WALK_DIMS; a++) {
        const real term = sap_told_along<SAP_CUDA_ANY>(*q.told, a, q.at[a] - leaf.coords[a * leaf.stride + slot]);
        sum = a ? sap_told_join<SAP_CUDA_ANY>(*q.told, sum, term) : term;
    }
    return sum;
}

// Which of up to 32 points from `slot` on are at most `limit` away, as a mask; many at a time where that is possible.
template <typename real, int dims>
static __device__ __forceinline__ unsigned int walk_near(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                         const told_query<real, dims>& q, int slot, int end,
                                                         real limit) {
    enum { WIDTH = 16 / sizeof(real) };
    unsigned int near = 0;
    int i = slot;
    if constexpr (dims > 0) {
        for (; walk_in_vectors(leaf) && i < end; i += WIDTH) {
            real sum[WIDTH];
#pragma unroll
            for (int a = 0; a < dims; a++) {
                real x[WIDTH];
                load_reals(leaf.coords + a * leaf.stride + i, x);
#pragma unroll
                for (int j = 0; j < WIDTH; j++) {
                    const real term = sap_told_along<SAP_CUDA_ANY>(*q.told, a, q.at[a] - x[j]);
                    sum[j] = a ? sap_told_join<SAP_CUDA_ANY>(*q.told, sum[j], term) : term;
                }
            }
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                near |= (unsigned int)(i + j < end && sum[j] <= limit) << ((i + j - slot) & 31);
        }
    }
    for (; i < end; i++) near |= (unsigned int)(walk_distance2<real, dims>(t, leaf, q, i) <= limit) << (i - slot);
    return near;
}

template <typename real, int dims, typename list>
static __device__ __forceinline__ void walk_scan(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                 const told_query<real, dims>& q, int without, list* best) {
    for (int first = 0; first < leaf.count; first += 32) {
        const int end = first + 32 < leaf.count ? first + 32 : leaf.count;
        for (unsigned int near = walk_near<real, dims>(t, leaf, q, first, end, best->limit2()); near;
             near &= near - 1) {
            const int slot = first + __ffs((int)near) - 1;
            const real distance = walk_distance2<real, dims>(t, leaf, q, slot);
            if (!(distance <= best->limit2())) continue;
            const int id = leaf.ids[slot];
            // Of equal points, whose ids ascend, none is taken after one that is not.
            if (leaf.equal && !walk_reaches(distance, id, *best)) return;
            if (id != without && sap_told_keeps(*q.told, id)) best->offer(distance, id);
        }
    }
}

// ---- The kernels

template <typename real, int capacity>
static __device__ __forceinline__ void begin_told(const nearest_task<real>&, int64_t, int k, real limit,
                                                  sap_list<real, capacity>* best) {
    best->begin(k, limit);
}
template <typename real>
static __device__ __forceinline__ void begin_told(const nearest_task<real>& task, int64_t row, int k, real limit,
                                                  sap_heap<real>* best) {
    best->ids = task.ids + row * task.row_length;
    best->distance2 = task.distance2 + row * task.row_length;
    best->begin(k, limit);
}

template <typename real, int capacity>
static __device__ __forceinline__ void write_told(const nearest_task<real>& task, int64_t row, int k,
                                                  const sap_list<real, capacity>& best) {
    const int64_t first = row * task.row_length;
#pragma unroll
    for (int i = 0; i < capacity; i++) {
        const int at = i - (capacity - k), id = sap_key_id(best.key[i]);
        if (at < 0) continue;
        task.ids[first + at] = id == SAP_NO_ID ? -1 : id;
        if (task.distance2)
            task.distance2[first + at] = id == SAP_NO_ID ? (real)INFINITY : sap_key_distance2(best.key[i]);
    }
    fill_row(task, row, k);
}
template <typename real>
static __device__ __forceinline__ void write_told(const nearest_task<real>& task, int64_t row, int k,
                                                  sap_heap<real>& best) {
    int found = k;
    best.sort();
    while (found > 0 && best.ids[found - 1] == SAP_NO_ID) found--;
    fill_row(task, row, found);
}

// Answers one query in each lane.
template <typename real, int dims, bool balanced, typename list>
static __device__ __forceinline__ void answer_told(const nearest_task<real>& task, const sap_cuda_told<real>& told,
                                                   const int32_t* without, list* best) {
    SAP_CUDA_SHARED(unsigned char, shared);
    walk_stack<real, dims, balanced> way;
    way.bound2 = (real*)shared + threadIdx.x;
    way.waits = (unsigned int*)((real*)shared + task.tree.depth * NEAREST_THREADS) + threadIdx.x;
    way.step = NEAREST_THREADS;
    const int64_t i = warp_number() * SAP_WARP + (threadIdx.x & 31), row = i < task.count ? row_of(task, i) : -1;
    told_query<real, dims> q;
    q.told = &told;
    int k = 0, left_out = -1;
    bool asks = false;
    if (row >= 0) {
        const real limit = told.limits ? told.limits[row] : task.limit2;
        k = told.ks ? min(task.k, told.ks[row]) : task.k;
        left_out = task.skip_self ? (int)row : without ? without[row] : -1;
        asks = walk_load(task.tree, task.queries + (task.by_row ? row : i) * task.stride, &q) && k > 0 && limit >= 0 &&
               *task.tree.bad == INT64_MAX;
        if (asks) begin_told(task, row, k, limit, best);
    }
    way.begin(task.tree, q);
    const bool asked = asks;
    while (walk_any(asks)) asks = way.round(task.tree, q, asks, left_out, best);
    if (row < 0) return;
    if (!asked) {
        fill_row(task, row, 0);
        return;
    }
    count_visits(task, way.nodes, way.leaves);
    write_told(task, row, k, *best);
}

template <typename real, int dims, int capacity, bool balanced>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_told(const __grid_constant__ nearest_task<real> task, const __grid_constant__ sap_cuda_told<real> told,
                 const int32_t* without) {
    if constexpr (capacity == HEAP) {
        sap_heap<real> best;
        answer_told<real, dims, balanced>(task, told, without, &best);
    } else {
        sap_list<real, capacity> best;
        answer_told<real, dims, balanced>(task, told, without, &best);
    }
}

// ---- Launches

template <typename real, int dims, int capacity, bool balanced>
static bool launch_told(sap_cuda_call* call, const nearest_task<real>& task, const sap_cuda_told<real>& told,
                        const int32_t* without) {
    if (capacity != HEAP && task.k > capacity) return false;
    if (balanced != (task.tree.kind == SAP_TREE_BALANCED) || (dims && dims != task.tree.dims)) return false;
    sap_cuda_grid grid = sap_cuda_grid_for(task.count, NEAREST_THREADS);
    grid.shared = shared_bytes<real>(WALK_STACK, task.tree.depth);
    sap_cuda_launch(call, nearest_told<real, dims, capacity, balanced>, grid, task, told, without);
    return true;
}

template <typename real, int dims, bool balanced>
static bool launch_told_lists(sap_cuda_call* call, const nearest_task<real>& task, const sap_cuda_told<real>& told,
                              const int32_t* without) {
    return launch_told<real, dims, 8, balanced>(call, task, told, without) ||
           launch_told<real, dims, SAP_NEAREST_LIST_MAX_CUDA, balanced>(call, task, told, without) ||
           launch_told<real, dims, HEAP, balanced>(call, task, told, without);
}

#endif
