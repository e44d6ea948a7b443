// Distances of pairs around axes with periods, on a GPU: the operations of pairs/boxed_simd.h and tree/balanced/view_simd.h.
#ifndef SAPWOOD_PAIRS_PERIODS_CUDA_CUH
#define SAPWOOD_PAIRS_PERIODS_CUDA_CUH

#include "tree/told_cuda.cuh"

// How far apart two boxes are along an axis, and how far their farthest points: straight, then by the shorter way.
template <typename real> static __device__ __forceinline__ void sap_pairs_around(real period, real* gap, real* span) {
    const real near = sap_told_least(*gap, period - *span), far = sap_told_least(*span, period - *gap);
    *gap = sap_told_most(near, (real)0);
    *span = sap_told_least(far, period / 2);
}

// The length of an offset by the shorter way.
template <typename real> static __device__ __forceinline__ real sap_pairs_shorter(real period, real offset) {
    const real length = sap_told_size(offset);
    return sap_told_least(period - length, length);
}

// A tree's periods, as kernels take them: infinite on open axes.
template <typename real> static void sap_pairs_periods(const sap_tree* tree, real* periods) {
    for (int axis = 0; axis < SAP_MAX_DIMS; axis++) {
        const double period = tree->options.period[axis];
        periods[axis] = period > 0 ? (real)period : (real)INFINITY;
    }
}

#endif
