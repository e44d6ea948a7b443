// Bounds of the distances between boxes, and from points to boxes: operation by operation those of a distance, each
// monotonic, so that rounding never puts a bound beyond the distance that is computed for any two points inside.
#ifndef SAPWOOD_PAIRS_BOXED_SIMD_H
#define SAPWOOD_PAIRS_BOXED_SIMD_H

#include "math/simd.h"
#include "pairs/boxed.h"

// The lower corner of a node's box; the upper one follows.
INLINE const real* box_of(const sap_boxed* boxed, const int dims, uint32_t node) {
    return (const real*)boxed->boxes + (size_t)node * 2 * (size_t)dims;
}

INLINE real larger(real a, real b) { return a > b ? a : b; }

INLINE real boxes_nearest2(const real* a, const real* b, const int dims) {
    real sum = 0;
    for (int x = 0; x < dims; x++) {
        const real gap = larger(larger(a[x] - b[dims + x], b[x] - a[dims + x]), 0);
        sum = x ? sum + gap * gap : gap * gap;
    }
    return sum;
}

INLINE real boxes_farthest2(const real* a, const real* b, const int dims) {
    real sum = 0;
    for (int x = 0; x < dims; x++) {
        const real span = larger(a[dims + x] - b[x], b[dims + x] - a[x]);
        sum = x ? sum + span * span : span * span;
    }
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
