// The CPU's ways to answer a radius job.
#ifndef SAPWOOD_RADIUS_RADIUS_CPU_H
#define SAPWOOD_RADIUS_RADIUS_CPU_H

#include "radius/ops.h"
#include "radius/radius.h"
#include "tree/layout.h"

// radius/into_cpu.c: a job that collects into the caller's memory.
sap_status sap_radius_into_cpu(const sap_tree* tree, const sap_radius_job* job);
// radius/radius_cpu.c: answers a run on a thread of the caller's with what is fastest for the tree, and stops before a
// query whose hits might not fit (run->done). A search that is told nothing; queries of a tree with periods are wrapped.
void sap_radius_run_cpu(sap_radius_run* run);
// radius/walk_cpu.c: counts or collects on any tree, through the shared texts.
sap_status sap_radius_walk_cpu(const sap_tree* tree, const sap_radius_job* job);

// Finds the points of one query with ids greater than `after`, and says how many. What is found goes to ids[] and real
// distance2[], in the tree's own order; searches that only count are given NULL.
typedef int64_t (*sap_radius_answer)(const sap_tree* tree, const sap_told* told, const void* query, double limit2,
                                     int32_t after, int32_t* ids, void* distance2);

// The walks of radius/walk_instances.h for one precision and number of axes: that counts, and that collects. Where code
// is downloaded, one does both.
#if defined(__EMSCRIPTEN__)
#define SAP_RADIUS_ANSWERS(bits, axes)                                                                                 \
    { answer_f##bits##_##axes##_collect, answer_f##bits##_##axes##_collect }
#else
#define SAP_RADIUS_ANSWERS(bits, axes)                                                                                 \
    { answer_f##bits##_##axes##_count, answer_f##bits##_##axes##_collect }
#endif

// radius/walk_cpu.c, radius/walk_told_cpu.c: the walk for trees of this shape, without and with what a search was told.
sap_radius_answer sap_radius_answer_choose(const sap_tree_shape* shape, bool collect);
sap_radius_answer sap_radius_answer_choose_told(const sap_tree_shape* shape, bool collect);
// The same for trees with periods; searches that are told nothing are told sap_told_nothing.
sap_radius_answer sap_radius_answer_choose_periodic(const sap_tree_shape* shape, bool collect);

#endif
