// Runs of queries on an explicit tree, one after another; PERIODIC on trees with periods.
#ifndef SAPWOOD_NEAREST_EXPLICIT_SIMD_H
#define SAPWOOD_NEAREST_EXPLICIT_SIMD_H

#include "nearest/walk_explicit_simd.h"

// The limit of a query: the rows may hold what was found without periods.
INLINE real limit_of(const sap_nearest_run* run, int64_t row) {
    const real limit = (real)run->limit2;
    if (!PERIODIC || !run->again) return limit;
    const real found = ((const real*)run->distance2)[row * run->row_length + run->k - 1];
    return found < limit ? found : limit;
}

INLINE void search_with(sap_nearest_run* run, const int kind, const int dims) {
    const explicit_view view = view_explicit(run->tree);
    const sap_groups* groups = run->tree->beside;
    const real* queries = run->queries;
    list l;
    key sorted[SAP_LIST_MAX];
    sap_search_stats stats = {0, 0, 0};
    for (int64_t i = 0; i < run->count; i++) {
        const real* at = queries + i * run->stride;
        const int64_t row = run->rows ? run->rows[i] : run->first_row + i;
        asked q;
        const bool finite = load_query(at, dims, q.at);
        q.self = run->without ? run->without[row] : run->skip_self ? (int32_t)row : -1;
#if PERIODIC
        load_periods(run->tree, dims, q.at);
#endif
        list_begin(&l, kind, run->k, limit_of(run, row), kind == KIND_HEAP ? run->heap : sorted);
        if (finite) {
            uint32_t home = UINT32_MAX;
            if (kind == KIND_ONE && run->home) {
                const stored_node* leaf = &view.nodes[run->home[i]];
                const int32_t points = (int32_t)(leaf->link >> 5);
                SAP_ASSERT((leaf->link & SAP_NODE_LEAF) == SAP_NODE_LEAF);
                home = (uint32_t)leaf->bits;
                scan_explicit(&view, kind, dims, &q, home, points, &l);
                stats.leaves++;
                stats.points += points;
            }
            walk_groups(groups, &view, kind, dims, &q, home, &l, &stats);
        }
        SAP_ASSERT(row >= 0);
        int32_t* ids = run->ids + row * run->row_length;
        real* distance2 = run->distance2 ? (real*)run->distance2 + row * run->row_length : NULL;
        list_write(&l, kind, ids, distance2);
        for (int32_t j = run->k; j < run->row_length; j++)
            write_answer(make_key(0, NOBODY), ids + j, distance2 ? distance2 + j : NULL);
    }
    run->stats.nodes += stats.nodes;
    run->stats.leaves += stats.leaves;
    run->stats.points += stats.points;
}

#define INSTANCE(kind, name, dims)                                                                                     \
    static void search_##kind##_##name(sap_nearest_run* run) { search_with(run, KIND_##kind, dims); }
#if defined(SAP_FEW_INSTANCES)
#define INSTANCES(kind) INSTANCE(kind, any, run->tree->shape.dims)
#define EACH(kind)                                                                                                     \
    { search_##kind##_any, search_##kind##_any, search_##kind##_any }
#else
#define INSTANCES(kind)                                                                                                \
    INSTANCE(kind, 2, 2)                                                                                               \
    INSTANCE(kind, 3, 3)                                                                                               \
    INSTANCE(kind, any, run->tree->shape.dims)
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
INSTANCES(HEAP)

static void search(sap_nearest_run* run) {
    static void (*const functions[5][3])(sap_nearest_run*) = {EACH(ONE), EACH_LIST, EACH(HEAP)};
    const int32_t dims = run->tree->shape.dims, k = run->k;
    const int kind = k == 1 ? 0 : k <= 8 ? 1 : k <= 16 ? 2 : k <= SAP_LIST_MAX ? 3 : 4;
    functions[kind][dims == 2 || dims == 3 ? dims - 2 : 2](run);
}

#endif
