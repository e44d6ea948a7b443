// Nodes of many triangles: the plane of each quality, and the division of a node by it.
#ifndef SAPWOOD_MESH_LARGE_SIMD_H
#define SAPWOOD_MESH_LARGE_SIMD_H

#include "mesh/sweep_simd.h"

enum { BINS = 64, CHOSEN = 6 };

INLINE sap_measure measure_of(const sap_mesh_rules* rules, const sap_mesh_box* cell) {
    return sap_measure_of(cell->upper[0] - cell->lower[0], cell->upper[1] - cell->lower[1],
                          cell->upper[2] - cell->lower[2], rules->radius);
}

INLINE axis_rule rule_of(const sap_mesh_rules* rules, const sap_mesh_box* cell, const sap_measure* m, int axis) {
    return (axis_rule){rules, cell->lower[axis], cell->upper[axis], m->base[axis], m->per[axis], axis};
}

// How many parts start and end in each of the bins of an axis.
typedef struct bins {
    corner4 lower, scale; // scale 0: the axis cannot be cut
    int32_t starts[3][BINS], ends[3][BINS];
} bins;

INLINE corner4_mask bin_of(const bins* b, corner4 x) {
    const corner4_mask last = {BINS - 1, BINS - 1, BINS - 1, BINS - 1};
    corner4_mask bin = __builtin_convertvector((x - b->lower) * b->scale, corner4_mask);
    return PICK(bin < last, bin, last);
}

static void fill_bins(const sap_mesh_box* cell, const sap_measure* m, const sap_mesh_part* parts, int64_t count,
                      bins* b) {
    memset(b, 0, sizeof *b);
    for (int a = 0; a < 3; a++) {
        float scale = BINS / (cell->upper[a] - cell->lower[a]);
        b->lower[a] = cell->lower[a];
        b->scale[a] = m->split[a] && scale <= FLT_MAX ? scale : 0;
    }
    for (int64_t i = 0; i < count; i++) {
        corner4 lower, upper;
        LOAD_4(lower, parts[i].lower);
        LOAD_4(upper, parts[i].upper);
        lower[3] = upper[3] = 0;
        corner4_mask from = bin_of(b, lower), to = bin_of(b, upper);
        for (int a = 0; a < 3; a++) {
            b->starts[a][from[a]]++;
            b->ends[a][to[a]]++;
        }
    }
}

// A bin that may hold the cheapest plane.
typedef struct chosen_bin {
    float bound;
    int axis, bin;
    int64_t before, after;
    float* at[KINDS]; // its ends of parts
    int64_t count[KINDS];
} chosen_bin;

INLINE float edge_of(const axis_rule* r, int bin) { return r->lower + (r->upper - r->lower) * (float)bin / BINS; }

// The costs at the bins' edges are known at once.
static void try_bin_edges(const axis_rule* r, const bins* b, int64_t count, sap_mesh_split* best) {
    int64_t left = 0, right = count;
    for (int bin = 1; bin < BINS; bin++) {
        left += b->starts[r->axis][bin - 1];
        right -= b->ends[r->axis][bin - 1];
        try_plane(r, edge_of(r, bin), left, 0, right, best);
    }
}

// Keeps the bins with the lowest bounds below the best cost, the most promising first.
static int choose_bins(const axis_rule* r, const bins* b, int64_t count, const sap_mesh_split* best,
                       chosen_bin chosen[CHOSEN], int have) {
    int64_t left = 0, right = count;
    int a = r->axis;
    for (int bin = 0; bin < BINS; left += b->starts[a][bin++]) {
        right -= b->ends[a][bin];
        if (!(b->starts[a][bin] | b->ends[a][bin])) continue;
        float bound = plane_cost(r, left_share(r, edge_of(r, bin)), right_share(r, edge_of(r, bin + 1)), left, right);
        if (!(bound < best->cost) || (have == CHOSEN && !(bound < chosen[CHOSEN - 1].bound))) continue;
        int place = have < CHOSEN ? have++ : CHOSEN - 1;
        for (; place > 0 && chosen[place - 1].bound > bound; place--) chosen[place] = chosen[place - 1];
        int64_t starts = b->starts[a][bin], ends = b->ends[a][bin];
        chosen[place] = (chosen_bin){bound, a, bin, left, right, {NULL}, {starts, ends, starts < ends ? starts : ends}};
    }
    return have;
}

// Gives the bins room for their ends of parts, as far as it goes: always for the first.
static int place_bins(chosen_bin* chosen, int have, int64_t count, float* events) {
    int64_t used = 0, room = 3 * count;
    for (int j = 0; j < have; j++) {
        if (used + chosen[j].count[STARTS] + chosen[j].count[ENDS] + chosen[j].count[PLANAR] > room) return j;
        for (int k = 0; k < KINDS; k++) {
            chosen[j].at[k] = events + used;
            used += chosen[j].count[k];
            chosen[j].count[k] = 0;
        }
    }
    return have;
}

// Collects the ends of parts in the chosen bins of one axis.
static void gather_axis(const bins* b, const sap_mesh_part* parts, int64_t count, chosen_bin* chosen, int have,
                        int axis) {
    chosen_bin* of[BINS] = {NULL};
    bool any = false;
    for (int j = 0; j < have; j++)
        if (chosen[j].axis == axis) {
            of[chosen[j].bin] = &chosen[j];
            any = true;
        }
    float low = b->lower[axis], scale = b->scale[axis];
    for (int64_t i = 0; any && i < count; i++) {
        float lower = parts[i].lower[axis], upper = parts[i].upper[axis];
        int from = (int)((lower - low) * scale), to = (int)((upper - low) * scale);
        chosen_bin* start = of[from < BINS ? from : BINS - 1];
        chosen_bin* end = of[to < BINS ? to : BINS - 1];
        if (start) {
            start->at[STARTS][start->count[STARTS]++] = lower;
            if (lower == upper) start->at[PLANAR][start->count[PLANAR]++] = lower;
        }
        if (end) end->at[ENDS][end->count[ENDS]++] = upper;
    }
}

// The cheapest plane of all, by branch and bound (after Wald and Havran 2006, without sorting what cannot matter): bins
// tell the cost at their edges, and a bound for the planes inside; only the promising ones are swept.
static sap_mesh_split cheapest_plane(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                                     float* events) {
    sap_mesh_split best = {.cost = INFINITY, .axis = -1};
    sap_measure m = measure_of(rules, &job->cell);
    axis_rule along[3];
    chosen_bin chosen[CHOSEN];
    bins b;
    int have = 0;
    fill_bins(&job->cell, &m, parts, job->count, &b);
    for (int a = 0; a < 3; a++) {
        along[a] = rule_of(rules, &job->cell, &m, a);
        if (b.scale[a] > 0) try_bin_edges(&along[a], &b, job->count, &best);
    }
    for (int a = 0; a < 3; a++)
        if (b.scale[a] > 0) have = choose_bins(&along[a], &b, job->count, &best, chosen, have);
    have = place_bins(chosen, have, job->count, events);
    for (int a = 0; a < 3; a++) gather_axis(&b, parts, job->count, chosen, have, a);
    for (int j = 0; j < have && chosen[j].bound < best.cost; j++) {
        const axis_rule* r = &along[chosen[j].axis];
        stretch s = {.before = chosen[j].before,
                     .after = chosen[j].after,
                     .from = edge_of(r, chosen[j].bin),
                     .to = edge_of(r, chosen[j].bin + 1)};
        for (int k = 0; k < KINDS; k++) {
            s.at[k] = chosen[j].at[k];
            s.spare[k] = chosen[j].at[k] + 3 * job->count;
            s.count[k] = chosen[j].count[k];
        }
        search_stretch(r, &s, &best);
    }
    return best;
}

// ---- FAST: Zhou, Hou, Wang and Guo 2008

// Cuts off empty space, if there is a side with enough of it. false: there is none.
static bool cut_empty(const sap_mesh_rules* rules, const sap_mesh_job* job, sap_mesh_split* split) {
    for (int a = 0; a < 3; a++) {
        float lower = job->cell.lower[a], upper = job->cell.upper[a], enough = rules->empty_space * (upper - lower);
        // A plane in a face of the cell cuts nothing off.
        bool below = job->tight.lower[a] - lower > enough && job->tight.lower[a] < upper;
        bool above = upper - job->tight.upper[a] > enough && job->tight.upper[a] > lower;
        if (!below && !above) continue;
        *split = (sap_mesh_split){.axis = a,
                                  .plane = below ? job->tight.lower[a] : job->tight.upper[a],
                                  .planar_left = !below,
                                  .left = below ? 0 : job->count,
                                  .right = below ? job->count : 0};
        return true;
    }
    return false;
}

INLINE bool goes_left(const sap_mesh_part* part, const sap_mesh_split* s) {
    float lower = part->lower[s->axis], upper = part->upper[s->axis];
    return lower < s->plane || (s->planar_left && lower == s->plane && upper == s->plane);
}

INLINE bool goes_right(const sap_mesh_part* part, const sap_mesh_split* s) {
    float lower = part->lower[s->axis], upper = part->upper[s->axis];
    return upper > s->plane || (!s->planar_left && lower == s->plane && upper == s->plane);
}

static void count_sides(const sap_mesh_part* parts, int64_t count, sap_mesh_split* split) {
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < count; i++) {
        left += goes_left(&parts[i], split);
        right += goes_right(&parts[i], split);
    }
    split->left = left;
    split->right = right;
}

// The middle of the longest side; false if it does not pay, as where most triangles are as large as the node.
static bool halve_longest(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                          sap_mesh_split* split) {
    int a = 0;
    for (int k = 1; k < 3; k++)
        if (job->cell.upper[k] - job->cell.lower[k] > job->cell.upper[a] - job->cell.lower[a]) a = k;
    sap_measure m = measure_of(rules, &job->cell);
    axis_rule r = rule_of(rules, &job->cell, &m, a);
    float middle = 0.5F * (r.lower + r.upper);
    if (!m.split[a] || !(middle > r.lower && middle < r.upper)) return false;
    *split = (sap_mesh_split){.axis = a, .plane = middle};
    count_sides(parts, job->count, split);
    split->cost = plane_cost(&r, left_share(&r, middle), right_share(&r, middle), split->left, split->right);
    return split->cost < rules->intersection * (float)job->count;
}

// ---- Both

static sap_mesh_split find(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                           float* events) {
    sap_mesh_split split = {.axis = -1};
    if (job->depth >= rules->depth) return split;
    if (rules->fast && (cut_empty(rules, job, &split) || halve_longest(rules, parts, job, &split))) return split;
    split = cheapest_plane(rules, parts, job, events);
    if (split.axis >= 0 && split.cost < rules->intersection * (float)job->count)
        count_sides(parts, job->count, &split);
    else
        split.axis = -1;
    return split;
}

// Bounds of parts, four floats at a time.
typedef struct tight_box {
    corner4 lower, upper;
} tight_box;

INLINE void tighten(tight_box* t, const sap_mesh_part* part) {
    corner4 lower, upper;
    LOAD_4(lower, part->lower);
    LOAD_4(upper, part->upper);
    t->lower = CORNER_MIN(t->lower, lower);
    t->upper = CORNER_MAX(t->upper, upper);
}

INLINE void begin_side(const sap_mesh_job* job, sap_mesh_job* side) {
    side->cell = job->cell;
    side->depth = job->depth + 1;
    side->count = 0;
}

INLINE void end_side(const tight_box* t, sap_mesh_job* side) {
    for (int k = 0; k < 3; k++) {
        side->tight.lower[k] = t->lower[k];
        side->tight.upper[k] = t->upper[k];
    }
}

static void divide(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                   const sap_mesh_split* split, sap_mesh_part* left_parts, sap_mesh_part* right_parts,
                   sap_mesh_job* left, sap_mesh_job* right) {
    const corner4 none = {INFINITY, INFINITY, INFINITY, INFINITY};
    tight_box tight_left = {none, -none}, tight_right = {none, -none};
    int64_t in_left = 0, in_right = 0;
    for (int64_t i = 0; i < job->count; i++) {
        const sap_mesh_part* part = &parts[i];
        bool to_left = goes_left(part, split), to_right = goes_right(part, split);
        if (to_left && to_right) {
            const float* triangle = rules->corners + (int64_t)SAP_TRIANGLE_FLOATS * part->triangle;
            sap_mesh_part sides[2];
            int reached = rules->fast ? clip_cheaply(triangle, part, split->axis, split->plane, &sides[0], &sides[1])
                                      : clip_exactly(triangle, part, split->axis, split->plane, &sides[0], &sides[1]);
            to_left = reached & HAS_LEFT;
            to_right = reached & HAS_RIGHT;
            if (to_left) left_parts[in_left] = sides[0];
            if (to_right) right_parts[in_right] = sides[1];
        } else if (to_left) {
            left_parts[in_left] = *part;
        } else {
            right_parts[in_right] = *part;
        }
        if (to_left) tighten(&tight_left, &left_parts[in_left++]);
        if (to_right) tighten(&tight_right, &right_parts[in_right++]);
    }
    begin_side(job, left);
    begin_side(job, right);
    left->cell.upper[split->axis] = right->cell.lower[split->axis] = split->plane;
    left->count = in_left;
    right->count = in_right;
    end_side(&tight_left, left);
    end_side(&tight_right, right);
}

#endif
