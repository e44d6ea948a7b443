// The kernel of nearest/walk_told_cuda.cuh for the list that was included before. Specialised text for CUDA.

#include "nearest/walk_result.h"

#include "nearest/scan.h"

#ifdef SAP_PERIODIC
#include "nearest/walk_periodic.h"
#else
#include "nearest/walk.h"
#endif

// Answers one query.
static __device__ void
SAP_SPECIAL_LIST(walk_answer)(SAP_TREE_PARAM SAP_MEASURE_PARAM const nearest_task<SAP_REAL>& task,
                              const told_ask<SAP_REAL>& ask, sap_nearest_pending* pending) {
    int found = 0;
    sap_point query = sap_point_of(0.0f);
    if (ask.k > 0)
        for (int axis = 0; axis < SAP_DIMS; ++axis) query.at[axis] = ask.at[axis];
    if (ask.k > 0 && sap_point_finite(query)) {
        int32_t* ids = task.ids + ask.row * task.row_length;
        SAP_REAL* distance2 = task.distance2 ? task.distance2 + ask.row * task.row_length : NULL;
#if SAP_CAPACITY == 0
        const sap_candidates none = sap_candidates_in(distance2, ids, ask.k, ask.limit);
#else
        const sap_candidates none = sap_candidates_none(ask.k, ask.limit);
#endif
        const sap_nearest_result result = sap_nearest_stack(SAP_TREE SAP_MEASURE query, ask.left_out, none, pending);
        count_visits(task, result.nodes, result.leaves);
#if SAP_CAPACITY == 0
        sap_candidates_sort(result.list);
        while (found < ask.k && ids[found] != SAP_NO_ID) ++found;
#else
        SAP_UNROLL
        for (int i = 0; i < SAP_CAPACITY; ++i) {
            if (i < SAP_CAPACITY - ask.k || result.list.id[i] == SAP_NO_ID) continue;
            ids[found] = result.list.id[i];
            if (distance2) distance2[found] = result.list.distance2[i];
            ++found;
        }
#endif
    }
    fill_row(task, ask.row, found);
}

static __global__ void __launch_bounds__(NEAREST_THREADS)
    SAP_SPECIAL_LIST(walk_kernel)(const __grid_constant__ sap_tree tree, const __grid_constant__ sap_measure measure,
                                  const __grid_constant__ nearest_task<SAP_REAL> task,
                                  const __grid_constant__ sap_cuda_told<SAP_REAL> told, const int32_t* without,
                                  void* stacks) {
    const int64_t thread = (int64_t)blockIdx.x * NEAREST_THREADS + threadIdx.x;
    sap_nearest_pending* pending = (sap_nearest_pending*)stacks + thread * (tree.shape.depth + 1);
    for (int64_t i = thread; i < task.count; i += (int64_t)gridDim.x * NEAREST_THREADS) {
        const told_ask<SAP_REAL> ask = told_ask_of(task, told, without, i);
        if (ask.row >= 0) SAP_SPECIAL_LIST(walk_answer)(&tree, &measure, task, ask, pending);
    }
}
