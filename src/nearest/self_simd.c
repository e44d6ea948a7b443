// The nearest points for a balanced tree's own points, leaf by leaf: all points of a leaf look into that leaf first, and
// into its sibling if one leaf does not fill their lists; then one walk finds the leaves that any of them may have to look
// into, and each point takes the nearest of these first. A sibling of nearest/walk.h: what a walk costs is shared by the points of a leaf.
#include "nearest/walk_simd.h"
#include "tree/balanced/around_simd.h"

enum { WAITING = 16 }; // points found that are worth an offer
enum { BATCH = 40 };   // points of a leaf that ask together: no fewer than a leaf of usual size holds

// The leaves that a point still has to look into: how far their boxes are, and their numbers in `around`.
typedef struct ahead {
    real bound[ROOM] __attribute__((aligned(64)));
    int32_t number[ROOM];
    int count;
} ahead;

static const int32_t counted[AROUND] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

INLINE void keep_near(ahead* w, uint32_t near, vreal bound, vid number) {
    v_store_kept(w->bound + w->count, near, bound);
    id_store_kept(w->number + w->count, near, number);
    w->count += count_bits(near);
}

INLINE void look_ahead(const around* s, const int dims, const asked* q, real worst, ahead* w) {
    w->count = 0;
    for (int v = 0; v < s->count; v += LANES) {
        const vreal sum = bounds_around(s, dims, q->at, v);
        keep_near(w, v_less_equal(sum, v_set(worst)) & lanes_below(s->count - v), sum, id_load(counted + v));
    }
}

// Takes the nearest out of more than a group of leaves, and those that lie beyond `worst`.
INLINE int take_nearest(ahead* w) {
    vreal least = v_set(INFINITY);
    for (int v = 0; v < w->count; v += LANES)
        least = v_min(least, v_select(lanes_below(w->count - v), v_load(w->bound + v), v_set(INFINITY)));
    const vreal nearest = v_set(reduce_min(least));
    int i = 0;
    for (uint32_t equal = 0; !equal; i += LANES) {
        equal = v_equal(v_load(w->bound + i), nearest) & lanes_below(w->count - i);
        if (equal) i += __builtin_ctz(equal) - LANES;
    }
    const int number = w->number[i];
    w->bound[i] = w->bound[w->count - 1];
    w->number[i] = w->number[--w->count];
    return number;
}

INLINE void drop_far(ahead* w, real worst) {
    const int count = w->count;
    w->count = 0;
    for (int v = 0; v < count; v += LANES) {
        const vreal bound = v_load(w->bound + v);
        keep_near(w, v_less_equal(bound, v_set(worst)) & lanes_below(count - v), bound, id_load(w->number + v));
    }
}

// The points found so far that may be among the nearest, which are offered together: a list that takes a few at a time is
// waited for at each leaf, and how many a leaf has nobody can foretell.
typedef struct waiting {
    key keys[WAITING + LANES + 8] __attribute__((aligned(64)));
    int count;
} waiting;

INLINE void offer_waiting(waiting* found, const int kind, list* l) {
    list_offer(l, kind, found->keys, found->count);
    found->count = 0;
}

// Puts aside what a leaf has, other than the point's own.
INLINE void scan_later(const tree_view* t, const int kind, const int dims, const asked* q, int64_t leaf, list* l,
                       waiting* found) {
    const real* block = leaf_block(t, leaf);
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        const vreal distance = leaf_distance(t, dims, q->at, block, v * LANES);
        uint32_t close = v_less_equal(distance, v_set(l->worst));
        if (v == t->vectors - 1) close &= t->last_lanes;
        found->count += collect_keys(distance, ids + v * LANES, close, found->keys + found->count);
        if (found->count >= WAITING) offer_waiting(found, kind, l);
    }
}

INLINE void scan_around(const tree_view* t, const int kind, const int dims, const around* s, const asked* q, ahead* w,
                        list* l, sap_search_stats* stats) {
    waiting found;
    found.count = 0;
    while (w->count > SAP_GROUP) {
        scan_later(t, kind, dims, q, s->leaves[take_nearest(w)], l, &found);
        stats->leaves++;
        drop_far(w, l->worst);
    }
    vreal bound[GROUP_VECTORS];
    for (int v = 0; v < GROUP_VECTORS; v++) bound[v] = v_number(v_load(w->bound + v * LANES), v * LANES);
    for (uint32_t left = (1u << w->count) - 1; left;) {
        vreal least = v_set(INFINITY);
#pragma GCC unroll 8
        for (int v = 0; v < GROUP_VECTORS; v++)
            least = v_min(least, v_select(left >> v * LANES & ALL_LANES, bound[v], v_set(INFINITY)));
        const int i = (int)(bits_of(reduce_min(least)) & 15);
        SAP_ASSERT(left >> i & 1);
        left &= ~(1u << i);
        const int number = w->number[i];
        // Bounds that differ in their last bits only are in no order, so what follows may still be near enough.
        if (w->bound[i] > l->worst) continue;
        if (w->bound[i] == l->worst && s->min_ids[number] >= l->worst_id) continue;
        scan_later(t, kind, dims, q, s->leaves[number], l, &found);
        stats->leaves++;
    }
    if (found.count) offer_waiting(&found, kind, l);
}

// What few points need, out of the way of the others' registers: a list that is kept takes the points of the leaf, or is
// begun anew and takes those of a whole walk if `leaf` is negative. Returns the worst of the list.
typedef real look_further(const tree_view* t, const asked* q, int64_t leaf, const sap_nearest_run* run, key* keys,
                          sap_search_stats* stats);

INLINE real look_further_with(const tree_view* t, const int kind, const int dims, const asked* q, int64_t leaf,
                              const sap_nearest_run* run, key* keys, sap_search_stats* stats) {
    list l;
    if (leaf < 0) {
        list_begin(&l, kind, run->k, (real)run->limit2, keys);
        walk(t, kind, dims, q, -1, &l, stats);
    } else {
        list_take(&l, kind, run->k, keys);
        scan(t, kind, dims, q, leaf, &l);
        stats->leaves++;
    }
    list_keep(&l, kind);
    return l.worst;
}

INLINE void search_with(sap_nearest_run* run, const int kind, const int dims, look_further* further) {
    tree_view view = view_tree(run->tree);
    const sap_tree_shape* shape = &run->tree->shape;
    const int last = view.levels - 1;
    sap_search_stats stats = {0, 0, 0};
    key lists[BATCH][SAP_LIST_MAX];
    around near;
    real worsts[BATCH];
    ahead w[2];
    int64_t turn = 0;
    const int homes = shape->count >> shape->depth > run->k ? 1 : 2;
    for (int64_t home = run->first_row; home < run->first_row + run->count; home++) {
        const real* block = leaf_block(&view, home);
        const int32_t* ids = block_ids(&view, dims, block);
        const int points = (int)(sap_leaf_rank(shape, home + 1) - sap_leaf_rank(shape, home));
        cell c;
        const real* boxes = group_boxes(&view, dims, last, home / SAP_GROUP) + home % SAP_GROUP;
        for (int a = 0; a < dims; a++) {
            c.lower[a] = v_set(boxes[2 * a * SAP_GROUP]);
            c.upper[a] = v_set(boxes[(2 * a + 1) * SAP_GROUP]);
        }
        for (int from = 0; from < points; from += BATCH) {
            const int to = points - from < BATCH ? points : from + BATCH;
            real worst = 0;
            list l;
            asked q;
            for (int i = from; i < to; i++) {
                for (int a = 0; a < dims; a++) q.at[a] = v_set(block[a * view.stride + i]);
                q.self = run->skip_self ? ids[i] : -1;
                list_begin(&l, kind, run->k, (real)run->limit2, lists[i - from]);
                scan(&view, kind, dims, &q, home, &l);
                list_keep(&l, kind);
                worsts[i - from] = homes == 1 ? l.worst : further(&view, &q, home ^ 1, run, lists[i - from], &stats);
                if (worst < worsts[i - from]) worst = worsts[i - from];
            }
            stats.leaves += to - from;
            const bool is_listed = look_around(&view, dims, &c, home & -homes, homes, worst, &near, &stats.nodes);
            if (is_listed) {
                for (int a = 0; a < dims; a++) q.at[a] = v_set(block[a * view.stride + from]);
                look_ahead(&near, dims, &q, worsts[0], &w[from & 1]);
            }
            for (int i = from; i < to; i++) {
                if (is_listed && i + 1 < to) {
                    for (int a = 0; a < dims; a++) q.at[a] = v_set(block[a * view.stride + i + 1]);
                    look_ahead(&near, dims, &q, worsts[i + 1 - from], &w[(i + 1) & 1]);
                }
                for (int a = 0; a < dims; a++) q.at[a] = v_set(block[a * view.stride + i]);
                q.self = run->skip_self ? ids[i] : -1;
                if (!is_listed) further(&view, &q, -1, run, lists[i - from], &stats);
                list_take(&l, kind, run->k, lists[i - from]);
                if (is_listed) scan_around(&view, kind, dims, &near, &q, &w[i & 1], &l, &stats);
                const int64_t row = (run->in_turn ? turn++ : (int64_t)ids[i]) * run->row_length;
                real* distance2 = run->distance2 ? (real*)run->distance2 + row : NULL;
                list_write(&l, kind, run->ids + row, distance2);
                for (int32_t j = run->k; j < run->row_length; j++)
                    write_answer(make_key(0, NOBODY), run->ids + row + j, distance2 ? distance2 + j : NULL);
            }
        }
    }
    run->stats.nodes += stats.nodes;
    run->stats.leaves += stats.leaves;
    run->stats.points += stats.leaves * view.points;
}

#define INSTANCE(kind, name, dims)                                                                                     \
    static __attribute__((noinline))                                                                                   \
    real further_##kind##_##name(const tree_view* t, const asked* q, int64_t leaf, const sap_nearest_run* run,         \
                                 key* keys, sap_search_stats* stats) {                                                 \
        return look_further_with(t, KIND_##kind, dims, q, leaf, run, keys, stats);                                     \
    }                                                                                                                  \
    static void search_##kind##_##name(sap_nearest_run* run) {                                                         \
        search_with(run, KIND_##kind, dims, further_##kind##_##name);                                                  \
    }
#define INSTANCES(kind)                                                                                                \
    INSTANCE(kind, 2, 2)                                                                                               \
    INSTANCE(kind, 3, 3)                                                                                               \
    INSTANCE(kind, any, run->tree->shape.dims)
#define EACH(kind)                                                                                                     \
    { search_##kind##_2, search_##kind##_3, search_##kind##_any }
#include "nearest/candidates/instances_simd.h"

static void search(sap_nearest_run* run) {
    static void (*const functions[4][3])(sap_nearest_run*) = {EACH_LIST};
    const int32_t dims = run->tree->shape.dims;
    SAP_ASSERT(run->k >= 2 && run->k <= SAP_LIST_MAX);
    functions[(run->k - 1) / 8][dims == 2 || dims == 3 ? dims - 2 : 2](run);
}

const sap_nearest_kernels SAP_KERNEL(nearest_self_kernels) = {search};
