// The plane of a large node, for each quality.
#ifndef SAPWOOD_MESH_LARGE_PLANE_SIMD_H
#define SAPWOOD_MESH_LARGE_PLANE_SIMD_H

#include "mesh/large/sweep_simd.h"

enum { BINS = 64 };

INLINE sap_measure measure_of(const sap_mesh_rules* rules, const sap_mesh_box* cell) {
    return sap_measure_of(cell->upper[0] - cell->lower[0], cell->upper[1] - cell->lower[1],
                          cell->upper[2] - cell->lower[2], rules->radius);
}

INLINE axis_rule rule_of(const sap_mesh_rules* rules, const sap_mesh_box* cell, const sap_measure* m, int axis) {
    return (axis_rule){rules, cell->lower[axis], cell->upper[axis], m->base[axis], m->per[axis], axis};
}

// How many parts start and end in each of the bins of an axis (mesh/planes.h).
typedef struct bins {
    vfloat4 lower, scale; // scale 0: the axis cannot be split
    int32_t starts[3][BINS], ends[3][BINS];
} bins;

// As sap_bin_of.
INLINE vint4 bin_of(const bins* b, vfloat4 x) {
    const vint4 last = {BINS - 1, BINS - 1, BINS - 1, BINS - 1};
    vint4 bin = __builtin_convertvector((x - b->lower) * b->scale, vint4);
    return SELECT(bin < last, bin, last);
}

// The bins where a part starts and ends; lane 3: 0.
INLINE void bins_of(const bins* b, const sap_mesh_part* part, vint4* from, vint4* to) {
    vfloat4 lower, upper;
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
        b->lower[a] = cell->lower[a];
        b->scale[a] = sap_bin_scale(*cell, *m, a);
    }
    for (int64_t i = 0; i < count; i++) {
        vint4 from, to;
        bins_of(b, &parts[i], &from, &to);
        SAP_ASSERT(from[0] >= 0 && from[1] >= 0 && from[2] >= 0 && to[0] >= 0 && to[1] >= 0 && to[2] >= 0);
        for (int a = 0; a < 3; a++) {
            b->starts[a][from[a]]++;
            b->ends[a][to[a]]++;
        }
    }
}

// The costs at the bins' inner edges. Counts first, then all costs, then the cheapest: compilers make vectors of that.
static void try_bin_edges(const sap_mesh_box* cell, const axis_rule* r, const bins* b, int64_t count,
                          sap_mesh_split* best) {
    float left[BINS], right[BINS], plane[BINS], cost[BINS];
    const float lower = r->lower, upper = r->upper;
    int64_t before = 0, after = count;
    for (int bin = 0; bin < BINS; bin++) {
        left[bin] = (float)before;
        right[bin] = (float)after;
        before += b->starts[r->axis][bin];
        after -= b->ends[r->axis][bin];
    }
    for (int bin = 0; bin < BINS; bin++) {
        plane[bin] = sap_bin_edge(*cell, r->axis, bin);
        const float price = sap_split_cost(r->rules->traversal, r->rules->intersection, left_share(r, plane[bin]),
                                           right_share(r, plane[bin]), left[bin], right[bin]);
        cost[bin] = plane[bin] > lower && plane[bin] < upper ? price : INFINITY;
    }
    int cheapest = 0; // whose plane is no inner edge
    for (int bin = 1; bin < BINS; bin++) cheapest = cost[bin] < cost[cheapest] ? bin : cheapest;
    if (cheapest) keep_better(r, cost[cheapest], plane[cheapest], false, best);
}

// A bin that is searched.
typedef struct chosen_bin {
    sap_bin bin;
    int64_t before, after;
    float* at[KINDS]; // its events
    int64_t count[KINDS];
} chosen_bin;

// Keeps the first bins by sap_bin_precedes.
static int choose_bins(const sap_mesh_rules* rules, const sap_mesh_box* cell, const sap_measure* m, int axis,
                       const bins* b, int64_t count, float best_edge, chosen_bin chosen[SAP_MESH_CHOSEN], int have) {
    int64_t left = 0, right = count;
    for (int bin = 0; bin < BINS; left += b->starts[axis][bin++]) {
        const int64_t starts = b->starts[axis][bin], ends = b->ends[axis][bin];
        right -= ends;
        if (!(starts | ends)) continue;
        const sap_bin it =
            sap_bin_with_bound(*cell, *m, axis, bin, rules->traversal, rules->intersection, (float)left, (float)right);
        if (!(it.bound < best_edge)) continue;
        if (have == SAP_MESH_CHOSEN && !sap_bin_precedes(it, chosen[have - 1].bin)) continue;
        int place = have < SAP_MESH_CHOSEN ? have++ : SAP_MESH_CHOSEN - 1;
        for (; place > 0 && sap_bin_precedes(it, chosen[place - 1].bin); place--) chosen[place] = chosen[place - 1];
        chosen[place] = (chosen_bin){it, left, right, {NULL}, {starts, ends, starts < ends ? starts : ends}};
    }
    SAP_ASSERT(left == count && right == 0 && have <= SAP_MESH_CHOSEN);
    return have;
}

// Gives the chosen bins memory for their events, as far as it suffices: always for the first bin. Returns how many have
// it.
static int place_bins(chosen_bin* chosen, int have, int64_t count, float* events) {
    int64_t used = 0, room = 3 * count;
    for (int j = 0; j < have; j++) {
        if (used + sap_room_for_bin(chosen[j].count[STARTS], chosen[j].count[ENDS]) > room) return j;
        for (int k = 0; k < KINDS; k++) {
            chosen[j].at[k] = events + used;
            used += chosen[j].count[k];
            chosen[j].count[k] = 0;
        }
    }
    return have;
}

// The axes along which a part's bound lies in a wanted bin, a bit for each. wanted: for each axis a bit for each bin.
INLINE int ends_in_wanted(const vlong4* wanted, const vint4* bin) {
    const vlong4 last = {BINS - 1, BINS - 1, BINS - 1, BINS - 1};
    const vlong4 at = *wanted << (last - __builtin_convertvector(*bin, vlong4)); // the bin's bit becomes the sign
#if defined(__AVX__)
    return _mm256_movemask_pd((__m256d)at);
#else
    return (at[0] < 0) | (at[1] < 0) << 1 | (at[2] < 0) << 2;
#endif
}

// Collects the events in the chosen bins.
static void gather_ends(const bins* b, const sap_mesh_part* parts, int64_t count, chosen_bin* chosen, int have) {
    chosen_bin* of[3][BINS];
    vlong4 wanted = {0};
    for (int j = 0; j < have; j++) {
        of[chosen[j].bin.axis][chosen[j].bin.number] = &chosen[j];
        wanted[chosen[j].bin.axis] |= (int64_t)(UINT64_C(1) << chosen[j].bin.number);
    }
    for (int64_t i = 0; i < count; i++) {
        const sap_mesh_part* part = &parts[i];
        vint4 from, to;
        bins_of(b, part, &from, &to);
        int starts = ends_in_wanted(&wanted, &from), ends = ends_in_wanted(&wanted, &to);
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
    for (int j = 0; j < have; j++) {
        SAP_ASSERT(chosen[j].at[STARTS] + chosen[j].count[STARTS] == chosen[j].at[ENDS]);
        SAP_ASSERT(chosen[j].at[ENDS] + chosen[j].count[ENDS] == chosen[j].at[PLANAR]);
        SAP_ASSERT(chosen[j].count[PLANAR] <= chosen[j].count[STARTS]);
    }
}

// Searches the events in a chosen bin.
static void search_bin(const sap_mesh_box* cell, const axis_rule* r, const chosen_bin* chosen, int64_t count,
                       sap_mesh_split* best) {
    stretch s = {.before = chosen->before,
                 .after = chosen->after,
                 .from = sap_bin_edge(*cell, r->axis, chosen->bin.number),
                 .to = sap_bin_edge(*cell, r->axis, chosen->bin.number + 1)};
    s.bound = bound_between(r, s.from, s.to, s.before, s.after);
    for (int k = 0; k < KINDS; k++) {
        s.at[k] = chosen->at[k];
        s.spare[k] = chosen->at[k] + 3 * count;
        s.count[k] = chosen->count[k];
    }
    search_stretch(r, &s, best);
}

// The cheapest plane by bins: of their edges, and unless `only_edges`, of the events in the most promising bins, by
// branch and bound (after Wald and Havran 2006, but only events that may matter are sorted). What a bound skips could
// not have been chosen, so the result does not depend on the order of the search.
static sap_mesh_split cheapest_plane(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                                     bool only_edges, float* events) {
    sap_mesh_split best = {.cost = INFINITY, .axis = -1};
    sap_measure m = measure_of(rules, &job->cell);
    axis_rule along[3];
    chosen_bin chosen[SAP_MESH_CHOSEN];
    bins b;
    int have = 0;
    fill_bins(&job->cell, &m, parts, job->count, &b);
    for (int a = 0; a < 3; a++) {
        along[a] = rule_of(rules, &job->cell, &m, a);
        if (b.scale[a] > 0) try_bin_edges(&job->cell, &along[a], &b, job->count, &best);
    }
    if (only_edges) return best;
    for (int a = 0; a < 3; a++)
        if (b.scale[a] > 0) have = choose_bins(rules, &job->cell, &m, a, &b, job->count, best.cost, chosen, have);
    have = place_bins(chosen, have, job->count, events);
    SAP_ASSERT(have == 0 || chosen[0].at[STARTS] == events);
    if (have) gather_ends(&b, parts, job->count, chosen, have);
    for (int j = 0; j < have; j++) search_bin(&job->cell, &along[chosen[j].bin.axis], &chosen[j], job->count, &best);
    return best;
}

// ---- FAST: Zhou, Hou, Wang and Guo 2008

// Cuts off empty space if a side of the cell has enough of it; else returns false.
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

INLINE void count_sides(const sap_mesh_part* parts, int64_t count, bool planar_left, sap_mesh_split* split) {
    const float plane = split->plane;
    const int axis = split->axis;
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < count; i++) {
        const float lower = parts[i].lower[axis], upper = parts[i].upper[axis];
        left += sap_reaches_left(lower, upper, plane, planar_left);
        right += sap_reaches_right(lower, upper, plane, planar_left);
    }
    split->left = left;
    split->right = right;
}

// Whether any plane could be worth its cost, by the node's bounds alone: false saves the counting. A side that has no
// parts ends where they begin; two sides that have some share them, and each is at least a face of the cell.
static bool may_pay(const sap_mesh_rules* rules, const sap_mesh_job* job) {
    const sap_measure m = measure_of(rules, &job->cell);
    const float count = (float)job->count, least = count * 0.99999905F; // 1 - 2^-20: sums are rounded
    float cost = INFINITY;
    for (int a = 0; a < 3; a++) {
        if (!m.split[a]) continue;
        const axis_rule r = rule_of(rules, &job->cell, &m, a);
        const float left = left_share(&r, job->tight.upper[a]), right = right_share(&r, job->tight.lower[a]);
        const float whole = left < right ? left : right, both = r.base * least;
        const float one_side = sap_split_cost(rules->traversal, rules->intersection, whole, 0, count, 0);
        const float two_sides = sap_split_cost(rules->traversal, rules->intersection, both, 0, 1, 1);
        cost = one_side < cost ? one_side : cost;
        cost = two_sides < cost ? two_sides : cost;
    }
    return sap_is_worth(cost, rules->intersection, count);
}

// Counts the parts on the sides of a plane. Whether dividing the node is worth its cost.
static bool pays(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                 sap_mesh_split* split) {
    if (split->axis < 0) return false;
    if (split->planar_left)
        count_sides(parts, job->count, true, split);
    else
        count_sides(parts, job->count, false, split);
    split->cost = sap_cell_cost(job->cell, measure_of(rules, &job->cell), split->axis, split->plane, rules->traversal,
                                rules->intersection, (float)split->left, (float)split->right);
    return sap_is_worth(split->cost, rules->intersection, (float)job->count);
}

static sap_mesh_split middle_plane(const sap_mesh_rules* rules, const sap_mesh_job* job) {
    const sap_plane plane = sap_cut_middle(job->cell, measure_of(rules, &job->cell));
    return (sap_mesh_split){.axis = plane.axis, .plane = plane.at, .planar_left = plane.planar_left};
}

// The plane that cuts empty space off a small node, which FAST does first; axis -1: none.
static sap_mesh_split empty_side(const sap_mesh_rules* rules, const sap_mesh_job* job) {
    sap_mesh_split split = {.axis = -1};
    if (!rules->fast || job->count == 0 || job->depth >= rules->depth || !cut_empty(rules, job, &split) ||
        !sap_may_cut(job->most, split.left, split.right))
        split.axis = -1;
    return split;
}

// ---- Both

static sap_mesh_split find(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                           float* events) {
    sap_mesh_split split = {.axis = -1};
    if (job->depth >= rules->depth) return split;
    if (!rules->fast || !cut_empty(rules, job, &split)) {
        if (rules->fast && !may_pay(rules, job)) return split;
        if (rules->fast) split = middle_plane(rules, job);
        if (!pays(rules, parts, job, &split)) { // e.g. where most triangles are as large as the node
            split = cheapest_plane(rules, parts, job, rules->fast, events);
            if (!pays(rules, parts, job, &split)) split.axis = -1;
        }
    }
    if (split.axis >= 0 && !sap_may_cut(job->most, split.left, split.right)) split.axis = -1;
    SAP_ASSERT(split.axis < 0 || split.left + split.right >= job->count);
    return split;
}

#endif
