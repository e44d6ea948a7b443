// Collects the hits of queries that lie in the tree's order: of a few of them, one walk finds the leaves that any may
// reach, and each scans those of them that it does, in the order in which its own walk would.
#ifndef SAPWOOD_RADIUS_TOGETHER_SIMD_H
#define SAPWOOD_RADIUS_TOGETHER_SIMD_H

#include "radius/walk_balanced_simd.h"
#include "tree/balanced/around_simd.h"

enum { BATCH = 16 }; // queries that look for leaves together

// The box of the queries from `from` to before `to`; false if a coordinate is not finite.
INLINE bool cell_of(const sap_radius_run* run, const int dims, int64_t from, int64_t to, cell* c) {
    const real* queries = run->queries;
    bool finite = true;
    for (int a = 0; a < dims; a++) {
        real lower = queries[from * run->stride + a], upper = lower, sum = 0;
        for (int64_t i = from; i < to; i++) {
            const real x = queries[i * run->stride + a];
            lower = x < lower ? x : lower;
            upper = x > upper ? x : upper;
            sum += x - x; // 0, or not a number
        }
        finite &= sum == 0;
        c->lower[a] = v_set(lower);
        c->upper[a] = v_set(upper);
    }
    return finite;
}

// Which of the leaves a ball reaches.
INLINE uint64_t leaves_touched(const around* s, const int dims, const vreal* q, real limit) {
    uint64_t touched = 0;
    for (int v = 0; v < s->count; v += LANES) {
        const uint32_t near = v_less_equal(bounds_around(s, dims, q, v), v_set(limit)) & lanes_below(s->count - v);
        touched |= (uint64_t)near << v;
    }
    return touched;
}

// Returns the number of the query for whose hits there may not be room, or that of all queries.
INLINE int64_t collect_together(const walked* w, const int dims, const sap_radius_run* run, hits* h) {
    const real* queries = run->queries;
    around near;
    for (int64_t from = run->done; from < run->count; from += BATCH) {
        const int64_t to = run->count - from < BATCH ? run->count : from + BATCH;
        const real limit = (real)run->limit2;
        cell c;
        int64_t nodes = 0;
        const bool is_listed =
            cell_of(run, dims, from, to, &c) && look_around(&w->view, dims, &c, 0, 0, limit, &near, &nodes);
        uint64_t touched[BATCH]; // of all queries first: loops over leaves need not wait for how many there are
        for (int64_t i = from; is_listed && i < to; i++) {
            vreal q[QUERY_VECTORS];
            load_query(queries + i * run->stride, dims, q);
            touched[i - from] = leaves_touched(&near, dims, q, limit);
        }
        for (int64_t i = from; i < to; i++) {
            vreal q[QUERY_VECTORS];
            const int32_t row = run->rows[i], self = run->greater_only ? row : -1;
            const int64_t before = h->count;
            bool fits = true;
            const bool is_finite = load_query(queries + i * run->stride, dims, q);
            if (is_listed)
                for (uint64_t todo = touched[i - from]; todo && fits; todo &= todo - 1)
                    fits = scan(&w->view, dims, true, q, leaf_block(&w->view, near.leaves[__builtin_ctzll(todo)]),
                                limit, self, h);
            else if (is_finite)
                fits = walk(w, dims, true, q, limit, self, h);
            if (!fits) {
                h->count = before;
                return i;
            }
            run->counts[row] = h->count - before;
        }
    }
    return run->count;
}

#endif
