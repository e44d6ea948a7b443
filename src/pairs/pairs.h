// The kernels of the CPU for trees against trees; there is one set for each instruction set and precision.
#ifndef SAPWOOD_PAIRS_PAIRS_H
#define SAPWOOD_PAIRS_PAIRS_H

#include "device/cpu.h"
#include "pairs/boxed.h"
#include "pairs/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Collecting.

// Hits of one point, or some of them.
typedef struct sap_pairs_piece {
    int32_t row;
    int32_t count;
} sap_pairs_piece;

// The hits of some leaves of a, piece after piece; a row's pieces in order.
typedef struct sap_pairs_hits {
    int32_t* ids;
    void* distance2; // real
    sap_pairs_piece* pieces;
    int64_t used, room; // hits
    int64_t pieces_used, pieces_room;
    sap_scratch hits_memory, pieces_memory;
} sap_pairs_hits;

// Makes room for `more` hits, and for a register behind them, and for another piece. False if memory is exhausted.
bool sap_pairs_grow(sap_device* device, int32_t real_bits, int64_t more, sap_pairs_hits* hits);

typedef struct sap_pairs_run {
    const sap_boxed *a, *b;
    const void* periods; // real[dims], infinite on open axes
    double limit2;
    bool greater_only;
    sap_pairs_hits* hits;
} sap_pairs_run;

// ---- Counting.

// A pair of nodes whose distances lie in bins from … to.
typedef struct sap_node_pair {
    uint32_t a, b;
    int32_t from, to;
} sap_node_pair;

typedef struct sap_count_run {
    const sap_boxed *a, *b;
    const void* limits2; // real[bins]
    const void* periods; // real[dims], infinite on open axes
    int32_t bins;
    bool mirrored;   // both are one tree: of two nodes (x, y) and (y, x) one is visited, and counts twice
    int64_t* counts; // [bins + 1] or NULL
    double* sums;    // [bins + 1] or NULL
    sap_search_stats stats;
} sap_count_run;

// ---- Kernels.

// What measures distances: on trees without periods or with them.
typedef struct sap_pair_walks {
    // Narrows the bins of a pair of nodes to those in which its distances can lie.
    void (*narrow)(const sap_count_run* run, sap_node_pair* pair);
    // Counts all pairs of points of a pair of nodes.
    void (*count)(sap_count_run* run, const sap_node_pair* pair);
    // Collects the hits of the points of leaf `leaf` of a. False if memory is exhausted.
    bool (*collect)(const sap_pairs_run* run, uint32_t leaf);
} sap_pair_walks;

typedef struct sap_pairs_kernels {
    // Tight boxes of leaves among nodes [from, to).
    void (*bound)(const sap_boxed* boxed, uint32_t from, uint32_t to);
    // Boxes and numbers of points of all inner nodes, from those of the leaves.
    void (*unite)(const sap_boxed* boxed);
    sap_pair_walks open; // of trees without periods
} sap_pairs_kernels;

// The periods of a tree, real[SAP_MAX_DIMS], infinite on open axes.
void sap_pairs_periods(const sap_tree* tree, void* periods);

// Divides a pair, of which one node at least is inner, into two or three; returns how many.
static inline int sap_node_pair_divide(const sap_count_run* run, sap_node_pair pair, sap_node_pair parts[3]) {
    const sap_boxed_node *a = &run->a->nodes[pair.a], *b = &run->b->nodes[pair.b];
    parts[0] = parts[1] = parts[2] = pair;
    if (run->mirrored && pair.a == pair.b) {
        parts[0].a = parts[0].b = parts[1].a = pair.a + 1;
        parts[1].b = parts[2].a = parts[2].b = a->upper;
        return 3;
    }
    if (a->upper && (!b->upper || a->count >= b->count)) {
        parts[0].a = pair.a + 1;
        parts[1].a = a->upper;
    } else {
        SAP_ASSERT(b->upper);
        parts[0].b = pair.b + 1;
        parts[1].b = b->upper;
    }
    return 2;
}

// ---- pairs/count_tasks.c: the work of a count, in tasks.

// The pair of roots, divided into pairs that are counted one by one. Which they are depends on the trees and the number
// of bins alone. What a task adds to its bins follows its own order; the bins are added in the order of the tasks. So a
// sum of weights is the same bits whoever works on the tasks.
typedef struct sap_count_tasks {
    const sap_pair_walks* kernels;
    sap_count_run run; // without bins
    const sap_node_pair* tasks;
    int64_t count;
    bool weighted;
    void* sums; // [count][run.bins + 1] int64 or, if weighted, double: the bins of each task, 0 at first
} sap_count_tasks;

// Works on all tasks.
typedef sap_status (*sap_count_worker)(void* context, const sap_count_tasks* tasks);

// Counts as the job says, by a worker, with kernels of the trees' precision. The trees' arrays are in host memory.
sap_status sap_pairs_count_by(const sap_pair_counts_job* job, const sap_cpu_kernels* kernels, sap_count_worker work,
                              void* context);

#ifdef __cplusplus
}
#endif
#endif
