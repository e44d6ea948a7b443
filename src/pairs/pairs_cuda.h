// Trees against trees on CUDA: what its files share.
#ifndef SAPWOOD_PAIRS_PAIRS_CUDA_H
#define SAPWOOD_PAIRS_PAIRS_CUDA_H

#include "device/device.h"
#include "sapwood/points.h"

// Makes sure that work in b's stream sees a's points. Fails if they lie on two GPUs.
sap_status sap_pairs_meet_cuda(const sap_tree* a, const sap_tree* b);

#endif
