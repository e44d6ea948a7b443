// The shared walk on a GPU, for searches that are not exact: trees without periods.
#include "nearest/told_cuda.cuh"

#define SAP_MEASURED
#define SAP_STACK SAP_MAX_DEPTH
#define SAP_STACK_IS_LENT

#define SAP_REAL_BITS 32
#define SAP_AXES      3
#include "nearest/walk_told_cuda.cuh"
#undef SAP_AXES
#define SAP_AXES 16
#include "nearest/walk_told_cuda.cuh"
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#include "nearest/walk_told_cuda.cuh"

void sap_nearest_walk_told(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const bool is_3d = tree->shape.dims == 3;
    (tree->shape.real_bits == 64 ? launch_f64_16 : is_3d ? launch_f32_3 : launch_f32_16)(call, tree, plan);
}
