// Neighbours of queries on a GPU, shown to a sink as they are found. A sink is a struct that kernels take by value; for
// each query it has a `state`, with which it can
//   begin(state, row, own)               the query's row and place; coordinates that the tree lacks are 0
//   look(state, found, last2)            of the k nearest only: how many there are, and how far the last one is
//   take(state, id, distance2, place)    a neighbour, in the order that cloud.h states
//   again(state)                         whether all are to be shown once more
//   finish(state, i, row, found)         the result may be written, or noted as that of query i
// It says whether it NEEDS_PLACES of neighbours, GOES_AROUND periods in search of them, often asks for a few only
// (IS_SHORT), and CHOOSES_NODES of those that a ball reaches, and may stop within a leaf:
//   enters(state, tree, query, node, bound2)
//   has_enough(state)
//
// The k nearest are a list in registers, which its thread shows when its walk has ended. Where there is no kernel for
// that, rows of as many queries as fit into a block of memory are searched at once, and then shown. Points within a radius
// are shown by walks of whole warps, in the tree's own order: each lane has a query, and all look at one leaf after
// another.
#ifndef SAPWOOD_CLOUD_SHOW_CUDA_CUH
#define SAPWOOD_CLOUD_SHOW_CUDA_CUH

#include "nearest/nearest_cuda.cuh"
#include "tree/periods.h"

enum {
    SHOW_WARPS = 4,
    SHOW_THREADS = SHOW_WARPS * SAP_WARP,
#ifdef SAP_CUDA_ON_CPU // little, so that tests need several blocks
    SHOW_ROWS_BYTES = 64 << 10
#else
    SHOW_ROWS_BYTES = 128 << 20 // of rows that are searched together, about
#endif
};

// What is asked, and of whom.
typedef struct cloud_asking {
    const sap_tree* tree;
    sap_cuda_queries queries;
    int32_t k;         // 0: all within the limit
    bool without_self; // a query's row is the id of the point that it is
    double limit2;
} cloud_asking;

// The same for kernels.
template <typename real> struct show_task {
    nearest_task<real> nearest;
    const real* points;       // real[source_count][4], by id; for the k nearest
    const int32_t* ids;       // rows of k neighbours, …
    const real* distance2;    // … and how far they are
    sap_cuda_told<real> told; // of balls in trees with periods
};

// The place of query i, whose row is given.
template <typename real>
static __device__ __forceinline__ void show_place(const nearest_task<real>& task, int64_t i, int64_t row,
                                                  real (&own)[3]) {
    const real* at = task.queries + (task.by_row ? row : i) * task.stride;
#pragma unroll
    for (int a = 0; a < 3; a++) own[a] = a < task.tree.dims ? at[a] : (real)0;
}

template <typename real>
static __device__ __forceinline__ void show_point(const real* points, int id, real (&place)[3]) {
    const real* at = points + 4 * (int64_t)id;
    if (sizeof(real) == 4) {
        real all[4];
        load_reals(at, all);
        place[0] = all[0], place[1] = all[1], place[2] = all[2];
    } else {
        place[0] = at[0], place[1] = at[1], place[2] = at[2];
    }
}

// ---- The k nearest, from a list in registers

template <typename real, int capacity, typename sink>
static __device__ __forceinline__ void show_list(const sap_list<real, capacity>& best, int k, const real* points,
                                                 const sink& to, int64_t i, int64_t row, const real (&own)[3]) {
    typename sink::state s;
    int found = 0;
    real last2 = 0;
#pragma unroll
    for (int j = 0; j < capacity; j++) {
        const bool is_there = j >= capacity - k && sap_key_id(best.key[j]) != SAP_NO_ID;
        found += is_there;
        last2 = is_there ? sap_key_distance2(best.key[j]) : last2;
    }
    to.begin(s, row, own);
    to.look(s, found, last2);
    do {
#pragma unroll
        for (int j = 0; j < capacity; j++) {
            const int id = sap_key_id(best.key[j]);
            real place[3] = {0, 0, 0};
            if (j < capacity - k || id == SAP_NO_ID) continue;
            if (sink::NEEDS_PLACES) show_point(points, id, place);
            to.take(s, id, sap_key_distance2(best.key[j]), place);
        }
    } while (to.again(s));
    to.finish(s, i, row, found);
}

template <typename real, int dims, int capacity, int walk, typename sink>
static __global__ void __launch_bounds__(NEAREST_THREADS, NEAREST_BLOCKS(real, dims, capacity, walk))
    show_nearest(const __grid_constant__ show_task<real> task, const __grid_constant__ sink to) {
    const int64_t i = warp_number() * SAP_WARP + sap_lane();
    thread_query<real, dims> mine;
    sap_list<real, capacity> best;
    typename way_of<real, dims, walk>::type way;
    place_stack(task.nearest.tree, &way);
    const bool answers = i < task.nearest.count && read_query(task.nearest, i, &mine);
    if (answers) best.begin(task.nearest.k, task.nearest.limit2);
    if (answers) way.begin(task.nearest.tree, mine.q);
    for (bool asks = answers; walk_any(asks);) asks = way.round(task.nearest.tree, mine.q, asks, mine.without, &best);
    if (!answers) return;
    real own[3];
#pragma unroll
    for (int a = 0; a < 3; a++) own[a] = a < dims ? mine.q.at[a < dims ? a : 0] : (real)0;
    show_list(best, task.nearest.k, task.points, to, i, mine.row, own);
}

// ---- The k nearest, from rows

// Rows of `width` neighbours, of which at most k are shown: one may be the point itself. The queries' numbers go on from
// those before.
template <typename real, typename sink>
static __global__ void __launch_bounds__(SHOW_THREADS)
    show_rows(const __grid_constant__ show_task<real> task, const __grid_constant__ sink to, int64_t before, int width,
              int k, bool without_self) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.nearest.count || *task.nearest.tree.bad != INT64_MAX) return;
    const int64_t row = task.nearest.rows ? task.nearest.rows[i] : before + i;
    if (row < 0) return;
    const int32_t* ids = task.ids + i * width;
    const real* distance2 = task.distance2 + i * width;
    const int own_id = without_self ? (int)row : -1;
    typename sink::state s;
    real own[3], last2 = 0;
    int found = 0, end = 0; // places of the row up to the last that is shown
    for (; end < width && found < k && ids[end] >= 0; end++) {
        if (ids[end] == own_id) continue;
        last2 = distance2[end];
        found++;
    }
    show_place(task.nearest, i, row, own);
    to.begin(s, row, own);
    to.look(s, found, last2);
    do {
        for (int j = 0; j < end; j++) {
            const int id = ids[j];
            real place[3] = {0, 0, 0};
            if (id == own_id) continue;
            if (sink::NEEDS_PLACES) show_point(task.points, id, place);
            to.take(s, id, distance2[j], place);
        }
    } while (to.again(s));
    to.finish(s, before + i, row, found);
}

// ---- Points within a radius

// A node that waits, and the lanes whose queries reach it.
typedef struct show_waiting {
    unsigned int node, mask;
} show_waiting;

template <typename real, int dims, bool around> struct show_query { typedef walk_query<real, dims> type; };
template <typename real, int dims> struct show_query<real, dims, true> {
    typedef told_query<real, dims, SAP_CUDA_ANY> type;
};
template <typename real, int dims>
static __device__ __forceinline__ void show_tell(walk_query<real, dims>*, const sap_cuda_told<real>&) {}
template <typename real, int dims>
static __device__ __forceinline__ void show_tell(told_query<real, dims, SAP_CUDA_ANY>* q,
                                                 const sap_cuda_told<real>& told) {
    q->told = &told;
}

// Shows a lane's query those of a leaf's points that it reaches; how many they are.
template <typename real, int dims, typename query, typename sink>
static __device__ __forceinline__ int show_leaf(const walk_tree<real>& t, const walk_leaf<real>& leaf, const query& q,
                                                real limit2, const sink& to, typename sink::state& s) {
    int found = 0;
    if (leaf.equal && !(walk_distance2<real, dims>(t, leaf, q, 0) <= limit2)) return 0;
    for (int first = 0; first < leaf.count; first += 32) {
        if constexpr (sink::CHOOSES_NODES)
            if (to.has_enough(s)) return found;
        const int end = first + 32 < leaf.count ? first + 32 : leaf.count;
        for (unsigned int near = walk_near<real, dims>(t, leaf, q, first, end, limit2); near; near &= near - 1) {
            const int slot = first + __ffs((int)near) - 1;
            const real distance2 = walk_distance2<real, dims>(t, leaf, q, slot);
            real place[3] = {0, 0, 0};
            if (!(distance2 <= limit2)) continue;
#pragma unroll
            for (int a = 0; a < 3; a++)
                if (sink::NEEDS_PLACES && a < SAP_WALK_DIMS) place[a] = leaf.coords[a * leaf.stride + slot];
            to.take(s, leaf.ids[slot], distance2, place);
            found++;
        }
    }
    return found;
}

// Takes the lanes in `mask` through the tree: the lower child first, so that all are shown in the tree's order, or, for sinks
// that choose nodes, the one that is nearer to more of them.
template <typename real, int dims, typename query, typename sink>
static __device__ __forceinline__ int show_walk(const walk_tree<real>& t, const query& q, real limit2,
                                                unsigned int mask, show_waiting* stack, const sink& to,
                                                typename sink::state& s) {
    const bool balanced = t.kind == SAP_TREE_BALANCED;
    unsigned int node = balanced ? 1 : 0;
    int waiting = 0, found = 0, id;
    if constexpr (sink::CHOOSES_NODES) {
        const real bound2 = walk_bound2<real, dims>(t, q, node, &id);
        const bool is_here = mask >> sap_lane() & 1;
        mask = __ballot_sync(SAP_ALL_LANES, is_here && bound2 <= limit2 && to.enters(s, t, q.at, node, bound2));
    }
    while (mask) {
        const bool is_here = mask >> sap_lane() & 1;
        unsigned int lower = 2 * node, upper = 2 * node + 1;
        bool is_leaf = balanced && node >> t.depth != 0;
        walk_leaf<real> leaf = {};
        if (!balanced) {
            const typename sap_node_of<real>::type at = sap_node_read<real>(t.nodes, node);
            is_leaf = sap_link_is_leaf(at.link);
            lower = node + 1;
            upper = node + sap_link_right(at.link);
            if (is_leaf) leaf = walk_explicit_leaf<real, dims>(t, at);
        } else if (is_leaf) {
            leaf = walk_balanced_leaf<real, dims>(t, node);
        }
        unsigned int below = 0, above = 0;
        bool upper_first = false;
        if (is_leaf) {
            if (is_here) found += show_leaf<real, dims>(t, leaf, q, limit2, to, s);
            __syncwarp();
        } else {
            const real below2 = walk_bound2<real, dims>(t, q, lower, &id);
            const real above2 = walk_bound2<real, dims>(t, q, upper, &id);
            bool reaches_below = is_here && below2 <= limit2, reaches_above = is_here && above2 <= limit2;
            if constexpr (sink::CHOOSES_NODES) {
                reaches_below = reaches_below && to.enters(s, t, q.at, lower, below2);
                reaches_above = reaches_above && to.enters(s, t, q.at, upper, above2);
                upper_first = __popc(__ballot_sync(SAP_ALL_LANES, is_here && above2 < below2)) >
                              __popc(__ballot_sync(SAP_ALL_LANES, is_here && below2 < above2));
            }
            below = __ballot_sync(SAP_ALL_LANES, reaches_below);
            above = __ballot_sync(SAP_ALL_LANES, reaches_above);
        }
        const bool takes_lower = below && !(above && upper_first);
        node = takes_lower ? lower : upper;
        mask = takes_lower ? below : above;
        if (below && above) {
            const show_waiting later = {takes_lower ? upper : lower, takes_lower ? above : below};
            SAP_ASSERT(waiting < t.depth);
            if (sap_lane() == 0) stack[waiting] = later;
            waiting++;
            __syncwarp();
        }
        while (!mask && waiting > 0) {
            const show_waiting next = stack[--waiting];
            node = next.node;
            mask = next.mask;
            if constexpr (sink::CHOOSES_NODES)
                mask = __ballot_sync(SAP_ALL_LANES, (mask >> sap_lane() & 1) && !to.has_enough(s));
            __syncwarp();
        }
    }
    return found;
}

template <typename real, int dims, bool around, typename sink>
static __global__ void __launch_bounds__(SHOW_THREADS)
    show_balls(const __grid_constant__ show_task<real> task, const __grid_constant__ sink to) {
    SAP_CUDA_SHARED(show_waiting, stacks);
    const nearest_task<real>& n = task.nearest;
    show_waiting* stack = stacks + (threadIdx.x / SAP_WARP) * (unsigned int)n.tree.depth;
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    const bool is_given = i < n.count && *n.tree.bad == INT64_MAX;
    const int64_t row = is_given ? row_of(n, i) : -1;
    typename show_query<real, dims, around>::type q;
    typename sink::state s;
    real own[3] = {0, 0, 0};
    int found = 0;
    for (int a = 0; a < SAP_AXES_OF(dims); a++) q.at[a] = 0;
    show_tell(&q, task.told);
    bool asks = row >= 0 && walk_load(n.tree, n.queries + (n.by_row ? row : i) * n.stride, &q);
    if (row >= 0) show_place(n, i, row, own);
    to.begin(s, row, own);
    for (bool again = asks; walk_any(again); again = again && to.again(s)) {
        const int seen = show_walk<real, dims>(n.tree, q, n.limit2, __ballot_sync(SAP_ALL_LANES, again), stack, to, s);
        if (again) found = seen;
    }
    if (row >= 0) to.finish(s, i, row, found);
}

// ---- Points by their ids

template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS)
    show_spread(const __grid_constant__ nearest_task<real> task, real* points) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.count || *task.tree.bad != INT64_MAX || task.rows[i] < 0) return;
    real own[3];
    show_place(task, i, 0, own);
    real* to = points + 4 * (int64_t)task.rows[i];
    const real all[4] = {own[0], own[1], own[2], 0};
    store_reals(all, to);
    if (sizeof(real) == 8) store_reals(all + 2, to + 2);
}

// Writes the points of a tree to real[source_count][4], by id. `own` are those of sap_cuda_queries_from.
template <typename real>
static void cloud_spread(sap_cuda_call* call, const sap_tree* tree, const sap_cuda_queries& own, real* points) {
    nearest_task<real> task;
    memset((void*)&task, 0, sizeof task);
    task.tree = walk_tree_of<real>(tree);
    task.queries = (const real*)own.coords;
    task.rows = own.rows;
    task.count = own.count;
    task.stride = own.stride;
    sap_cuda_launch(call, show_spread<real>, sap_cuda_grid_for(own.count, SHOW_THREADS), task, points);
}

// The same in memory that is taken.
template <typename real>
static const real* cloud_points(sap_cuda_call* call, const sap_tree* tree, const sap_cuda_queries& own) {
    real* points = (real*)sap_cuda_take(call, (size_t)tree->shape.source_count * 4 * sizeof(real));
    cloud_spread<real>(call, tree, own, points);
    return points;
}

// ---- Launches

template <typename real> static show_task<real> show_task_of(const cloud_asking& a, const real* points) {
    show_task<real> task;
    nearest_task<real>& n = task.nearest;
    memset((void*)&task, 0, sizeof task);
    n.tree = walk_tree_of<real>(a.tree);
    n.queries = (const real*)a.queries.coords;
    n.count = a.queries.count;
    n.stride = a.queries.stride;
    n.rows = a.queries.rows;
    n.by_row = a.queries.by_row;
    n.k = a.k < a.tree->shape.count ? a.k : (int)a.tree->shape.count;
    n.skip_self = a.without_self;
    n.limit2 = (real)a.limit2;
    n.share = SAP_WARP;
    task.points = points;
    return task;
}

template <typename real, int dims, bool around, typename sink>
static void show_balls_launch(sap_cuda_call* call, const show_task<real>& task, const sink& to) {
    sap_cuda_grid grid = sap_cuda_grid_for(task.nearest.count, SHOW_THREADS);
    grid.shared = sizeof(show_waiting) * SHOW_WARPS * (size_t)(task.nearest.tree.depth + 1);
    sap_cuda_launch(call, show_balls<real, dims, around, sink>, grid, task, to);
}

// Shows all points within the limit.
template <typename real, typename sink>
static void cloud_show_ball(sap_cuda_call* call, const cloud_asking& a, const sink& to) {
    show_task<real> task = show_task_of<real>(a, NULL);
    if constexpr (sink::GOES_AROUND)
        if (sap_is_periodic(&a.tree->options)) {
            task.told = sap_cuda_told_of<real>(call, a.tree, NULL, a.queries.count);
            show_balls_launch<real, 0, true>(call, task, to);
            return;
        }
    if (a.tree->shape.dims == 3) {
        show_balls_launch<real, 3, false>(call, task, to);
    } else {
        show_balls_launch<real, 0, false>(call, task, to);
    }
}

// The lists that are shown from registers: of points of three dimensions in single precision.
template <int capacity, typename sink>
static bool show_nearest_launch(sap_cuda_call* call, const cloud_asking& a, const show_task<float>& task,
                                const sink& to) {
    if (task.nearest.k > capacity) return false;
    const bool balanced = a.tree->shape.kind == SAP_TREE_BALANCED;
    sap_cuda_grid grid = sap_cuda_grid_for(task.nearest.count, NEAREST_THREADS);
    grid.shared = shared_bytes<float>(balanced ? WALK_STACKLESS : WALK_EXPLICIT, task.nearest.tree.depth);
    sap_cuda_launch(call,
                    balanced ? show_nearest<float, 3, capacity, WALK_STACKLESS, sink>
                             : show_nearest<float, 3, capacity, WALK_EXPLICIT, sink>,
                    grid, task, to);
    return true;
}
template <typename sink>
static bool show_lists(sap_cuda_call* call, const cloud_asking& a, const show_task<float>& task, const sink& to) {
    if (a.tree->shape.dims != 3 || sap_is_periodic(&a.tree->options)) return false;
    if constexpr (sink::IS_SHORT)
        if (show_nearest_launch<8>(call, a, task, to)) return true;
    return show_nearest_launch<16>(call, a, task, to) || show_nearest_launch<24>(call, a, task, to) ||
           show_nearest_launch<32>(call, a, task, to);
}
template <typename sink>
static bool show_lists(sap_cuda_call*, const cloud_asking&, const show_task<double>&, const sink&) {
    return false;
}

// Moves queries to where they stand side by side.
template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS)
    show_pack(const __grid_constant__ nearest_task<real> task, real* to) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.count) return;
    const real* from = task.queries + row_of(task, i) * task.stride;
    for (int a = 0; a < task.tree.dims; a++) to[i * task.tree.dims + a] = from[a];
}

template <typename real> static void show_side_by_side(sap_cuda_call* call, show_task<real>* task) {
    nearest_task<real>& n = task->nearest;
    if (!n.by_row) return;
    real* packed = (real*)sap_cuda_take(call, (size_t)n.count * (size_t)n.tree.dims * sizeof(real));
    sap_cuda_launch(call, show_pack<real>, sap_cuda_grid_for(n.count, SHOW_THREADS), n, packed);
    n.queries = packed;
    n.stride = n.tree.dims;
    n.by_row = false;
}

// Gives memory back that was taken after there were so many blocks.
static inline void show_give(sap_cuda_call* call, int blocks) {
    while (call->blocks > blocks) sap_cuda_give(call, call->block[call->blocks - 1].memory);
}

// Shows the k nearest from rows, part by part.
template <typename real, typename sink>
static void show_by_rows(sap_cuda_call* call, const cloud_asking& a, show_task<real> task, const sink& to) {
    const int k = task.nearest.k, width = a.without_self && k < a.tree->shape.count ? k + 1 : k;
    const int64_t fit = SHOW_ROWS_BYTES / ((int64_t)width * (int64_t)(sizeof(int32_t) + sizeof(real))) + SAP_WARP;
    const int64_t count = task.nearest.count, most = fit < count ? fit : count;
    const int held = call->blocks;
    sap_nearest_plan plan;
    show_side_by_side(call, &task);
    memset(&plan, 0, sizeof plan);
    plan.ids = (int32_t*)sap_cuda_take(call, (size_t)most * (size_t)width * sizeof(int32_t));
    plan.distance2 = sap_cuda_take(call, (size_t)most * (size_t)width * sizeof(real));
    plan.k = plan.row_length = width;
    plan.limit2 = a.limit2;
    plan.told = sap_is_periodic(&a.tree->options) ? &sap_told_nothing : NULL;
    task.ids = plan.ids;
    task.distance2 = (const real*)plan.distance2;
    const nearest_task<real> all = task.nearest;
    for (int64_t first = 0; call->status == SAP_OK && first < count; first += most) {
        const int blocks = call->blocks;
        nearest_task<real>& n = task.nearest;
        n.count = count - first < most ? count - first : most;
        n.queries = all.queries + first * all.stride;
        n.rows = all.rows ? all.rows + first : NULL;
        plan.queries.coords = n.queries;
        plan.queries.count = plan.rows = n.count;
        plan.queries.stride = n.stride;
        sap_nearest_run_cuda(call, a.tree, &plan);
        sap_cuda_launch(call, show_rows<real, sink>, sap_cuda_grid_for(n.count, SHOW_THREADS), task, to, first, width,
                        k, a.without_self);
        show_give(call, blocks);
    }
    show_give(call, held);
}

// Shows the k nearest within the limit. points: those of cloud_points, or NULL where the sink needs no places.
template <typename real, typename sink>
static void cloud_show_nearest(sap_cuda_call* call, const cloud_asking& a, const real* points, const sink& to) {
    const show_task<real> task = show_task_of<real>(a, points);
    if (task.nearest.count == 0 || show_lists(call, a, task, to)) return;
    show_by_rows<real>(call, a, task, to);
}

// Shows whichever of the two are asked for.
template <typename real, typename sink>
static void cloud_show(sap_cuda_call* call, const cloud_asking& a, const real* points, const sink& to) {
    if (a.k > 0)
        cloud_show_nearest<real>(call, a, points, to);
    else
        cloud_show_ball<real>(call, a, to);
}

#endif
