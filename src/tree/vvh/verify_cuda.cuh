// The check of the rule of tree/explicit/vvh_rule.h at one node, in kernels, as in tree/vvh/verify.h.
#ifndef SAPWOOD_TREE_VVH_VERIFY_CUDA_CUH
#define SAPWOOD_TREE_VVH_VERIFY_CUDA_CUH

#include "tree/explicit/vvh_rule.h"
#include "tree/sliding/verify_cuda.cuh"

// Whether the rule could give a node this axis and this split.
template <typename real>
static __device__ bool sap_follows_vvh(const sap_tree& tree, int halving_depth, const sap_division<real>& d) {
    const int dims = tree.shape.dims, widest = sap_sliding_axis_of(tree, d.depth, d.lower, d.upper);
    const bool cycle = tree.options.axis == SAP_AXIS_CYCLE;
    if (widest < 0 || d.depth >= halving_depth)
        return d.axis == (widest < 0 ? 0 : widest) && d.left_count == d.count / 2 && same(d.split, d.right_lower);
    if (!(d.left_upper < d.split)) return false;
    int first = -1; // along which the points differ
    bool any = false;
    for (int i = 0; i < dims; i++) {
        const int a = cycle ? (d.depth + i) % dims : i;
        if (!(d.lower[a] < d.upper[a])) continue;
        if (first < 0) first = a;
        if (cycle && a != first) break;
        for (int c = 1; c < SAP_VVH_PARTS; c++) {
            const real plane = (real)sap_vvh_candidate(d.lower[a], d.upper[a], c) + 0;
            if (!sap_vvh_divides(d.lower[a], d.upper[a], plane)) continue;
            if (a == d.axis && same(d.split, plane)) return true;
            any = true;
        }
    }
    return !any && d.axis == first && same(d.split, d.upper[first]);
}

#endif
