// Runs of radius searches, one query after another; EXPLICIT on explicit trees.
#ifndef SAPWOOD_RADIUS_WALK_SIMD_H
#define SAPWOOD_RADIUS_WALK_SIMD_H

#if EXPLICIT
#include "radius/walk_explicit_simd.h"
#else
#include "radius/walk_balanced_simd.h"
#endif

// Queries in the tree's order look for their leaves together, where hits are collected.
#if !EXPLICIT && !MEASURED && !defined(__EMSCRIPTEN__)
#define TOGETHER 1
#include "radius/together_simd.h"
#endif

INLINE void search_with(sap_radius_run* run, const int dims, const bool collect) {
    const walked tree = walked_of(run->tree);
    const real* queries = run->queries;
    hits h = {.ids = run->ids, .distance2 = run->distance2, .count = run->used, .room = run->room};
#if MEASURED
    h.keep = run->told->keep;
#endif
    int64_t i = run->done;
#if TOGETHER
    if (collect && run->rows) i = collect_together(&tree, dims, run, &h);
#endif
    for (; i < run->count; i++) {
        vreal q[QUERY_VECTORS];
        int64_t row = run->rows ? run->rows[i] : run->first_row + i, before = h.count;
#if PERIODIC
        load_periods(run->tree, dims, q);
#endif
        if (load_query(queries + i * run->stride, dims, q) &&
            !walk(&tree, dims, collect, q, limit_of(run, row), run->greater_only ? (int32_t)row : -1, &h)) {
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

#if defined(__EMSCRIPTEN__) // where code is downloaded
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
