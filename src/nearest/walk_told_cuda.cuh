// The shared walk as a kernel, for searches whose answers follow from the walk: threads take one
// query after the other. Specialised text for CUDA (math/specialise.h); needs nearest/told_cuda.cuh, SAP_STACK,
// SAP_STACK_IS_LENT, SAP_MEASURED and, for trees with periods, SAP_PERIODIC. Defines SAP_SPECIAL(launch).

#ifndef SAPWOOD_NEAREST_WALK_TOLD_CUDA_CUH
#define SAPWOOD_NEAREST_WALK_TOLD_CUDA_CUH

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

#endif

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
