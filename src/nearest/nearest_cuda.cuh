// The kernels of the nearest-neighbour search on CUDA. The files nearest_cuda_2d.cu, nearest_cuda_3d.cu and so on
// include this and choose for which numbers of dimensions, lengths of lists and walks they are compiled.
#ifndef SAPWOOD_NEAREST_NEAREST_CUDA_CUH
#define SAPWOOD_NEAREST_NEAREST_CUDA_CUH

#include "base/assert.h"
#include "nearest/candidates/heap_cuda.cuh"
#include "nearest/nearest_cuda.h"
#include "nearest/walk_cuda.cuh"

enum {
    NEAREST_THREADS = 128,
    NEAREST_WARPS = NEAREST_THREADS / SAP_WARP,
    NEAREST_WARPS_EACH = 96, // warps for each multiprocessor, if there are enough queries
    NEAREST_SHARE_MOST = 128
};

// The arguments of a kernel.
template <typename real> struct nearest_task {
    walk_tree<real> tree;
    const real* queries;
    int64_t count, stride;
    const int32_t* rows; // or NULL
    bool by_row;         // a query's coordinates are those of its row
    int k, row_length;   // neighbours to find; length of a row
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
    SAP_ASSERT(task.k <= capacity && task.k <= task.row_length);
    int32_t* ids = task.ids + row * task.row_length;
    real* distance2 = task.distance2 + row * task.row_length;
    if (capacity % 4 == 0 && task.k == capacity && task.row_length == capacity && ((uintptr_t)task.ids & 15) == 0 &&
        ((uintptr_t)task.distance2 & 15) == 0) { // whole rows are written 16 bytes at a time
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

// The row for the answers of query i; -1: it is not answered.
template <typename real> static __device__ __forceinline__ int64_t row_of(const nearest_task<real>& task, int64_t i) {
    return task.rows ? task.rows[i] : i;
}

// Lists in registers are written to the row at the end; a heap is in its row from the start.
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
    SAP_ASSERT(task.distance2); // a heap is made in the rows
    best.sort();
    while (found > 0 && best.ids[found - 1] == SAP_NO_ID) found--;
    fill_row(task, row, found);
}

// ---- One query for each thread
template <typename real, int dims> struct thread_query {
    walk_query<real, dims> q;
    int64_t row;
    int without;
};

// Reads query i. False if it is not answered: it has no row, or it is not finite (then its row says "none").
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

enum { NEAREST_IDLE = 8 }; // so many lanes without a query get the next ones

// Answers one query in each lane.
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

// Answers queries [next, end) by a warp. Some take much longer than others: lanes that are done take the next ones.
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
// Taking further queries is faster for one neighbour and walks with a stack. Longer rows are better written by all
// lanes at once, and walks without a stack begin with a part that all lanes should do together.
template <typename real, int dims, bool balanced>
static __device__ __forceinline__ void answer(const nearest_task<real>& task, sap_list<real, 1>* best,
                                              walk_stack<real, dims, balanced>* way) {
    const int64_t next = min(warp_number() * task.share, task.count);
    answer_share<real, dims>(task, next, min(next + task.share, task.count), best, way);
}

enum { WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT, WALK_WARP, WALK_PACKET }; // the last two: queries together
enum { HEAP = 0 };                                                          // in place of a list's capacity

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

// How many blocks should fit into a multiprocessor's registers: more of them hide more latency, as long as hardly
// anything spills. 0: the compiler chooses.
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

// Lists that are too long for registers.
template <typename real, int dims, int walk>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_heap(const __grid_constant__ nearest_task<real> task) {
    sap_heap<real> best;
    answer_alone<real, dims, walk>(task, &best);
}

// ---- The queries of a warp, or of a block, together: one stack in shared memory, and votes about which child is first

// Whether `yes` is true for any query of the group; for how many it is.
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
            // The child that is nearer for most queries is first.
            const int to_lower = group_count<block>(lower && (!upper || lower2 <= upper2));
            const bool upper_first =
                uppers && (!lowers || 2 * to_lower < lowers + uppers - group_count<block>(lower && upper));
            if (lowers && uppers) {
                SAP_ASSERT(waiting < t.depth);
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

// ---- Launches

// How many queries a warp answers: several times its lanes, if there are enough of them for the whole GPU.
static inline int share_of(const sap_cuda_call* call, int64_t count) {
    const int64_t even = count / (call->cuda->multiprocessors * (int64_t)NEAREST_WARPS_EACH) / SAP_WARP * SAP_WARP;
    const int64_t least = SAP_WARP, most = NEAREST_SHARE_MOST;
    return (int)(even < least ? least : even > most ? most : even);
}

// Shared memory of a block, in bytes.
template <typename real> static size_t shared_bytes(int walk, int depth) {
    const size_t levels = (size_t)depth;
    switch (walk) {
    case WALK_STACKLESS: return 0;
    case WALK_WARP: return NEAREST_WARPS * (levels + 1) * sizeof(int);
    case WALK_PACKET: return (levels + 1) * sizeof(int);
    default: return levels * NEAREST_THREADS * (sizeof(real) + sizeof(int));
    }
}

template <typename real, int dims, int capacity, int walk> static auto* kernel_of() {
    if constexpr (walk == WALK_WARP || walk == WALK_PACKET)
        return nearest_together<real, dims, capacity, walk == WALK_PACKET>;
    else if constexpr (capacity == HEAP)
        return nearest_heap<real, dims, walk>;
    else
        return nearest_alone<real, dims, capacity, walk>;
}

template <typename real, int dims, int capacity, int walk>
static bool launch(sap_cuda_call* call, const nearest_task<real>& given) {
    const bool shares = capacity == 1 && (walk == WALK_STACK || walk == WALK_EXPLICIT);
    nearest_task<real> task = given;
    task.share = shares ? share_of(call, task.count) : (int)SAP_WARP;
    SAP_ASSERT(task.share >= SAP_WARP && task.share % SAP_WARP == 0);
    const int64_t warps = (task.count + task.share - 1) / task.share;
    sap_cuda_grid grid = {(warps + NEAREST_WARPS - 1) / NEAREST_WARPS, NEAREST_THREADS,
                          shared_bytes<real>(walk, task.tree.depth), false};
    sap_cuda_launch(call, kernel_of<real, dims, capacity, walk>(), grid, task);
    return true;
}

template <typename real> struct nearest_search {
    sap_cuda_call* call;
    nearest_task<real> task;
    int walk;
};

// Launches the kernel whose lists have room for `capacity` neighbours, or that has a heap, if the search's walk is one
// of `walks` and the list is long enough. Kernels exist only for the walks named where this is called: each takes time
// to compile.
template <typename real, int dims, int capacity, int... walks>
static bool launch_one_of(const nearest_search<real>& search) {
    if (capacity != HEAP && search.task.k > capacity) return false;
    return ((search.walk == walks && launch<real, dims, capacity, walks>(search.call, search.task)) || ...);
}

static int walk_of(const sap_tree* tree, sap_walk walk) {
    if (tree->shape.kind == SAP_TREE_EXPLICIT) return WALK_EXPLICIT;
    switch (walk) {
    case SAP_WALK_STACK: return WALK_STACK;
    case SAP_WALK_WARP: return WALK_WARP;
    case SAP_WALK_PACKET: return WALK_PACKET;
    default: return WALK_STACKLESS;
    }
}

template <typename real>
static nearest_search<real> search_of(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    nearest_search<real> search;
    nearest_task<real>& task = search.task;
    memset((void*)&search, 0, sizeof search);
    search.call = call;
    search.walk = walk_of(tree, plan->walk);
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
    return search;
}

// Launches a search for which no other kernel is made: any walk, number of neighbours and number of dimensions.
template <typename real> static void launch_general(const nearest_search<real>& search) {
    const bool launched = launch_one_of<real, 0, 1, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT>(search) ||
                          launch_one_of<real, 0, 8, WALK_STACKLESS, WALK_EXPLICIT>(search) ||
                          launch_one_of<real, 0, SAP_NEAREST_LIST_MAX_CUDA, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT,
                                        WALK_WARP, WALK_PACKET>(search) ||
                          launch_one_of<real, 0, HEAP, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT>(search);
    SAP_ASSERT(launched); // sap_nearest_cuda has refused walks together with longer lists
    (void)launched;
}

#endif
