// Nearest neighbours by what a search was told, on a GPU: a query a thread. The kernels of nearest/nearest_cuda.cuh pay
// for none of this.
#ifndef SAPWOOD_NEAREST_TOLD_CUDA_CUH
#define SAPWOOD_NEAREST_TOLD_CUDA_CUH

#include "nearest/nearest_cuda.cuh"

// ---- The kernels

// What one query asks for.
template <typename real> struct told_ask {
    int64_t row;    // of its answers; -1: there is no query
    const real* at; // its coordinates
    int k;          // neighbours to find; 0: nothing is looked for
    int left_out;   // an id that does not count, or -1
    real limit;
};

template <typename real>
static __device__ __forceinline__ told_ask<real>
told_ask_of(const nearest_task<real>& task, const sap_cuda_told<real>& told, const int32_t* without, int64_t i) {
    told_ask<real> ask = {i < task.count ? row_of(task, i) : -1, NULL, 0, -1, 0};
    if (ask.row < 0) return ask;
    ask.at = task.queries + (task.by_row ? ask.row : i) * task.stride;
    ask.limit = told.limits ? told.limits[ask.row] : task.limit2;
    ask.left_out = task.skip_self ? (int)ask.row : without ? without[ask.row] : -1;
    if (ask.limit >= 0 && *task.tree.bad == INT64_MAX) ask.k = told.ks ? min(task.k, told.ks[ask.row]) : task.k;
    return ask;
}

template <typename real, int capacity>
static __device__ __forceinline__ void begin_told(const nearest_task<real>&, const told_ask<real>& ask, real limit,
                                                  sap_list<real, capacity>* best) {
    best->begin(ask.k, limit);
}
template <typename real>
static __device__ __forceinline__ void begin_told(const nearest_task<real>& task, const told_ask<real>& ask, real limit,
                                                  sap_heap<real>* best) {
    best->ids = task.ids + ask.row * task.row_length;
    best->distance2 = task.distance2 + ask.row * task.row_length;
    best->begin(ask.k, limit);
}

template <typename real, int capacity>
static __device__ __forceinline__ void write_told(const nearest_task<real>& task, const told_ask<real>& ask,
                                                  const sap_list<real, capacity>& best) {
    const int64_t first = ask.row * task.row_length;
    if (ask.k == task.k) {
        write_row(task, ask.row, best);
        return;
    }
#pragma unroll
    for (int i = 0; i < capacity; i++) {
        const int at = i - (capacity - ask.k), id = sap_key_id(best.key[i]);
        if (at < 0) continue;
        task.ids[first + at] = id == SAP_NO_ID ? -1 : id;
        if (task.distance2)
            task.distance2[first + at] = id == SAP_NO_ID ? (real)INFINITY : sap_key_distance2(best.key[i]);
    }
    fill_row(task, ask.row, ask.k);
}
template <typename real>
static __device__ __forceinline__ void write_told(const nearest_task<real>& task, const told_ask<real>& ask,
                                                  sap_heap<real>& best) {
    int found = ask.k;
    best.sort();
    while (found > 0 && best.ids[found - 1] == SAP_NO_ID) found--;
    fill_row(task, ask.row, found);
}

// Walks for the queries of a warp that ask; their lists have been begun.
template <typename real, int dims, int measure, typename list, typename walk>
static __device__ __forceinline__ void walk_told(const nearest_task<real>& task,
                                                 const told_query<real, dims, measure>& q, bool asks, int left_out,
                                                 list* best, walk* way) {
    if (asks) way->begin(task.tree, q);
    for (bool going = asks; walk_any(going);) going = way->round(task.tree, q, going, left_out, best);
    if (asks) count_visits(task, way->nodes, way->leaves);
}

// The next of the ways around some axes of `axes` that lead somewhere within the limit, a bit for each axis; 0: there is
// no other.
template <typename real, int dims, typename query>
static __device__ __forceinline__ unsigned int next_way(const query& q, int axes_of_tree, unsigned int axes,
                                                        unsigned int way, real limit2) {
    for (way = (way - axes) & axes; way != 0; way = (way - axes) & axes) {
        real sum = 0;
#pragma unroll
        for (int a = 0; a < (dims ? dims : axes_of_tree); a++) {
            const real around = sap_told_around(*q.told, a, q.at[a]);
            if (way >> a & 1) sum += around * around;
        }
        if (sum <= limit2) break;
    }
    return way;
}

// The axes with periods along which the way around is as short as what was found. *is_wide: a point may be that near both
// ways.
template <typename real, int dims, typename query>
static __device__ __forceinline__ unsigned int axes_around(const query& q, int axes_of_tree, real limit2,
                                                           bool* is_wide) {
    unsigned int axes = 0;
#pragma unroll
    for (int a = 0; a < (dims ? dims : axes_of_tree); a++) {
        const real around = sap_told_around(*q.told, a, q.at[a]), half = q.told->period[a] / 2;
        const bool reaches = around * around <= limit2;
        axes |= (unsigned int)reaches << a;
        *is_wide = *is_wide || (reaches && !(limit2 < half * half));
    }
    return axes;
}

// Answers one query in each lane. On trees with periods only straight: that is all for most queries, and the others are
// noted for a kernel that looks around, where they fill warps of their own.
template <typename real, int dims, int measure, typename list, typename walk>
static __device__ __forceinline__ void answer_told(const nearest_task<real>& task, const sap_cuda_told<real>& told,
                                                   const int32_t* without, list* best, walk* way) {
    const int64_t i = warp_number() * SAP_WARP + (threadIdx.x & 31);
    const told_ask<real> ask = told_ask_of(task, told, without, i);
    told_query<real, dims, measure == SAP_CUDA_AROUND ? SAP_CUDA_L2 : measure> q;
    q.told = &told;
    const bool asks = ask.k > 0 && walk_load(task.tree, ask.at, &q);
    if (asks) {
        begin_told(task, ask, ask.limit, best);
        walk_plane_limit(q, *best); // a query by powers notes it
    }
    walk_told<real, dims>(task, q, asks, ask.left_out, best, way);
    if constexpr (measure == SAP_CUDA_AROUND) {
        bool is_wide = false;
        const bool again = asks && axes_around<real, dims>(q, task.tree.dims, best->limit2(), &is_wide) != 0;
        const unsigned int others = __ballot_sync(SAP_ALL_LANES, again);
        int64_t first = 0;
        if (others != 0 && sap_lane() == 0) first = (int64_t)atomicAdd(told.again_count, (unsigned int)__popc(others));
        first = __shfl_sync(SAP_ALL_LANES, first, 0);
        if (again) told.again[first + __popc(others & sap_lanes_below())] = (int32_t)i;
    }
    if (ask.row < 0) return;
    if (asks)
        write_told(task, ask, *best);
    else
        fill_row(task, ask.row, 0);
}

template <typename real, int dims, int capacity, int walk, int measure>
static __global__ void __launch_bounds__(NEAREST_THREADS, NEAREST_BLOCKS(real, dims, capacity, walk))
    nearest_told(const __grid_constant__ nearest_task<real> task, const __grid_constant__ sap_cuda_told<real> told,
                 const int32_t* without) {
    typename list_of<real, capacity>::type best;
    typename way_of<real, dims, walk>::type way;
    place_stack(task.tree, &way);
    answer_told<real, dims, measure>(task, told, without, &best, &way);
}

// Looks again at the queries that were noted, by each way around that is as short as what was found, which the rows
// hold. Within less than half a period a point has no two ways; where that may not be, all ways are looked at together,
// from the start.
template <typename real, int dims, int capacity>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_around(const __grid_constant__ nearest_task<real> task, const __grid_constant__ sap_cuda_told<real> told,
                   const int32_t* without) {
    const int64_t count = *told.again_count, warps = (int64_t)gridDim.x * NEAREST_WARPS;
    for (int64_t first = warp_number() * SAP_WARP; first < count; first += warps * SAP_WARP) {
        const int64_t number = first + sap_lane();
        const told_ask<real> ask = told_ask_of(task, told, without, number < count ? told.again[number] : task.count);
        told_query<real, dims, SAP_CUDA_IMAGE> image;
        told_query<real, dims, SAP_CUDA_AROUND> any;
        sap_list<real, capacity> best;
        walk_stackless<real, dims> way;
        any.told = image.told = &told;
        image.around = 0;
        bool is_wide = false;
        unsigned int axes = 0;
        best.begin(ask.k, ask.limit);
        if (ask.row >= 0) {
            walk_load(task.tree, ask.at, &image);
            for (int i = 0; i < ask.k; i++) {
                const int64_t at = ask.row * task.row_length + i;
                if (task.ids[at] >= 0) best.offer(task.distance2[at], task.ids[at]);
            }
            axes = axes_around<real, dims>(image, task.tree.dims, best.limit2(), &is_wide);
        }
        for (bool going = axes != 0 && !is_wide; walk_any(going);) {
            if (going) image.around = next_way<real, dims>(image, task.tree.dims, axes, image.around, best.limit2());
            going = going && image.around != 0;
            walk_told<real, dims>(task, image, going, ask.left_out, &best, &way);
        }
        if (walk_any(is_wide)) {
            for (int a = 0; is_wide && a < SAP_AXES_OF(dims); a++) any.at[a] = image.at[a];
            if (is_wide) best.begin(ask.k, best.limit2());
            walk_told<real, dims>(task, any, is_wide, ask.left_out, &best, &way);
        }
        if (ask.row >= 0) write_told(task, ask, best);
    }
}

// ---- Launches

template <typename real> struct told_search {
    nearest_search<real> search;
    sap_cuda_told<real> told;
    const int32_t* without;
};

template <typename real>
static told_search<real> told_search_of(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const told_search<real> s = {search_of<real>(call, tree, plan),
                                 sap_cuda_told_of<real>(call, tree, plan->told, plan->rows), plan->without};
    return s;
}

// Puts the mask of a search in the order of a balanced tree's leaves, a bit a slot: a warp makes a word. Kernels without a
// stack ask these, so that no point costs them two reads that wait for each other.
template <typename real>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    told_keep(const __grid_constant__ walk_tree<real> tree, const uint8_t* keep, int64_t words, int leaf_words,
              uint32_t* kept) {
    const int64_t word = warp_number();
    if (word >= words || *tree.bad != INT64_MAX) return;
    const int slot = (int)(word % leaf_words) * SAP_WARP + sap_lane();
    const walk_leaf<real> leaf =
        walk_balanced_leaf<real, 0>(tree, (unsigned int)(word / leaf_words) + (1u << tree.depth));
    const int id = slot < leaf.stride ? leaf.ids[slot] : -1;
    const unsigned int bits = __ballot_sync(SAP_ALL_LANES, id >= 0 && keep[id] != 0);
    if (sap_lane() == 0) kept[word] = bits;
}

template <typename real> static void told_keep_by_leaf(const told_search<real>& s, sap_cuda_told<real>* told) {
    const walk_tree<real>& tree = s.search.task.tree;
    const int leaf_words = (tree.stride + SAP_WARP - 1) / SAP_WARP;
    const int64_t words = ((int64_t)1 << tree.depth) * leaf_words;
    if (!told->keep || words == 0) return;
    uint32_t* kept = (uint32_t*)sap_cuda_take(s.search.call, (size_t)words * sizeof *kept);
    sap_cuda_launch(s.search.call, told_keep<real>, sap_cuda_grid_for(words * SAP_WARP, NEAREST_THREADS), tree,
                    told->keep, words, leaf_words, kept);
    told->kept = kept;
    told->kept_words = leaf_words;
}

// Launches the kernel for this walk and these lists that measures as the search was told, or by any measure, if there
// is one.
template <typename real, int dims, int capacity, int walk, int measure>
static bool launch_told(const told_search<real>& s) {
    const nearest_task<real>& task = s.search.task;
    if (s.search.walk != walk || (dims && dims != task.tree.dims) || (capacity != HEAP && task.k > capacity))
        return false;
    if (measure != SAP_CUDA_ANY && measure != s.told.measure) return false;
    sap_cuda_grid grid = sap_cuda_grid_for(task.count, NEAREST_THREADS);
    grid.shared = shared_bytes<real>(walk, task.tree.depth);
    sap_cuda_call* call = s.search.call;
    sap_cuda_told<real> told = s.told;
    if constexpr (walk == WALK_STACKLESS) told_keep_by_leaf(s, &told);
    if constexpr (measure == SAP_CUDA_AROUND) {
        told.again = (int32_t*)sap_cuda_take(call, (size_t)task.count * sizeof *told.again);
        told.again_count = (unsigned int*)sap_cuda_take(call, sizeof *told.again_count);
        sap_cuda_fill(call, told.again_count, 0, sizeof *told.again_count);
    }
    sap_cuda_launch(call, nearest_told<real, dims, capacity, walk, measure>, grid, task, told, s.without);
    if constexpr (measure == SAP_CUDA_AROUND) {
        const int64_t most = call->cuda->multiprocessors * (int64_t)NEAREST_WARPS_EACH / NEAREST_WARPS;
        if (grid.blocks > most) grid.blocks = most;
        sap_cuda_launch(call, nearest_around<real, dims, capacity>, grid, task, told, s.without);
    }
    return true;
}

template <typename real, int dims, int walk, int... measures>
static bool launch_told_lists(const told_search<real>& s) {
    return (launch_told<real, dims, 8, walk, measures>(s) || ...) ||
           (launch_told<real, dims, SAP_NEAREST_LIST_MAX_CUDA, walk, measures>(s) || ...);
}

template <typename real> static void walk_with_stack(told_search<real>* s) {
    if (s->search.walk != WALK_EXPLICIT) s->search.walk = WALK_STACK;
}

// Launches a search for which no other kernel is made.
template <typename real> static void launch_general_told(const told_search<real>& s) {
    const bool launched = launch_told_lists<real, 0, WALK_STACK, SAP_CUDA_ANY>(s) ||
                          launch_told<real, 0, HEAP, WALK_STACK, SAP_CUDA_ANY>(s) ||
                          launch_told_lists<real, 0, WALK_EXPLICIT, SAP_CUDA_ANY>(s) ||
                          launch_told<real, 0, HEAP, WALK_EXPLICIT, SAP_CUDA_ANY>(s);
    SAP_ASSERT(launched);
    (void)launched;
}

#endif
