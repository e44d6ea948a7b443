// The cheapest plane inside one bin of an axis: the ends of parts in it, sorted or, where many crowd, binned again.
#ifndef SAPWOOD_MESH_SWEEP_SIMD_H
#define SAPWOOD_MESH_SWEEP_SIMD_H

#include "mesh/clip_simd.h"

enum { SUB_BINS = 64, SUB_BIN_LEVELS = 6, SORT_BY_INSERTION = 20 };

// What a node's planes along one axis are judged by.
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

// Keeps the cheaper of the best so far and a plane; triangles in the plane go to the cheaper side.
INLINE void try_plane(const axis_rule* r, float plane, int64_t left, int64_t in_plane, int64_t right,
                      sap_mesh_split* best) {
    if (!(plane > r->lower && plane < r->upper)) return;
    float left_part = left_share(r, plane), right_part = right_share(r, plane);
    float to_left = plane_cost(r, left_part, right_part, left + in_plane, right);
    if (to_left < best->cost)
        *best = (sap_mesh_split){.cost = to_left, .plane = plane + 0.0F, .axis = r->axis, .planar_left = true};
    if (in_plane == 0) return; // as cheap on either side
    float to_right = plane_cost(r, left_part, right_part, left, right + in_plane);
    if (to_right < best->cost) *best = (sap_mesh_split){.cost = to_right, .plane = plane + 0.0F, .axis = r->axis};
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

// Ascending: quicksort, the larger side set aside, so that the stack stays short.
static void sort_floats(float* x, int64_t count) {
    struct {
        float* x;
        int64_t count;
    } aside[64];
    int waiting = 0;
    for (;;) {
        while (count > SORT_BY_INSERTION) {
            float pivot = middle_of(x[0], x[count / 2], x[count - 1]);
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

// The ends of parts in a stretch of the axis: where parts start, where they end, and where those in a plane lie.
typedef struct stretch {
    float* at[KINDS];
    float* spare[KINDS]; // as large
    int64_t count[KINDS];
    int64_t before, after; // parts that start below the stretch, that end above it
    float from, to;
    int level;
} stretch;

// All planes of the stretch.
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

INLINE float bin_edge(const stretch* s, int bin) { return s->from + (s->to - s->from) * (float)bin / SUB_BINS; }

typedef int64_t bin_starts[KINDS][SUB_BINS + 1];

// No plane inside the bin costs less: it leaves at least the parts and the room at the bin's edges.
INLINE float bin_bound(const axis_rule* r, const stretch* s, const bin_starts starts, int bin) {
    return plane_cost(r, left_share(r, bin_edge(s, bin)), right_share(r, bin_edge(s, bin + 1)),
                      s->before + starts[STARTS][bin], s->after + s->count[ENDS] - starts[ENDS][bin + 1]);
}

// Tries the inner edges of the bins; the bins that may hold a cheaper plane, as bits.
static uint64_t try_edges(const axis_rule* r, const stretch* s, const bin_starts starts, sap_mesh_split* best) {
    uint64_t wanted = 0;
    for (int bin = 1; bin < SUB_BINS; bin++)
        try_plane(r, bin_edge(s, bin), s->before + starts[STARTS][bin], 0,
                  s->after + s->count[ENDS] - starts[ENDS][bin], best);
    for (int bin = 0; bin < SUB_BINS; bin++) {
        bool any = starts[STARTS][bin + 1] > starts[STARTS][bin] || starts[ENDS][bin + 1] > starts[ENDS][bin];
        if (any && bin_bound(r, s, starts, bin) < best->cost) wanted |= UINT64_C(1) << bin;
    }
    return wanted;
}

// Divides a crowded stretch into bins; those that are wanted go on the stack. false: it cannot be divided.
static bool divide_stretch(const axis_rule* r, const stretch* s, stretch* stack, int* waiting, sap_mesh_split* best) {
    float scale = SUB_BINS / (s->to - s->from);
    if (s->count[STARTS] + s->count[ENDS] <= 4 * SUB_BINS || s->level >= SUB_BIN_LEVELS || !(s->to > s->from) ||
        !(scale <= FLT_MAX))
        return false;
    bin_starts starts, next;
    memset(starts, 0, sizeof starts);
    for (int k = 0; k < KINDS; k++) {
        for (int64_t i = 0; i < s->count[k]; i++) starts[k][sub_bin(s->at[k][i], s->from, scale) + 1]++;
        for (int bin = 0; bin < SUB_BINS; bin++) starts[k][bin + 1] += starts[k][bin];
    }
    uint64_t wanted = try_edges(r, s, (const int64_t(*)[SUB_BINS + 1]) starts, best);
    if (!wanted) return true;
    memcpy(next, starts, sizeof next);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < s->count[k]; i++)
            s->spare[k][next[k][sub_bin(s->at[k][i], s->from, scale)]++] = s->at[k][i];
    for (int bin = SUB_BINS - 1; bin >= 0; bin--) { // the first one ends on top
        if (!(wanted >> bin & 1)) continue;
        stretch* part = &stack[(*waiting)++];
        *part = (stretch){.before = s->before + starts[STARTS][bin],
                          .after = s->after + s->count[ENDS] - starts[ENDS][bin + 1],
                          .from = bin_edge(s, bin),
                          .to = bin_edge(s, bin + 1),
                          .level = s->level + 1};
        for (int k = 0; k < KINDS; k++) {
            part->at[k] = s->spare[k] + starts[k][bin];
            part->spare[k] = s->at[k] + starts[k][bin];
            part->count[k] = starts[k][bin + 1] - starts[k][bin];
        }
    }
    return true;
}

// The cheapest plane of a stretch, if it is cheaper than the best so far.
static void search_stretch(const axis_rule* r, const stretch* whole, sap_mesh_split* best) {
    stretch stack[SUB_BINS * SUB_BIN_LEVELS + 1];
    int waiting = 0;
    stack[waiting++] = *whole;
    while (waiting > 0) {
        stretch s = stack[--waiting];
        float bound = plane_cost(r, left_share(r, s.from), right_share(r, s.to), s.before, s.after);
        if (bound >= best->cost) continue;
        if (!divide_stretch(r, &s, stack, &waiting, best)) sweep(r, &s, best);
    }
}

#endif
