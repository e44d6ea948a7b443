// The hits of a box search in vectors: which nodes a box meets, and which points of a leaf lie in it.
#ifndef SAPWOOD_BOX_HITS_SIMD_H
#define SAPWOOD_BOX_HITS_SIMD_H

#include "base/assert.h"
#include "box/box.h"
#include "math/simd.h"
#include "tree/balanced/view_simd.h"

#if SAP_REAL_BITS == 64
static const real GREATEST = DBL_MAX;
#else
static const real GREATEST = FLT_MAX;
#endif

typedef struct query {
    vreal lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} query;

typedef struct hits {
    int32_t* ids; // NULL: count only
    int64_t count, room;
} hits;

// Spreads a box over registers; false if it holds no point, whatever the points. Points are finite, so an upper side at
// infinity may as well be the greatest finite number, and then unused slots, which are at infinity, are never inside.
INLINE bool load_box(const real* lower, const real* upper, const int dims, query* q) {
    bool is_box = true;
    int a = 0;
    do { // a tree has an axis at least, which compilers do not know
        const real top = upper[a] > GREATEST ? GREATEST : upper[a];
        q->lower[a] = v_set(lower[a]);
        q->upper[a] = v_set(top);
        is_box &= lower[a] <= top;
    } while (++a < dims);
    return is_box;
}

// The boxes of a group that the box meets.
INLINE uint32_t boxes_touched(const real* boxes, const int dims, const query* q) {
    uint32_t touched = 0;
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES) {
        uint32_t lanes = ALL_LANES;
        for (int a = 0; a < dims; a++)
            lanes &= v_both_less_equal(v_load(boxes + 2 * a * SAP_GROUP + v), q->upper[a], q->lower[a],
                                       v_load(boxes + (2 * a + 1) * SAP_GROUP + v));
        touched |= lanes << v;
    }
    return touched;
}

// The boxes of a group that lie inside the box; those without points do, too.
INLINE uint32_t boxes_inside(const real* boxes, const int dims, const query* q) {
    uint32_t inside = 0;
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES) {
        uint32_t lanes = ALL_LANES;
        for (int a = 0; a < dims; a++)
            lanes &= v_both_less_equal(q->lower[a], v_load(boxes + 2 * a * SAP_GROUP + v),
                                       v_load(boxes + (2 * a + 1) * SAP_GROUP + v), q->upper[a]);
        inside |= lanes << v;
    }
    return inside;
}

INLINE void scan(const tree_view* t, const int dims, const bool collect, const query* q, const real* block, hits* h) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        uint32_t in = v == t->vectors - 1 ? t->last_lanes : ALL_LANES;
        for (int a = 0; a < dims; a++) {
            const vreal at = v_load(block + (int64_t)a * t->stride + v * LANES);
            in &= v_both_less_equal(q->lower[a], at, at, q->upper[a]);
        }
        if (collect) id_store_kept(h->ids + h->count, in, id_load(ids + v * LANES));
        h->count += count_bits(in);
    }
}

// Takes a leaf of so many points without looking at them.
INLINE void take(const tree_view* t, const int dims, int64_t points, const real* block, hits* h) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) id_store(h->ids + h->count + v * LANES, id_load(ids + v * LANES));
    h->count += points;
}

INLINE bool has_room(const tree_view* t, const hits* h) { return h->room - h->count >= (int64_t)t->vectors * LANES; }

#endif
