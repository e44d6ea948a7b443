// The k best candidates of a query for any k: a heap, the k-th best at its root, in the query's row of answers; the
// CUDA form of nearest/candidates/candidates_memory.h.
#ifndef SAPWOOD_NEAREST_CANDIDATES_HEAP_CUDA_CUH
#define SAPWOOD_NEAREST_CANDIDATES_HEAP_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"

template <typename real> struct sap_heap {
    real* distance2; // [k]
    int32_t* ids;    // [k]
    int k;
    real root_distance2; // a copy of the root
    int root_id;

    __device__ __forceinline__ void begin(int length, real limit) {
        SAP_ASSERT(length >= 1);
        k = length;
        for (int i = 0; i < k; i++) {
            distance2[i] = limit;
            ids[i] = SAP_NO_ID;
        }
        root_distance2 = limit;
        root_id = SAP_NO_ID;
    }
    __device__ __forceinline__ real limit2() const { return root_distance2; }
    __device__ __forceinline__ int limit_id() const { return root_id; }

    static __device__ __forceinline__ bool before(real a, int a_id, real b, int b_id) {
        return a < b || (a == b && a_id < b_id);
    }
    __device__ __forceinline__ bool would_take(real x, int id) const { return before(x, id, root_distance2, root_id); }
    // Replaces the root of the heap in the first `size` places by a candidate, and restores the order.
    __device__ void sift(int size, real x, int id) {
        SAP_ASSERT(size >= 1 && size <= k);
        int64_t at = 0;
        for (int64_t child = 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && before(distance2[child], ids[child], distance2[child + 1], ids[child + 1])) child++;
            if (before(distance2[child], ids[child], x, id)) break;
            distance2[at] = distance2[child];
            ids[at] = ids[child];
            at = child;
        }
        distance2[at] = x;
        ids[at] = id;
    }
    __device__ __forceinline__ void offer(real x, int id) {
        if (!would_take(x, id)) return;
        sift(k, x, id);
        root_distance2 = distance2[0];
        root_id = ids[0];
    }
    // Ascending order, in place.
    __device__ void sort() {
        for (int last = k - 1; last > 0; last--) {
            const real x = distance2[last];
            const int id = ids[last];
            distance2[last] = distance2[0];
            ids[last] = ids[0];
            sift(last, x, id);
        }
    }
};

#endif
