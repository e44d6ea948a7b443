// Counting pairs in bins of distances, subtree against subtree: two nodes all of whose distances lie in one bin are
// counted at once. What is done, and in which order, depends on the trees alone, not on the width of registers.
#ifndef SAPWOOD_PAIRS_COUNT_SIMD_H
#define SAPWOOD_PAIRS_COUNT_SIMD_H

#include "pairs/pairs.h"
#include "pairs/tally_simd.h"

enum { CHUNK = 32 }; // points of b that are tested at a time: bits of a mask

// The first of bins from … to whose limit is not below a squared distance; `to` if there is none before it.
INLINE int32_t bin_of(const real* limits, int32_t from, int32_t to, real distance2) {
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (limits[middle] < distance2)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

INLINE void narrow_pair(const sap_count_run* run, const int dims, sap_node_pair* pair) {
    const real *a = box_of(run->a, dims, pair->a), *b = box_of(run->b, dims, pair->b);
    pair->from = bin_of(run->limits2, pair->from, pair->to, boxes_nearest2(a, b, dims, run->periods));
    pair->to = bin_of(run->limits2, pair->from, pair->to, boxes_farthest2(a, b, dims, run->periods));
}

// How often a pair of nodes counts.
INLINE int64_t times(const sap_count_run* run, const sap_node_pair* pair) {
    return run->mirrored && pair->a != pair->b ? 2 : 1;
}

INLINE double weight_below(const sap_boxed* boxed, uint32_t node) {
    return boxed->sums ? boxed->sums[node] : (double)boxed->nodes[node].count;
}

// All distances lie in bin `from`.
INLINE void count_whole(sap_count_run* run, const sap_node_pair* pair) {
    if (run->counts)
        run->counts[pair->from] +=
            times(run, pair) * run->a->nodes[pair->a].count * (int64_t)run->b->nodes[pair->b].count;
    else
        run->sums[pair->from] += weight_below(run->a, pair->a) * weight_below(run->b, pair->b);
}

// ---- Leaf against leaf

// A point of a before a leaf of b.
typedef struct facing {
    const real* coords; // of b's points
    const double* weights;
    int32_t count, stride, from, to;
    double weight; // of a's point
} facing;

// Squared distances of up to CHUNK points from `first` on; infinite where there is none.
INLINE void chunk_distances(const facing* f, const int dims, const vreal* q, int32_t first, real* distance2) {
#pragma GCC unroll 4
    for (int32_t i = 0; i < CHUNK; i += LANES) {
        const int32_t at = first + i;
        if (at >= f->count) {
            v_store(distance2 + i, v_set(INFINITY));
            continue;
        }
        vreal d = offset_between(q, 0, v_load(f->coords + at)), sum = v_mul(d, d);
        for (int x = 1; x < dims; x++) {
            d = offset_between(q, x, v_load(f->coords + (int64_t)x * f->stride + at));
            sum = v_add(sum, v_mul(d, d));
        }
        v_store(distance2 + i, v_select(lanes_below(f->count - at), sum, v_set(INFINITY)));
    }
}

INLINE uint32_t within(const real* distance2, real limit) {
    uint32_t in = 0;
#pragma GCC unroll 8
    for (int i = 0; i < CHUNK; i += LANES) in |= v_less_equal(v_load(distance2 + i), v_set(limit)) << i;
    return in;
}

INLINE int bits_in(uint32_t mask) {
#if SAP_SIMD == 1
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return (int)(((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
#else
    return __builtin_popcount(mask);
#endif
}

// The weights of the points in a mask: eight sums, one for each point modulo eight, added in pairs.
INLINE double weight_of(const double* weights, uint32_t mask) {
    double sum[8] = {0};
    for (int i = 0; i < CHUNK; i += 8)
        for (int j = 0; j < 8; j++) sum[j] += mask >> (i + j) & 1 ? weights[i + j] : 0.0;
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

// The weight of points in a mask from `first` on.
INLINE double facing_weight(const facing* f, int32_t first, uint32_t mask) {
    return f->weights ? weight_of(f->weights + first, mask) : (double)bits_in(mask);
}

INLINE void weigh_chunk(sap_count_run* run, const facing* f, int32_t first, const real* distance2) {
    const real* limits = run->limits2;
    const int32_t points = f->count - first;
    uint32_t before = 0, all = points < CHUNK ? (1u << points) - 1 : ~0u;
    for (int32_t bin = f->from; bin <= f->to; bin++) {
        const uint32_t up_to = bin < f->to ? within(distance2, limits[bin]) : all, in = up_to & ~before;
        if (in) run->sums[bin] += f->weight * facing_weight(f, first, in);
        before = up_to;
    }
}

INLINE void weigh_point(sap_count_run* run, const int dims, const facing* f, const vreal* q) {
    real distance2[CHUNK] __attribute__((aligned(64)));
    for (int32_t first = 0; first < f->count; first += CHUNK) {
        chunk_distances(f, dims, q, first, distance2);
        weigh_chunk(run, f, first, distance2);
    }
    run->stats.points += f->count;
}

INLINE void weigh_leaves(sap_count_run* run, const int dims, const sap_node_pair* pair) {
    const leaf_view a = view_leaf(run->a, pair->a), b = view_leaf(run->b, pair->b);
    const double *weights_a = sap_boxed_weights(run->a, pair->a), *weights_b = sap_boxed_weights(run->b, pair->b);
    const real* box = box_of(run->b, dims, pair->b);
    vreal q[QUERY_VECTORS];
    load_periods(run->a->tree, dims, q);
    for (int32_t i = 0; i < a.count; i++) {
        real point[2 * SAP_MAX_DIMS];
        int x = 0;
        do { // a tree has an axis at least, which compilers do not know
            point[x] = point[dims + x] = a.coords[(int64_t)x * a.stride + i];
            q[x] = v_set(point[x]);
        } while (++x < dims);
        facing f = {b.coords, weights_b, b.count, b.stride, 0, 0, weights_a ? weights_a[i] : 1};
        f.from = bin_of(run->limits2, pair->from, pair->to, boxes_nearest2(point, box, dims, run->periods));
        f.to = bin_of(run->limits2, f.from, pair->to, boxes_farthest2(point, box, dims, run->periods));
        if (f.from < f.to)
            weigh_point(run, dims, &f, q);
        else
            run->sums[f.from] += f.weight * weight_below(run->b, pair->b);
    }
}

INLINE void count_leaves(sap_count_run* run, const int dims, const sap_node_pair* pair) {
    const leaf_view a = view_leaf(run->a, pair->a), b = view_leaf(run->b, pair->b);
    const real* limits2 = run->limits2;
    const int64_t often = times(run, pair), pairs = (int64_t)a.count * b.count;
    int64_t before = 0;
    for (int32_t bin = pair->from; bin < pair->to; bin += TALLIES) {
        const int32_t limits = pair->to - bin < TALLIES ? pair->to - bin : TALLIES;
        int64_t within[TALLIES];
        switch (limits) {
        case 1: tally_leaves(run->a->tree, &a, &b, dims, 1, limits2 + bin, within); break;
        case 2: tally_leaves(run->a->tree, &a, &b, dims, 2, limits2 + bin, within); break;
        case 3: tally_leaves(run->a->tree, &a, &b, dims, 3, limits2 + bin, within); break;
        default: tally_leaves(run->a->tree, &a, &b, dims, TALLIES, limits2 + bin, within);
        }
        for (int32_t i = 0; i < limits; i++) {
            run->counts[bin + i] += often * (within[i] - before);
            before = within[i];
        }
        run->stats.points += pairs;
    }
    run->counts[pair->to] += often * (pairs - before);
}

// ---- Subtree against subtree

INLINE void count_pair(sap_count_run* run, const int dims, sap_node_pair pair) {
    sap_node_pair waiting[2 * SAP_MAX_DEPTH + 3];
    int size = 0;
    waiting[size++] = pair;
    while (size > 0) {
        sap_node_pair parts[3];
        pair = waiting[--size];
        narrow_pair(run, dims, &pair);
        run->stats.nodes++;
        if (pair.from == run->bins) continue;
        if (pair.from == pair.to) {
            count_whole(run, &pair);
        } else if (sap_boxed_is_leaf(run->a, pair.a) && sap_boxed_is_leaf(run->b, pair.b)) {
            if (run->counts)
                count_leaves(run, dims, &pair);
            else
                weigh_leaves(run, dims, &pair);
            run->stats.leaves++;
        } else {
            // The first part comes next.
            for (int i = sap_node_pair_divide(run, pair, parts); i-- > 0;) {
                SAP_ASSERT(size < 2 * SAP_MAX_DEPTH + 3);
                waiting[size++] = parts[i];
            }
        }
    }
}

static void narrow(const sap_count_run* run, sap_node_pair* pair) { narrow_pair(run, run->a->tree->shape.dims, pair); }

static void count(sap_count_run* run, const sap_node_pair* pair) {
    switch (run->a->tree->shape.dims) {
    case 2: count_pair(run, 2, *pair); break;
    case 3: count_pair(run, 3, *pair); break;
    default: count_pair(run, run->a->tree->shape.dims, *pair);
    }
}

#endif
