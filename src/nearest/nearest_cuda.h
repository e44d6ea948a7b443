// The nearest-neighbour search on CUDA: what its host side gives to the files with its kernels.
#ifndef SAPWOOD_NEAREST_NEAREST_CUDA_H
#define SAPWOOD_NEAREST_NEAREST_CUDA_H

#include "nearest/ops.h"
#include "tree/tree_cuda.h"

enum {
    SAP_NEAREST_LIST_MAX_CUDA = 32, // longest list in registers
    SAP_NEAREST_LONG_MAX = 256,     // longest list in the registers of a warp
    SAP_NEAREST_WALK_LIST_MAX = 8   // the same for searches that are not exact
};

typedef struct sap_nearest_plan {
    sap_cuda_queries queries;
    sap_walk walk;
    int k, row_length;
    bool skip_self;
    double limit2;
    int32_t* ids;               // on the device
    void* distance2;            // on the device, or NULL
    unsigned long long* visits; // on the device: nodes and leaves; or NULL
    const sap_told* told;       // or NULL
    const int32_t* without;     // on the device: an id for each row that does not count; or NULL
    int64_t rows;               // of answers
} sap_nearest_plan;

// Launches the search by the kernel that suits it best.
void sap_nearest_run_cuda(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
// Launches the search on float trees of 2, 3, 4 or 8 dimensions, if there is a kernel made for it. False: there is
// none, nothing was launched, and sap_nearest_general_f32 can do it.
bool sap_nearest_2d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
bool sap_nearest_3d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
bool sap_nearest_4d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
bool sap_nearest_8d_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
// Launches the search by a warp a query, where lists are long: balanced trees of floats in 2 or 3 dimensions. False: as
// above.
bool sap_nearest_long_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
// Launch the search on any float tree, and on any double tree.
void sap_nearest_general_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
// The same by what the search was told, which may leave points out.
void sap_nearest_told_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
void sap_nearest_told_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
void sap_nearest_f64(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
// Launches a search for answers that are near enough, if there is a kernel made for it: by squared distances in float
// trees of 3 dimensions.
bool sap_nearest_told_near(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);
// The same by the shared walk, from which answers that are not exact follow.
void sap_nearest_walk_told(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);

#endif
