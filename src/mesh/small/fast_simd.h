// FAST below 64 triangles: the small-node stage of Zhou, Hou, Wang and Guo 2008. Each triangle gives six candidates,
// the bounds of its part, and each candidate has a word for the triangles on either side, made once. Below that a node
// is a word too: what a candidate leaves on its sides is two ANDs and two counts of bits. Nothing is clipped any more.
#ifndef SAPWOOD_MESH_SMALL_FAST_SIMD_H
#define SAPWOOD_MESH_SMALL_FAST_SIMD_H

#include "mesh/small/high_simd.h"
#include <stddef.h>

enum { CANDIDATES = 8 }; // of a triangle: lower x y z, upper x y z, and two that are none

typedef struct mask_room {
    uint64_t left[SAP_MESH_SMALL][CANDIDATES], right[SAP_MESH_SMALL][CANDIDATES];
    float plane[SAP_MESH_SMALL][CANDIDATES];
    int32_t triangle[SAP_MESH_SMALL];
} mask_room;

typedef struct mask_node {
    sap_mesh_box cell;
    uint64_t triangles;
    int64_t parent;
    int depth;
} mask_node;

// Fills the words of one axis.
static void fill_axis(const float lower[SAP_MESH_SMALL], const float upper[SAP_MESH_SMALL], int count, int axis,
                      mask_room* room) {
    const int vectors = (count + WIDE - 1) / WIDE;
    const uint64_t all = count == SAP_MESH_SMALL ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    const wide zero = {0};
    wide low[SAP_MESH_SMALL / WIDE], high[SAP_MESH_SMALL / WIDE];
    uint64_t flat = 0;
    memcpy(low, lower, sizeof low);
    memcpy(high, upper, sizeof high);
    for (int v = 0; v < vectors; v++) flat |= (uint64_t)(uint16_t)~wide_less(&low[v], &high[v]) << (WIDE * v);
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < count; i++) {
            const float at = end ? upper[i] : lower[i];
            const wide plane = at - zero;
            uint64_t left = 0, right = 0;
            for (int v = 0; v < vectors; v++) {
                left |= (uint64_t)wide_less(&low[v], &plane) << (WIDE * v);
                right |= (uint64_t)wide_less(&plane, &high[v]) << (WIDE * v);
            }
            const uint64_t in_plane = flat & ~(left | right); // right of a start, left of an end
            room->left[i][3 * end + axis] = (end ? left | in_plane : left) & all;
            room->right[i][3 * end + axis] = (end ? right : right | in_plane) & all;
            room->plane[i][3 * end + axis] = at + 0.0F; // -0 becomes 0
        }
}

static void fill_room(const sap_mesh_part* parts, int count, mask_room* room) {
    float lower[3][SAP_MESH_SMALL] = {{0}}, upper[3][SAP_MESH_SMALL] = {{0}};
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) {
            lower[a][i] = parts[i].lower[a];
            upper[a][i] = parts[i].upper[a];
        }
        for (int k = 6; k < CANDIDATES; k++) {
            room->left[i][k] = room->right[i][k] = 0;
            room->plane[i][k] = 0;
        }
        room->triangle[i] = parts[i].triangle;
    }
    for (int a = 0; a < 3; a++) fill_axis(lower[a], upper[a], count, a, room);
}

typedef struct mask_rule {
    some base[SOMES], per[SOMES], lower[SOMES], upper[SOMES]; // of the axis of each candidate
} mask_rule;

// An axis' number for each of the six candidates; 0 in the last two lanes.
INLINE void for_candidates(const corner4* of_axes, some candidates[SOMES]) {
    const corner4 none = {0}, first = __builtin_shufflevector(*of_axes, none, 0, 1, 2, 0),
                  last = __builtin_shufflevector(*of_axes, none, 1, 2, 4, 4);
    memcpy(candidates, &first, sizeof first);
    memcpy((float*)candidates + 4, &last, sizeof last);
}

// As sap_measure_of, for surfaces and a cell that has one, the axes side by side.
INLINE bool measure_surface(const corner4* lengths, corner4* base, corner4* per) {
    const vertex side = __builtin_convertvector(*lengths, vertex);
    const vertex next = __builtin_shufflevector(side, side, 1, 2, 0, 3);
    const vertex last = __builtin_shufflevector(side, side, 2, 0, 1, 3), area = next * last, length = next + last;
    const double whole = area[2] + area[0] + area[1];
    const vertex all = {whole, whole, whole, whole};
    if (!(whole > 0)) return false;
    *base = __builtin_convertvector(area / all, corner4);
    *per = __builtin_convertvector(length / all, corner4);
    return true;
}

// Lane 3 of the axes' vectors is of no meaning.
INLINE void fill_mask_rule(const sap_mesh_rules* rules, const mask_node* node, mask_rule* rule) {
    const corner4 no_four = {0}, largest = {FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
    corner4 lower, upper, base, per;
    LOAD_4(lower, node->cell.lower);
    memcpy(&upper, (const char*)node + offsetof(mask_node, cell.upper), sizeof upper);
    const corner4 lengths = upper - lower;
    if (rules->radius >= 0 || !measure_surface(&lengths, &base, &per)) {
        const sap_measure m = measure_of(rules, &node->cell);
        for (int a = 0; a < 3; a++) {
            base[a] = m.base[a];
            per[a] = m.per[a];
        }
        base[3] = per[3] = 0;
    }
    const corner4_mask can_cut = (lengths > no_four) & (per <= largest);
    per = (corner4)(can_cut & (corner4_mask)per);
    upper = (corner4)PICK(can_cut, (corner4_mask)upper, (corner4_mask)lower);
    for_candidates(&base, rule->base);
    for_candidates(&per, rule->per);
    for_candidates(&lower, rule->lower);
    for_candidates(&upper, rule->upper);
}

// The cheapest candidate, as sap_candidate_precedes has it.
INLINE float cheapest_candidate(const sap_mesh_rules* rules, const mask_room* room, const mask_node* node,
                                int* triangle, int* bound) {
    mask_rule r;
    const some zero = {0};
    const some_int none = {0};
    float cheapest[CANDIDATES];
    int32_t of[CANDIDATES];
    some best[SOMES];
    some_int best_triangle[SOMES];
    for (int k = 0; k < SOMES; k++) {
        best[k] = zero + INFINITY;
        best_triangle[k] = none - 1;
    }
    fill_mask_rule(rules, node, &r);
    for (uint64_t left_over = node->triangles; left_over; left_over &= left_over - 1) {
        const int i = __builtin_ctzll(left_over);
        some planes[SOMES], left[SOMES], right[SOMES];
        count_eight(room->left[i], node->triangles, left);
        count_eight(room->right[i], node->triangles, right);
        memcpy(planes, room->plane[i], sizeof planes);
        for (int k = 0; k < SOMES; k++) {
            const some plane = planes[k], left_part = r.base[k] + r.per[k] * (plane - r.lower[k]),
                       right_part = r.base[k] + r.per[k] * (r.upper[k] - plane);
            some cost = rules->traversal + rules->intersection * (left_part * left[k] + right_part * right[k]);
            cost = SOME_PICK((left[k] == zero) | (right[k] == zero), cost * 0.8F, cost);
            const some_int cheaper = (plane > r.lower[k]) & (plane < r.upper[k]) & (cost < best[k]);
            best[k] = SOME_PICK(cheaper, cost, best[k]);
            best_triangle[k] = PICK(cheaper, none + i, best_triangle[k]);
        }
    }
    memcpy(cheapest, best, sizeof cheapest);
    memcpy(of, best_triangle, sizeof of);
    float cost = INFINITY;
    for (int k = 0; k < 6; k++)
        if (of[k] >= 0 && cheapest[k] < cost) {
            cost = cheapest[k];
            *triangle = of[k];
            *bound = k;
        }
    return cost;
}

static void mask_leaf(sap_mesh_workshop* w, const mask_room* room, uint64_t triangles, int depth) {
    int32_t* place = put_leaf(w, count_word(triangles), depth);
    for (; triangles; triangles &= triangles - 1) *place++ = room->triangle[__builtin_ctzll(triangles)];
}

static void masks_below(const sap_mesh_rules* rules, const mask_room* room, const sap_mesh_job* job,
                        sap_mesh_workshop* w) {
    mask_node stack[SAP_MESH_DEPTH_MAX + 2];
    int waiting = 0;
    const uint64_t all = job->count == SAP_MESH_SMALL ? ~UINT64_C(0) : (UINT64_C(1) << job->count) - 1;
    stack[waiting++] = (mask_node){job->cell, all, NO_PARENT, job->depth};
    while (waiting > 0) {
        mask_node node = stack[--waiting];
        int count = count_word(node.triangles), triangle = -1, bound = 0;
        float cost = INFINITY;
        arrive(w, node.parent);
        if (count > 1 && node.depth < rules->depth &&
            sap_may_be_worth(rules->traversal, rules->intersection, (float)count))
            cost = cheapest_candidate(rules, room, &node, &triangle, &bound);
        if (!sap_is_worth(cost, rules->intersection, (float)count) || !sap_may_cut_small(w->spare, count)) {
            mask_leaf(w, room, node.triangles, node.depth);
            continue;
        }
        int axis = bound % 3;
        float plane = room->plane[triangle][bound];
        mask_node left = {node.cell, node.triangles & room->left[triangle][bound], NO_PARENT, node.depth + 1};
        mask_node right = {node.cell, node.triangles & room->right[triangle][bound], put_inner(w, axis, plane),
                           node.depth + 1};
        left.cell.upper[axis] = right.cell.lower[axis] = plane;
        w->spare = sap_spare_after(w->spare, count, count_word(left.triangles), count_word(right.triangles));
        stack[waiting++] = right;
        stack[waiting++] = left;
    }
}

static void small_fast(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                       sap_mesh_workshop* w) {
    mask_room room;
    fill_room(parts, (int)job->count, &room);
    masks_below(rules, &room, job, w);
}

#endif
