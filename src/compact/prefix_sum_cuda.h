// Prefix sums on CUDA devices.
#ifndef SAPWOOD_COMPACT_PREFIX_SUM_CUDA_H
#define SAPWOOD_COMPACT_PREFIX_SUM_CUDA_H

#include "device/cuda.h"

// Turns counts into offsets: offsets[1 … rows] are counts and become their prefix sums; offsets[0] becomes 0.
void sap_prefix_sum_cuda(sap_cuda_call* call, int64_t* offsets, int64_t rows);

#endif
