// Searches of trees with periods on the CPU.
#ifndef SAPWOOD_NEAREST_PERIODIC_CPU_H
#define SAPWOOD_NEAREST_PERIODIC_CPU_H

#include "nearest/nearest.h"
#include "nearest/ops.h"

// Whether the answer to a query, found without periods, may be another with them: a row of a run.
bool sap_nearest_is_asked_again(const sap_nearest_run* run, const void* query, int64_t row);

// Answers a run on a tree with periods: first as if there were none, then those queries again that reach around.
// distance2 is not NULL.
void sap_nearest_run_periodic(const sap_nearest_kernels* plain, const sap_nearest_kernels* periodic,
                              sap_nearest_run* run);

// Answers a job on a tree with periods by a function that takes wrapped queries, and room for distances.
sap_status sap_nearest_periodic_cpu(const sap_tree* tree, const sap_nearest_job* job,
                                    sap_status (*answer)(const sap_tree* tree, const sap_nearest_job* job));

#endif
