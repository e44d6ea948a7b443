// A balanced tree as the vector kernels see it: boxes and leaf blocks behind plain pointers.
#ifndef SAPWOOD_TREE_BALANCED_VIEW_SIMD_H
#define SAPWOOD_TREE_BALANCED_VIEW_SIMD_H

#include "math/metric_simd.h"
#include "math/simd.h"
#include "tree/layout.h"

typedef struct tree_view {
    const real* boxes[SAP_MAX_LEVELS];
    const int32_t* min_ids[SAP_MAX_LEVELS];
    const unsigned char* blocks;
    size_t block_bytes;
    int levels, stride;
    int vectors;         // registers that cover a leaf's slots
    uint32_t last_lanes; // of the last of them, the lanes that are slots
    int64_t points;      // slots of a leaf that hold points, at most
} tree_view;

INLINE tree_view view_tree(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    SAP_ASSERT(s->kind == SAP_TREE_BALANCED && s->real_bits == SAP_REAL_BITS);
    tree_view v = {.blocks = tree->arrays + s->block_at,
                   .block_bytes = (size_t)s->stride * sap_slot_bytes(s),
                   .levels = s->levels,
                   .stride = s->stride,
                   .vectors = (s->stride + LANES - 1) / LANES,
                   .points = s->capacity};
    v.last_lanes = lanes_below(s->stride - (v.vectors - 1) * LANES);
    for (int j = 0; j < s->levels; j++) {
        v.boxes[j] = (const real*)(const void*)(tree->arrays + s->box_at[j]);
        v.min_ids[j] = (const int32_t*)(const void*)(tree->arrays + s->min_id_at[j]);
    }
    return v;
}

INLINE const real* leaf_block(const tree_view* t, int64_t leaf) {
    return (const real*)(const void*)(t->blocks + (size_t)leaf * t->block_bytes);
}

INLINE const int32_t* block_ids(const tree_view* t, const int dims, const real* block) {
    return (const int32_t*)(const void*)(block + (int64_t)dims * t->stride);
}

#if PERIODIC
// Registers of a query: its coordinates, and from SAP_MAX_DIMS on the period of each axis, infinite if there is none.
enum { QUERY_VECTORS = 2 * SAP_MAX_DIMS };

INLINE void load_periods(const sap_tree* tree, const int dims, vreal* q) {
    for (int a = 0; a < dims; a++)
        q[SAP_MAX_DIMS + a] = v_set(tree->options.period[a] > 0 ? (real)tree->options.period[a] : (real)INFINITY);
}

// Along an axis, what math/metric.h says: the offset to points, and bounds of the offsets into boxes from how far the
// query is below the lower and above the upper sides, or the other way round. Of a box that is not there the ways out
// are infinite, and so is their bound. Where an infinite period meets an infinite way, v_min takes its second operand.
INLINE vreal offset_between(const vreal* q, const int a, vreal x) {
    vreal direct = v_abs(v_sub(q[a], x));
    return v_min(v_sub(q[SAP_MAX_DIMS + a], direct), direct);
}
INLINE vreal offset_outside(const vreal* q, const int a, vreal below, vreal above) {
    vreal around = v_add(q[SAP_MAX_DIMS + a], v_min(below, above));
    return v_max(v_min(around, v_max(below, above)), v_set(0));
}
INLINE vreal offset_within(const vreal* q, const int a, vreal above_lower, vreal below_upper) {
    vreal period = q[SAP_MAX_DIMS + a], near = v_min(v_min(above_lower, below_upper), v_set(0));
    return v_min(v_add(period, near), v_min(v_mul(period, v_set((real)0.5)), v_max(above_lower, below_upper)));
}
#else
enum { QUERY_VECTORS = SAP_MAX_DIMS };

INLINE void load_periods(const sap_tree* tree, const int dims, vreal* q) { (void)tree, (void)dims, (void)q; }

INLINE vreal offset_between(const vreal* q, const int a, vreal x) { return v_sub(q[a], x); }
INLINE vreal offset_outside(const vreal* q, const int a, vreal below, vreal above) {
    (void)q, (void)a;
    return v_max(v_max(below, above), v_set(0));
}
INLINE vreal offset_within(const vreal* q, const int a, vreal above_lower, vreal below_upper) {
    (void)q, (void)a;
    return v_max(above_lower, below_upper);
}
#endif

// Spreads a query over registers; false if a coordinate is not finite.
INLINE bool load_query(const real* at, const int dims, vreal* q) {
    bool finite = true;
    int a = 0;
    do { // a tree has an axis at least, which compilers do not know
        q[a] = v_set(at[a]);
        finite &= at[a] - at[a] == 0;
    } while (++a < dims);
    return finite;
}

// Distances by the metric, squared for L2, of the query to the points in slots from `slot` on, in axis order.
INLINE vreal leaf_distance(const tree_view* t, const int dims, const vreal* q, const real* block, int slot) {
    vreal d = offset_between(q, 0, v_load(block + slot)), sum = term_of(d);
    for (int a = 1; a < dims; a++) {
        d = offset_between(q, a, v_load(block + (int64_t)a * t->stride + slot));
        sum = join_terms(sum, term_of(d));
    }
    return sum;
}

INLINE const real* group_boxes(const tree_view* t, const int dims, int level, int64_t group) {
    return t->boxes[level] + group * dims * 2 * SAP_GROUP;
}

// Lower bounds of the distances to the boxes of a group from number `first` on. They are made of the same
// operations in the same order as a distance, each of them monotonic, so rounding never lifts a bound above the
// distance of a point inside.
INLINE vreal box_bounds(const real* boxes, const int dims, const vreal* q, int first) {
    vreal sum = v_set(0);
    for (int a = 0; a < dims; a++) {
        vreal below = v_sub(v_load(boxes + 2 * a * SAP_GROUP + first), q[a]);
        vreal above = v_sub(q[a], v_load(boxes + (2 * a + 1) * SAP_GROUP + first));
        vreal d = offset_outside(q, a, below, above);
        sum = a ? join_terms(sum, term_outside(d)) : term_outside(d);
    }
    return sum;
}

#endif
