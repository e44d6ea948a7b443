// Searches for many neighbours on CUDA: a warp answers a query, its lanes test the points of a leaf and hold the list. For
// balanced trees of floats in 2 and 3 dimensions and lists that are too long for one thread's registers.
#include "nearest/long/list_warp_cuda.cuh"
#include "nearest/nearest_cuda.cuh"

// The nodes that wait, one a lane: as many as the tree has levels at most.
typedef struct warp_stack {
    warp_key bound;
    unsigned int node;
    int waiting;
} warp_stack;

template <int dims, int slots>
static __device__ __forceinline__ void long_scan(const walk_tree<float>& t, unsigned int node,
                                                 const walk_query<float, dims>& q, int without,
                                                 warp_list<slots>* best) {
    const walk_leaf<float> leaf = walk_balanced_leaf<float, dims>(t, node);
    for (int first = 0; first < leaf.count; first += SAP_WARP) {
        const int slot = first + best->lane;
        warp_key candidate = ~0ull;
        if (slot < leaf.count) {
            const float distance2 = walk_distance2<float, dims>(t, leaf, q, slot);
            const int id = leaf.ids[slot];
            if (id != without && best->would_take(distance2, id)) candidate = sap_key(distance2, id);
        }
        best->offer(candidate);
    }
}

// Goes on with the last node that waits and may hold something nearer; false: there is none.
template <int slots>
static __device__ __forceinline__ bool long_pop(const warp_list<slots>& best, warp_stack* stack, unsigned int* node) {
    const unsigned int near = __ballot_sync(SAP_ALL_LANES, best.lane < stack->waiting && stack->bound < best.last);
    if (near == 0) return false;
    stack->waiting = 31 - __clz((int)near);
    *node = __shfl_sync(SAP_ALL_LANES, stack->node, stack->waiting);
    return true;
}

// The walk of nearest/walk_cuda.cuh with a stack, by all lanes alike.
template <int dims, int slots>
static __device__ __forceinline__ void long_walk(const walk_tree<float>& t, const walk_query<float, dims>& q,
                                                 int without, warp_list<slots>* best, int* nodes, int* leaves) {
    warp_stack stack = {0, 0, 0};
    unsigned int node = 1;
    bool reaches = true;
    while (reaches) {
        while (reaches && node >> t.depth == 0) {
            int left_id, right_id;
            const float left2 = walk_bound2<float, dims>(t, q, 2 * node, &left_id),
                        right2 = walk_bound2<float, dims>(t, q, 2 * node + 1, &right_id);
            const bool left = best->would_take(left2, left_id), right = best->would_take(right2, right_id),
                       right_first = right && (!left || right2 < left2);
            *nodes += 2;
            if (left && right) {
                SAP_ASSERT(stack.waiting < SAP_WARP);
                if (best->lane == stack.waiting) {
                    stack.bound = right_first ? sap_key(left2, left_id) : sap_key(right2, right_id);
                    stack.node = 2 * node + !right_first;
                }
                stack.waiting++;
            }
            node = 2 * node + right_first;
            reaches = left || right;
        }
        if (reaches) {
            long_scan<dims>(t, node, q, without, best);
            ++*leaves;
        }
        reaches = long_pop(*best, &stack, &node);
    }
}

template <int slots>
static __device__ __forceinline__ void long_write(const nearest_task<float>& task, int64_t row,
                                                  const warp_list<slots>& best) {
    int32_t* ids = task.ids + row * task.row_length;
    float* distance2 = task.distance2 ? task.distance2 + row * task.row_length : NULL;
#pragma unroll
    for (int s = 0; s < slots; s++) {
        const int at = 32 * s + best.lane - (32 * slots - task.k), id = sap_key_id(best.key[s]);
        if (at < 0) continue;
        ids[at] = id == SAP_NO_ID ? -1 : id;
        if (distance2) distance2[at] = id == SAP_NO_ID ? INFINITY : sap_key_distance2(best.key[s]);
    }
    for (int at = task.k + best.lane; at < task.row_length; at += SAP_WARP) {
        ids[at] = -1;
        if (distance2) distance2[at] = INFINITY;
    }
}

template <int dims, int slots>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_long(const __grid_constant__ nearest_task<float> task) {
    const int64_t i = warp_number();
    thread_query<float, dims> mine;
    warp_list<slots> best;
    int nodes = 0, leaves = 0;
    if (i >= task.count || !read_query(task, i, &mine)) return;
    best.begin(task.k, task.limit2);
    long_walk<dims>(task.tree, mine.q, mine.without, &best, &nodes, &leaves);
    if (best.lane == 0) count_visits(task, nodes, leaves);
    long_write(task, mine.row, best);
}

template <int dims> static void launch_long(const nearest_search<float>& search) {
    const int k = search.task.k;
    const sap_cuda_grid grid = sap_cuda_grid_for(search.task.count * SAP_WARP, NEAREST_THREADS);
    sap_cuda_launch(search.call,
                    k <= 64    ? nearest_long<dims, 2>
                    : k <= 128 ? nearest_long<dims, 4>
                               : nearest_long<dims, 8>,
                    grid, search.task);
}

bool sap_nearest_long_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const sap_tree_shape* s = &tree->shape;
    if (plan->k <= SAP_NEAREST_LIST_MAX_CUDA || plan->k > SAP_NEAREST_LONG_MAX || plan->walk != SAP_WALK_AUTO ||
        s->kind != SAP_TREE_BALANCED || (s->dims != 2 && s->dims != 3))
        return false;
    const nearest_search<float> search = search_of<float>(call, tree, plan);
    if (s->dims == 2)
        launch_long<2>(search);
    else
        launch_long<3>(search);
    return true;
}
