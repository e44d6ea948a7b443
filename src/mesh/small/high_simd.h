// HIGH's small nodes: every bound of a part is a candidate plane. A vector of candidates is compared with each part, so
// nothing is sorted. Each part is clipped exactly at every plane.
//
// A node's parts lie in a frame: seven rows of floats, rounded up to whole vectors. What lies behind the parts in a row
// has no meaning.
#ifndef SAPWOOD_MESH_SMALL_HIGH_SIMD_H
#define SAPWOOD_MESH_SMALL_HIGH_SIMD_H

#include "mesh/large/divide_simd.h"
#include "mesh/large/plane_simd.h"
#include "mesh/small/stage_simd.h"

#define VFLOAT_SELECT(mask, yes, no) ((vfloat)SELECT(mask, (vint)(yes), (vint)(no)))

INLINE int row_width(int64_t count) { return ((int)count + LANES - 1) / LANES * LANES; }

// The best candidate of each lane.
typedef struct best_lanes {
    vfloat cost, plane;
    vint choice; // 2 * axis + planar_left, or -1
} best_lanes;

// Collects the bounds along an axis that lie inside the cell, those of planar parts once. The rest of the last vector
// is zero.
INLINE int collect_candidates(const axis_rule* r, const float* lower, const float* upper, int count, float* candidates,
                              bool* planar) {
    const vreal low = v_set(r->lower), high = v_set(r->upper);
    int found = 0;
    uint32_t any_flat = 0;
    for (int i = 0; i < count; i += LANES) {
        const vreal x = v_load(lower + i), y = v_load(upper + i);
        const uint32_t flat = v_equal(x, y), parts = lanes_below(count - i);
        const uint32_t starts = v_less(low, x) & v_less(x, high) & parts;
        const uint32_t ends = v_less(low, y) & v_less(y, high) & parts & ~flat;
        any_flat |= flat & starts;
        v_store_kept(candidates + found, starts, x);
        found += count_bits(starts);
        v_store_kept(candidates + found, ends, y);
        found += count_bits(ends);
    }
    v_store(candidates + found, v_set(0));
    *planar = any_flat != 0;
    SAP_ASSERT(found <= 2 * count);
    return found;
}

INLINE void keep_cheaper(const axis_rule* r, const vfloat* plane, const vfloat* left, const vfloat* right,
                         const vint* live, int choice, best_lanes* best) {
    const vfloat zero = {0};
    const vint none = {0};
    const vfloat left_part = r->base + r->per * (*plane - r->lower),
                 right_part = r->base + r->per * (r->upper - *plane);
    vfloat cost = r->rules->traversal + r->rules->intersection * (left_part * *left + right_part * *right);
    cost = VFLOAT_SELECT((*left == zero) | (*right == zero), cost * 0.8F, cost);
    // As sap_plane_precedes.
    const vint same = (choice < best->choice) | ((choice == best->choice) & (*plane < best->plane));
    const vint cheaper = *live & ((cost < best->cost) | ((cost == best->cost) & same));
    best->cost = VFLOAT_SELECT(cheaper, cost, best->cost);
    best->plane = VFLOAT_SELECT(cheaper, *plane, best->plane);
    best->choice = SELECT(cheaper, none + choice, best->choice);
}

// Tries a vector of candidates: counts the parts on the sides of each.
INLINE void try_candidates(const axis_rule* r, const float* lower, const float* upper, int count,
                           const float* candidates, int live_count, bool planar, best_lanes* best) {
    static const int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vfloat zero = {0};
    vint lane;
    vfloat plane;
    memcpy(&lane, numbers, sizeof lane);
    memcpy(&plane, candidates, sizeof plane);
    vint left = {0}, right = {0}, in_plane = {0}, live = lane < live_count;
    for (int j = 0; j < count; j++) {
        const vfloat start = lower[j] - zero, end = upper[j] - zero;
        vint_count_less(&left, &start, &plane);
        vint_count_less(&right, &plane, &end);
    }
    for (int j = 0; planar && j < count; j++)
        if (lower[j] == upper[j]) in_plane -= (lower[j] - zero) == plane;
    vfloat in_left = __builtin_convertvector(left, vfloat), in_right = __builtin_convertvector(right, vfloat);
    vfloat with_left = __builtin_convertvector(left + in_plane, vfloat);
    vfloat with_right = __builtin_convertvector(right + in_plane, vfloat);
    keep_cheaper(r, &plane, &in_left, &with_right, &live, 2 * r->axis, best);
    if (planar) keep_cheaper(r, &plane, &with_left, &in_right, &live, 2 * r->axis + 1, best);
}

// The cheapest of all lanes.
static sap_mesh_split best_of_lanes(const best_lanes* lanes) {
    sap_mesh_split best = {.cost = INFINITY, .axis = -1};
    sap_plane chosen = {.axis = -1};
    for (int i = 0; i < LANES; i++) {
        const int choice = lanes->choice[i];
        const sap_plane plane = {choice >> 1, lanes->plane[i] + 0.0F, choice & 1};
        if (choice < 0) continue;
        if (chosen.axis >= 0 && !sap_plane_precedes(lanes->cost[i], plane, best.cost, chosen)) continue;
        chosen = plane;
        best.cost = lanes->cost[i];
    }
    best.axis = chosen.axis;
    best.plane = chosen.at;
    best.planar_left = chosen.planar_left;
    return best;
}

static sap_mesh_split small_split(const sap_mesh_rules* rules, const float* frame, int count,
                                  const sap_mesh_box* cell) {
    const vfloat zero = {0};
    best_lanes best = {zero + INFINITY, zero, (vint){0} - 1};
    sap_measure m = measure_of(rules, cell);
    int width = row_width(count);
    for (int a = 0; a < 3; a++) {
        if (!m.split[a]) continue;
        float candidates[2 * SAP_MESH_SMALL + 2 * LANES];
        bool planar;
        axis_rule r = rule_of(rules, cell, &m, a);
        const float *lower = frame + a * width, *upper = frame + (3 + a) * width;
        int found = collect_candidates(&r, lower, upper, count, candidates, &planar);
        for (int k = 0; k < found; k += LANES)
            try_candidates(&r, lower, upper, count, candidates + k, found - k, planar, &best);
    }
    return best_of_lanes(&best);
}

typedef struct small_node {
    sap_mesh_box cell;
    float* frame;
    int64_t parent;
    int count, depth;
} small_node;

INLINE void read_part(const float* frame, int width, int i, sap_mesh_part* part) {
    for (int k = 0; k < 3; k++) {
        part->lower[k] = frame[k * width + i];
        part->upper[k] = frame[(3 + k) * width + i];
    }
    memcpy(&part->triangle, &frame[6 * width + i], sizeof part->triangle);
    part->unused = 0;
}

INLINE void write_part(float* frame, int width, int i, const sap_mesh_part* part) {
    for (int k = 0; k < 3; k++) {
        frame[k * width + i] = part->lower[k];
        frame[(3 + k) * width + i] = part->upper[k];
    }
    memcpy(&frame[6 * width + i], &part->triangle, sizeof part->triangle);
}

// The parts on each side of a plane, a bit for each place in the parent's frame. Those on both sides are clipped.
typedef struct sides {
    uint64_t left, right, clipped;
    sap_mesh_part halves[2][SAP_MESH_SMALL]; // 0: right
} sides;

static void take_sides(const sap_mesh_rules* rules, const small_node* node, const sap_mesh_split* split, sides* s) {
    const int width = row_width(node->count);
    const float *lower = node->frame + split->axis * width, *upper = lower + 3 * width;
    const vreal plane = v_set(split->plane);
    uint64_t below = 0, above = 0;
    for (int i = 0; i < node->count; i += LANES) {
        const uint32_t parts = lanes_below(node->count - i);
        const uint32_t starts = v_less(v_load(lower + i), plane), ends = v_less(plane, v_load(upper + i));
        const uint32_t flat = parts & ~(starts | ends);
        below |= (uint64_t)((starts | (split->planar_left ? flat : 0)) & parts) << i;
        above |= (uint64_t)((ends | (split->planar_left ? 0 : flat)) & parts) << i;
    }
    SAP_ASSERT(count_word(below | above) == node->count);
    s->left = below;
    s->right = above;
    s->clipped = below & above;
    for (uint64_t both = s->clipped; both; both &= both - 1) {
        const int i = __builtin_ctzll(both);
        const uint64_t bit = UINT64_C(1) << i;
        sap_mesh_part part;
        read_part(node->frame, width, i, &part);
        const float* triangle = rules->corners + (int64_t)SAP_TRIANGLE_FLOATS * part.triangle;
        int reached = clip_exactly(triangle, &part, split->axis, split->plane, &s->halves[1][i], &s->halves[0][i]);
        if (!(reached & HAS_LEFT)) s->left &= ~bit;
        if (!(reached & HAS_RIGHT)) s->right &= ~bit;
    }
}

// Copies the parts of one side. Up to a vector behind a row may be overwritten: the next row is written after it.
static void fill_frame(const small_node* node, uint64_t places, uint64_t clipped, const sap_mesh_part* halves,
                       float* frame) {
    const int from = row_width(node->count), to = row_width(count_word(places));
    for (int row = 0; row < SAP_MESH_FRAME_ROWS; row++) {
        float* at = frame + row * to;
        for (int i = 0; i < node->count; i += LANES) {
            const uint32_t kept = (uint32_t)(places >> i) & ALL_LANES;
            v_store_kept(at, kept, v_load(node->frame + row * from + i));
            at += count_bits(kept);
        }
    }
    for (clipped &= places; clipped; clipped &= clipped - 1) {
        const int i = __builtin_ctzll(clipped);
        write_part(frame, to, count_word(places & ((UINT64_C(1) << i) - 1)), &halves[i]);
    }
}

static void small_leaf(sap_mesh_staging* staging, const float* frame, int count, int depth) {
    memcpy(put_leaf(staging, count, depth), frame + 6 * row_width(count), (size_t)count * sizeof(int32_t));
}

static void small_high(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                       sap_mesh_staging* staging) {
    small_node stack[SAP_MESH_DEPTH_MAX + 2];
    SAP_ASSERT(job->count <= SAP_MESH_SMALL);
    int waiting = 0;
    stack[waiting++] = (small_node){job->cell, staging->frames, NO_PARENT, (int)job->count, job->depth};
    for (int i = 0; i < job->count; i++) write_part(staging->frames, row_width(job->count), i, &parts[i]);
    while (waiting > 0) {
        small_node node = stack[--waiting];
        sap_mesh_split split = {.cost = INFINITY, .axis = -1};
        sides s;
        arrive(staging, node.parent);
        if (node.depth < rules->depth && sap_may_be_worth(rules->traversal, rules->intersection, (float)node.count))
            split = small_split(rules, node.frame, node.count, &node.cell);
        if (split.axis < 0 || !sap_is_worth(split.cost, rules->intersection, (float)node.count) ||
            !sap_may_cut_small(staging->spare, node.count)) {
            small_leaf(staging, node.frame, node.count, node.depth);
            continue;
        }
        take_sides(rules, &node, &split, &s);
        // The right frame lies below the left one, whose subtree is finished first.
        small_node right = {node.cell, node.frame + SAP_MESH_FRAME_ROWS * row_width(node.count),
                            put_inner(staging, split.axis, split.plane), count_word(s.right), node.depth + 1};
        small_node left = {node.cell, right.frame + SAP_MESH_FRAME_ROWS * row_width(right.count), NO_PARENT,
                           count_word(s.left), node.depth + 1};
        SAP_ASSERT(left.frame + SAP_MESH_FRAME_ROWS * (row_width(left.count) + LANES) <=
                   staging->frames + SAP_MESH_FRAMES);
        SAP_ASSERT(waiting + 2 <= SAP_MESH_DEPTH_MAX + 2);
        SAP_ASSERT(left.count + right.count >= node.count);
        fill_frame(&node, s.right, s.clipped, s.halves[0], right.frame);
        fill_frame(&node, s.left, s.clipped, s.halves[1], left.frame);
        left.cell.upper[split.axis] = right.cell.lower[split.axis] = split.plane;
        staging->spare = sap_spare_after(staging->spare, node.count, left.count, right.count);
        stack[waiting++] = right;
        stack[waiting++] = left;
    }
}

#endif
