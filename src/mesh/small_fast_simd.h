// FAST below 64 triangles: the small-node stage of Zhou, Hou, Wang and Guo 2008. Each triangle gives six candidates,
// the bounds of its part, and each candidate has a word for the triangles on either side, made once. Below that a node
// is a word too: what a candidate leaves on its sides is two ANDs and two counts of bits. Nothing is clipped any more.
#ifndef SAPWOOD_MESH_SMALL_FAST_SIMD_H
#define SAPWOOD_MESH_SMALL_FAST_SIMD_H

#include "mesh/small_high_simd.h"

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
    eight base, per, lower, upper; // of the axis of each candidate
} mask_rule;

// Two numbers of each axis for the six candidates; none for the last two lanes.
#define FOR_CANDIDATES(x) __builtin_shufflevector(x, no_four, 0, 1, 2, 0, 1, 2, 4, 4)

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

// A node starts with its cell, and is longer than eight floats.
INLINE void fill_mask_rule(const sap_mesh_rules* rules, const mask_node* node, mask_rule* rule) {
    const corner4 no_four = {0}, largest = {FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
    eight cell;
    corner4 base, per;
    memcpy(&cell, node, sizeof cell);
    const corner4 lower = __builtin_shufflevector(cell, cell, 0, 1, 2, 2);
    corner4 upper = __builtin_shufflevector(cell, cell, 3, 4, 5, 2);
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
    rule->base = FOR_CANDIDATES(base);
    rule->per = FOR_CANDIDATES(per);
    rule->lower = FOR_CANDIDATES(lower);
    rule->upper = FOR_CANDIDATES(upper);
}

// The cheapest candidate: of equal ones that of the first triangle for each bound, then the first bound.
INLINE float cheapest_candidate(const sap_mesh_rules* rules, const mask_room* room, const mask_node* node,
                                int* triangle, int* bound) {
    mask_rule r;
    const eight zero = {0};
    const eight_int none = {0};
    eight best = zero + INFINITY;
    eight_int best_triangle = none - 1;
    fill_mask_rule(rules, node, &r);
    for (uint64_t left_over = node->triangles; left_over; left_over &= left_over - 1) {
        int i = __builtin_ctzll(left_over);
        eight plane, left, right;
        count_eight(room->left[i], node->triangles, &left);
        count_eight(room->right[i], node->triangles, &right);
        memcpy(&plane, room->plane[i], sizeof plane);
        eight left_part = r.base + r.per * (plane - r.lower), right_part = r.base + r.per * (r.upper - plane);
        eight cost = rules->traversal + rules->intersection * (left_part * left + right_part * right);
        cost = EIGHT_PICK((left == zero) | (right == zero), cost * 0.8F, cost);
        eight_int cheaper = (plane > r.lower) & (plane < r.upper) & (cost < best);
        best = EIGHT_PICK(cheaper, cost, best);
        best_triangle = PICK(cheaper, none + i, best_triangle);
    }
    float cost = INFINITY;
    for (int k = 0; k < 6; k++)
        if (best_triangle[k] >= 0 && best[k] < cost) {
            cost = best[k];
            *triangle = best_triangle[k];
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
    note_waiting(w, 1, job->count);
    while (waiting > 0) {
        mask_node node = stack[--waiting];
        int count = count_word(node.triangles), triangle = -1, bound = 0;
        float cost = INFINITY;
        note_waiting(w, -1, -count);
        arrive(w, node.parent);
        if (count > 1 && node.depth < rules->depth &&
            sap_may_be_worth(rules->traversal, rules->intersection, (float)count))
            cost = cheapest_candidate(rules, room, &node, &triangle, &bound);
        if (!sap_is_worth(cost, rules->intersection, (float)count) || !may_split(rules, w, count, count)) {
            mask_leaf(w, room, node.triangles, node.depth);
            continue;
        }
        int axis = bound % 3;
        float plane = room->plane[triangle][bound];
        mask_node left = {node.cell, node.triangles & room->left[triangle][bound], NO_PARENT, node.depth + 1};
        mask_node right = {node.cell, node.triangles & room->right[triangle][bound], put_inner(w, axis, plane),
                           node.depth + 1};
        left.cell.upper[axis] = right.cell.lower[axis] = plane;
        note_waiting(w, 2, count_word(left.triangles) + count_word(right.triangles));
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
