// Radius search in a balanced tree: the walk of nearest/nearest_simd.c with a fixed bound, in the tree's own order, and
// with subtrees that lie inside the ball counted whole. A sibling of radius/walk.h for the sake of registers.
#ifndef SAPWOOD_RADIUS_WALK_SIMD_H
#define SAPWOOD_RADIUS_WALK_SIMD_H

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

// Points below node `index` of a level.
INLINE int64_t points_below(const sap_tree_shape* s, int level, int64_t index) {
    int below = s->depth - s->level_depth[level];
    SAP_ASSERT(below >= 0 && (index + 1) << below <= s->leaves);
    return sap_leaf_rank(s, (index + 1) << below) - sap_leaf_rank(s, index << below);
}

// Takes the boxes that lie inside the ball out of those touched, and adds their points.
INLINE uint32_t count_whole(const sap_tree_shape* s, const real* boxes, const int dims, const vreal* q, real limit,
                            int level, int64_t group, uint32_t touched, hits* h) {
    uint32_t inside = touched & boxes_inside(boxes, dims, q, limit);
    touched &= ~inside;
    for (; inside; inside &= inside - 1) h->count += points_below(s, level, group * SAP_GROUP + __builtin_ctz(inside));
    return touched;
}

// Adds a query's hits; false if there may not be room for them.
INLINE bool walk(const sap_tree* tree, const tree_view* t, const int dims, const bool collect, const vreal* q,
                 real limit, int32_t self, hits* h) {
    const bool whole = counts_whole(h, collect, self) && !tree->has_holes;
    uint32_t pending[SAP_MAX_LEVELS];
    int64_t groups[SAP_MAX_LEVELS], group = 0;
    int level = 0, last = t->levels - 1;
    for (;;) {
        const real* boxes = group_boxes(t, dims, level, group);
        uint32_t todo = boxes_touched(boxes, dims, q, limit);
        if (whole && todo) todo = count_whole(&tree->shape, boxes, dims, q, limit, level, group, todo, h);
        SAP_ASSERT(level >= 0 && level <= last && last < SAP_MAX_LEVELS);
        if (level < last) {
            groups[level] = group;
            pending[level] = todo;
        } else {
            for (; todo; todo &= todo - 1) {
                const real* block = leaf_block(t, group * SAP_GROUP + __builtin_ctz(todo));
                if (collect && h->room - h->count < (int64_t)t->vectors * LANES) return false;
                if (collect)
                    scan_collect(t, dims, q, block, limit, self, h);
                else
                    scan_count(t, dims, q, block, limit, self, h);
            }
            level--;
        }
        while (level >= 0 && !pending[level]) level--;
        if (level < 0) return true;
        group = groups[level] * SAP_GROUP + __builtin_ctz(pending[level]);
        pending[level] &= pending[level] - 1;
        level++;
    }
}

INLINE void search_with(sap_radius_run* run, const int dims, const bool collect) {
    tree_view view = view_tree(run->tree);
    const real* queries = run->queries;
    hits h = {.ids = run->ids, .distance2 = run->distance2, .count = run->used, .room = run->room};
#if MEASURED
    h.keep = run->told->keep;
#endif
    int64_t i = run->done;
    for (; i < run->count; i++) {
        vreal q[QUERY_VECTORS];
        int64_t row = run->rows ? run->rows[i] : run->first_row + i, before = h.count;
#if PERIODIC
        load_periods(run->tree, dims, q);
#endif
        if (load_query(queries + i * run->stride, dims, q) &&
            !walk(run->tree, &view, dims, collect, q, limit_of(run, row), run->greater_only ? (int32_t)row : -1, &h)) {
            h.count = before;
            break;
        }
        SAP_ASSERT(row >= 0 && h.count >= before);
        run->counts[row] = h.count - before;
    }
    SAP_ASSERT(!collect || h.count <= h.room);
    run->done = i;
    run->used = h.count;
}

#if defined(SAP_FEW_INSTANCES) // where code is downloaded
static void search(sap_radius_run* run) {
    const bool collect = run->ids != NULL;
    switch (run->tree->shape.dims) {
    case 2: search_with(run, 2, collect); break;
    case 3: search_with(run, 3, collect); break;
    default: search_with(run, run->tree->shape.dims, collect);
    }
}
#else
#define SEARCH(name, collect)                                                                                          \
    static void name(sap_radius_run* run) {                                                                            \
        switch (run->tree->shape.dims) {                                                                               \
        case 2: search_with(run, 2, collect); break;                                                                   \
        case 3: search_with(run, 3, collect); break;                                                                   \
        case 4: search_with(run, 4, collect); break;                                                                   \
        default: search_with(run, run->tree->shape.dims, collect);                                                     \
        }                                                                                                              \
    }
SEARCH(count_hits, false)
SEARCH(collect_hits, true)

static void search(sap_radius_run* run) {
    if (run->ids)
        collect_hits(run);
    else
        count_hits(run);
}
#endif

#endif
