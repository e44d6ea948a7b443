// Radius search in an explicit tree, over its groups of boxes (tree/explicit/groups.h).
#ifndef SAPWOOD_RADIUS_WALK_EXPLICIT_SIMD_H
#define SAPWOOD_RADIUS_WALK_EXPLICIT_SIMD_H

#include "radius/hits_simd.h"
#include "tree/explicit/groups.h"
#include "tree/explicit/view_simd.h"

typedef struct walked {
    const sap_groups* groups;
    explicit_view view;
} walked;

INLINE walked walked_of(const sap_tree* tree) { return (walked){tree->beside, view_explicit(tree)}; }

// The places of a group that are to be visited; those inside the ball are counted whole instead where that is asked for.
INLINE uint32_t places_touched(const sap_groups* g, const int dims, const bool whole, const vreal* q, real limit,
                               int64_t group, hits* h) {
    const real* boxes = (const real*)g->boxes + group * 2 * dims * SAP_GROUP;
    const uint32_t touched = boxes_touched(boxes, dims, q, limit);
    if (!whole || !touched) return touched;
    const uint32_t inside = touched & boxes_inside(boxes, dims, q, limit);
    for (uint32_t left = inside; left; left &= left - 1)
        h->count += sap_group_points(g, group * SAP_GROUP + __builtin_ctz(left));
    return touched & ~inside;
}

// Adds a query's hits; false if there may not be room for them.
INLINE bool walk(const walked* w, const int dims, const bool collect, const vreal* q, real limit, int32_t self,
                 hits* h) {
    const sap_groups* g = w->groups;
    const bool whole = counts_whole(h, collect, self);
    int64_t groups[SAP_MAX_DEPTH + 1], group = 0;
    uint32_t pending[SAP_MAX_DEPTH + 1], todo = places_touched(g, dims, whole, q, limit, 0, h);
    int waiting = 0;
    for (;;) {
        while (todo) {
            const int64_t place = group * SAP_GROUP + __builtin_ctz(todo);
            todo &= todo - 1;
            if (g->points[place] > 0) {
                tree_view leaf;
                const real* block = explicit_block(&w->view, g->next[place], g->points[place], &leaf);
                if (!scan(&leaf, dims, collect, q, block, limit, self, h)) return false;
                continue;
            }
            SAP_ASSERT(waiting <= SAP_MAX_DEPTH);
            groups[waiting] = group;
            pending[waiting] = todo;
            waiting += todo != 0; // a group without more to visit is not kept
            group = g->next[place];
            todo = places_touched(g, dims, whole, q, limit, group, h);
        }
        if (waiting == 0) return true;
        waiting--;
        group = groups[waiting];
        todo = pending[waiting];
    }
}

#endif
