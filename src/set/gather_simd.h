// The smaller levels of a set. Once the largest has been searched, the list's last entry is near what it will be in the
// end, so that a query needs a leaf or two of each: all of them are found first, by boxes alone, and fetched from memory
// while others are found. Then they are scanned, with nothing left to wait for.
#ifndef SAPWOOD_SET_GATHER_SIMD_H
#define SAPWOOD_SET_GATHER_SIMD_H

#include "nearest/walk_simd.h"
#include "set/set.h"

enum {
    MOST_NEAR = 32, // leaves that are gathered for a query …
    MOST_OF_LEVEL =
        8 // … and of one level, and groups at a time on the way to them: of more, a walk would rule out some
};

typedef struct near_leaves {
    int64_t leaf[MOST_NEAR];
    real bound[MOST_NEAR];
    int32_t level[MOST_NEAR];
    int count;
} near_leaves;

// The boxes of a group that the list does not rule out, and the bounds of all.
INLINE uint32_t near_boxes(const tree_view* t, const int dims, const asked* q, const list* l, int depth, int64_t group,
                           real* bounds) {
    const real* boxes = group_boxes(t, dims, depth, group);
    vreal bound[GROUP_VECTORS];
    bool are_tied;
#pragma GCC unroll 8
    for (int v = 0; v < GROUP_VECTORS; v++) {
        bound[v] = box_bounds(boxes, dims, q->at, v * LANES);
        v_store(bounds + v * LANES, bound[v]);
    }
    return boxes_before(bound, t->min_ids[depth] + group * SAP_GROUP, 0xffff, l->worst, l->worst_id, &are_tied);
}

INLINE void add_near(const tree_view* t, int32_t level, int64_t leaf, real bound, near_leaves* near) {
    const unsigned char* block = (const unsigned char*)leaf_block(t, leaf);
    for (size_t at = 0; at < t->block_bytes; at += 64) __builtin_prefetch(block + at);
    near->leaf[near->count] = leaf;
    near->bound[near->count] = bound;
    near->level[near->count++] = level;
}

// Adds the leaves of a level that the list does not rule out. False if they are too many, and then none is added.
INLINE bool gather(const tree_view* t, const int dims, const asked* q, const list* l, int32_t level, near_leaves* near,
                   sap_search_stats* stats) {
    int64_t groups[2][MOST_OF_LEVEL];
    real bounds[SAP_GROUP] __attribute__((aligned(64)));
    const int last = t->levels - 1, before = near->count;
    const int most = before + MOST_OF_LEVEL < MOST_NEAR ? before + MOST_OF_LEVEL : MOST_NEAR;
    int count = 1;
    groups[0][0] = 0;
    for (int depth = 0; depth <= last; depth++) {
        const int64_t* from = groups[depth & 1];
        int64_t* to = groups[~depth & 1];
        int below = 0;
        for (int i = 0; i < count; i++) {
            uint32_t todo = near_boxes(t, dims, q, l, depth, from[i], bounds);
            for (; todo; todo &= todo - 1) {
                const int box = __builtin_ctz(todo);
                if (depth < last ? below == MOST_OF_LEVEL : near->count == most) {
                    near->count = before;
                    return false;
                }
                if (depth < last)
                    to[below++] = from[i] * SAP_GROUP + box;
                else
                    add_near(t, level, from[i] * SAP_GROUP + box, bounds[box], near);
            }
        }
        stats->nodes += count;
        count = below;
    }
    return true;
}

INLINE void scan_near(const tree_view* views, const int kind, const int dims, const asked* q, const near_leaves* near,
                      list* l, sap_search_stats* stats) {
    for (int i = 0; i < near->count; i++) {
        const tree_view* t = &views[near->level[i]];
        if (near->bound[i] > l->worst) continue;
        stats->leaves++;
        stats->points += t->points;
        scan(t, kind, dims, q, near->leaf[i], l);
    }
}

#endif
