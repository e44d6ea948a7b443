// Reals as unsigned integers in the same order, so that integer atomics and warp reductions serve for bounds and for
// exact selection; and reductions within a warp.
#ifndef SAPWOOD_TREE_ORDER_CUDA_CUH
#define SAPWOOD_TREE_ORDER_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"

template <typename real> struct sap_ordinal;
template <> struct sap_ordinal<float> { typedef unsigned int type; };
template <> struct sap_ordinal<double> { typedef unsigned long long type; };

static __device__ __forceinline__ unsigned int sap_ordinal_of(float x) {
    unsigned int bits = __float_as_uint(x);
    return bits ^ ((unsigned int)((int)bits >> 31) | 0x80000000u);
}
static __device__ __forceinline__ unsigned long long sap_ordinal_of(double x) {
    unsigned long long bits = (unsigned long long)__double_as_longlong(x);
    return bits ^ ((unsigned long long)((long long)bits >> 63) | 0x8000000000000000ull);
}
static __device__ __forceinline__ float sap_real_of(unsigned int ordinal) {
    return __uint_as_float(ordinal & 0x80000000u ? ordinal ^ 0x80000000u : ~ordinal);
}
static __device__ __forceinline__ double sap_real_of(unsigned long long ordinal) {
    return __longlong_as_double(
        (long long)(ordinal & 0x8000000000000000ull ? ordinal ^ 0x8000000000000000ull : ~ordinal));
}

// Bounds of no points at all.
template <typename real> static __device__ __forceinline__ typename sap_ordinal<real>::type sap_ordinal_highest() {
    return sap_ordinal_of((real)INFINITY);
}
template <typename real> static __device__ __forceinline__ typename sap_ordinal<real>::type sap_ordinal_lowest() {
    return sap_ordinal_of(-(real)INFINITY);
}

static __device__ __forceinline__ float sap_least(float a, float b) { return fminf(a, b); }
static __device__ __forceinline__ double sap_least(double a, double b) { return fmin(a, b); }
static __device__ __forceinline__ float sap_most(float a, float b) { return fmaxf(a, b); }
static __device__ __forceinline__ double sap_most(double a, double b) { return fmax(a, b); }

// Over all 32 lanes of a warp.
static __device__ __forceinline__ unsigned int sap_warp_min(unsigned int x) {
#if defined(SAP_CUDA_ON_CPU) || __CUDA_ARCH__ >= 800
    return __reduce_min_sync(SAP_ALL_LANES, x);
#else
    for (int step = 16; step; step /= 2) x = min(x, __shfl_xor_sync(SAP_ALL_LANES, x, step));
    return x;
#endif
}
static __device__ __forceinline__ unsigned int sap_warp_max(unsigned int x) { return ~sap_warp_min(~x); }
static __device__ __forceinline__ unsigned long long sap_warp_min(unsigned long long x) {
    for (int step = 16; step; step /= 2) x = min(x, __shfl_xor_sync(SAP_ALL_LANES, x, step));
    return x;
}
static __device__ __forceinline__ unsigned long long sap_warp_max(unsigned long long x) { return ~sap_warp_min(~x); }

static __device__ __forceinline__ unsigned int sap_warp_sum(unsigned int x) {
#if defined(SAP_CUDA_ON_CPU) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(SAP_ALL_LANES, x);
#else
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(SAP_ALL_LANES, x, step);
    return x;
#endif
}

static __device__ __forceinline__ int sap_lane(void) { return (int)(threadIdx.x & 31); }
static __device__ __forceinline__ unsigned int sap_lanes_below(void) { return (1u << (threadIdx.x & 31)) - 1; }

// The bits in which two ordinals, low <= high, differ: how many, counted from the lowest.
static __device__ __forceinline__ int sap_bits_between(unsigned int low, unsigned int high) {
    SAP_ASSERT(low <= high);
    return 32 - __clz((int)(high - low));
}
static __device__ __forceinline__ int sap_bits_between(unsigned long long low, unsigned long long high) {
    return 64 - __clzll((long long)(high - low));
}

#endif
