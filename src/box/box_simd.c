// Box search in a balanced tree: 16 tight boxes at a time, leaves by registers, subtrees that lie inside the box whole.
// A sibling of box/walk.h for the sake of registers.
#include "base/assert.h"
#include "box/box.h"
#include "math/simd.h"
#include "tree/balanced/view_simd.h"

enum { AHEAD = 8 }; // boxes whose upper corners are fetched before their turn

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

// Takes a leaf without looking at its points.
INLINE void take(const sap_tree_shape* s, const tree_view* t, const int dims, int64_t leaf, const real* block,
                 hits* h) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) id_store(h->ids + h->count + v * LANES, id_load(ids + v * LANES));
    h->count += sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
}

INLINE bool has_room(const tree_view* t, const hits* h) { return h->room - h->count >= (int64_t)t->vectors * LANES; }

// Takes all leaves below node `index` of a level; false if there may not be room for them.
INLINE bool take_below(const sap_tree_shape* s, const tree_view* t, const int dims, int level, int64_t index, hits* h) {
    const int below = s->depth - s->level_depth[level];
    for (int64_t leaf = index << below; leaf < (index + 1) << below; leaf++) {
        if (!has_room(t, h)) return false;
        take(s, t, dims, leaf, leaf_block(t, leaf), h);
    }
    return true;
}

// Takes the leaves of a group that the box meets.
INLINE bool take_leaves(const sap_tree_shape* s, const tree_view* t, const int dims, const bool collect, const query* q,
                        int64_t group, uint32_t todo, uint32_t inside, hits* h) {
    for (; todo; todo &= todo - 1) {
        const int number = __builtin_ctz(todo);
        const int64_t leaf = group * SAP_GROUP + number;
        if (collect && !has_room(t, h)) return false;
        if (collect && inside >> number & 1)
            take(s, t, dims, leaf, leaf_block(t, leaf), h);
        else
            scan(t, dims, collect, q, leaf_block(t, leaf), h);
    }
    return true;
}

// Points below the nodes of a group that are in the mask.
INLINE int64_t points_below(const sap_tree_shape* s, int level, int64_t group, uint32_t mask) {
    const int below = s->depth - s->level_depth[level];
    int64_t count = 0;
    for (; mask; mask &= mask - 1) {
        const int64_t index = group * SAP_GROUP + __builtin_ctz(mask);
        SAP_ASSERT(below >= 0 && (index + 1) << below <= s->leaves);
        count += sap_leaf_rank(s, (index + 1) << below) - sap_leaf_rank(s, index << below);
    }
    return count;
}

// Adds the points of one box; false if there may not be room for them.
INLINE bool walk(const sap_tree_shape* s, const tree_view* t, const int dims, const bool collect, const query* q,
                 hits* h) {
    uint32_t pending[SAP_MAX_LEVELS], whole[SAP_MAX_LEVELS];
    int64_t groups[SAP_MAX_LEVELS], group = 0;
    int level = 0, last = t->levels - 1;
    for (;;) {
        const real* boxes = group_boxes(t, dims, level, group);
        uint32_t todo = boxes_touched(boxes, dims, q), inside = todo ? todo & boxes_inside(boxes, dims, q) : 0;
        SAP_ASSERT(level >= 0 && level <= last && last < SAP_MAX_LEVELS);
        if (!collect) {
            h->count += points_below(s, level, group, inside);
            todo &= ~inside;
        }
        if (level < last) {
            groups[level] = group;
            pending[level] = todo;
            whole[level] = inside;
        } else {
            if (!take_leaves(s, t, dims, collect, q, group, todo, inside, h)) return false;
            level--;
        }
        for (;;) { // to the next group that the box meets, over subtrees that lie inside it
            while (level >= 0 && !pending[level]) level--;
            if (level < 0) return true;
            const int number = __builtin_ctz(pending[level]);
            group = groups[level] * SAP_GROUP + number;
            pending[level] &= pending[level] - 1;
            if (!collect || !(whole[level] >> number & 1)) break;
            if (!take_below(s, t, dims, level, group, h)) return false;
        }
        level++;
    }
}

INLINE void search_with(sap_box_run* run, const int dims, const bool collect) {
    const tree_view view = view_tree(run->tree);
    const real *lower = run->lower, *upper = run->upper;
    const int32_t* rows = run->hits.rows;
    hits h = {run->hits.ids, run->hits.used, run->hits.room};
    int64_t i = run->hits.done;
    for (; i < run->hits.count; i++) {
        const int64_t row = rows ? rows[i] : run->hits.first_row + i, before = h.count;
        query q;
        if (rows && i + AHEAD < run->hits.count) __builtin_prefetch(upper + rows[i + AHEAD] * run->upper_stride);
        if (load_box(lower + i * run->lower_stride, upper + row * run->upper_stride, dims, &q) &&
            !walk(&run->tree->shape, &view, dims, collect, &q, &h)) {
            h.count = before;
            break;
        }
        SAP_ASSERT(row >= 0 && h.count >= before);
        run->hits.counts[row] = h.count - before;
    }
    SAP_ASSERT(!collect || h.count <= h.room);
    run->hits.done = i;
    run->hits.used = h.count;
}

#if defined(SAP_FEW_INSTANCES) // where code is downloaded
static void search(sap_hits_run* given) {
    sap_box_run* run = (sap_box_run*)(void*)given;
    const bool collect = given->ids != NULL;
    if (SAP_REAL_BITS == 32 && run->tree->shape.dims == 2)
        search_with(run, 2, collect);
    else
        search_with(run, run->tree->shape.dims, collect);
}
#else
#define SEARCH(name, collect)                                                                                          \
    static void name(sap_box_run* run) {                                                                               \
        switch (run->tree->shape.dims) {                                                                               \
        case 2: search_with(run, 2, collect); break;                                                                   \
        case 3: search_with(run, 3, collect); break;                                                                   \
        default: search_with(run, run->tree->shape.dims, collect);                                                     \
        }                                                                                                              \
    }
SEARCH(count_points, false)
SEARCH(collect_points, true)

static void search(sap_hits_run* given) {
    sap_box_run* run = (sap_box_run*)(void*)given;
    if (given->ids)
        collect_points(run);
    else
        count_points(run);
}
#endif

const sap_box_kernels SAP_KERNEL(box_kernels) = {search};
