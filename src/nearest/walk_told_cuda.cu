// The shared walk on a GPU, for searches whose answers follow from the walk: those that are not exact.
// Some of them have faster kernels (sap_nearest_told_near).
#include "nearest/told_cuda.cuh"

enum { WALK_BLOCKS_EACH = 8 };                           // for each multiprocessor, if there are enough queries
static const size_t WALK_STACKS_MOST = (size_t)64 << 20; // bytes of all threads' stacks, or one block's

static sap_cuda_grid walk_grid_of(const sap_cuda_call* call, int64_t count, size_t stack) {
    sap_cuda_grid grid = sap_cuda_grid_for(count, NEAREST_THREADS);
    const int64_t fit = (int64_t)(WALK_STACKS_MOST / (stack * NEAREST_THREADS));
    const int64_t most = call->cuda->multiprocessors * (int64_t)WALK_BLOCKS_EACH;
    if (grid.blocks > most) grid.blocks = most;
    if (grid.blocks > fit) grid.blocks = fit > 1 ? fit : 1;
    return grid;
}

// Launches a search.
typedef void walk_launch(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan);

#define SAP_MEASURED
#define SAP_STACK SAP_MAX_DEPTH
#define SAP_STACK_IS_LENT

// The texts define the same names for trees without and with periods.
namespace sap_open_axes {
#include "nearest/walk_told_instances_cuda.cuh"
}
#define SAP_PERIODIC
namespace sap_periodic_axes {
#include "nearest/walk_told_instances_cuda.cuh"
}

#undef SAP_PERIODIC
#undef SAP_STACK_IS_LENT
#undef SAP_STACK
#undef SAP_MEASURED

void sap_nearest_walk_told(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const bool is_periodic = sap_is_periodic(&tree->options);
    (is_periodic ? sap_periodic_axes::launch_of : sap_open_axes::launch_of) (&tree->shape)(call, tree, plan);
}
