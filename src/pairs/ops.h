// What a processor does with the points of two trees.
#ifndef SAPWOOD_PAIRS_OPS_H
#define SAPWOOD_PAIRS_OPS_H

#include "device/device.h"
#include "sapwood/points.h"

#ifdef __cplusplus
extern "C" {
#endif

// Pairs of points within a radius: rows of a's points, ids of b's.
typedef struct sap_pairs_job {
    const sap_tree *a, *b;
    double limit2;     // largest squared distance that counts, a value of the trees' precision
    bool greater_only; // only ids of b that are greater than the row count
    sap_neighbors** found;
} sap_pairs_job;

// How many pairs, or how much weight, lies in each bin of distances.
typedef struct sap_pair_counts_job {
    const sap_tree *a, *b;
    const double* limits2;               // [bins] squared, ascending, values of the trees' precision
    int32_t bins;                        // bin i holds limits2[i - 1] < distance2 <= limits2[i]
    const double *weights_a, *weights_b; // by id; NULL: 1 each
    double* sums;                        // [bins]
    sap_search_stats* stats;             // NULL: none; nodes: pairs of nodes, leaves: of leaves, points: distances
} sap_pair_counts_job;

// The nearest points of b for each point of a.
typedef struct sap_tree_nearest_job {
    const sap_tree *a, *b;
    sap_search search;
    int32_t* ids;
    void* distance2; // or NULL
} sap_tree_nearest_job;

typedef struct sap_pairs_ops {
    sap_status (*collect)(const sap_pairs_job* job);
    sap_status (*count)(const sap_pair_counts_job* job);
    sap_status (*nearest)(const sap_tree_nearest_job* job);
    // (optional) sap_pairs_shifts.
    sap_status (*shifts)(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts);
} sap_pairs_ops;

sap_status sap_pairs_collect_cpu(const sap_pairs_job* job);
sap_status sap_pairs_count_cpu(const sap_pair_counts_job* job);
sap_status sap_pairs_shifts_cpu(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts);
sap_status sap_tree_nearest_cpu(const sap_tree_nearest_job* job);

sap_status sap_pairs_collect_cuda(const sap_pairs_job* job);
sap_status sap_pairs_count_cuda(const sap_pair_counts_job* job);
sap_status sap_pairs_shifts_cuda(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts);
sap_status sap_tree_nearest_cuda(const sap_tree_nearest_job* job);

#ifdef __cplusplus
}
#endif
#endif
