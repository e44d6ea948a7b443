// Runs of queries on a set: one list goes through all levels, the largest first, so that each is searched only as far as
// the list reaches by then. Leaves hold the set's ids, hence the list's order is that of one tree over all points.
#include "set/gather_simd.h"
#include "set/search.h"

// The block of the newest points as a tree of one leaf.
INLINE tree_view view_flat(const sap_set_flat* flat, int32_t dims) {
    tree_view v = {.blocks = flat->block, .stride = SAP_SET_FLAT, .last_lanes = ALL_LANES, .points = flat->count};
    v.block_bytes = (size_t)SAP_SET_FLAT * ((size_t)dims * sizeof(real) + sizeof(int32_t));
    v.vectors = (flat->count + LANES - 1) / LANES;
    return v;
}

INLINE void search_level(const tree_view* t, const int kind, const int dims, const asked* q, list* l,
                         sap_search_stats* stats) {
    const int64_t before = stats->leaves;
    walk(t, kind, dims, q, -1, l, stats);
    stats->points += (stats->leaves - before) * t->points;
}

INLINE void search_levels(const tree_view* views, int32_t levels, const int kind, const int dims, const asked* q,
                          list* l, sap_search_stats* stats) {
    near_leaves near;
    near.count = 0;
    for (int32_t i = 0; i < levels; i++)
        if (i == 0 || !gather(&views[i], dims, q, l, i, &near, stats)) search_level(&views[i], kind, dims, q, l, stats);
    scan_near(views, kind, dims, q, &near, l, stats);
}

INLINE void search_with(const sap_set* set, sap_nearest_run* run, const int kind, const int dims) {
    tree_view views[SAP_SET_LEVELS];
    const tree_view flat = view_flat(&set->flat, dims);
    for (int32_t i = 0; i < set->levels; i++) views[i] = view_tree(&set->level[i]->tree);
    const real* queries = run->queries;
    list l;
    key sorted[SAP_LIST_MAX];
    for (int64_t i = 0; i < run->count; i++) {
        const int64_t row = run->rows ? run->rows[i] : run->first_row + i;
        asked q;
        const bool finite = load_query(queries + i * run->stride, dims, q.at);
        q.self = run->without ? run->without[row] : -1;
        list_begin(&l, kind, run->k, (real)run->limit2, kind == KIND_HEAP ? run->heap : sorted);
        if (finite && set->levels) search_levels(views, set->levels, kind, dims, &q, &l, &run->stats);
        if (finite && flat.vectors) {
            scan(&flat, kind, dims, &q, 0, &l);
            run->stats.points += flat.points;
        }
        int32_t* ids = run->ids + row * run->row_length;
        real* distance2 = run->distance2 ? (real*)run->distance2 + row * run->row_length : NULL;
        list_write(&l, kind, ids, distance2);
        for (int32_t j = run->k; j < run->row_length; j++)
            write_answer(make_key(0, NOBODY), ids + j, distance2 ? distance2 + j : NULL);
    }
}

typedef void (*search_function)(const sap_set* set, sap_nearest_run* run);

#define INSTANCE(kind, name, dims)                                                                                     \
    static void search_##kind##_##name(const sap_set* set, sap_nearest_run* run) {                                     \
        search_with(set, run, KIND_##kind, dims);                                                                      \
    }
#if defined(SAP_FEW_INSTANCES)
#define INSTANCES(kind) INSTANCE(kind, any, set->dims)
#define EACH(kind)                                                                                                     \
    { search_##kind##_any, search_##kind##_any, search_##kind##_any }
#else
#define INSTANCES(kind) INSTANCE(kind, 2, 2) INSTANCE(kind, 3, 3) INSTANCE(kind, any, set->dims)
#define EACH(kind)                                                                                                     \
    { search_##kind##_2, search_##kind##_3, search_##kind##_any }
#endif
INSTANCES(ONE)
#if REGISTER_LISTS
enum { KIND_8 = 1, KIND_16 = 2, KIND_32 = 4 };
INSTANCES(8)
INSTANCES(16)
INSTANCES(32)
#define EACH_LIST EACH(8), EACH(16), EACH(32)
#else
INSTANCES(SORTED)
#define EACH_LIST EACH(SORTED), EACH(SORTED), EACH(SORTED)
#endif
INSTANCE(HEAP, any, set->dims)
#define EACH_HEAP                                                                                                      \
    { search_HEAP_any, search_HEAP_any, search_HEAP_any }

static void search(const sap_set* set, sap_nearest_run* run) {
    static const search_function functions[5][3] = {EACH(ONE), EACH_LIST, EACH_HEAP};
    const int32_t k = run->k;
    const int kind = k == 1 ? 0 : k <= 8 ? 1 : k <= 16 ? 2 : k <= SAP_LIST_MAX ? 3 : 4;
    functions[kind][set->dims == 2 || set->dims == 3 ? set->dims - 2 : 2](set, run);
}

const sap_set_kernels SAP_KERNEL(set_kernels) = {search};
