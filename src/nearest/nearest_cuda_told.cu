// The search kernels for searches that were told something: balanced trees of floats in 2-D and 3-D, and any tree.
#include "nearest/told_cuda.cuh"

void sap_nearest_told_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    told_search<float> s = told_search_of<float>(call, tree, plan);
    if (launch_told_lists<float, 3, WALK_STACKLESS, SAP_CUDA_L2, SAP_CUDA_L1, SAP_CUDA_LINF, SAP_CUDA_AROUND,
                          SAP_CUDA_POWER>(s) ||
        launch_told_lists<float, 2, WALK_STACKLESS, SAP_CUDA_L2>(s))
        return;
    walk_with_stack(&s); // lengths to any power: boxes rule out more than planes, at the same cost
    if (launch_told_lists<float, 3, WALK_STACK, SAP_CUDA_ANY>(s) ||
        launch_told<float, 3, HEAP, WALK_STACK, SAP_CUDA_ANY>(s) ||
        launch_told_lists<float, 2, WALK_STACK, SAP_CUDA_ANY>(s))
        return;
    launch_general_told(s);
}

bool sap_nearest_told_near(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    if (tree->shape.real_bits != 32 || tree->shape.dims != 3 || plan->k > SAP_NEAREST_LIST_MAX_CUDA ||
        plan->told->metric != SAP_METRIC_L2 || plan->told->weights || sap_is_periodic(&tree->options))
        return false;
    told_search<float> s = told_search_of<float>(call, tree, plan);
    s.search.walk = tree->shape.kind == SAP_TREE_BALANCED ? WALK_STACKLESS : WALK_EXPLICIT;
    s.told.measure = SAP_CUDA_NEAR;
    const bool launched = launch_told_lists<float, 3, WALK_STACKLESS, SAP_CUDA_NEAR>(s) ||
                          launch_told_lists<float, 3, WALK_EXPLICIT, SAP_CUDA_NEAR>(s);
    SAP_ASSERT(launched);
    return launched;
}

void sap_nearest_told_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    told_search<double> s = told_search_of<double>(call, tree, plan);
    if (launch_told_lists<double, 3, WALK_STACKLESS, SAP_CUDA_AROUND>(s)) return;
    walk_with_stack(&s);
    launch_general_told(s);
}
