// The nearest-neighbour search on CUDA: what its host side hands to the kernels of each precision.
#ifndef SAPWOOD_NEAREST_NEAREST_CUDA_H
#define SAPWOOD_NEAREST_NEAREST_CUDA_H

#include "nearest/ops.h"
#include "tree/tree_cuda.h"

enum { SAP_NEAREST_LIST_MAX_CUDA = 32 }; // longest list in registers

typedef struct sap_nearest_plan {
    sap_cuda_queries queries;
    sap_walk walk;
    int k, row_length;
    bool skip_self;
    double limit2;
    int32_t* ids;               // on the device
    void* distance2;            // on the device, or NULL
    unsigned long long* visits; // on the device: nodes and leaves; or NULL
} sap_nearest_plan;

void sap_cuda_nearest_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
void sap_cuda_nearest_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);

#endif
