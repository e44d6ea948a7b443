// The walk of one query by a warp, for a list that its lanes hold: all lanes test the same nodes, and each a point of a leaf.
// For balanced trees of floats.
#ifndef SAPWOOD_NEAREST_LONG_WALK_WARP_CUDA_CUH
#define SAPWOOD_NEAREST_LONG_WALK_WARP_CUDA_CUH

#include "nearest/long/list_warp_cuda.cuh"
#include "nearest/nearest_cuda.cuh"

// The nodes that wait, one a lane: as many as the tree has levels at most.
typedef struct warp_stack {
    warp_key bound;
    unsigned int node;
    int waiting;
} warp_stack;

// What a search may find: all points but one.
typedef struct long_others {
    int without;
    __device__ __forceinline__ bool takes(int id) const { return id != without; }
} long_others;

template <int dims, int slots, typename choice>
static __device__ __forceinline__ void long_scan(const walk_tree<float>& t, unsigned int node,
                                                 const walk_query<float, dims>& q, const choice& may,
                                                 warp_list<slots>* best) {
    const walk_leaf<float> leaf = walk_balanced_leaf<float, dims>(t, node);
    for (int first = 0; first < leaf.count; first += SAP_WARP) {
        const int slot = first + best->lane;
        warp_key candidate = ~0ull;
        if (slot < leaf.count) {
            const float distance2 = walk_distance2<float, dims>(t, leaf, q, slot);
            const int id = leaf.ids[slot];
            if (best->would_take(distance2, id) && may.takes(id)) candidate = sap_key(distance2, id);
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
template <int dims, int slots, typename choice>
static __device__ __forceinline__ void long_walk(const walk_tree<float>& t, const walk_query<float, dims>& q,
                                                 const choice& may, warp_list<slots>* best, int* nodes, int* leaves) {
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
            long_scan<dims>(t, node, q, may, best);
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

#endif
