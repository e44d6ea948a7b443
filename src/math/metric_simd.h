// The metric of a vector kernel: what math/metric.h says, without weights, for the power 2 or 1. A file defines METRIC
// before it includes others to get another than squared Euclidean distances, and its searches then also know a mask and
// a radius for each query (MEASURED).
#ifndef SAPWOOD_MATH_METRIC_SIMD_H
#define SAPWOOD_MATH_METRIC_SIMD_H

#include "math/simd.h"

#define METRIC_L2   1 // sums of squares
#define METRIC_L1   2 // sums of lengths
#define METRIC_LINF 3 // the longest

#if defined(METRIC)
#define MEASURED 1
#else
#define METRIC   METRIC_L2
#define MEASURED 0
#endif

// A file that defines PERIODIC as 1 knows periods of the axes (tree/balanced/view_simd.h).
#if !defined(PERIODIC)
#define PERIODIC 0
#endif

// The term of an offset, and of one that is known not to be negative.
#if METRIC == METRIC_L2
INLINE vreal term_of(vreal offset) { return v_mul(offset, offset); }
INLINE vreal term_outside(vreal offset) { return v_mul(offset, offset); }
#else
INLINE vreal term_of(vreal offset) { return v_abs(offset); }
INLINE vreal term_outside(vreal offset) { return offset; }
#endif
#if METRIC == METRIC_LINF
INLINE vreal join_terms(vreal sum, vreal term) { return v_max(sum, term); }
#else
INLINE vreal join_terms(vreal sum, vreal term) { return v_add(sum, term); }
#endif

#endif
