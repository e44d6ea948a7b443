// How an inner node of an explicit tree divides its points, as the check of a split rule sees it in a kernel.
#ifndef SAPWOOD_TREE_EXPLICIT_DIVISION_CUDA_CUH
#define SAPWOOD_TREE_EXPLICIT_DIVISION_CUDA_CUH

#include "tree/verify_cuda.cuh"

template <typename real> struct sap_division {
    const real *cell_lower, *cell_upper; // [dims]: the node's cell; along an axis on which its points are equal, those
    const real *lower, *upper;           // [dims]: the tight box of its points
    uint32_t count, left_count;          // points below it, and below its left child
    real left_upper, right_lower;        // along `axis`: largest coordinate on the left side, smallest on the right
    real split;
    int axis, depth;
};

#endif
