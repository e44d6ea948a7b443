// The rule of sliding-midpoint trees (Maneewongvatana and Mount 1999), the same on every processor. The root's cell is the
// tight box of the points. A node of more than leaf_size points divides the longest side of its cell (the first of equals;
// or with SAP_AXIS_CYCLE the next one from depth % dims on) among the axes along which its points differ. The plane lies in
// the middle of the side, (lower + upper) / 2 in double precision, rounded to the tree's; the left side holds the
// coordinates < plane. If the left side would be empty, the plane moves to the next number above the smallest coordinate;
// if the right one, to the largest coordinate. Children's cells end at the plane.
#ifndef SAPWOOD_TREE_EXPLICIT_SLIDING_RULE_H
#define SAPWOOD_TREE_EXPLICIT_SLIDING_RULE_H

#include "sapwood/points.h"

#include <math.h>

// Rounded to a precision, minus zero made zero.
static inline double sap_sliding_rounded(int32_t real_bits, double x) {
    return (real_bits == 32 ? (double)(float)x : x) + 0;
}

// The axis to divide in a cell whose sides are zero where the points are equal; -1 if all are.
static inline int32_t sap_sliding_axis(const sap_tree_options* options, int32_t dims, int32_t real_bits, int32_t depth,
                                       const double* lower, const double* upper) {
    int32_t best = -1;
    double longest = 0;
    for (int32_t i = 0; i < dims; i++) {
        int32_t a = options->axis == SAP_AXIS_CYCLE ? (depth + i) % dims : i;
        double side = sap_sliding_rounded(real_bits, upper[a] - lower[a]);
        if (!(side > longest)) continue;
        if (options->axis == SAP_AXIS_CYCLE) return a;
        best = a;
        longest = side;
    }
    return best;
}

static inline double sap_sliding_middle(int32_t real_bits, double lower, double upper) {
    return sap_sliding_rounded(real_bits, (lower + upper) / 2);
}

// The plane at `middle`, slid so that coordinates from smallest to largest (which differ) lie on both sides of it.
static inline double sap_sliding_slid(int32_t real_bits, double middle, double smallest, double largest) {
    if (middle > largest) return largest;
    if (middle > smallest) return middle;
    double next =
        real_bits == 32 ? (double)nextafterf((float)smallest, INFINITY) : nextafter(smallest, (double)INFINITY);
    return sap_sliding_rounded(real_bits, next);
}

#endif
