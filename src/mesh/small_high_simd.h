// HIGH below 64 triangles: every bound of a part is a candidate, 16 of them a vector are counted against each part. No
// sorting, and each part is clipped exactly at every plane.
//
// A node's parts lie in a frame: seven rows of floats, rounded up to vectors.
#ifndef SAPWOOD_MESH_SMALL_HIGH_SIMD_H
#define SAPWOOD_MESH_SMALL_HIGH_SIMD_H

#include "mesh/large_simd.h"
#include "mesh/stage_simd.h"
#include "mesh/wide_simd.h"

#define WIDE_PICK(mask, yes, no) ((wide)PICK(mask, (wide_int)(yes), (wide_int)(no)))

INLINE int row_width(int64_t count) { return ((int)count + WIDE - 1) / WIDE * WIDE; }

// The best candidate of each lane.
typedef struct best_lanes {
    wide cost, plane;
    wide_int choice; // 2 * axis + planar_left, or -1
} best_lanes;

// The bounds along an axis that lie inside the cell, those of planar parts once; the rest of the last vector is zero.
static int collect_candidates(const axis_rule* r, const float* lower, const float* upper, int count, float* candidates,
                              bool* planar) {
    int found = 0;
    *planar = false;
    for (int i = 0; i < count; i++) {
        float x = lower[i], y = upper[i];
        bool start = x > r->lower && x<r->upper, end = y> r->lower && y < r->upper, flat = x == y;
        *planar |= flat && start;
        candidates[found] = x;
        found += start;
        candidates[found] = y;
        found += end && !flat;
    }
    memset(candidates + found, 0, WIDE * sizeof *candidates);
    return found;
}

INLINE void keep_cheaper(const axis_rule* r, const wide* plane, const wide* left, const wide* right,
                         const wide_int* live, int choice, best_lanes* best) {
    const wide zero = {0};
    const wide_int none = {0};
    wide left_part = r->base + r->per * (*plane - r->lower), right_part = r->base + r->per * (r->upper - *plane);
    wide cost = r->rules->traversal + r->rules->intersection * (left_part * *left + right_part * *right);
    cost = WIDE_PICK((*left == zero) | (*right == zero), cost * 0.8F, cost);
    wide_int cheaper = *live & (cost < best->cost);
    best->cost = WIDE_PICK(cheaper, cost, best->cost);
    best->plane = WIDE_PICK(cheaper, *plane, best->plane);
    best->choice = PICK(cheaper, none + choice, best->choice);
}

// Tries 16 candidates: what each leaves on its sides is counted.
INLINE void try_candidates(const axis_rule* r, const float* lower, const float* upper, int count,
                           const float* candidates, int live_count, bool planar, best_lanes* best) {
    const wide_int lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const wide zero = {0};
    wide plane;
    memcpy(&plane, candidates, sizeof plane);
    wide_int left = {0}, right = {0}, in_plane = {0}, live = lane < live_count;
    for (int j = 0; j < count; j++) {
        left -= (lower[j] - zero) < plane;
        right -= (upper[j] - zero) > plane;
    }
    for (int j = 0; planar && j < count; j++)
        if (lower[j] == upper[j]) in_plane -= (lower[j] - zero) == plane;
    wide in_left = __builtin_convertvector(left, wide), in_right = __builtin_convertvector(right, wide);
    wide with_left = __builtin_convertvector(left + in_plane, wide);
    wide with_right = __builtin_convertvector(right + in_plane, wide);
    keep_cheaper(r, &plane, &in_left, &with_right, &live, 2 * r->axis, best);
    if (planar) keep_cheaper(r, &plane, &with_left, &in_right, &live, 2 * r->axis + 1, best);
}

// The cheapest of all lanes; of equal ones the first choice, then the lowest plane.
static sap_mesh_split best_of_lanes(const best_lanes* lanes) {
    sap_mesh_split best = {.cost = INFINITY, .axis = -1};
    int chosen = INT32_MAX;
    for (int i = 0; i < WIDE; i++) {
        float cost = lanes->cost[i], plane = lanes->plane[i];
        int choice = lanes->choice[i];
        bool tie = cost == best.cost && (choice < chosen || (choice == chosen && plane < best.plane));
        if (choice < 0 || !(cost < best.cost || tie)) continue;
        best = (sap_mesh_split){.cost = cost, .plane = plane, .axis = choice >> 1, .planar_left = choice & 1};
        chosen = choice;
    }
    return best;
}

static sap_mesh_split small_split(const sap_mesh_rules* rules, const float* frame, int count,
                                  const sap_mesh_box* cell) {
    const wide zero = {0};
    best_lanes best = {zero + INFINITY, zero, (wide_int){0} - 1};
    sap_measure m = measure_of(rules, cell);
    int width = row_width(count);
    for (int a = 0; a < 3; a++) {
        if (!m.split[a]) continue;
        float candidates[2 * SAP_MESH_SMALL + 2 * WIDE];
        bool planar;
        axis_rule r = rule_of(rules, cell, &m, a);
        const float *lower = frame + a * width, *upper = frame + (3 + a) * width;
        int found = collect_candidates(&r, lower, upper, count, candidates, &planar);
        for (int k = 0; k < found; k += WIDE)
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

// Which parts are on each side, by their places in the parent's frame; of both sides: clipped.
typedef struct sides {
    int left[SAP_MESH_SMALL], right[SAP_MESH_SMALL], lefts, rights; // place, or -1 - place of a clipped one
    sap_mesh_part clipped[2][SAP_MESH_SMALL];
} sides;

static void take_sides(const sap_mesh_rules* rules, const small_node* node, const sap_mesh_split* split, sides* s) {
    int width = row_width(node->count);
    s->lefts = s->rights = 0;
    for (int i = 0; i < node->count; i++) {
        float lower = node->frame[split->axis * width + i], upper = node->frame[(3 + split->axis) * width + i];
        bool flat = lower == split->plane && upper == split->plane;
        bool left = lower < split->plane || (flat && split->planar_left);
        bool right = upper > split->plane || (flat && !split->planar_left);
        int place = i;
        if (left && right) {
            sap_mesh_part part;
            read_part(node->frame, width, i, &part);
            const float* triangle = rules->corners + (int64_t)SAP_TRIANGLE_FLOATS * part.triangle;
            int reached =
                clip_exactly(triangle, &part, split->axis, split->plane, &s->clipped[0][i], &s->clipped[1][i]);
            left = reached & HAS_LEFT;
            right = reached & HAS_RIGHT;
            place = -1 - i;
        }
        s->left[s->lefts] = place;
        s->lefts += left;
        s->right[s->rights] = place;
        s->rights += right;
    }
}

static void fill_frame(const small_node* node, const int* places, int count, const sap_mesh_part* clipped,
                       float* frame) {
    int from = row_width(node->count), to = row_width(count);
    for (int row = 0; row < SAP_MESH_FRAME_ROWS; row++)
        for (int i = 0; i < count; i++) {
            int place = places[i];
            memcpy(&frame[row * to + i], &node->frame[row * from + (place < 0 ? -1 - place : place)], sizeof *frame);
        }
    for (int i = 0; i < count; i++)
        if (places[i] < 0) write_part(frame, to, i, &clipped[-1 - places[i]]);
}

static void small_leaf(sap_mesh_workshop* w, const float* frame, int count, int depth) {
    memcpy(put_leaf(w, count, depth), frame + 6 * row_width(count), (size_t)count * sizeof(int32_t));
}

static void small_high(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                       sap_mesh_workshop* w) {
    small_node stack[SAP_MESH_DEPTH_MAX + 2];
    int waiting = 0;
    stack[waiting++] = (small_node){job->cell, w->frames, NO_PARENT, (int)job->count, job->depth};
    for (int i = 0; i < job->count; i++) write_part(w->frames, row_width(job->count), i, &parts[i]);
    note_waiting(w, 1, job->count);
    while (waiting > 0) {
        small_node node = stack[--waiting];
        sap_mesh_split split = {.cost = INFINITY, .axis = -1};
        sides s;
        note_waiting(w, -1, -node.count);
        arrive(w, node.parent);
        if (node.depth < rules->depth && sap_may_be_worth(rules->traversal, rules->intersection, (float)node.count))
            split = small_split(rules, node.frame, node.count, &node.cell);
        if (split.axis < 0 || !sap_is_worth(split.cost, rules->intersection, (float)node.count) ||
            !may_split(rules, w, node.count, node.count)) {
            small_leaf(w, node.frame, node.count, node.depth);
            continue;
        }
        take_sides(rules, &node, &split, &s);
        // The right frame below the left one, which is done with first.
        small_node right = {node.cell, node.frame + SAP_MESH_FRAME_ROWS * row_width(node.count),
                            put_inner(w, split.axis, split.plane), s.rights, node.depth + 1};
        small_node left = {node.cell, right.frame + SAP_MESH_FRAME_ROWS * row_width(right.count), NO_PARENT, s.lefts,
                           node.depth + 1};
        fill_frame(&node, s.right, s.rights, s.clipped[1], right.frame);
        fill_frame(&node, s.left, s.lefts, s.clipped[0], left.frame);
        left.cell.upper[split.axis] = right.cell.lower[split.axis] = split.plane;
        note_waiting(w, 2, left.count + right.count);
        stack[waiting++] = right;
        stack[waiting++] = left;
    }
}

#endif
