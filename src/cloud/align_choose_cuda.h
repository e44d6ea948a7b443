// Which pairs of an alignment count by what all of them look like, on a GPU.
#ifndef SAPWOOD_CLOUD_ALIGN_CHOOSE_CUDA_H
#define SAPWOOD_CLOUD_ALIGN_CHOOSE_CUDA_H

#include "device/cuda.h"

extern "C" {
#include "cloud/align.h"
}

// Of the points of a step; all on the GPU.
typedef struct sap_align_choice {
    const int32_t *pairs, *ids; // [count]; ids: NULL where several points may share a pair
    const double *distance2, *residual2;
    float* counts;         // set to 0 where pairs do not count
    int64_t count, others; // others: points or triangles of the target
} sap_align_choice;

// What sap_align_choose does on a CPU.
void sap_align_choose_cuda(sap_cuda_call* call, sap_aligning* a, const sap_align_choice* choice);

#endif
