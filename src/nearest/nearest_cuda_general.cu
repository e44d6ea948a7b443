// The search kernels for float in any number of dimensions.
#include "nearest/nearest_cuda.cuh"

void sap_nearest_general_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    launch_general(search_of<float>(call, tree, plan));
}
