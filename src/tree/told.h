// What a search is told besides where to look: metric, weights, mask, a radius for each query, how far off answers may
// be. Checked here once for all processors and all kinds of searches.
#ifndef SAPWOOD_TREE_TOLD_H
#define SAPWOOD_TREE_TOLD_H

#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// Jobs have a pointer to it, NULL where a search was told nothing: then the code that only knows squared Euclidean
// distances answers.
typedef struct sap_told {
    sap_metric metric;     // L2, L1, LINF, or LP where that is none of them
    int32_t power;         // to which lengths are raised: 2, 1, 1, or the whole part of p
    uint64_t roots;        // p's fraction, its highest bit a half
    const double* weights; // [dims] or NULL
    const uint8_t* keep;   // [source_count] or NULL
    const double* radii;   // [queries] or NULL
    const int32_t* ks;     // the same
    double widen;          // prune what is as many times as far: 1, or (1 + eps)^power
} sap_told;

// What a device that lacks all this cannot do (sap_unsupported).
#define SAP_TOLD_UNSUPPORTED                                                                                           \
    "search by another metric, with weights, radii or a mask, or for answers that are not exact"

// What is asked of those that must be told something by a search that is told nothing.
extern const sap_told sap_told_nothing;

// Checks what a search is told and fills it in. *is_told is false if that is nothing.
sap_status sap_told_read(const sap_tree* tree, const sap_search* search, sap_told* told, bool* is_told);
// Fails if a search is told anything: for calls that do not look at it. `call` ends the sentence.
sap_status sap_told_refuse(const sap_tree* tree, const sap_search* search, const char* call);
// The largest distance by the metric (L2: squared, LP: to the power) within a radius that is not negative, rounded to
// the tree's precision and at most its largest finite value.
double sap_told_limit(const sap_tree* tree, const sap_told* told, double radius);
// How many neighbours one query wants of the k that the search finds at most.
static inline int32_t sap_told_k_of(const sap_told* told, int32_t k, int64_t query) {
    if (!told->ks || told->ks[query] >= k) return k;
    return told->ks[query] > 0 ? told->ks[query] : 0;
}
// The limit of one query: `limit` without radii. Negative if its radius is, or is not a number: it finds nothing.
double sap_told_limit_of(const sap_tree* tree, const sap_told* told, double limit, int64_t query);
// Whether vector kernels know the metric.
static inline bool sap_told_in_vectors(const sap_told* told) {
    return told->metric != SAP_METRIC_LP && !told->weights && told->widen == 1;
}

#ifdef __cplusplus
}
#endif
#endif
