// Runs of queries on a balanced tree by the METRIC that the file has defined, with a mask, a radius and a k for each
// query. A sibling of nearest/nearest_simd.c, which pays for none of this, with fewer instances: these searches are
// rarer.
#ifndef SAPWOOD_NEAREST_TOLD_SIMD_H
#define SAPWOOD_NEAREST_TOLD_SIMD_H

#include "nearest/walk_simd.h"

#if PERIODIC
// A limit, or how far the last of `wanted` neighbours is that the row holds already.
INLINE double narrowed(const sap_nearest_run* run, int64_t row, int32_t wanted, double limit) {
    if (!run->again || wanted < 1) return limit;
    const double found = (double)((const real*)run->distance2)[row * run->row_length + wanted - 1];
    return found < limit ? found : limit;
}
#else
#define narrowed(run, row, wanted, limit) (limit)
#endif

INLINE void search_with(sap_nearest_run* run, const int kind, const int dims) {
    tree_view view = view_tree(run->tree);
    const real* queries = run->queries;
    list l;
    key sorted[SAP_LIST_MAX];
    sap_search_stats stats = {0, 0, 0};
    for (int64_t i = 0; i < run->count; i++) {
        int64_t row = run->rows ? run->rows[i] : run->first_row + i;
        asked q;
        const double all = run->told->radii ? sap_told_limit_of(run->tree, run->told, run->limit2, row) : run->limit2;
        const int32_t wanted = sap_told_k_of(run->told, run->k, row), k = wanted > 0 ? wanted : 1;
        const double limit = narrowed(run, row, wanted, all);
        bool asks = load_query(queries + i * run->stride, dims, q.at) && limit >= 0 && wanted > 0;
        q.self = run->without ? run->without[row] : run->skip_self ? (int32_t)row : -1;
        q.keep = run->told->keep;
#if PERIODIC
        load_periods(run->tree, dims, q.at);
#endif
        list_begin(&l, kind, k, asks ? (real)limit : 0, kind == KIND_HEAP ? run->heap : sorted);
        if (asks) walk(&view, kind, dims, &q, -1, &l, &stats);
        SAP_ASSERT(row >= 0);
        int32_t* ids = run->ids + row * run->row_length;
        real* distance2 = run->distance2 ? (real*)run->distance2 + row * run->row_length : NULL;
        list_write(&l, kind, ids, distance2);
        for (int32_t j = k; j < run->row_length; j++)
            write_answer(make_key(0, NOBODY), ids + j, distance2 ? distance2 + j : NULL);
    }
    run->stats.nodes += stats.nodes;
    run->stats.leaves += stats.leaves;
    run->stats.points += stats.leaves * view.points;
}

typedef void (*search_function)(sap_nearest_run* run);

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
#define EACH_HEAP                                                                                                      \
    { search_HEAP_any, search_HEAP_any, search_HEAP_any }
INSTANCES(ONE)
#if REGISTER_LISTS
enum { KIND_8 = 1, KIND_32 = 4 };
INSTANCES(8)
INSTANCES(32)
#define EACH_LIST EACH(8), EACH(32)
#else
INSTANCES(SORTED)
#define EACH_LIST EACH(SORTED), EACH(SORTED)
#endif
INSTANCE(HEAP, any, run->tree->shape.dims)

static void search(sap_nearest_run* run) {
    static const search_function functions[4][3] = {EACH(ONE), EACH_LIST, EACH_HEAP};
    const int32_t dims = run->tree->shape.dims;
    const int kind = run->k == 1 ? 0 : run->k <= 8 ? 1 : run->k <= SAP_LIST_MAX ? 2 : 3;
    functions[kind][dims == 2 || dims == 3 ? dims - 2 : 2](run);
}

#endif
