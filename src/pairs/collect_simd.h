// The points within a radius of all points of a leaf, which share one walk of another tree.
#ifndef SAPWOOD_PAIRS_COLLECT_SIMD_H
#define SAPWOOD_PAIRS_COLLECT_SIMD_H

#include "pairs/pairs.h"
#include "pairs/tally_simd.h"

enum { BATCH = 64 }; // leaves of b that a walk gathers before the points of a's leaf look at them

// Leaves of b near a leaf of a, in the tree's own order; their boxes axis by axis, for vectors.
typedef struct near_leaves {
    real lower[SAP_MAX_DIMS][BATCH] __attribute__((aligned(64)));
    real upper[SAP_MAX_DIMS][BATCH] __attribute__((aligned(64)));
    const real* coords[BATCH];
    int32_t count[BATCH], stride[BATCH];
    int size;
} near_leaves;

INLINE void add_leaf(const sap_boxed* b, const int dims, uint32_t node, near_leaves* near) {
    const real* box = box_of(b, dims, node);
    const int at = near->size++;
    SAP_ASSERT(at < BATCH);
    for (int x = 0; x < dims; x++) {
        near->lower[x][at] = box[x];
        near->upper[x][at] = box[dims + x];
    }
    near->coords[at] = sap_boxed_coords(b, node);
    near->count[at] = b->nodes[node].count;
    near->stride[at] = b->nodes[node].stride;
}

// Which of eight or more leaves from `first` on come within the limit of a point.
INLINE uint32_t leaves_touched(const near_leaves* near, const int dims, const vreal* q, int first, real limit) {
    vreal sum = v_set(0);
    for (int x = 0; x < dims; x++) {
        const vreal below = v_sub(v_load(near->lower[x] + first), q[x]);
        const vreal above = v_sub(q[x], v_load(near->upper[x] + first));
        const vreal gap = offset_outside(q, x, below, above);
        sum = x ? v_add(sum, v_mul(gap, gap)) : v_mul(gap, gap);
    }
    return v_less_equal(sum, v_set(limit)) & lanes_below(near->size - first);
}

// Where the hits of a point go.
typedef struct hit_space {
    int32_t* ids;
    real* distance2;
    int64_t used;
} hit_space;

// Appends those of the lanes from `at` on that are within the limit and have greater ids than `after`.
INLINE int64_t scan_lanes(const leaf_view* leaf, const int dims, const vreal* q, vreal limit, vid after, int32_t at,
                          uint32_t lanes, const hit_space* hits, int64_t used) {
    vreal d = offset_between(q, 0, v_load(leaf->coords + at)), sum = v_mul(d, d);
    for (int x = 1; x < dims; x++) {
        d = offset_between(q, x, v_load(leaf->coords + (int64_t)x * leaf->stride + at));
        sum = v_add(sum, v_mul(d, d));
    }
    const vid id = id_load((const int32_t*)(const void*)(leaf->coords + (int64_t)dims * leaf->stride) + at);
    const uint32_t in = v_less_equal(sum, limit) & id_less(after, id) & lanes;
    id_store_kept(hits->ids + used, in, id);
    v_store_kept(hits->distance2 + used, in, sum);
    return used + count_bits(in);
}

// Appends the points of a leaf; there is room for all of them.
INLINE int64_t scan_leaf(leaf_view leaf, const int dims, const vreal* q, vreal limit, vid after, hit_space hits) {
    int64_t used = hits.used;
    int32_t at = 0;
    for (; at + LANES <= leaf.count; at += LANES)
        used = scan_lanes(&leaf, dims, q, limit, after, at, ALL_LANES, &hits, used);
    if (at < leaf.count) used = scan_lanes(&leaf, dims, q, limit, after, at, lanes_below(leaf.count - at), &hits, used);
    return used;
}

// The hits of one point in the leaves gathered.
INLINE bool scan_near(const sap_pairs_run* run, const near_leaves* near, const int dims, const vreal* q, int32_t row) {
    const real limit = (real)run->limit2;
    sap_pairs_hits* hits = run->hits;
    const int64_t before = hits->used;
    const vid after = id_set(run->greater_only ? row : -1);
    for (int first = 0; first < near->size; first += LANES) {
        uint32_t todo = leaves_touched(near, dims, q, first, limit);
        for (; todo; todo &= todo - 1) {
            const int at = first + __builtin_ctz(todo);
            if (hits->room - hits->used < near->count[at] &&
                !sap_pairs_grow(run->a->tree->device, SAP_REAL_BITS, near->count[at], hits))
                return false;
            hits->used = scan_leaf((leaf_view){near->coords[at], near->count[at], near->stride[at]}, dims, q,
                                   v_set(limit), after, (hit_space){hits->ids, hits->distance2, hits->used});
        }
    }
    if (hits->used == before) return true;
    if (hits->pieces_used == hits->pieces_room && !sap_pairs_grow(run->a->tree->device, SAP_REAL_BITS, 0, hits))
        return false;
    hits->pieces[hits->pieces_used++] = (sap_pairs_piece){row, (int32_t)(hits->used - before)};
    return true;
}

INLINE bool scan_all(const sap_pairs_run* run, const near_leaves* near, const int dims, uint32_t leaf) {
    const sap_boxed_node* node = &run->a->nodes[leaf];
    const real* coords = sap_boxed_coords(run->a, leaf);
    const int32_t* ids = sap_boxed_ids(run->a, leaf);
    vreal q[QUERY_VECTORS];
    load_periods(run->a->tree, dims, q);
    for (int32_t i = 0; i < node->count; i++) {
        int x = 0;
        do { // a tree has an axis at least, which compilers do not know
            q[x] = v_set(coords[(int64_t)x * node->stride + i]);
        } while (++x < dims);
        if (!scan_near(run, near, dims, q, ids[i])) return false;
    }
    return true;
}

INLINE bool collect_with(const sap_pairs_run* run, const int dims, uint32_t leaf) {
    const real *box = box_of(run->a, dims, leaf), limit = (real)run->limit2;
    const sap_boxed* b = run->b;
    uint32_t waiting[SAP_MAX_DEPTH + 1];
    int size = 0;
    near_leaves near;
    near.size = 0;
    waiting[size++] = 0;
    while (size > 0) {
        const uint32_t node = waiting[--size];
        if (!(boxes_nearest2(box, box_of(b, dims, node), dims, run->periods) <= limit)) continue;
        if (!sap_boxed_is_leaf(b, node)) {
            SAP_ASSERT(size + 2 <= SAP_MAX_DEPTH + 1);
            waiting[size++] = b->nodes[node].upper;
            waiting[size++] = node + 1;
            continue;
        }
        add_leaf(b, dims, node, &near);
        if (near.size < BATCH) continue;
        if (!scan_all(run, &near, dims, leaf)) return false;
        near.size = 0;
    }
    return near.size == 0 || scan_all(run, &near, dims, leaf);
}

static bool collect(const sap_pairs_run* run, uint32_t leaf) {
    switch (run->a->tree->shape.dims) {
    case 2: return collect_with(run, 2, leaf);
    case 3: return collect_with(run, 3, leaf);
    default: return collect_with(run, run->a->tree->shape.dims, leaf);
    }
}

#endif
