// The search kernels for searches that were told something: balanced trees of floats in 2-D and 3-D, and any tree.
#include "nearest/told_cuda.cuh"

template <typename real>
static void launch_general_told(sap_cuda_call* call, const nearest_task<real>& task, const sap_cuda_told<real>& told,
                                const int32_t* without) {
    const bool launched = launch_told_lists<real, 0, true>(call, task, told, without) ||
                          launch_told_lists<real, 0, false>(call, task, told, without);
    SAP_ASSERT(launched);
    (void)launched;
}

void sap_nearest_told_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const sap_cuda_told<float> told = sap_cuda_told_of<float>(call, tree, plan->told, plan->rows);
    const nearest_task<float> task = search_of<float>(call, tree, plan).task;
    if (launch_told_lists<float, 2, true>(call, task, told, plan->without) ||
        launch_told_lists<float, 3, true>(call, task, told, plan->without))
        return;
    launch_general_told(call, task, told, plan->without);
}

void sap_nearest_told_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const sap_cuda_told<double> told = sap_cuda_told_of<double>(call, tree, plan->told, plan->rows);
    launch_general_told(call, search_of<double>(call, tree, plan).task, told, plan->without);
}
