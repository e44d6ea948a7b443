// The fast walk over an explicit tree: the walk of nearest/walk_simd.h over groups of boxes (tree/explicit/groups.h).
#ifndef SAPWOOD_NEAREST_WALK_EXPLICIT_SIMD_H
#define SAPWOOD_NEAREST_WALK_EXPLICIT_SIMD_H

#include "nearest/walk_simd.h"
#include "tree/explicit/groups.h"
#include "tree/explicit/view_simd.h"

// A leaf of more points than leaf_size, all of them equal: offers them in order of their ids, until one is refused.
INLINE void scan_equal(const tree_view* leaf, const int kind, const int dims, const asked* q, const real* block,
                       list* l) {
    const int32_t* ids = block_ids(leaf, dims, block);
    const real distance = reduce_min(v_select(1, leaf_distance(leaf, dims, q->at, block, 0), v_set(INFINITY)));
    for (int64_t i = 0; i < leaf->points; i++) {
        if (distance > l->worst || (distance == l->worst && ids[i] > l->worst_id)) return;
        if (ids[i] == q->self) continue;
        key offered[2] = {make_key(distance, ids[i])};
        if (kind == KIND_ONE)
            list_set_worst(l, offered[0]);
        else
            list_offer(l, kind, offered, 1);
    }
}

INLINE void scan_explicit(const explicit_view* t, const int kind, const int dims, const asked* q, uint32_t slot,
                          int32_t points, list* l) {
    tree_view leaf;
    const real* block = explicit_block(t, slot, points, &leaf);
    if (__builtin_expect(leaf.points > t->leaf_size, 0))
        scan_equal(&leaf, kind, dims, q, block, l);
    else if (kind == KIND_ONE)
        scan_one(&leaf, dims, q, block, l);
    else
        scan_list(&leaf, kind, dims, q, block, l);
}

// A group of which places are still to be visited.
typedef struct pending_places {
    real bound[SAP_GROUP] __attribute__((aligned(64)));
    int64_t group;
    uint32_t todo;
} pending_places;

INLINE void places_bounds(const sap_groups* g, const int dims, const vreal* q, int64_t group, real* bound) {
    const real* boxes = (const real*)g->boxes + group * dims * 2 * SAP_GROUP;
    __builtin_prefetch(g->next + group * SAP_GROUP); // what is read once the nearest place is known
    __builtin_prefetch(g->points + group * SAP_GROUP);
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES) v_store(bound + v, box_bounds(boxes, dims, q, v));
}

// `home`: the first slot of a leaf that has been scanned; UINT32_MAX: of none.
INLINE void walk_groups(const sap_groups* groups, const explicit_view* t, const int kind, const int dims,
                        const asked* q, uint32_t home, list* l, sap_search_stats* stats) {
    const sap_groups here = *groups, *g = &here; // which nothing that is written below can change
    pending_places stack[SAP_MAX_DEPTH + 1];
    int top = 0;
    int64_t group = 0, nodes = 1, leaves = 0, points = 0;
    bool are_tied;
    places_bounds(g, dims, q->at, 0, stack[0].bound);
    uint32_t near = promising(stack[0].bound, g->min_ids, 0xffff, l, &are_tied);
    for (;;) {
        if (!near) {
            if (top == 0) break;
            top--;
            group = stack[top].group;
            near = promising(stack[top].bound, g->min_ids + group * SAP_GROUP, stack[top].todo, l, &are_tied);
            continue;
        }
        const int32_t* min_ids = g->min_ids + group * SAP_GROUP;
        const int i = __builtin_expect(are_tied, 0) ? first_by_id(min_ids, near) : nearest_box(stack[top].bound, near);
        const uint32_t next = g->next[group * SAP_GROUP + i];
        const int32_t in_leaf = g->points[group * SAP_GROUP + i];
        near &= ~(1u << i);
        if (near) { // a group without more to visit is not kept
            stack[top].group = group;
            stack[top].todo = near;
            top++;
        }
        if (in_leaf < 0) {
            group = next;
            SAP_ASSERT(top <= SAP_MAX_DEPTH && group < g->count);
            places_bounds(g, dims, q->at, group, stack[top].bound);
            near = promising(stack[top].bound, g->min_ids + group * SAP_GROUP, 0xffff, l, &are_tied);
            nodes++;
        } else {
            near = 0;
            if (kind == KIND_ONE && next == home) continue;
            scan_explicit(t, kind, dims, q, next, in_leaf, l);
            points += in_leaf;
            leaves++;
        }
    }
    stats->nodes += nodes;
    stats->leaves += leaves;
    stats->points += points;
}

#endif
