// The search kernels for double: the usual walks in 3-D, and any walk in any number of dimensions.
#include "nearest/nearest_cuda.cuh"

static bool launch_3d(const nearest_search<double>& search) {
    return launch_one_of<double, 3, 1, WALK_STACKLESS, WALK_EXPLICIT>(search) ||
           launch_one_of<double, 3, 8, WALK_STACKLESS>(search) ||
           launch_one_of<double, 3, 16, WALK_STACKLESS, WALK_EXPLICIT>(search);
}

void sap_nearest_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const nearest_search<double> search = search_of<double>(call, tree, plan);
    if (tree->shape.dims == 3 && launch_3d(search)) return;
    launch_general(search);
}
