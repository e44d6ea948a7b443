// The search kernels for float in 4-D: the usual walk with short lists.
#include "nearest/nearest_cuda.cuh"

bool sap_nearest_4d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const nearest_search<float> search = search_of<float>(call, tree, plan);
    return launch_one_of<float, 4, 1, WALK_STACKLESS>(search) || launch_one_of<float, 4, 8, WALK_STACKLESS>(search) ||
           launch_one_of<float, 4, 16, WALK_STACKLESS>(search);
}
