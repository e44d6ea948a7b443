// The search kernels for float in 3-D: all walks with short lists, and longer lists for the usual walks.
#include "nearest/nearest_cuda.cuh"

bool sap_nearest_3d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const nearest_search<float> search = search_of<float>(call, tree, plan);
    return launch_one_of<float, 3, 1, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT, WALK_WARP, WALK_PACKET,
                         WALK_WARP_EXPLICIT>(search) ||
           launch_one_of<float, 3, 8, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT, WALK_WARP, WALK_PACKET,
                         WALK_WARP_EXPLICIT>(search) ||
           launch_one_of<float, 3, 16, WALK_STACKLESS, WALK_STACK, WALK_EXPLICIT, WALK_WARP, WALK_PACKET,
                         WALK_WARP_EXPLICIT>(search) ||
           launch_one_of<float, 3, SAP_NEAREST_LIST_MAX_CUDA, WALK_STACKLESS, WALK_EXPLICIT>(search) ||
           launch_one_of<float, 3, HEAP, WALK_STACKLESS>(search);
}
