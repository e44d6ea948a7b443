// The cheapest plane inside one bin of an axis. Its events are sorted and swept; if there are many, they are binned
// again first.
#ifndef SAPWOOD_MESH_LARGE_SWEEP_SIMD_H
#define SAPWOOD_MESH_LARGE_SWEEP_SIMD_H

#include "mesh/clip/clip_simd.h"

enum { SUB_BINS = 64, SUB_BIN_LEVELS = 6, SORT_BY_INSERTION = 20 };

// The costs of a node's planes along one axis follow from these.
typedef struct axis_rule {
    const sap_mesh_rules* rules;
    float lower, upper, base, per;
    int axis;
} axis_rule;

INLINE float left_share(const axis_rule* r, float plane) { return sap_share(r->base, r->per, plane - r->lower); }
INLINE float right_share(const axis_rule* r, float plane) { return sap_share(r->base, r->per, r->upper - plane); }

INLINE float plane_cost(const axis_rule* r, float left, float right, int64_t in_left, int64_t in_right) {
    return sap_split_cost(r->rules->traversal, r->rules->intersection, left, right, (float)in_left, (float)in_right);
}

// Replaces the best plane so far if this one precedes it (sap_plane_precedes).
INLINE void keep_better(const axis_rule* r, float cost, float plane, bool planar_left, sap_mesh_split* best) {
    if (cost > best->cost) return;
    const sap_plane other = {best->axis, best->plane, best->planar_left};
    const sap_plane it = {r->axis, plane + 0.0F, planar_left};
    if (sap_plane_precedes(cost, it, best->cost, other))
        *best = (sap_mesh_split){.cost = cost, .plane = it.at, .axis = r->axis, .planar_left = planar_left};
}

// Tries a plane with the triangles in it on the right, then on the left.
INLINE void try_plane(const axis_rule* r, float plane, int64_t left, int64_t in_plane, int64_t right,
                      sap_mesh_split* best) {
    SAP_ASSERT(left >= 0 && in_plane >= 0 && right >= 0);
    if (!(plane > r->lower && plane < r->upper)) return;
    float left_part = left_share(r, plane), right_part = right_share(r, plane);
    keep_better(r, plane_cost(r, left_part, right_part, left, right + in_plane), plane, false, best);
    if (in_plane > 0) keep_better(r, plane_cost(r, left_part, right_part, left + in_plane, right), plane, true, best);
}

static void sort_by_insertion(float* x, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        float moved = x[i];
        int64_t k = i;
        for (; k > 0 && x[k - 1] > moved; k--) x[k] = x[k - 1];
        x[k] = moved;
    }
}

static float middle_of(float x, float y, float z) {
    float low = x < y ? x : y, high = x < y ? y : x;
    return z < low ? low : z > high ? high : z;
}

// Sorts ascending by quicksort. The larger side goes onto the stack, so that the stack stays short. None is NaN.
static void sort_floats(float* x, int64_t count) {
    struct {
        float* x;
        int64_t count;
    } aside[64];
    int waiting = 0;
    for (;;) {
        while (count > SORT_BY_INSERTION) {
            float pivot = middle_of(x[0], x[count / 2], x[count - 1]);
            SAP_ASSERT(pivot == pivot && waiting < 64);
            int64_t i = 0, j = count - 1;
            while (i <= j) {
                while (x[i] < pivot) i++;
                while (pivot < x[j]) j--;
                if (i > j) break;
                float swapped = x[i];
                x[i++] = x[j];
                x[j--] = swapped;
            }
            bool first_is_larger = j + 1 > count - i;
            aside[waiting].x = first_is_larger ? x : x + i;
            aside[waiting++].count = first_is_larger ? j + 1 : count - i;
            x = first_is_larger ? x + i : x;
            count = first_is_larger ? count - i : j + 1;
        }
        sort_by_insertion(x, count);
        if (waiting == 0) return;
        x = aside[--waiting].x;
        count = aside[waiting].count;
    }
}

enum { STARTS, ENDS, PLANAR, KINDS };

// The events in a stretch of the axis: where parts start, where they end, and where planar parts lie.
typedef struct stretch {
    float* at[KINDS];
    float* spare[KINDS]; // as large
    int64_t count[KINDS];
    int64_t before, after; // parts that start below the stretch; parts that end above it
    float from, to;        // rounded: events may lie a little outside
    float bound;           // a lower bound of the costs of its planes
    int level;
} stretch;

// Tries all planes of the stretch.
static void sweep(const axis_rule* r, stretch* s, sap_mesh_split* best) {
    int64_t i[KINDS] = {0, 0, 0};
    for (int k = 0; k < KINDS; k++) sort_floats(s->at[k], s->count[k]);
    const float *starts = s->at[STARTS], *ends = s->at[ENDS], *planar = s->at[PLANAR];
    while (i[STARTS] < s->count[STARTS] || i[ENDS] < s->count[ENDS]) {
        bool start = i[STARTS] < s->count[STARTS] && (i[ENDS] >= s->count[ENDS] || starts[i[STARTS]] <= ends[i[ENDS]]);
        float plane = start ? starts[i[STARTS]] : ends[i[ENDS]];
        int64_t left = s->before + i[STARTS], in_plane = 0;
        while (i[PLANAR] < s->count[PLANAR] && planar[i[PLANAR]] < plane) i[PLANAR]++;
        for (; i[PLANAR] < s->count[PLANAR] && planar[i[PLANAR]] == plane; i[PLANAR]++) in_plane++;
        while (i[ENDS] < s->count[ENDS] && ends[i[ENDS]] == plane) i[ENDS]++;
        while (i[STARTS] < s->count[STARTS] && starts[i[STARTS]] == plane) i[STARTS]++;
        try_plane(r, plane, left, in_plane, s->after + s->count[ENDS] - i[ENDS], best);
    }
}

INLINE int sub_bin(float x, float from, float scale) {
    int bin = (int)((x - from) * scale);
    return bin < 0 ? 0 : bin > SUB_BINS - 1 ? SUB_BINS - 1 : bin;
}

// A lower bound of the costs of all planes between two places. The places are moved apart by more than rounding errors.
INLINE float bound_between(const axis_rule* r, float from, float to, int64_t before, int64_t after) {
    float margin = (to - from) / SUB_BINS;
    return plane_cost(r, left_share(r, from - margin), right_share(r, to + margin), before, after);
}

// Widens a range by floats.
static void widen_range(const float* x, int64_t count, float* from, float* to) {
    vfloat4 low = {*from, *from, *from, *from}, high = {*to, *to, *to, *to};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        vfloat4 next;
        LOAD_4(next, x + i);
        low = VFLOAT4_MIN(low, next);
        high = VFLOAT4_MAX(high, next);
    }
    for (; i < count; i++) {
        low[0] = x[i] < low[0] ? x[i] : low[0];
        high[0] = x[i] > high[0] ? x[i] : high[0];
    }
    for (int k = 0; k < 4; k++) {
        *from = low[k] < *from ? low[k] : *from;
        *to = high[k] > *to ? high[k] : *to;
    }
}

typedef int64_t bin_starts[KINDS][SUB_BINS + 1];

// Puts the part of a stretch in one of its bins onto the stack, if it has events and may hold the best plane. The stack
// is in descending order of bounds from `bottom` on.
static int put_bin(const axis_rule* r, const stretch* s, const bin_starts starts, int bin, const sap_mesh_split* best,
                   stretch* bottom, int have) {
    const float width = (s->to - s->from) / SUB_BINS;
    stretch part = {.before = s->before + starts[STARTS][bin],
                    .after = s->after + s->count[ENDS] - starts[ENDS][bin + 1],
                    .from = s->from + width * (float)bin,
                    .to = s->from + width * (float)(bin + 1),
                    .level = s->level + 1};
    for (int k = 0; k < KINDS; k++) {
        part.at[k] = s->spare[k] + starts[k][bin];
        part.spare[k] = s->at[k] + starts[k][bin];
        part.count[k] = starts[k][bin + 1] - starts[k][bin];
    }
    if (part.count[STARTS] + part.count[ENDS] == 0) return have;
    part.bound = bound_between(r, part.from, part.to, part.before, part.after);
    if (part.bound > best->cost) return have;
    int place = have;
    for (; place > 0 && bottom[place - 1].bound < part.bound; place--) bottom[place] = bottom[place - 1];
    bottom[place] = part;
    return have + 1;
}

// Divides a stretch of many events into bins; those that may hold the best plane go onto the stack, the most promising
// on top. False if it cannot be divided.
static bool divide_stretch(const axis_rule* r, stretch* s, stretch* stack, int* waiting, const sap_mesh_split* best) {
    if (s->count[STARTS] + s->count[ENDS] <= 4 * SUB_BINS || s->level >= SUB_BIN_LEVELS) return false;
    s->from = s->count[STARTS] ? s->at[STARTS][0] : s->at[ENDS][0];
    s->to = s->from;
    for (int k = STARTS; k <= ENDS; k++) widen_range(s->at[k], s->count[k], &s->from, &s->to);
    const float scale = SUB_BINS / (s->to - s->from);
    if (!(s->to > s->from) || !(scale <= FLT_MAX)) return false;
    bin_starts starts, next;
    memset(starts, 0, sizeof starts);
    for (int k = 0; k < KINDS; k++) {
        for (int64_t i = 0; i < s->count[k]; i++) starts[k][sub_bin(s->at[k][i], s->from, scale) + 1]++;
        for (int bin = 0; bin < SUB_BINS; bin++) starts[k][bin + 1] += starts[k][bin];
    }
    int have = 0;
    for (int bin = 0; bin < SUB_BINS; bin++)
        have = put_bin(r, s, (const int64_t(*)[SUB_BINS + 1]) starts, bin, best, stack + *waiting, have);
    if (have == 0) return true;
    SAP_ASSERT(have <= SUB_BINS && *waiting + have <= SUB_BINS * SUB_BIN_LEVELS + 1);
    *waiting += have;
    memcpy(next, starts, sizeof next);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < s->count[k]; i++)
            s->spare[k][next[k][sub_bin(s->at[k][i], s->from, scale)]++] = s->at[k][i];
    return true;
}

// Replaces the best plane so far if one of the stretch precedes it.
static void search_stretch(const axis_rule* r, const stretch* whole, sap_mesh_split* best) {
    stretch stack[SUB_BINS * SUB_BIN_LEVELS + 1];
    int waiting = 0;
    stack[waiting++] = *whole;
    while (waiting > 0) {
        stretch s = stack[--waiting];
        if (s.bound > best->cost) continue;
        if (!divide_stretch(r, &s, stack, &waiting, best)) sweep(r, &s, best);
    }
}

#endif
