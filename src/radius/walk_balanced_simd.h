// Radius search in a balanced tree: the walk of nearest/nearest_simd.c with a fixed bound, in the tree's own order, and
// with subtrees that lie inside the ball counted whole. A sibling of radius/walk.h for the sake of registers.
#ifndef SAPWOOD_RADIUS_WALK_BALANCED_SIMD_H
#define SAPWOOD_RADIUS_WALK_BALANCED_SIMD_H

#include "radius/hits_simd.h"

// Points below node `index` of a level.
INLINE int64_t points_below(const sap_tree_shape* s, int level, int64_t index) {
    int below = s->depth - s->level_depth[level];
    SAP_ASSERT(below >= 0 && (index + 1) << below <= s->leaves);
    return sap_leaf_rank(s, (index + 1) << below) - sap_leaf_rank(s, index << below);
}

// Takes the boxes that lie inside the ball out of those touched, and adds their points.
INLINE uint32_t count_whole(const sap_tree_shape* s, const real* boxes, const int dims, const vreal* q, real limit,
                            int level, int64_t group, uint32_t touched, hits* h) {
    uint32_t inside = touched & boxes_inside(boxes, dims, q, limit);
    touched &= ~inside;
    for (; inside; inside &= inside - 1) h->count += points_below(s, level, group * SAP_GROUP + __builtin_ctz(inside));
    return touched;
}

typedef struct walked {
    const sap_tree* tree;
    tree_view view;
} walked;

INLINE walked walked_of(const sap_tree* tree) { return (walked){tree, view_tree(tree)}; }

// Adds a query's hits; false if there may not be room for them.
INLINE bool walk(const walked* w, const int dims, const bool collect, const vreal* q, real limit, int32_t self,
                 hits* h) {
    const tree_view* t = &w->view;
    const bool whole = counts_whole(h, collect, self) && !w->tree->has_holes;
    uint32_t pending[SAP_MAX_LEVELS];
    int64_t groups[SAP_MAX_LEVELS], group = 0;
    int level = 0, last = t->levels - 1;
    for (;;) {
        const real* boxes = group_boxes(t, dims, level, group);
        uint32_t todo = boxes_touched(boxes, dims, q, limit);
        if (whole && todo) todo = count_whole(&w->tree->shape, boxes, dims, q, limit, level, group, todo, h);
        SAP_ASSERT(level >= 0 && level <= last && last < SAP_MAX_LEVELS);
        if (level < last) {
            groups[level] = group;
            pending[level] = todo;
        } else {
            for (; todo; todo &= todo - 1) {
                const real* block = leaf_block(t, group * SAP_GROUP + __builtin_ctz(todo));
                if (!scan(t, dims, collect, q, block, limit, self, h)) return false;
            }
            level--;
        }
        while (level >= 0 && !pending[level]) level--;
        if (level < 0) return true;
        group = groups[level] * SAP_GROUP + __builtin_ctz(pending[level]);
        pending[level] &= pending[level] - 1;
        level++;
    }
}

#endif
