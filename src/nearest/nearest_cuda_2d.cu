// The search kernels for float in 2-D: the usual walks; explicit trees with two lengths of lists.
#include "nearest/nearest_cuda.cuh"

bool sap_nearest_2d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const nearest_search<float> search = search_of<float>(call, tree, plan);
    return launch_one_of<float, 2, 1, WALK_STACKLESS, WALK_EXPLICIT>(search) ||
           launch_one_of<float, 2, 8, WALK_STACKLESS>(search) || launch_one_of<float, 2, 16, WALK_STACKLESS>(search) ||
           launch_one_of<float, 2, SAP_NEAREST_LIST_MAX_CUDA, WALK_STACKLESS, WALK_EXPLICIT>(search);
}
