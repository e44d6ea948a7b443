// Bounds of the distances between boxes, and from points to boxes: operation by operation those of a distance, each
// monotonic, so that rounding never puts a bound beyond the distance that is computed for any two points inside.
#ifndef SAPWOOD_PAIRS_BOXED_SIMD_H
#define SAPWOOD_PAIRS_BOXED_SIMD_H

#include "pairs/boxed.h"
#include "tree/balanced/view_simd.h"

// The lower corner of a node's box; the upper one follows.
INLINE const real* box_of(const sap_boxed* boxed, const int dims, uint32_t node) {
    return (const real*)boxed->boxes + (size_t)node * 2 * (size_t)dims;
}

INLINE real larger(real a, real b) { return a > b ? a : b; }

// Along an axis, how far apart two boxes are, and how far their farthest points. With periods (of each axis, infinite on
// open ones) it is the shorter way around: as math/metric.h has it.
INLINE real gap_along(const real* a, const real* b, const int dims, int x) {
    return larger(larger(a[x] - b[dims + x], b[x] - a[dims + x]), 0);
}
INLINE real span_along(const real* a, const real* b, const int dims, int x) {
    return larger(a[dims + x] - b[x], b[dims + x] - a[x]);
}
#if PERIODIC
INLINE real smaller(real a, real b) { return a < b ? a : b; }
INLINE real nearest_along(const real* a, const real* b, const int dims, const real* periods, int x) {
    return larger(smaller(gap_along(a, b, dims, x), periods[x] - span_along(a, b, dims, x)), 0);
}
INLINE real farthest_along(const real* a, const real* b, const int dims, const real* periods, int x) {
    const real around = periods[x] - gap_along(a, b, dims, x);
    return smaller(smaller(span_along(a, b, dims, x), around), periods[x] / 2);
}
#else
#define nearest_along(a, b, dims, periods, x)  gap_along(a, b, dims, x)
#define farthest_along(a, b, dims, periods, x) span_along(a, b, dims, x)
#endif

INLINE real boxes_nearest2(const real* a, const real* b, const int dims, const real* periods) {
    real sum = 0;
    for (int x = 0; x < dims; x++) {
        const real gap = nearest_along(a, b, dims, periods, x);
        sum = x ? sum + gap * gap : gap * gap;
    }
    (void)periods; // open axes
    return sum;
}

INLINE real boxes_farthest2(const real* a, const real* b, const int dims, const real* periods) {
    real sum = 0;
    for (int x = 0; x < dims; x++) {
        const real span = farthest_along(a, b, dims, periods, x);
        sum = x ? sum + span * span : span * span;
    }
    (void)periods; // open axes
    return sum;
}

// The tight box of a leaf's points; from +infinity to -infinity if there are none.
INLINE void bound_leaf(const sap_boxed* boxed, const int dims, uint32_t node) {
    const sap_boxed_node* leaf = &boxed->nodes[node];
    const real* coords = sap_boxed_coords(boxed, node);
    real* box = (real*)boxed->boxes + (size_t)node * 2 * (size_t)dims;
    for (int x = 0; x < dims; x++) {
        vreal least = v_set(INFINITY), most = v_set(-INFINITY);
        for (int32_t i = 0; i < leaf->count; i += LANES) {
            const vreal at = v_load(coords + (int64_t)x * leaf->stride + i);
            const uint32_t lanes = lanes_below(leaf->count - i);
            least = v_min(least, v_select(lanes, at, v_set(INFINITY)));
            most = v_max(most, v_select(lanes, at, v_set(-INFINITY)));
        }
        box[x] = reduce_min(least);
        box[dims + x] = reduce_max(most);
    }
}

INLINE void unite_children(const sap_boxed* boxed, const int dims, uint32_t node) {
    sap_boxed_node* parent = &boxed->nodes[node];
    const real *lower = box_of(boxed, dims, node + 1), *upper = box_of(boxed, dims, parent->upper);
    real* box = (real*)boxed->boxes + (size_t)node * 2 * (size_t)dims;
    for (int x = 0; x < dims; x++) {
        box[x] = lower[x] < upper[x] ? lower[x] : upper[x];
        box[dims + x] = larger(lower[dims + x], upper[dims + x]);
    }
    parent->count = boxed->nodes[node + 1].count + boxed->nodes[parent->upper].count;
}

#endif
