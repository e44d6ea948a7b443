// How many distances of two leaves lie within each of some limits: lanes are added up in registers, and nothing depends
// on a single point.
#ifndef SAPWOOD_PAIRS_TALLY_SIMD_H
#define SAPWOOD_PAIRS_TALLY_SIMD_H

#include "pairs/boxed_simd.h"

enum { TALLIES = 4 }; // limits that registers are kept for

#if SAP_REAL_BITS == 32
typedef int32_t tally_lane;
#else
typedef int64_t tally_lane;
#endif
typedef tally_lane vtally __attribute__((vector_size(sizeof(vreal))));

// Adds 1 in the lanes with a <= b, where a comparison is -1.
INLINE vtally tally(vtally sum, vreal a, vreal b) { return sum - (vtally)(a <= b); }

INLINE int64_t tally_total(vtally sum) {
    int64_t total = 0;
    for (int i = 0; i < LANES; i++) total += sum[i];
    return total;
}

typedef struct leaf_view {
    const real* coords;
    int32_t count, stride;
} leaf_view;

INLINE leaf_view view_leaf(const sap_boxed* boxed, uint32_t node) {
    return (leaf_view){sap_boxed_coords(boxed, node), boxed->nodes[node].count, boxed->nodes[node].stride};
}

// Adds the points of b within each limit of one point; limits are finite.
INLINE void tally_point(const leaf_view* b, const int dims, const vreal* q, const int limits, const vreal* limit,
                        vtally* sum) {
    for (int32_t at = 0; at < b->count; at += LANES) {
        vreal d = offset_between(q, 0, v_load(b->coords + at)), distance2 = v_mul(d, d);
        for (int x = 1; x < dims; x++) {
            d = offset_between(q, x, v_load(b->coords + (int64_t)x * b->stride + at));
            distance2 = v_add(distance2, v_mul(d, d));
        }
        if (b->count - at < LANES) distance2 = v_select(lanes_below(b->count - at), distance2, v_set(INFINITY));
        for (int i = 0; i < limits; i++) sum[i] = tally(sum[i], distance2, limit[i]);
    }
}

// Pairs within each of 1 … TALLIES limits. A lane counts fewer than 2^31 pairs: leaves have up to 65,536 points.
INLINE void tally_leaves(const sap_tree* tree, const leaf_view* a, const leaf_view* b, const int dims, const int limits,
                         const real* limits2, int64_t* counts) {
    vreal limit[TALLIES], q[QUERY_VECTORS];
    vtally sum[TALLIES];
    for (int i = 0; i < limits; i++) {
        limit[i] = v_set(limits2[i]);
        sum[i] = (vtally){0};
    }
    load_periods(tree, dims, q);
    for (int32_t i = 0; i < a->count; i++) {
        int x = 0;
        do { // a tree has an axis at least, which compilers do not know
            q[x] = v_set(a->coords[(int64_t)x * a->stride + i]);
        } while (++x < dims);
        tally_point(b, dims, q, limits, limit, sum);
    }
    for (int i = 0; i < limits; i++) counts[i] = tally_total(sum[i]);
}

#endif
