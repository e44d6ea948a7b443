// The nearest points for a balanced tree's own points, leaf by leaf: all points of a leaf look into that leaf first;
// then one walk finds the leaves that any of them may have to look into, and each point takes the nearest of these
// first. A sibling of nearest/walk.h: what a walk costs is shared by the points of a leaf.
#include "nearest/walk_simd.h"
#include "tree/balanced/around_simd.h"

enum { BATCH = 40 }; // points of a leaf that ask together: no fewer than a leaf of usual size holds

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

INLINE void scan_around(const tree_view* t, const int kind, const int dims, const around* s, const asked* q, ahead* w,
                        list* l, sap_search_stats* stats) {
    while (w->count > SAP_GROUP) {
        scan(t, kind, dims, q, s->leaves[take_nearest(w)], l);
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
        scan(t, kind, dims, q, s->leaves[number], l);
        stats->leaves++;
    }
}

INLINE void search_with(sap_nearest_run* run, const int kind, const int dims) {
    tree_view view = view_tree(run->tree);
    const sap_tree_shape* shape = &run->tree->shape;
    const int last = view.levels - 1;
    sap_search_stats stats = {0, 0, 0};
    key lists[BATCH][SAP_LIST_MAX];
    around near;
    real worsts[BATCH];
    ahead w[2];
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
                worsts[i - from] = l.worst;
                if (worst < l.worst) worst = l.worst;
            }
            stats.leaves += to - from;
            const bool is_listed = look_around(&view, dims, &c, home, worst, &near, &stats.nodes);
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
                list_take(&l, kind, run->k, lists[i - from]);
                if (is_listed)
                    scan_around(&view, kind, dims, &near, &q, &w[i & 1], &l, &stats);
                else
                    walk(&view, kind, dims, &q, home, &l, &stats);
                const int64_t row = (int64_t)ids[i] * run->row_length;
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
    static void search_##kind##_##name(sap_nearest_run* run) { search_with(run, KIND_##kind, dims); }
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
