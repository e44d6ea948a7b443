// The search kernels for double.
#include "nearest/nearest_cuda.cuh"

void sap_cuda_nearest_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    launch_all<double>(call, tree, plan);
}
