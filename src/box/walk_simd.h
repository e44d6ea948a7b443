// Runs of box searches, one box after another; EXPLICIT on explicit trees.
#ifndef SAPWOOD_BOX_WALK_SIMD_H
#define SAPWOOD_BOX_WALK_SIMD_H

#if EXPLICIT
#include "box/walk_explicit_simd.h"
#else
#include "box/walk_balanced_simd.h"
#endif

enum { AHEAD = 8 }; // boxes whose upper corners are fetched before their turn

INLINE void search_with(sap_box_run* run, const int dims, const bool collect) {
    const walked tree = walked_of(run->tree);
    const real *lower = run->lower, *upper = run->upper;
    const int32_t* rows = run->hits.rows;
    hits h = {run->hits.ids, run->hits.used, run->hits.room};
    int64_t i = run->hits.done;
    for (; i < run->hits.count; i++) {
        const int64_t row = rows ? rows[i] : run->hits.first_row + i, before = h.count;
        query q;
        if (rows && i + AHEAD < run->hits.count) __builtin_prefetch(upper + rows[i + AHEAD] * run->upper_stride);
        if (load_box(lower + i * run->lower_stride, upper + row * run->upper_stride, dims, &q) &&
            !walk(&tree, dims, collect, &q, &h)) {
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

#endif
