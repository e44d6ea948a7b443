// Kernels around the shared texts for one precision and number of axes. Specialised text for CUDA.

#include "math/specialise.h"

#include "math/distance.h"

#include "math/box.h"

#include "tree/access.h"

#include "tree/leaf.h"

#include "nearest/bound.h"

static __device__ sap_point SAP_SPECIAL(load_query)(const sap_tree* tree, const SAP_REAL* queries, int number) {
    sap_point query = sap_point_of(0.0f);
    for (int axis = 0; axis < SAP_DIMS; ++axis) query.at[axis] = queries[number * tree->shape.dims + axis];
    return query;
}

#include "box/walk.h"

__global__ void SAP_SPECIAL(box)(sap_tree tree, const SAP_REAL* lower, const SAP_REAL* upper, int count, int room,
                                 int* ids, int* counts) {
    int number = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= count) return;
    int first = number * tree.shape.dims;
    sap_box_hits hits = {ids + number * room, room, 0, 0, 0};
    counts[number] = sap_box_stack(&tree, sap_box_load(&tree, lower + first, upper + first), hits).count;
}

#define SAP_CAPACITY 8
#include "nearest/candidates/candidates.h"

#include "nearest/walk_result.h"

#include "nearest/scan.h"

#include "nearest/walk.h"

__global__ void SAP_SPECIAL(nearest)(sap_tree tree, const SAP_REAL* queries, int count, int k, SAP_REAL limit2,
                                     bool is_stackless, int* ids) {
    int number = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= count) return;
    sap_point query = SAP_SPECIAL(load_query)(&tree, queries, number);
    sap_candidates list = sap_candidates_none(k, limit2);
    list = is_stackless ? sap_nearest_stackless(&tree, query, -1, list).list
                        : sap_nearest_stack(&tree, query, -1, list).list;
#pragma unroll
    for (int i = 0; i < SAP_CAPACITY; ++i)
        if (i >= SAP_CAPACITY - k) ids[number * k + i - (SAP_CAPACITY - k)] = list.id[i];
}
#undef SAP_CAPACITY

#define SAP_VISITOR count
#include "radius/count.h"

#include "radius/walk.h"

__global__ void SAP_SPECIAL_VISITOR(radius)(sap_tree tree, const SAP_REAL* queries, int count, SAP_REAL limit2,
                                            long long* counts) {
    int number = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= count) return;
    sap_visits visits = {0};
    sap_point query = SAP_SPECIAL(load_query)(&tree, queries, number);
    counts[number] = sap_radius_stack(&tree, query, limit2, -1, visits).visits.count;
}
#undef SAP_VISITOR

#define SAP_VISITOR collect
#include "radius/collect.h"

#include "radius/walk.h"

__global__ void SAP_SPECIAL_VISITOR(radius)(sap_tree tree, const SAP_REAL* queries, int count, SAP_REAL limit2,
                                            const long long* offsets, int32_t* ids, SAP_REAL* distance2) {
    int number = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (number >= count) return;
    sap_visits visits = {0, ids + offsets[number], distance2 + offsets[number]};
    sap_point query = SAP_SPECIAL(load_query)(&tree, queries, number);
    sap_radius_stack(&tree, query, limit2, -1, visits);
}
#undef SAP_VISITOR
