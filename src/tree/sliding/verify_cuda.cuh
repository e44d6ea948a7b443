// The check of the sliding-midpoint rule (tree/explicit/sliding_rule.h) at one node, in kernels: a thread has all axes of a
// node.
#ifndef SAPWOOD_TREE_SLIDING_VERIFY_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_VERIFY_CUDA_CUH

#include "tree/explicit/division_cuda.cuh"
#include "tree/sliding/build_cuda.cuh"

// As sap_sliding_axis.
template <typename real>
static __device__ int sap_sliding_axis_of(const sap_tree& tree, int depth, const real* lower, const real* upper) {
    const int dims = tree.shape.dims;
    const bool cycle = tree.options.axis == SAP_AXIS_CYCLE;
    int best = -1;
    real longest = 0;
    for (int i = 0; i < dims; i++) {
        const int a = cycle ? (depth + i) % dims : i;
        const real side = sap_sliding_side(lower[a], upper[a]);
        if (!(side > longest)) continue;
        if (cycle) return a;
        best = a;
        longest = side;
    }
    return best;
}

// Whether the rule gives a node this axis and this split.
template <typename real>
static __device__ bool sap_follows_sliding(const sap_tree& tree, int halving_depth, const sap_division<real>& d) {
    const int rule = sap_sliding_axis_of(tree, d.depth, d.cell_lower, d.cell_upper);
    if (d.axis != (rule < 0 ? 0 : rule)) return false;
    if (rule < 0 || d.depth >= halving_depth) return d.left_count == d.count / 2 && same(d.split, d.right_lower);
    const real middle = sap_sliding_centre(d.cell_lower[rule], d.cell_upper[rule]);
    return same(d.split, sap_sliding_moved(middle, d.lower[rule], d.upper[rule])) && d.left_upper < d.split;
}

#endif
