// Prefix sums on a GPU.
#ifndef SAPWOOD_COMPACT_PREFIX_SUM_CUDA_H
#define SAPWOOD_COMPACT_PREFIX_SUM_CUDA_H

#include "device/cuda.h"

// offsets[1 … rows] hold the counts of the rows and become their sums: row i begins at offsets[i]. offsets[0] becomes 0.
void sap_prefix_sum_cuda(sap_cuda_call* call, int64_t* offsets, int64_t rows);

#endif
