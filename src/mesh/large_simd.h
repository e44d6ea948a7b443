// Nodes of many triangles: the plane of each quality.
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

// The bins where a part starts and ends; lane 3: 0.
INLINE void bins_of(const bins* b, const sap_mesh_part* part, corner4_mask* from, corner4_mask* to) {
    corner4 lower, upper;
    LOAD_4(lower, part->lower);
    LOAD_4(upper, part->upper);
    lower[3] = upper[3] = 0;
    *from = bin_of(b, lower);
    *to = bin_of(b, upper);
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
        corner4_mask from, to;
        bins_of(b, &parts[i], &from, &to);
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

// Which ends of a part lie in wanted bins: a bit an axis. wanted: of each axis, a bit a bin.
INLINE int in_wanted(const vertex_mask* wanted, const corner4_mask* bin) {
    const vertex_mask last = {BINS - 1, BINS - 1, BINS - 1, BINS - 1};
    const vertex_mask at = *wanted << (last - __builtin_convertvector(*bin, vertex_mask)); // its bit is the sign
#if defined(__AVX__)
    return _mm256_movemask_pd((__m256d)at);
#else
    return (at[0] < 0) | (at[1] < 0) << 1 | (at[2] < 0) << 2;
#endif
}

// Collects the ends of parts in the chosen bins.
static void gather_ends(const bins* b, const sap_mesh_part* parts, int64_t count, chosen_bin* chosen, int have) {
    chosen_bin* of[3][BINS];
    vertex_mask wanted = {0};
    for (int j = 0; j < have; j++) {
        of[chosen[j].axis][chosen[j].bin] = &chosen[j];
        wanted[chosen[j].axis] |= (int64_t)(UINT64_C(1) << chosen[j].bin);
    }
    for (int64_t i = 0; i < count; i++) {
        const sap_mesh_part* part = &parts[i];
        corner4_mask from, to;
        bins_of(b, part, &from, &to);
        int starts = in_wanted(&wanted, &from), ends = in_wanted(&wanted, &to);
        for (; starts; starts &= starts - 1) {
            int a = __builtin_ctz((unsigned)starts);
            chosen_bin* bin = of[a][from[a]];
            float at = part->lower[a];
            bin->at[STARTS][bin->count[STARTS]++] = at;
            if (at == part->upper[a]) bin->at[PLANAR][bin->count[PLANAR]++] = at;
        }
        for (; ends; ends &= ends - 1) {
            int a = __builtin_ctz((unsigned)ends);
            chosen_bin* bin = of[a][to[a]];
            bin->at[ENDS][bin->count[ENDS]++] = part->upper[a];
        }
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
    if (have) gather_ends(&b, parts, job->count, chosen, have);
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
    const sap_plane plane = sap_cut_empty(job->cell, job->tight, rules->empty_space);
    if (plane.axis < 0) return false;
    *split = (sap_mesh_split){.axis = plane.axis,
                              .plane = plane.at,
                              .planar_left = plane.planar_left,
                              .left = plane.planar_left ? job->count : 0,
                              .right = plane.planar_left ? 0 : job->count};
    return true;
}

static void count_sides(const sap_mesh_part* parts, int64_t count, sap_mesh_split* split) {
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < count; i++) {
        const float lower = parts[i].lower[split->axis], upper = parts[i].upper[split->axis];
        left += sap_reaches_left(lower, upper, split->plane, split->planar_left);
        right += sap_reaches_right(lower, upper, split->plane, split->planar_left);
    }
    split->left = left;
    split->right = right;
}

// The middle of the longest side; false if it does not pay, as where most triangles are as large as the node.
static bool halve_longest(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                          sap_mesh_split* split) {
    const sap_measure m = measure_of(rules, &job->cell);
    const sap_plane plane = sap_cut_middle(job->cell, m);
    if (plane.axis < 0) return false;
    *split = (sap_mesh_split){.axis = plane.axis, .plane = plane.at};
    count_sides(parts, job->count, split);
    split->cost = sap_cell_cost(job->cell, m, plane.axis, plane.at, rules->traversal, rules->intersection,
                                (float)split->left, (float)split->right);
    return sap_is_worth(split->cost, rules->intersection, (float)job->count);
}

// ---- Both

static sap_mesh_split find(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                           float* events) {
    sap_mesh_split split = {.axis = -1};
    if (job->depth >= rules->depth) return split;
    if (rules->fast && (cut_empty(rules, job, &split) || halve_longest(rules, parts, job, &split))) return split;
    split = cheapest_plane(rules, parts, job, events);
    if (split.axis >= 0 && sap_is_worth(split.cost, rules->intersection, (float)job->count))
        count_sides(parts, job->count, &split);
    else
        split.axis = -1;
    return split;
}

#endif
