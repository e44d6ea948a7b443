// The leaves of a balanced tree around some points that ask together: one walk finds them for all.
#ifndef SAPWOOD_TREE_BALANCED_AROUND_SIMD_H
#define SAPWOOD_TREE_BALANCED_AROUND_SIMD_H

#include "tree/balanced/view_simd.h"

enum {
    AROUND = 64,              // leaves that are listed; where more are near, each point walks alone
    ROOM = AROUND + SAP_GROUP // a register may be written at the end
};

// The leaves around a cell, in the tree's order: where they are, their boxes, and the smallest ids in them.
typedef struct around {
    real sides[2 * SAP_MAX_DIMS][ROOM];
    int32_t min_ids[ROOM];
    int64_t leaves[AROUND];
    int count;
} around;

// The cell that all points asking lie in.
typedef struct cell {
    vreal lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} cell;

// Lower bounds of the distances from any point of the cell: never above those of box_bounds for one of its points.
INLINE uint32_t boxes_near(const tree_view* t, const int dims, const cell* c, int level, int64_t group, real worst) {
    const real* boxes = group_boxes(t, dims, level, group);
    uint32_t near = 0;
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES) {
        vreal sum = v_set(0);
        for (int a = 0; a < dims; a++) {
            vreal below = v_sub(v_load(boxes + 2 * a * SAP_GROUP + v), c->upper[a]);
            vreal above = v_sub(c->lower[a], v_load(boxes + (2 * a + 1) * SAP_GROUP + v));
            vreal term = term_of(v_max(v_max(below, above), v_set(0)));
            sum = a ? join_terms(sum, term) : term;
        }
        near |= v_less_equal(sum, v_set(worst)) << v;
    }
    return near;
}

// Adds leaves of a group of the last level; false if there is no room.
INLINE bool add_leaves(const tree_view* t, const int dims, int64_t group, uint32_t near, around* s) {
    if (s->count + __builtin_popcount(near) > AROUND) return false;
    const int level = t->levels - 1;
    const real* boxes = group_boxes(t, dims, level, group);
    const int32_t* min_ids = t->min_ids[level] + group * SAP_GROUP;
    int at = s->count;
    for (int v = 0; v < SAP_GROUP; v += LANES) {
        const uint32_t lanes = near >> v & ALL_LANES;
        for (int side = 0; side < 2 * dims; side++)
            v_store_kept(s->sides[side] + at, lanes, v_load(boxes + side * SAP_GROUP + v));
        id_store_kept(s->min_ids + at, lanes, id_load(min_ids + v));
        at += count_bits(lanes);
    }
    for (; near; near &= near - 1) s->leaves[s->count++] = group * SAP_GROUP + __builtin_ctz(near);
    SAP_ASSERT(at == s->count);
    return true;
}

// Lists the leaves that lie within `worst` of the cell, other than `home` where that is not negative; false if there are
// too many.
INLINE bool look_around(const tree_view* t, const int dims, const cell* c, int64_t home, real worst, around* s,
                        int64_t* nodes) {
    int64_t groups[SAP_MAX_LEVELS] = {0};
    uint32_t todo[SAP_MAX_LEVELS];
    const int last = t->levels - 1;
    int level = 0;
    s->count = 0;
    todo[0] = boxes_near(t, dims, c, 0, 0, worst);
    for (++*nodes;;) {
        if (level == last) {
            uint32_t near = todo[level];
            // Unsigned, so that no compiler makes a second loop over homes for those below 0.
            if ((uint64_t)home / SAP_GROUP == (uint64_t)groups[level]) near &= ~(1u << home % SAP_GROUP);
            if (!add_leaves(t, dims, groups[level], near, s)) return false;
            todo[level] = 0;
        }
        while (!todo[level])
            if (--level < 0) return true;
        const int i = __builtin_ctz(todo[level]);
        todo[level] &= todo[level] - 1;
        level++;
        groups[level] = groups[level - 1] * SAP_GROUP + i;
        todo[level] = boxes_near(t, dims, c, level, groups[level], worst);
        ++*nodes;
    }
}

// Bounds of the distances from a point to the boxes of the leaves from number `first` on: those of box_bounds.
INLINE vreal bounds_around(const around* s, const int dims, const vreal* q, int first) {
    vreal sum = v_set(0);
    for (int a = 0; a < dims; a++) {
        vreal below = v_sub(v_load(s->sides[2 * a] + first), q[a]);
        vreal above = v_sub(q[a], v_load(s->sides[2 * a + 1] + first));
        vreal term = term_of(offset_outside(q, a, below, above));
        sum = a ? join_terms(sum, term) : term;
    }
    return sum;
}

#endif
