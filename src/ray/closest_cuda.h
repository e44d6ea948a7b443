// The search for nearest points on a mesh on CUDA: what its host side gives to other files of kernels.
#ifndef SAPWOOD_RAY_CLOSEST_CUDA_H
#define SAPWOOD_RAY_CLOSEST_CUDA_H

#include "device/cuda.h"
#include "ray/ops.h"

// Launches the search; all that the job names lies on the device.
void sap_closest_run_cuda(sap_cuda_call* call, const sap_mesh_tree* tree, const sap_closest_job* job);

#endif
