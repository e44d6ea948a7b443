// One query's row through the shared walks.
#ifndef SAPWOOD_NEAREST_WALK_CPU_H
#define SAPWOOD_NEAREST_WALK_CPU_H

#include "tree/layout.h"
#include "tree/told.h"

// What every query of a job has in common.
typedef struct sap_answer_job {
    const sap_tree* tree;
    double limit2;
    int32_t k;          // candidates a query can have: the caller's k, but no more than there are points
    int32_t row_length; // the caller's k
    bool is_stackless;
    const sap_told* told; // NULL: squared Euclidean distances, all points
} sap_answer_job;

// Answers one query: ids[row_length] and distance2[row_length].
typedef void (*sap_answer_function)(const sap_answer_job* job, const void* query, int32_t without, int32_t* ids,
                                    void* distance2, sap_search_stats* stats);

// The function for trees of this shape and so many candidates a query.
sap_answer_function sap_answer_choose(const sap_tree_shape* shape, int32_t k);
// The same for searches that were told something.
sap_answer_function sap_answer_choose_told(const sap_tree_shape* shape);
// The same for trees with periods; searches that are told nothing are told sap_told_nothing.
sap_answer_function sap_answer_choose_periodic(const sap_tree_shape* shape);

#endif
