// nearest/walk_told_cuda.cuh for float trees in 3-D, and for any float and any double tree.

#define SAP_REAL_BITS 32
#define SAP_AXES      3
#include "nearest/walk_told_cuda.cuh"
#undef SAP_AXES
#define SAP_AXES 16
#include "nearest/walk_told_cuda.cuh"
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#include "nearest/walk_told_cuda.cuh"
#undef SAP_REAL_BITS
#undef SAP_AXES

static walk_launch* launch_of(const sap_tree_shape* shape) {
    return shape->real_bits == 64 ? launch_f64_16 : shape->dims == 3 ? launch_f32_3 : launch_f32_16;
}
