// The CPU's ways to answer a nearest-neighbour job.
#ifndef SAPWOOD_NEAREST_NEAREST_CPU_H
#define SAPWOOD_NEAREST_NEAREST_CPU_H

#include "nearest/nearest.h"
#include "nearest/ops.h"
#include "tree/layout.h"

// nearest/walk_cpu.c: SAP_WALK_STACK on any tree, SAP_WALK_STACKLESS on balanced ones, through the shared texts.
sap_status sap_nearest_walk_cpu(const sap_tree* tree, const sap_nearest_job* job);
// nearest/nearest_cpu.c: refuses walks that the CPU cannot do on this tree.
sap_status sap_walk_check_cpu(const sap_tree* tree, sap_walk walk);
// nearest/nearest_cpu.c: answers a run on a thread of the caller's with what is fastest for the tree. A search that is
// told nothing; queries of a tree with periods are wrapped. For k > SAP_LIST_MAX run->heap holds k keys of 16 bytes.
// run->distance2 is not NULL.
void sap_nearest_run_cpu(sap_nearest_run* run);
// nearest/nearest_cpu.c: kernels that take a tree's own points leaf by leaf, for so many neighbours; NULL if points ask as
// any queries do.
const sap_nearest_kernels* sap_nearest_self_kernels_of(const sap_tree* tree, int32_t k);
// nearest/nearest_cpu.c: says "no neighbour" in every row, for those of points that are not in the tree.
void sap_nearest_clear(const sap_tree* tree, const sap_nearest_job* job);

#endif
