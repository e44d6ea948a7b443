// How many points lie within a radius of each point of a tree on a GPU.
#ifndef SAPWOOD_CLOUD_COUNT_CUDA_H
#define SAPWOOD_CLOUD_COUNT_CUDA_H

#include "device/cuda.h"

#include "radius/ops.h"
#include "tree/layout.h"

// counts[source_count], on the GPU: points within the limit, the point itself among them; 0 where the tree has none. They
// are those of a radius search, which takes subtrees that lie inside a ball as a whole.
static inline sap_status cloud_count_within(const sap_tree* tree, double limit2, int64_t* counts) {
    const sap_tree_shape* s = &tree->shape;
    sap_radius_job job;
    memset((void*)&job, 0, sizeof job);
    job.queries.count = s->source_count;
    job.queries.dims = s->dims;
    job.queries.stride = s->dims;
    job.queries.real_bits = s->real_bits;
    job.from = tree;
    job.limit2 = limit2;
    job.counts = counts;
    return sap_radius_cuda(tree, &job);
}

#endif
