// The k best candidates of a query, ascending by (squared distance, id), in the registers of a warp: place p of the list is
// key[p / 32] of lane p % 32. All lanes take part in all functions.
#ifndef SAPWOOD_NEAREST_LONG_LIST_WARP_CUDA_CUH
#define SAPWOOD_NEAREST_LONG_LIST_WARP_CUDA_CUH

#include "nearest/candidates/list_cuda.cuh"

typedef unsigned long long warp_key;

enum { WARP_ONE_BY_ONE = 8 }; // so many candidates are put in one by one, more of them by merging

static __device__ __forceinline__ warp_key warp_lesser(warp_key a, warp_key b) { return a < b ? a : b; }
static __device__ __forceinline__ warp_key warp_greater(warp_key a, warp_key b) { return a < b ? b : a; }

// A step of a bitonic network: each lane compares with the one `step` away, and keeps the lesser key where `low`.
static __device__ __forceinline__ warp_key warp_compare(warp_key key, int step, bool low) {
    const warp_key other = __shfl_xor_sync(SAP_ALL_LANES, key, step);
    return low ? warp_lesser(key, other) : warp_greater(key, other);
}

// Sorts keys, one a lane, that first rise and then fall, or the other way round.
static __device__ __forceinline__ warp_key warp_sort_bitonic(warp_key key, int lane) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) key = warp_compare(key, step, (lane & step) == 0);
    return key;
}

static __device__ __forceinline__ warp_key warp_sort(warp_key key, int lane) {
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2)
            key = warp_compare(key, step, ((lane & step) == 0) == ((lane & size) == 0 || size == 32));
    return key;
}

// A list with room for 32 * slots keys; as in sap_list, the first places of a shorter one hold keys that nothing
// displaces, so that the k-th best stands last.
template <int slots> struct warp_list {
    warp_key key[slots];
    warp_key last; // the k-th best
    int lane;

    __device__ __forceinline__ void begin(int k, float limit2) {
        SAP_ASSERT(k >= 1 && k <= 32 * slots);
        lane = (int)(threadIdx.x & 31);
        last = sap_key(limit2, SAP_NO_ID);
#pragma unroll
        for (int s = 0; s < slots; s++) key[s] = 32 * s + lane < 32 * slots - k ? sap_key(0.0f, 0) : last;
    }
    __device__ __forceinline__ bool would_take(float distance2, int id) const { return sap_key(distance2, id) < last; }

    // x: the same in all lanes.
    __device__ __forceinline__ void insert(warp_key x) {
#pragma unroll
        for (int s = slots - 1; s >= 0; s--) {
            warp_key before = __shfl_up_sync(SAP_ALL_LANES, key[s], 1);
            const warp_key end = s > 0 ? __shfl_sync(SAP_ALL_LANES, key[s > 0 ? s - 1 : 0], 31) : 0;
            if (lane == 0) before = end;
            key[s] = x < before ? before : warp_lesser(x, key[s]);
        }
    }

    // Takes what is near enough of a candidate a lane; ~0: none.
    __device__ __forceinline__ void offer(warp_key candidate) {
        unsigned int near = __ballot_sync(SAP_ALL_LANES, candidate < last);
        if (near == 0) return;
        if (__popc(near) <= WARP_ONE_BY_ONE) {
            for (; near; near &= near - 1) {
                const warp_key x = __shfl_sync(SAP_ALL_LANES, candidate, __ffs((int)near) - 1);
                if (x < last) {
                    insert(x);
                    last = __shfl_sync(SAP_ALL_LANES, key[slots - 1], 31);
                }
            }
            return;
        }
        warp_key more = warp_sort(candidate, lane);
#pragma unroll
        for (int s = 0; s < slots; s++) {
            const warp_key other = __shfl_sync(SAP_ALL_LANES, more, 31 - lane);
            more = warp_sort_bitonic(warp_greater(key[s], other), lane);
            key[s] = warp_sort_bitonic(warp_lesser(key[s], other), lane);
        }
        last = __shfl_sync(SAP_ALL_LANES, key[slots - 1], 31);
    }
};

#endif
