// The k best candidates of a query, ascending by (squared distance, id), in a thread's registers; the CUDA form of
// nearest/candidates/candidates.h. Distance and id are one key, so that one comparison orders both.
#ifndef SAPWOOD_NEAREST_CANDIDATES_LIST_CUDA_CUH
#define SAPWOOD_NEAREST_CANDIDATES_LIST_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"

// The distance's bits above, the id below: non-negative floats are ordered as their bits are.
static __device__ __forceinline__ unsigned long long sap_key(float distance2, int id) {
    return (unsigned long long)__float_as_uint(distance2) << 32 | (unsigned int)id;
}
static __device__ __forceinline__ float sap_key_distance2(unsigned long long key) {
    return __uint_as_float((unsigned int)(key >> 32));
}
static __device__ __forceinline__ int sap_key_id(unsigned long long key) { return (int)(unsigned int)key; }

typedef struct sap_wide_key {
    double distance2;
    int id;
} sap_wide_key;

static __device__ __forceinline__ sap_wide_key sap_key(double distance2, int id) {
    sap_wide_key key = {distance2, id};
    return key;
}
static __device__ __forceinline__ double sap_key_distance2(sap_wide_key key) { return key.distance2; }
static __device__ __forceinline__ int sap_key_id(sap_wide_key key) { return key.id; }

static __device__ __forceinline__ bool sap_key_before(unsigned long long a, unsigned long long b) { return a < b; }
static __device__ __forceinline__ bool sap_key_before(sap_wide_key a, sap_wide_key b) {
    return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.id < b.id);
}

// Puts two keys in order.
template <typename key> static __device__ __forceinline__ void sap_key_exchange(key* first, key* second) {
    const key a = *first, b = *second;
    const bool swap = sap_key_before(b, a);
    *first = swap ? b : a;
    *second = swap ? a : b;
}

template <typename real> struct sap_key_of;
template <> struct sap_key_of<float> { typedef unsigned long long type; };
template <> struct sap_key_of<double> { typedef sap_wide_key type; };

// The power of two that holds so many.
static __host__ __device__ constexpr int sap_list_width(int capacity) {
    return capacity <= 1 ? 1 : 2 * sap_list_width((capacity + 1) / 2);
}

// A list with room for `capacity` keys. Of a shorter one, the first places hold keys that nothing displaces, so that
// the k-th best always stands last. A place not yet taken holds the limit, with an id above all others.
template <typename real, int capacity> struct sap_list {
    typename sap_key_of<real>::type key[capacity];

    __device__ __forceinline__ void begin(int k, real limit2) {
        SAP_ASSERT(k >= 0 && k <= capacity);
        const typename sap_key_of<real>::type least = sap_key((real)0, sizeof(real) == 4 ? 0 : INT_MIN);
#pragma unroll
        for (int i = 0; i < capacity; i++) key[i] = i < capacity - k ? least : sap_key(limit2, SAP_NO_ID);
    }
    __device__ __forceinline__ real limit2() const { return sap_key_distance2(key[capacity - 1]); }
    __device__ __forceinline__ int limit_id() const { return sap_key_id(key[capacity - 1]); }
    // Whether a candidate, or the nearest that a node can hold, comes before the k-th best.
    __device__ __forceinline__ bool would_take(real distance2, int id) const {
        return sap_key_before(sap_key(distance2, id), key[capacity - 1]);
    }
    __device__ __forceinline__ void offer(real distance2, int id) {
        const typename sap_key_of<real>::type x = sap_key(distance2, id);
        bool before = sap_key_before(x, key[capacity - 1]);
        if (!before) return;
#pragma unroll
        for (int i = capacity - 1; i > 0; i--) {
            const bool before_last = sap_key_before(x, key[i - 1]);
            key[i] = before_last ? key[i - 1] : (before ? x : key[i]);
            before = before_last;
        }
        if (before) key[0] = x;
    }
    // Takes those of some keys, given in any order, that are among the best. The keys are sorted and merged into the
    // list by networks, whose steps do not depend on the keys: the lanes of a warp stay together.
    template <int count> __device__ __forceinline__ void take(typename sap_key_of<real>::type (&keys)[count]) {
        static_assert(count <= capacity && (count & (count - 1)) == 0, "networks are powers of two wide");
        // Of a list of another width the network has places before the first, as if they held keys that nothing displaces.
        constexpr int width = sap_list_width(capacity), before = width - capacity;
#pragma unroll
        for (int size = 1; size < count; size *= 2) { // Batcher's odd-even merge sort
#pragma unroll
            for (int step = size; step > 0; step /= 2) {
#pragma unroll
                for (int i = 0; i < count - step; i++)
                    if (i >= step % size && (i - step % size) / step % 2 == 0 &&
                        i / (2 * size) == (i + step) / (2 * size))
                        sap_key_exchange(&keys[i], &keys[i + step]);
            }
        }
        // The lower one of each pair: the best of keys and list, first ascending, then descending.
#pragma unroll
        for (int i = 0; i < count; i++) {
            const typename sap_key_of<real>::type x = keys[count - 1 - i];
            if (sap_key_before(x, key[capacity - count + i])) key[capacity - count + i] = x;
        }
#pragma unroll
        for (int step = width / 2; step > 0; step /= 2) {
#pragma unroll
            for (int i = 0; i < capacity; i++)
                if (!((i + before) & step)) sap_key_exchange(&key[i], &key[i + step]);
        }
    }
};

#endif
