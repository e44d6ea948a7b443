// Box search in an explicit tree, over its groups of boxes (tree/explicit/groups.h).
#ifndef SAPWOOD_BOX_WALK_EXPLICIT_SIMD_H
#define SAPWOOD_BOX_WALK_EXPLICIT_SIMD_H

#include "box/hits_simd.h"
#include "tree/explicit/groups.h"
#include "tree/explicit/view_simd.h"

typedef struct walked {
    const sap_groups* groups;
    explicit_view view;
} walked;

INLINE walked walked_of(const sap_tree* tree) { return (walked){tree->beside, view_explicit(tree)}; }

// The places of a group that a box meets, and of these the ones that lie inside it; a count adds those at once.
typedef struct places {
    int64_t group;
    uint32_t todo, inside;
} places;

INLINE places places_of(const sap_groups* g, const int dims, const bool collect, const query* q, int64_t group,
                        hits* h) {
    const real* boxes = (const real*)g->boxes + group * 2 * dims * SAP_GROUP;
    places met = {group, boxes_touched(boxes, dims, q), 0};
    if (met.todo) met.inside = met.todo & boxes_inside(boxes, dims, q);
    if (collect) return met;
    for (uint32_t left = met.inside; left; left &= left - 1)
        h->count += sap_group_points(g, group * SAP_GROUP + __builtin_ctz(left));
    met.todo &= ~met.inside;
    return met;
}

// Adds the points of one box; false if there may not be room for them.
INLINE bool walk(const walked* w, const int dims, const bool collect, const query* q, hits* h) {
    const sap_groups* g = w->groups;
    places stack[SAP_MAX_DEPTH + 1], now = places_of(g, dims, collect, q, 0, h);
    int waiting = 0;
    for (;;) {
        while (now.todo) {
            const int number = __builtin_ctz(now.todo);
            const int64_t place = now.group * SAP_GROUP + number;
            now.todo &= now.todo - 1;
            if (g->points[place] > 0) {
                tree_view leaf;
                const real* block = explicit_block(&w->view, g->next[place], g->points[place], &leaf);
                if (collect && !has_room(&leaf, h)) return false;
                if (collect && now.inside >> number & 1)
                    take(&leaf, dims, leaf.points, block, h);
                else
                    scan(&leaf, dims, collect, q, block, h);
                continue;
            }
            SAP_ASSERT(waiting <= SAP_MAX_DEPTH);
            stack[waiting] = now;
            waiting += now.todo != 0; // a group without more to visit is not kept
            now = places_of(g, dims, collect, q, g->next[place], h);
        }
        if (waiting == 0) return true;
        now = stack[--waiting];
    }
}

#endif
