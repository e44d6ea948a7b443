// Runs of queries on a balanced tree, one after another.
#include "nearest/walk_simd.h"

INLINE void search_with(sap_nearest_run* run, const int kind, const int dims) {
    tree_view view = view_tree(run->tree);
    const real* queries = run->queries;
    list l;
    key sorted[SAP_LIST_MAX];
    sap_search_stats stats = {0, 0, 0};
    for (int64_t i = 0; i < run->count; i++) {
        const real* at = queries + i * run->stride;
        int64_t row = run->rows ? run->rows[i] : run->first_row + i;
        asked q;
        bool finite = load_query(at, dims, q.at);
        q.self = run->without ? run->without[row] : run->skip_self ? (int32_t)row : -1;
        list_begin(&l, kind, run->k, (real)run->limit2, kind == KIND_HEAP ? run->heap : sorted);
        if (finite) {
            int64_t home = -1;
            if (kind == KIND_ONE && run->home) {
                home = run->home[i];
                SAP_ASSERT(home < run->tree->shape.leaves);
                scan(&view, kind, dims, &q, home, &l);
                stats.leaves++;
            }
            walk(&view, kind, dims, &q, home, &l, &stats);
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
    run->stats.points += stats.leaves * view.points;
}

// One instance for each usual number of dimensions, and one for all others; doubles in 4-D are too rare. They are called
// through a table, so that no compiler makes them one huge function. SAP_FEW_INSTANCES: fewer of them, where the code is
// downloaded.
typedef void (*search_function)(sap_nearest_run* run);

#define INSTANCE(kind, name, dims)                                                                                     \
    static void search_##kind##_##name(sap_nearest_run* run) { search_with(run, KIND_##kind, dims); }
#define USUAL_INSTANCES(kind)                                                                                          \
    INSTANCE(kind, 2, 2)                                                                                               \
    INSTANCE(kind, 3, 3)                                                                                               \
    INSTANCE(kind, any, run->tree->shape.dims)
#if defined(SAP_FEW_INSTANCES) || SAP_REAL_BITS == 64
#define INSTANCES(kind) USUAL_INSTANCES(kind)
#define EACH(kind)                                                                                                     \
    { search_##kind##_2, search_##kind##_3, search_##kind##_any, search_##kind##_any }
#else
#define INSTANCES(kind)                                                                                                \
    USUAL_INSTANCES(kind)                                                                                              \
    INSTANCE(kind, 4, 4)
#define EACH(kind)                                                                                                     \
    { search_##kind##_2, search_##kind##_3, search_##kind##_4, search_##kind##_any }
#endif
INSTANCES(ONE)
#include "nearest/candidates/instances_simd.h"
#if defined(SAP_FEW_INSTANCES)
INSTANCE(HEAP, any, run->tree->shape.dims)
#define EACH_HEAP                                                                                                      \
    { search_HEAP_any, search_HEAP_any, search_HEAP_any, search_HEAP_any }
#else
INSTANCES(HEAP)
#define EACH_HEAP EACH(HEAP)
#endif

static void search(sap_nearest_run* run) {
    static const search_function functions[6][4] = {EACH(ONE), EACH_LIST, EACH_HEAP};
    const int32_t dims = run->tree->shape.dims;
    _Static_assert(SAP_LIST_MAX == 32, "four kinds of lists, of eight keys each");
    const int kind = run->k == 1 ? 0 : run->k <= SAP_LIST_MAX ? (run->k + 7) / 8 : 5;
    SAP_ASSERT(kind >= 0 && kind < 6);
    functions[kind][dims >= 2 && dims <= 4 ? dims - 2 : 3](run);
}

const sap_nearest_kernels SAP_KERNEL(nearest_kernels) = {search};
