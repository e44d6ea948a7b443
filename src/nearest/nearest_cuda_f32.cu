// The search kernels for float.
#include "nearest/nearest_cuda.cuh"

void sap_cuda_nearest_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    launch_all<float>(call, tree, plan);
}
