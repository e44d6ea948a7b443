// FAST's small nodes: the small-node stage of Zhou, Hou, Wang and Guo 2008. Each triangle gives six candidate planes,
// the bounds of its part, and for each candidate two words hold the triangles on its sides, computed once. Nodes below
// are words, too: two ANDs and two counts of bits give the triangles that a candidate leaves on its sides. Nothing is
// clipped any more.
#ifndef SAPWOOD_MESH_SMALL_FAST_SIMD_H
#define SAPWOOD_MESH_SMALL_FAST_SIMD_H

#include "mesh/small/high_simd.h"
#include <stddef.h>

enum { CANDIDATES = 8 }; // per triangle: lower x y z, upper x y z, and two unused

typedef struct candidate_table {
    uint64_t left[SAP_MESH_SMALL][CANDIDATES], right[SAP_MESH_SMALL][CANDIDATES];
    float plane[SAP_MESH_SMALL][CANDIDATES];
    int32_t triangle[SAP_MESH_SMALL];
} candidate_table;

typedef struct mask_node {
    sap_mesh_box cell;
    uint64_t triangles;
    int64_t parent;
    int depth;
} mask_node;

// Bits of the values below a plane, and of those above it. Four registers of four lanes become bits at once.
INLINE void compare_all(const vfloat* low, const vfloat* high, int vectors, const vfloat* plane, uint64_t* below,
                        uint64_t* above) {
    *below = *above = 0;
#if LANES_16
    for (int v = 0; v < vectors; v += 4) {
        *below |= (uint64_t)less_16(low + v, plane) << (4 * v);
        *above |= (uint64_t)more_16(high + v, plane) << (4 * v);
    }
#else
    for (int v = 0; v < vectors; v++) {
        *below |= (uint64_t)vfloat_less(&low[v], plane) << (LANES * v);
        *above |= (uint64_t)vfloat_less(plane, &high[v]) << (LANES * v);
    }
#endif
}

// Fills the table for one axis.
static void fill_axis(const float lower[SAP_MESH_SMALL], const float upper[SAP_MESH_SMALL], int count, int axis,
                      const sap_mesh_box* cell, candidate_table* table) {
    const int vectors = (count + LANES - 1) / LANES;
    const uint64_t all = count == SAP_MESH_SMALL ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    const vfloat zero = {0};
    vfloat low[SAP_MESH_SMALL / LANES], high[SAP_MESH_SMALL / LANES];
    uint64_t flat = 0;
    memcpy(low, lower, sizeof low);
    memcpy(high, upper, sizeof high);
    for (int v = 0; v < vectors; v++) flat |= (uint64_t)(uint16_t)~vfloat_less(&low[v], &high[v]) << (LANES * v);
    for (int end = 0; end < 2; end++) {
        uint64_t left = 0, right = 0;
        float last = NAN;
        for (int i = 0; i < count; i++) {
            const float at = end ? upper[i] : lower[i];
            const vfloat plane = at - zero;
            // Many triangles begin where the one before does. Where the cell ends, no plane is a candidate.
            if (at != last && at > cell->lower[axis] && at < cell->upper[axis]) {
                compare_all(low, high, vectors, &plane, &left, &right);
                last = at;
            }
            const uint64_t in_plane = flat & ~(left | right); // right of a lower bound, left of an upper one
            table->left[i][3 * end + axis] = (end ? left | in_plane : left) & all;
            table->right[i][3 * end + axis] = (end ? right : right | in_plane) & all;
            table->plane[i][3 * end + axis] = at + 0.0F; // -0 becomes 0
        }
    }
}

static void fill_table(const sap_mesh_part* parts, int count, const sap_mesh_box* cell, candidate_table* table) {
    SAP_ASSERT(count > 0 && count <= SAP_MESH_SMALL);
    float lower[3][SAP_MESH_SMALL] = {{0}}, upper[3][SAP_MESH_SMALL] = {{0}};
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) {
            lower[a][i] = parts[i].lower[a];
            upper[a][i] = parts[i].upper[a];
        }
        for (int k = 6; k < CANDIDATES; k++) {
            table->left[i][k] = table->right[i][k] = 0;
            table->plane[i][k] = 0;
        }
        table->triangle[i] = parts[i].triangle;
    }
    for (int a = 0; a < 3; a++) fill_axis(lower[a], upper[a], count, a, cell, table);
}

// The measures and bounds of a cell along the axis of each of a triangle's candidates.
typedef struct mask_rule {
    eight_vector base[EIGHT_VECTORS], per[EIGHT_VECTORS], lower[EIGHT_VECTORS], upper[EIGHT_VECTORS];
} mask_rule;

// Copies each axis' value to the candidates across that axis; 0 in the last two lanes.
INLINE void for_candidates(const vfloat4* of_axes, eight_vector candidates[EIGHT_VECTORS]) {
    const vfloat4 none = {0}, first = __builtin_shufflevector(*of_axes, none, 0, 1, 2, 0),
                  last = __builtin_shufflevector(*of_axes, none, 1, 2, 4, 4);
    memcpy(candidates, &first, sizeof first);
    memcpy((float*)candidates + 4, &last, sizeof last);
}

// As sap_measure_of without a radius, all axes at once. False if the cell has no surface.
INLINE bool measure_surface(const vfloat4* lengths, vfloat4* base, vfloat4* per) {
    const vdouble4 side = __builtin_convertvector(*lengths, vdouble4);
    const vdouble4 next = __builtin_shufflevector(side, side, 1, 2, 0, 3);
    const vdouble4 last = __builtin_shufflevector(side, side, 2, 0, 1, 3), area = next * last, length = next + last;
    const double whole = area[2] + area[0] + area[1];
    const vdouble4 all = {whole, whole, whole, whole};
    if (!(whole > 0)) return false;
    *base = __builtin_convertvector(area / all, vfloat4);
    *per = __builtin_convertvector(length / all, vfloat4);
    return true;
}

// Lane 3 of the axes' vectors has no meaning.
INLINE void fill_mask_rule(const sap_mesh_rules* rules, const mask_node* node, mask_rule* rule) {
    const vfloat4 no_four = {0}, largest = {FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
    vfloat4 lower, upper, base, per;
    LOAD_4(lower, node->cell.lower);
    memcpy(&upper, (const char*)node + offsetof(mask_node, cell.upper), sizeof upper);
    const vfloat4 lengths = upper - lower;
    if (rules->radius >= 0 || !measure_surface(&lengths, &base, &per)) {
        const sap_measure m = measure_of(rules, &node->cell);
        for (int a = 0; a < 3; a++) {
            base[a] = m.base[a];
            per[a] = m.per[a];
        }
        base[3] = per[3] = 0;
    }
    const vint4 can_cut = (lengths > no_four) & (per <= largest);
    per = (vfloat4)(can_cut & (vint4)per);
    upper = (vfloat4)SELECT(can_cut, (vint4)upper, (vint4)lower);
    for_candidates(&base, rule->base);
    for_candidates(&per, rule->per);
    for_candidates(&lower, rule->lower);
    for_candidates(&upper, rule->upper);
}

// The cheapest candidate, as sap_candidate_precedes has it.
INLINE float cheapest_candidate(const sap_mesh_rules* rules, const candidate_table* table, const mask_node* node,
                                int* triangle, int* bound) {
    mask_rule r;
    const eight_vector zero = {0};
    const eight_mask none = {0};
    float cheapest[CANDIDATES];
    int32_t of[CANDIDATES];
    eight_vector best[EIGHT_VECTORS];
    eight_mask best_triangle[EIGHT_VECTORS];
    for (int k = 0; k < EIGHT_VECTORS; k++) {
        best[k] = zero + INFINITY;
        best_triangle[k] = none - 1;
    }
    fill_mask_rule(rules, node, &r);
    for (uint64_t left_over = node->triangles; left_over; left_over &= left_over - 1) {
        const int i = __builtin_ctzll(left_over);
        eight_vector planes[EIGHT_VECTORS], left[EIGHT_VECTORS], right[EIGHT_VECTORS];
        count_eight(table->left[i], node->triangles, left);
        count_eight(table->right[i], node->triangles, right);
        memcpy(planes, table->plane[i], sizeof planes);
        for (int k = 0; k < EIGHT_VECTORS; k++) {
            const eight_vector plane = planes[k], left_part = r.base[k] + r.per[k] * (plane - r.lower[k]),
                               right_part = r.base[k] + r.per[k] * (r.upper[k] - plane);
            eight_vector cost = rules->traversal + rules->intersection * (left_part * left[k] + right_part * right[k]);
            cost = EIGHT_SELECT((left[k] == zero) | (right[k] == zero), cost * 0.8F, cost);
            const eight_mask cheaper = (plane > r.lower[k]) & (plane < r.upper[k]) & (cost < best[k]);
            best[k] = EIGHT_SELECT(cheaper, cost, best[k]);
            best_triangle[k] = SELECT(cheaper, none + i, best_triangle[k]);
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

static void mask_leaf(sap_mesh_staging* staging, const candidate_table* table, uint64_t triangles, int depth) {
    int32_t* place = put_leaf(staging, count_word(triangles), depth);
    for (; triangles; triangles &= triangles - 1) *place++ = table->triangle[__builtin_ctzll(triangles)];
}

static void masks_below(const sap_mesh_rules* rules, const candidate_table* table, const sap_mesh_job* job,
                        sap_mesh_staging* staging) {
    mask_node stack[SAP_MESH_DEPTH_MAX + 2];
    int waiting = 0;
    const uint64_t all = job->count == SAP_MESH_SMALL ? ~UINT64_C(0) : (UINT64_C(1) << job->count) - 1;
    stack[waiting++] = (mask_node){job->cell, all, NO_PARENT, job->depth};
    while (waiting > 0) {
        mask_node node = stack[--waiting];
        int count = count_word(node.triangles), triangle = -1, bound = 0;
        float cost = INFINITY;
        arrive(staging, node.parent);
        if (count > 1 && node.depth < rules->depth &&
            sap_may_be_worth(rules->traversal, rules->intersection, (float)count))
            cost = cheapest_candidate(rules, table, &node, &triangle, &bound);
        if (!sap_is_worth(cost, rules->intersection, (float)count) || !sap_may_cut_small(staging->spare, count)) {
            mask_leaf(staging, table, node.triangles, node.depth);
            continue;
        }
        int axis = bound % 3;
        SAP_ASSERT(triangle >= 0 && triangle < job->count && bound >= 0 && bound < 6);
        float plane = table->plane[triangle][bound];
        mask_node left = {node.cell, node.triangles & table->left[triangle][bound], NO_PARENT, node.depth + 1};
        mask_node right = {node.cell, node.triangles & table->right[triangle][bound], put_inner(staging, axis, plane),
                           node.depth + 1};
        left.cell.upper[axis] = right.cell.lower[axis] = plane;
        SAP_ASSERT((left.triangles | right.triangles) == node.triangles);
        SAP_ASSERT(waiting + 2 <= SAP_MESH_DEPTH_MAX + 2);
        staging->spare =
            sap_spare_after(staging->spare, count, count_word(left.triangles), count_word(right.triangles));
        stack[waiting++] = right;
        stack[waiting++] = left;
    }
}

static void small_fast(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                       sap_mesh_staging* staging) {
    candidate_table table;
    fill_table(parts, (int)job->count, &job->cell, &table);
    masks_below(rules, &table, job, staging);
}

#endif
