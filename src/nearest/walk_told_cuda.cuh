// The shared walk as a kernel: threads take one query after the other. Specialised text for CUDA (math/specialise.h), of
// nearest/walk_told_cuda.cu. Defines SAP_SPECIAL(launch).

#include "math/specialise.h"

#include "math/distance.h"

#include "tree/measure.h"

#include "tree/access.h"

#include "tree/leaf.h"

#include "nearest/bound.h"

#ifdef SAP_PERIODIC
#include "math/box.h"
#endif

#define SAP_CAPACITY 8
#include "nearest/candidates/candidates.h"

#include "nearest/walk_told_kernel.cuh"
#undef SAP_CAPACITY

#define SAP_CAPACITY 0
#include "nearest/candidates/candidates_memory.h"

#include "nearest/walk_told_kernel.cuh"

static void SAP_SPECIAL(launch)(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const told_search<SAP_REAL> s = told_search_of<SAP_REAL>(call, tree, plan);
    sap_measure measure = SAP_SPECIAL(measure_told)(tree, plan->told);
    measure.keep = s.told.keep;
    const size_t stack = (size_t)(tree->shape.depth + 1) * sizeof(sap_nearest_pending);
    const sap_cuda_grid grid = walk_grid_of(call, s.search.task.count, stack);
    void* stacks = sap_cuda_take(call, (size_t)grid.blocks * NEAREST_THREADS * stack);
    sap_cuda_launch(call,
                    plan->k <= SAP_NEAREST_WALK_LIST_MAX ? SAP_SPECIAL_ALSO(walk_kernel, SAP_REAL_BITS, SAP_AXES, 8)
                                                         : SAP_SPECIAL_LIST(walk_kernel),
                    grid, *tree, measure, s.search.task, s.told, s.without, stacks);
}
#undef SAP_CAPACITY
