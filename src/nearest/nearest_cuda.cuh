// The kernels of the nearest-neighbour search on CUDA, for one precision; included by nearest_cuda_f32.cu and _f64.cu.
#ifndef SAPWOOD_NEAREST_NEAREST_CUDA_CUH
#define SAPWOOD_NEAREST_NEAREST_CUDA_CUH

#include "nearest/candidates/heap_cuda.cuh"
#include "nearest/nearest_cuda.h"
#include "nearest/walk_cuda.cuh"

enum {
    NEAREST_THREADS = 128,
    NEAREST_WARPS = NEAREST_THREADS / SAP_WARP,
    NEAREST_WARPS_EACH = 96, // warps a multiprocessor that there should be work for
    NEAREST_SHARE_MOST = 128
};

// What a kernel is asked.
template <typename real> struct nearest_task {
    walk_tree<real> tree;
    const real* queries;
    int64_t count, stride;
    const int32_t* rows; // or NULL
    bool by_row;         // a query's coordinates are those of its row
    int k, row_length;   // neighbours that there can be; places a row
    bool skip_self;      // a query's row is the id of the point that it is
    real limit2;
    int32_t* ids;
    real* distance2;            // or NULL
    unsigned long long* visits; // [2] nodes and leaves, or NULL
    int share;                  // queries a warp
};

// ---- Answers

template <typename real>
static __device__ __forceinline__ void fill_row(const nearest_task<real>& task, int64_t row, int from) {
    for (int i = from; i < task.row_length; i++) {
        task.ids[row * task.row_length + i] = -1;
        if (task.distance2) task.distance2[row * task.row_length + i] = (real)INFINITY;
    }
}

static __device__ __forceinline__ void store_reals(const float* from, float* to) {
    *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
static __device__ __forceinline__ void store_reals(const double* from, double* to) {
    *(double2*)to = make_double2(from[0], from[1]);
}

template <typename real, int capacity>
static __device__ __forceinline__ void write_row(const nearest_task<real>& task, int64_t row,
                                                 const sap_list<real, capacity>& best) {
    int32_t* ids = task.ids + row * task.row_length;
    real* distance2 = task.distance2 + row * task.row_length;
    if (capacity % 4 == 0 && task.k == capacity && task.row_length == capacity && ((uintptr_t)task.ids & 15) == 0 &&
        ((uintptr_t)task.distance2 & 15) == 0) { // whole rows: 16 bytes at a time
        enum { WIDTH = 16 / sizeof(real) };
#pragma unroll
        for (int i = 0; i < capacity; i += 4) {
            int4 four;
            int* each = &four.x;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int id = sap_key_id(best.key[i + j < capacity ? i + j : 0]);
                each[j] = id == SAP_NO_ID ? -1 : id;
            }
            *(int4*)(ids + i) = four;
        }
        if (!task.distance2) return;
#pragma unroll
        for (int i = 0; i < capacity; i += WIDTH) {
            real each[WIDTH];
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                const typename sap_key_of<real>::type key = best.key[i + j < capacity ? i + j : 0];
                each[j] = sap_key_id(key) == SAP_NO_ID ? (real)INFINITY : sap_key_distance2(key);
            }
            store_reals(each, distance2 + i);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < capacity; i++) {
        const int at = i - (capacity - task.k), id = sap_key_id(best.key[i]);
        if (at < 0) continue;
        ids[at] = id == SAP_NO_ID ? -1 : id;
        if (task.distance2) distance2[at] = id == SAP_NO_ID ? (real)INFINITY : sap_key_distance2(best.key[i]);
    }
    fill_row(task, row, task.k);
}

template <typename real>
static __device__ __forceinline__ void count_visits(const nearest_task<real>& task, int nodes, int leaves) {
    if (!task.visits) return;
    atomicAdd(&task.visits[0], (unsigned long long)nodes);
    atomicAdd(&task.visits[1], (unsigned long long)leaves);
}

// The row of answers of query i; -1: none is wanted.
template <typename real> static __device__ __forceinline__ int64_t row_of(const nearest_task<real>& task, int64_t i) {
    return task.rows ? task.rows[i] : i;
}

// Lists that registers hold are written out; a heap lies in its row already.
template <typename real, int capacity>
static __device__ __forceinline__ void begin_list(const nearest_task<real>& task, int64_t,
                                                  sap_list<real, capacity>* best) {
    best->begin(task.k, task.limit2);
}
template <typename real>
static __device__ __forceinline__ void begin_list(const nearest_task<real>& task, int64_t row, sap_heap<real>* best) {
    best->ids = task.ids + row * task.row_length;
    best->distance2 = task.distance2 + row * task.row_length;
    best->begin(task.k, task.limit2);
}
template <typename real>
static __device__ __forceinline__ void write_row(const nearest_task<real>& task, int64_t row, sap_heap<real>& best) {
    int found = task.k;
    best.sort();
    while (found > 0 && best.ids[found - 1] == SAP_NO_ID) found--;
    fill_row(task, row, found);
}

// ---- A query a thread

// A thread's query.
template <typename real, int dims> struct thread_query {
    walk_query<real, dims> q;
    int64_t row;
    int without;
};

// Reads query i; false if it asks for nothing (its row is -1), or cannot be answered (then its row says so).
template <typename real, int dims>
static __device__ __forceinline__ bool read_query(const nearest_task<real>& task, int64_t i,
                                                  thread_query<real, dims>* mine) {
    mine->row = row_of(task, i);
    if (mine->row < 0) return false;
    mine->without = task.skip_self ? (int)mine->row : -1;
    const real* from = task.queries + (task.by_row ? mine->row : i) * task.stride;
    if (walk_load(task.tree, from, &mine->q) && task.k > 0 && *task.tree.bad == INT64_MAX) return true;
    fill_row(task, mine->row, 0);
    return false;
}

enum { NEAREST_IDLE = 8 }; // lanes without a query that make it worth while to hand out the next ones

// Answers a query a lane.
template <typename real, int dims, typename list, typename walk>
static __device__ __forceinline__ void answer_one(const nearest_task<real>& task, int64_t i, list* best, walk* way) {
    thread_query<real, dims> mine;
    const bool answers = i < task.count && read_query(task, i, &mine);
    bool asks = answers;
    if (answers) begin_list(task, mine.row, best);
    if (answers) way->begin(task.tree, mine.q);
    while (walk_any(asks)) asks = way->round(task.tree, mine.q, asks, mine.without, best);
    if (!answers) return;
    count_visits(task, way->nodes, way->leaves);
    write_row(task, mine.row, *best);
}

// Answers queries [next, end) by a warp. Some take much longer than others: lanes that are done get the next ones.
template <typename real, int dims, typename list, typename walk>
static __device__ __forceinline__ void answer_share(const nearest_task<real>& task, int64_t next, int64_t end,
                                                    list* best, walk* way) {
    thread_query<real, dims> mine;
    bool asks = false;
    for (;;) {
        const unsigned int idle = __ballot_sync(SAP_ALL_LANES, !asks);
        if (next < end && __popc(idle) >= NEAREST_IDLE) {
            const int64_t i = next + __popc(idle & ((1u << (threadIdx.x & 31)) - 1));
            if (!asks && i < end && read_query(task, i, &mine)) {
                asks = true;
                begin_list(task, mine.row, best);
                way->begin(task.tree, mine.q);
            }
            next += __popc(idle);
        } else if (idle == SAP_ALL_LANES) {
            return;
        }
        const bool asked = asks;
        asks = way->round(task.tree, mine.q, asks, mine.without, best);
        if (asked && !asks) {
            count_visits(task, way->nodes, way->leaves);
            write_row(task, mine.row, *best);
        }
    }
}

static __device__ __forceinline__ int64_t warp_number(void) {
    return (int64_t)blockIdx.x * NEAREST_WARPS + threadIdx.x / SAP_WARP;
}
template <typename real, int dims, typename list, typename walk>
static __device__ __forceinline__ void answer(const nearest_task<real>& task, list* best, walk* way) {
    answer_one<real, dims>(task, warp_number() * SAP_WARP + (threadIdx.x & 31), best, way);
}
// Handing out queries pays for one neighbour and walks with a stack. Longer rows are better written by all lanes at
// once, and walks without a stack begin with a part for which all lanes should be there.
template <typename real, int dims, bool balanced>
static __device__ __forceinline__ void answer(const nearest_task<real>& task, sap_list<real, 1>* best,
                                              walk_stack<real, dims, balanced>* way) {
    const int64_t next = min(warp_number() * task.share, task.count);
    answer_share<real, dims>(task, next, min(next + task.share, task.count), best, way);
}

enum { WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT };

template <typename real, int dims, int walk, typename list>
static __device__ __forceinline__ void answer_alone(const nearest_task<real>& task, list* best) {
    if constexpr (walk == WALK_STACKLESS) {
        walk_stackless<real, dims> way;
        answer<real, dims>(task, best, &way);
    } else {
        SAP_CUDA_SHARED(unsigned char, shared);
        walk_stack<real, dims, walk == WALK_STACK> way;
        way.bound2 = (real*)shared + threadIdx.x;
        way.waits = (unsigned int*)((real*)shared + task.tree.depth * NEAREST_THREADS) + threadIdx.x;
        way.step = NEAREST_THREADS;
        answer<real, dims>(task, best, &way);
    }
}

// Blocks that a multiprocessor should have registers for: more of them wait less, as long as hardly anything spills.
// 0: what the compiler thinks best.
#define NEAREST_NARROW(real, dims, most) (sizeof(real) == 4 && (dims) > 0 && (dims) <= (most))
#define NEAREST_BLOCKS(real, dims, capacity, walk)                                                                     \
    ((walk) != WALK_STACKLESS                            ? 0                                                           \
     : (capacity) == 8 && NEAREST_NARROW(real, dims, 3)  ? 7                                                           \
     : (capacity) == 16 && NEAREST_NARROW(real, dims, 4) ? 6                                                           \
                                                         : 1)

template <typename real, int dims, int capacity, int walk>
static __global__ void __launch_bounds__(NEAREST_THREADS, NEAREST_BLOCKS(real, dims, capacity, walk))
    nearest_alone(const __grid_constant__ nearest_task<real> task) {
    sap_list<real, capacity> best;
    answer_alone<real, dims, walk>(task, &best);
}

// Lists beyond those that registers hold.
template <typename real, int dims, int walk>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_heap(const __grid_constant__ nearest_task<real> task) {
    sap_heap<real> best;
    answer_alone<real, dims, walk>(task, &best);
}

// ---- A warp, or a block, of queries together: one stack in shared memory, and votes about where to go.

// Whether any query of the group says yes; how many say so.
template <bool block> static __device__ __forceinline__ bool group_any(bool yes) {
    return block ? __syncthreads_or(yes) != 0 : __any_sync(SAP_ALL_LANES, yes) != 0;
}
template <bool block> static __device__ __forceinline__ int group_count(bool yes) {
    return block ? __syncthreads_count(yes) : __popc(__ballot_sync(SAP_ALL_LANES, yes));
}
template <bool block> static __device__ __forceinline__ void group_wait(void) {
    if (block)
        __syncthreads();
    else
        __syncwarp();
}

template <typename real, int dims, bool block, typename list>
static __device__ __forceinline__ void walk_together(const walk_tree<real>& t, const walk_query<real, dims>& q,
                                                     bool asks, int without, list* best, unsigned int* stack,
                                                     int* nodes, int* leaves_seen) {
    const unsigned int leaves = 1u << t.depth;
    const bool leader = block ? threadIdx.x == 0 : (threadIdx.x & 31) == 0;
    unsigned int node = 1;
    int waiting = 0, id;
    for (;;) {
        bool going = true;
        while (node < leaves) {
            int lower_id, upper_id;
            const real lower2 = walk_bound2<real, dims>(t, q, 2 * (int64_t)node, &lower_id);
            const real upper2 = walk_bound2<real, dims>(t, q, 2 * (int64_t)node + 1, &upper_id);
            const bool lower = asks && walk_reaches(lower2, lower_id, *best);
            const bool upper = asks && walk_reaches(upper2, upper_id, *best);
            const int lowers = group_count<block>(lower), uppers = group_count<block>(upper);
            *nodes += asks ? 2 : 0;
            going = lowers || uppers;
            if (!going) break;
            // Towards the child that is the nearer one to most.
            const int to_lower = group_count<block>(lower && (!upper || lower2 <= upper2));
            const bool upper_first =
                uppers && (!lowers || 2 * to_lower < lowers + uppers - group_count<block>(lower && upper));
            if (lowers && uppers) {
                if (leader) stack[waiting] = 2 * node + !upper_first;
                waiting++;
            }
            node = 2 * node + upper_first;
        }
        if (going) {
            if (asks) walk_scan<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, without, best);
            *leaves_seen += asks;
        }
        group_wait<block>();
        for (going = false; waiting > 0 && !going;) {
            waiting--;
            node = stack[waiting];
            const real bound2 = walk_bound2<real, dims>(t, q, node, &id);
            going = group_any<block>(asks && walk_reaches(bound2, id, *best));
        }
        group_wait<block>();
        if (!going) return;
    }
}

template <typename real, int dims, int capacity, bool block>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_together(const __grid_constant__ nearest_task<real> task) {
    SAP_CUDA_SHARED(unsigned int, stacks);
    unsigned int* stack = block ? stacks : stacks + (threadIdx.x / SAP_WARP) * (unsigned)(task.tree.depth + 1);
    const int64_t i = (int64_t)blockIdx.x * NEAREST_THREADS + threadIdx.x;
    thread_query<real, dims> mine;
    sap_list<real, capacity> best;
    int nodes = 0, leaves = 0;
    for (int a = 0; a < SAP_AXES_OF(dims); a++) mine.q.at[a] = 0;
    const bool asks = i < task.count && read_query(task, i, &mine);
    best.begin(task.k, task.limit2);
    walk_together<real, dims, block>(task.tree, mine.q, asks, mine.without, &best, stack, &nodes, &leaves);
    if (!asks) return;
    count_visits(task, nodes, leaves);
    write_row(task, mine.row, best);
}

// ---- Choosing

template <typename real>
static void launch(sap_cuda_call* call, void (*kernel)(nearest_task<real>), const nearest_task<real>& task,
                   size_t shared) {
    const int64_t warps = (task.count + task.share - 1) / task.share;
    sap_cuda_grid grid = {(warps + NEAREST_WARPS - 1) / NEAREST_WARPS, NEAREST_THREADS, shared, false};
    sap_cuda_launch(call, kernel, grid, task);
}

// Queries a warp works on: several times its lanes where there are enough of them for the whole GPU.
static int share_of(const sap_cuda_call* call, int64_t count) {
    const int64_t even = count / (call->cuda->multiprocessors * (int64_t)NEAREST_WARPS_EACH) / SAP_WARP * SAP_WARP;
    const int64_t least = SAP_WARP, most = NEAREST_SHARE_MOST;
    return (int)(even < least ? least : even > most ? most : even);
}

template <typename real, int dims, int capacity>
static void launch_list(sap_cuda_call* call, const nearest_task<real>& task, sap_walk walk) {
    const size_t depth = (size_t)task.tree.depth, stack = depth * NEAREST_THREADS * (sizeof(real) + sizeof(int));
    if (task.tree.kind == SAP_TREE_EXPLICIT)
        launch(call, nearest_alone<real, dims, capacity, WALK_EXPLICIT>, task, stack);
    else if (walk == SAP_WALK_WARP)
        launch(call, nearest_together<real, dims, capacity, false>, task, NEAREST_WARPS * (depth + 1) * sizeof(int));
    else if (walk == SAP_WALK_PACKET)
        launch(call, nearest_together<real, dims, capacity, true>, task, (depth + 1) * sizeof(int));
    else if (walk == SAP_WALK_STACK)
        launch(call, nearest_alone<real, dims, capacity, WALK_STACK>, task, stack);
    else
        launch(call, nearest_alone<real, dims, capacity, WALK_STACKLESS>, task, 0);
}

template <typename real, int dims>
static void launch_heap(sap_cuda_call* call, const nearest_task<real>& task, sap_walk walk) {
    const size_t stack = (size_t)task.tree.depth * NEAREST_THREADS * (sizeof(real) + sizeof(int));
    if (task.tree.kind == SAP_TREE_EXPLICIT)
        launch(call, nearest_heap<real, dims, WALK_EXPLICIT>, task, stack);
    else if (walk == SAP_WALK_STACK)
        launch(call, nearest_heap<real, dims, WALK_STACK>, task, stack);
    else
        launch(call, nearest_heap<real, dims, WALK_STACKLESS>, task, 0);
}

template <typename real, int dims>
static void launch_dims(sap_cuda_call* call, const nearest_task<real>& task, sap_walk walk) {
    if (task.k <= 1)
        launch_list<real, dims, 1>(call, task, walk);
    else if (task.k <= 8)
        launch_list<real, dims, 8>(call, task, walk);
    else if (task.k <= 16)
        launch_list<real, dims, 16>(call, task, walk);
    else if (task.k <= SAP_NEAREST_LIST_MAX_CUDA)
        launch_list<real, dims, SAP_NEAREST_LIST_MAX_CUDA>(call, task, walk);
    else
        launch_heap<real, dims>(call, task, walk);
}

template <typename real>
static void launch_all(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    nearest_task<real> task;
    memset((void*)&task, 0, sizeof task);
    task.tree = walk_tree_of<real>(tree);
    task.queries = (const real*)plan->queries.coords;
    task.count = plan->queries.count;
    task.stride = plan->queries.stride;
    task.rows = plan->queries.rows;
    task.by_row = plan->queries.by_row;
    task.k = plan->k;
    task.row_length = plan->row_length;
    task.skip_self = plan->skip_self;
    task.limit2 = (real)plan->limit2;
    task.ids = plan->ids;
    task.distance2 = (real*)plan->distance2;
    task.visits = plan->visits;
    const bool stack = task.tree.kind == SAP_TREE_EXPLICIT || plan->walk == SAP_WALK_STACK;
    task.share = stack && task.k <= 1 ? share_of(call, task.count) : (int)SAP_WARP;
    switch (tree->shape.dims) {
    case 2: launch_dims<real, 2>(call, task, plan->walk); break;
    case 3: launch_dims<real, 3>(call, task, plan->walk); break;
    case 4: launch_dims<real, 4>(call, task, plan->walk); break;
    case 8: launch_dims<real, 8>(call, task, plan->walk); break;
    default: launch_dims<real, 0>(call, task, plan->walk);
    }
}

#endif
