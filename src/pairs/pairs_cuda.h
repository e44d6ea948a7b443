// Trees against trees on CUDA: what its files share.
#ifndef SAPWOOD_PAIRS_PAIRS_CUDA_H
#define SAPWOOD_PAIRS_PAIRS_CUDA_H

#include "pairs/ops.h"
#include "tree/host_view.h"

// Makes sure that work in b's stream sees a's points. Fails if they lie on two GPUs.
sap_status sap_pairs_meet_cuda(const sap_tree* a, const sap_tree* b);
// A copy of a tree in host memory; an empty tree if a bad row was met when it was built. Waits.
sap_status sap_pairs_view_cuda(const sap_tree* tree, sap_host_view* view);

// ---- pairs/weigh_cuda.cu: the sums of a job with weights, of trees that meet.
sap_status sap_pairs_weigh_cuda(const sap_pair_counts_job* job);

#endif
