// The search kernels for float in 8-D: balanced trees without a stack.
#include "nearest/nearest_cuda.cuh"

bool sap_nearest_8d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const nearest_search<float> search = search_of<float>(call, tree, plan);
    return launch_one_of<float, 8, 1, WALK_STACKLESS>(search) || launch_one_of<float, 8, 8, WALK_STACKLESS>(search) ||
           launch_one_of<float, 8, SAP_NEAREST_LIST_MAX_CUDA, WALK_STACKLESS>(search);
}
