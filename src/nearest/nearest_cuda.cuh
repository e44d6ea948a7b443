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
// Taking further queries is faster for one neighbour and walks by boxes. Longer rows are better written by all lanes at
// once, and walks by planes begin with a part that all lanes should do together.
template <typename real, int dims>
static __device__ __forceinline__ void answer(const nearest_task<real>& task, sap_list<real, 1>* best,
                                              walk_stack<real, dims>* way) {
    const int64_t next = min(warp_number() * task.share, task.count);
    answer_share<real, dims>(task, next, min(next + task.share, task.count), best, way);
}

enum {
    WALK_STACKLESS,
    WALK_STACK,
    WALK_EXPLICIT,
    WALK_WARP, // from here on: queries together
    WALK_PACKET,
    WALK_WARP_EXPLICIT,
    WALK_PACKET_EXPLICIT
};
enum { HEAP = 0 }; // in place of a list's capacity

template <typename real, int capacity> struct list_of { typedef sap_list<real, capacity> type; };
template <typename real> struct list_of<real, HEAP> { typedef sap_heap<real> type; };

// The walk of one query, and the shared memory of its stack.
template <typename real, int dims, int walk> struct way_of { typedef walk_stackless<real, dims> type; };
template <typename real, int dims> struct way_of<real, dims, WALK_STACK> { typedef walk_stack<real, dims> type; };
template <typename real, int dims> struct way_of<real, dims, WALK_EXPLICIT> { typedef walk_explicit<real, dims> type; };

template <typename real, int dims>
static __device__ __forceinline__ void place_stack(const walk_tree<real>&, walk_stackless<real, dims>*) {}
template <typename real, int dims>
static __device__ __forceinline__ void place_stack(const walk_tree<real>& t, walk_stack<real, dims>* way) {
    SAP_CUDA_SHARED(unsigned char, shared);
    way->bound2 = (real*)shared + threadIdx.x;
    way->waits = (unsigned int*)((real*)shared + t.depth * NEAREST_THREADS) + threadIdx.x;
    way->step = NEAREST_THREADS;
}
template <typename real, int dims>
static __device__ __forceinline__ void place_stack(const walk_tree<real>&, walk_explicit<real, dims>* way) {
    SAP_CUDA_SHARED(unsigned int, shared);
    way->waits = shared + threadIdx.x;
    way->step = NEAREST_THREADS;
}

template <typename real, int dims, int walk, typename list>
static __device__ __forceinline__ void answer_alone(const nearest_task<real>& task, list* best) {
    typename way_of<real, dims, walk>::type way;
    place_stack(task.tree, &way);
    answer<real, dims>(task, best, &way);
}

// How many blocks should fit into a multiprocessor's registers: more of them hide more latency, as long as hardly
// anything spills. 0: the compiler chooses.
#define NEAREST_NARROW(real, dims, most) (sizeof(real) == 4 && (dims) > 0 && (dims) <= (most))
#define NEAREST_BLOCKS(real, dims, capacity, walk)                                                                     \
    ((walk) != WALK_STACKLESS && (walk) != WALK_EXPLICIT ? 0                                                           \
     : (capacity) == 8 && NEAREST_NARROW(real, dims, 3)  ? 7                                                           \
     : (capacity) == 16 && NEAREST_NARROW(real, dims, 4) ? 6                                                           \
     : (capacity) == 24 && NEAREST_NARROW(real, dims, 4) ? 5                                                           \
                                                         : (walk) == WALK_STACKLESS)

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

template <typename real, int dims, bool block, bool balanced, typename list>
static __device__ __forceinline__ void walk_together(const walk_tree<real>& t, const walk_query<real, dims>& q,
                                                     bool asks, int without, int k, list* best, unsigned int* stack,
                                                     int* nodes, int* leaves_seen) {
    const unsigned int leaves = balanced ? 1u << t.depth : 0;
    const bool leader = block ? threadIdx.x == 0 : (threadIdx.x & 31) == 0;
    unsigned int node = balanced ? 1 : 0;
    int waiting = 0, id;
    if (!balanced && !group_any<block>(asks)) return; // the nodes of a tree that was not built lead anywhere
    for (;;) {
        bool going = true;
        typename sap_node_of<real>::type at = {};
        if (!balanced) at = sap_node_read<real>(t.nodes, node);
        while (balanced ? node < leaves : !sap_link_is_leaf(at.link)) {
            const unsigned int left = balanced ? 2 * node : node + 1;
            const unsigned int right = balanced ? 2 * node + 1 : node + sap_link_right(at.link);
            int lower_id, upper_id;
            const real lower2 = walk_bound2<real, dims>(t, q, balanced ? 2 * (int64_t)node : left, &lower_id);
            const real upper2 = walk_bound2<real, dims>(t, q, balanced ? 2 * (int64_t)node + 1 : right, &upper_id);
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
                if (leader) stack[waiting] = balanced ? 2 * node + !upper_first : upper_first ? left : right;
                waiting++;
            }
            node = balanced ? 2 * node + upper_first : upper_first ? right : left;
            if (!balanced) at = sap_node_read<real>(t.nodes, node);
        }
        if (going) {
            if (asks && balanced) walk_scan<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, without, best);
            if (asks && !balanced) {
                const walk_leaf<real> leaf = walk_explicit_leaf<real, dims>(t, at);
                walk_scan<real, dims>(t, walk_first_equal(leaf, k), q, without, best);
            }
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

template <typename real, int dims, int capacity, int walk>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_together(const __grid_constant__ nearest_task<real> task) {
    constexpr bool block = walk == WALK_PACKET || walk == WALK_PACKET_EXPLICIT;
    constexpr bool balanced = walk == WALK_WARP || walk == WALK_PACKET;
    SAP_CUDA_SHARED(unsigned int, stacks);
    unsigned int* stack = block ? stacks : stacks + (threadIdx.x / SAP_WARP) * (unsigned)(task.tree.depth + 1);
    const int64_t i = (int64_t)blockIdx.x * NEAREST_THREADS + threadIdx.x;
    thread_query<real, dims> mine;
    typename list_of<real, capacity>::type best;
    int nodes = 0, leaves = 0;
    for (int a = 0; a < SAP_AXES_OF(dims); a++) mine.q.at[a] = 0;
    const bool asks = i < task.count && read_query(task, i, &mine);
    if (capacity != HEAP || asks) begin_list(task, mine.row, &best); // a heap lies in the row, if there is one
    walk_together<real, dims, block, balanced>(task.tree, mine.q, asks, mine.without, task.k, &best, stack, &nodes,
                                               &leaves);
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
    case WALK_EXPLICIT: return levels * NEAREST_THREADS * sizeof(int);
    case WALK_WARP:
    case WALK_WARP_EXPLICIT: return NEAREST_WARPS * (levels + 1) * sizeof(int);
    case WALK_PACKET:
    case WALK_PACKET_EXPLICIT: return (levels + 1) * sizeof(int);
    default: return levels * NEAREST_THREADS * (sizeof(real) + sizeof(int));
    }
}

template <typename real, int dims, int capacity, int walk> static auto* kernel_of() {
    if constexpr (walk >= WALK_WARP)
        return nearest_together<real, dims, capacity, walk>;
    else if constexpr (capacity == HEAP)
        return nearest_heap<real, dims, walk>;
    else
        return nearest_alone<real, dims, capacity, walk>;
}

template <typename real, int dims, int capacity, int walk>
static bool launch(sap_cuda_call* call, const nearest_task<real>& given) {
    const bool shares = capacity == 1 && walk == WALK_STACK;
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
    const bool balanced = tree->shape.kind == SAP_TREE_BALANCED;
    switch (walk) {
    case SAP_WALK_STACK: return balanced ? WALK_STACK : WALK_EXPLICIT;
    case SAP_WALK_WARP: return balanced ? WALK_WARP : WALK_WARP_EXPLICIT;
    case SAP_WALK_PACKET: return balanced ? WALK_PACKET : WALK_PACKET_EXPLICIT;
    default: return balanced ? WALK_STACKLESS : WALK_EXPLICIT;
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
                                        WALK_WARP, WALK_PACKET, WALK_WARP_EXPLICIT, WALK_PACKET_EXPLICIT>(search) ||
                          launch_one_of<real, 0, HEAP, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT, WALK_WARP,
                                        WALK_PACKET, WALK_WARP_EXPLICIT, WALK_PACKET_EXPLICIT>(search);
    SAP_ASSERT(launched);
    (void)launched;
}

#endif
