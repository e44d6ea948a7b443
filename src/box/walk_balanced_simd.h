// Box search in a balanced tree: 16 tight boxes at a time, leaves by registers, subtrees that lie inside the box whole.
// A sibling of box/walk.h for the sake of registers.
#ifndef SAPWOOD_BOX_WALK_BALANCED_SIMD_H
#define SAPWOOD_BOX_WALK_BALANCED_SIMD_H

#include "box/hits_simd.h"

INLINE int64_t points_in(const sap_tree_shape* s, int64_t leaf) {
    return sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
}

// Takes all leaves below node `index` of a level; false if there may not be room for them.
INLINE bool take_below(const sap_tree_shape* s, const tree_view* t, const int dims, int level, int64_t index, hits* h) {
    const int below = s->depth - s->level_depth[level];
    for (int64_t leaf = index << below; leaf < (index + 1) << below; leaf++) {
        if (!has_room(t, h)) return false;
        take(t, dims, points_in(s, leaf), leaf_block(t, leaf), h);
    }
    return true;
}

// Takes the leaves of a group that the box meets.
INLINE bool take_leaves(const sap_tree_shape* s, const tree_view* t, const int dims, const bool collect, const query* q,
                        int64_t group, uint32_t todo, uint32_t inside, hits* h) {
    for (; todo; todo &= todo - 1) {
        const int number = __builtin_ctz(todo);
        const int64_t leaf = group * SAP_GROUP + number;
        if (collect && !has_room(t, h)) return false;
        if (collect && inside >> number & 1)
            take(t, dims, points_in(s, leaf), leaf_block(t, leaf), h);
        else
            scan(t, dims, collect, q, leaf_block(t, leaf), h);
    }
    return true;
}

// Points below the nodes of a group that are in the mask.
INLINE int64_t points_below_all(const sap_tree_shape* s, int level, int64_t group, uint32_t mask) {
    const int below = s->depth - s->level_depth[level];
    int64_t count = 0;
    for (; mask; mask &= mask - 1) {
        const int64_t index = group * SAP_GROUP + __builtin_ctz(mask);
        SAP_ASSERT(below >= 0 && (index + 1) << below <= s->leaves);
        count += sap_leaf_rank(s, (index + 1) << below) - sap_leaf_rank(s, index << below);
    }
    return count;
}

typedef struct walked {
    const sap_tree_shape* shape;
    tree_view view;
} walked;

INLINE walked walked_of(const sap_tree* tree) { return (walked){&tree->shape, view_tree(tree)}; }

// Adds the points of one box; false if there may not be room for them.
INLINE bool walk(const walked* w, const int dims, const bool collect, const query* q, hits* h) {
    const sap_tree_shape* s = w->shape;
    const tree_view* t = &w->view;
    uint32_t pending[SAP_MAX_LEVELS], whole[SAP_MAX_LEVELS];
    int64_t groups[SAP_MAX_LEVELS], group = 0;
    int level = 0, last = t->levels - 1;
    for (;;) {
        const real* boxes = group_boxes(t, dims, level, group);
        uint32_t todo = boxes_touched(boxes, dims, q), inside = todo ? todo & boxes_inside(boxes, dims, q) : 0;
        SAP_ASSERT(level >= 0 && level <= last && last < SAP_MAX_LEVELS);
        if (!collect) {
            h->count += points_below_all(s, level, group, inside);
            todo &= ~inside;
        }
        if (level < last) {
            groups[level] = group;
            pending[level] = todo;
            whole[level] = inside;
        } else {
            if (!take_leaves(s, t, dims, collect, q, group, todo, inside, h)) return false;
            level--;
        }
        for (;;) { // to the next group that the box meets, over subtrees that lie inside it
            while (level >= 0 && !pending[level]) level--;
            if (level < 0) return true;
            const int number = __builtin_ctz(pending[level]);
            group = groups[level] * SAP_GROUP + number;
            pending[level] &= pending[level] - 1;
            if (!collect || !(whole[level] >> number & 1)) break;
            if (!take_below(s, t, dims, level, group, h)) return false;
        }
        level++;
    }
}

#endif
