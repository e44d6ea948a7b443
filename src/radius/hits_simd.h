// The hits of a radius search in vectors: which boxes a ball reaches, and which points of a leaf lie in it.
#ifndef SAPWOOD_RADIUS_HITS_SIMD_H
#define SAPWOOD_RADIUS_HITS_SIMD_H

#include "base/assert.h"
#include "radius/radius.h"
#include "tree/balanced/view_simd.h"

typedef struct hits {
    int32_t* ids; // NULL: count only
    real* distance2;
    int64_t count, room;
#if MEASURED
    const uint8_t* keep; // by id: what counts is not 0; NULL: all
#endif
} hits;

#if MEASURED
// Of the lanes in `in`, those whose points count.
INLINE uint32_t counted(const hits* h, const int32_t* ids, uint32_t in) {
    for (uint32_t left = h->keep ? in : 0; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        if (!h->keep[ids[i]]) in &= ~(1u << i);
    }
    return in;
}

// Whether points are counted by subtrees: all of them count.
INLINE bool counts_whole(const hits* h, const bool collect, int32_t self) { return !collect && self < 0 && !h->keep; }

// The limit of a row's query.
INLINE real limit_of(const sap_radius_run* run, int64_t row) {
    return (real)sap_told_limit_of(run->tree, run->told, run->limit2, row);
}
#else
// All points count, and the limit is the same for all: words that leave the machine code as it is without them.
#define counted(h, ids, in)            (in)
#define counts_whole(h, collect, self) (!(collect) && (self) < 0)
#define limit_of(run, row)             ((real)(run)->limit2)
#endif

// The boxes of a group that come within the limit.
INLINE uint32_t boxes_touched(const real* boxes, const int dims, const vreal* q, real limit) {
    uint32_t touched = 0;
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES)
        touched |= v_less_equal(box_bounds(boxes, dims, q, v), v_set(limit)) << v;
    return touched;
}

// The boxes of a group all of whose points are within the limit: the squared distance of the farthest corner is, again
// by operations that rounding keeps monotonic, no smaller than that of any point inside.
INLINE uint32_t boxes_inside(const real* boxes, const int dims, const vreal* q, real limit) {
    uint32_t inside = 0;
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES) {
        vreal sum = v_set(0);
        for (int a = 0; a < dims; a++) {
            vreal above_lower = v_sub(q[a], v_load(boxes + 2 * a * SAP_GROUP + v));
            vreal below_upper = v_sub(v_load(boxes + (2 * a + 1) * SAP_GROUP + v), q[a]);
            // At least one is positive and it is the larger in magnitude.
            vreal d = offset_within(q, a, above_lower, below_upper);
            sum = a ? join_terms(sum, term_of(d)) : term_of(d);
        }
        inside |= v_less_equal(sum, v_set(limit)) << v;
    }
    return inside;
}

INLINE void scan_count(const tree_view* t, const int dims, const vreal* q, const real* block, real limit, int32_t self,
                       hits* h) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        uint32_t in = v_less_equal(leaf_distance(t, dims, q, block, v * LANES), v_set(limit));
        if (v == t->vectors - 1) in &= t->last_lanes;
        if (self >= 0) in &= id_less(id_set(self), id_load(ids + v * LANES));
        in = counted(h, ids + v * LANES, in);
        h->count += count_bits(in);
    }
}

INLINE void scan_collect(const tree_view* t, const int dims, const vreal* q, const real* block, real limit,
                         int32_t self, hits* h) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        vreal distance = leaf_distance(t, dims, q, block, v * LANES);
        uint32_t in = v_less_equal(distance, v_set(limit));
        vid id = id_load(ids + v * LANES);
        if (v == t->vectors - 1) in &= t->last_lanes;
        if (self >= 0) in &= id_less(id_set(self), id);
        in = counted(h, ids + v * LANES, in);
        id_store_kept(h->ids + h->count, in, id);
        v_store_kept(h->distance2 + h->count, in, distance);
        h->count += count_bits(in);
    }
}

// Adds a leaf's hits; false if there may not be room for them.
INLINE bool scan(const tree_view* leaf, const int dims, const bool collect, const vreal* q, const real* block,
                 real limit, int32_t self, hits* h) {
    if (collect && h->room - h->count < (int64_t)leaf->vectors * LANES) return false;
    if (collect)
        scan_collect(leaf, dims, q, block, limit, self, h);
    else
        scan_count(leaf, dims, q, block, limit, self, h);
    return true;
}

#endif
