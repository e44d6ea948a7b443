// The rule of tree/explicit/vvh_rule.h in kernels. A warp looks at the candidates of one axis after another, lane c at
// candidate c.
#ifndef SAPWOOD_TREE_EXPLICIT_VVH_RULE_CUDA_CUH
#define SAPWOOD_TREE_EXPLICIT_VVH_RULE_CUDA_CUH

#include "tree/explicit/vvh_rule.h"
#include "tree/order_cuda.cuh"

// The best plane so far; every lane holds it. To begin with, gain and axis are -1.
template <typename real> struct sap_vvh_best {
    double gain;
    real plane;
    int axis;
};

// Candidate c of a side.
template <typename real> static __device__ __forceinline__ real sap_vvh_plane(real lower, real upper, int c) {
    return (real)sap_vvh_candidate((double)lower, (double)upper, c) + 0;
}

// How many of the warp's coordinates lie below this lane's candidate. A lane that has none brings +infinity.
template <typename real> static __device__ __forceinline__ unsigned int sap_vvh_below(real x, real plane) {
    unsigned int below = 0;
    SAP_UNROLL
    for (int c = 1; c < SAP_VVH_PARTS; c++) {
        const unsigned int mask = __ballot_sync(SAP_ALL_LANES, x < __shfl_sync(SAP_ALL_LANES, plane, c));
        if (sap_lane() == c) below = (unsigned int)__popc(mask);
    }
    return below;
}

// Looks at the candidates of an axis along which the points differ; axes ascend. Lane c knows how many of the node's
// `count` points lie below candidate c.
template <typename real>
static __device__ void sap_vvh_consider(sap_vvh_best<real>* best, double radius, int axis, real lower, real upper,
                                        real plane, unsigned int below, int count) {
    const bool listed = sap_lane() > 0 && sap_lane() < SAP_VVH_PARTS;
    const bool divides = listed && sap_vvh_divides((double)lower, (double)upper, (double)plane);
    SAP_ASSERT(lower < upper && (!divides || (below > 0 && (int)below < count)));
    double gain = -1;
    if (divides)
        gain =
            sap_vvh_gain(radius, (double)lower, (double)upper, (double)plane, (int64_t)below, count - (int64_t)below);
    if (best->axis < 0) { // where there are no candidates
        best->axis = axis;
        best->plane = upper;
    }
    const unsigned long long most = sap_warp_max(sap_ordinal_of(gain));
    if (!(sap_real_of(most) > best->gain)) return;
    const int first = __ffs((int)__ballot_sync(SAP_ALL_LANES, sap_ordinal_of(gain) == most)) - 1;
    best->gain = sap_real_of(most);
    best->plane = __shfl_sync(SAP_ALL_LANES, plane, first);
    best->axis = axis;
}

#endif
