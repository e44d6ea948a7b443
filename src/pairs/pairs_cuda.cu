// Trees against trees on CUDA: the points of one tree are the queries of a search of the other, leaf by leaf, and so in
// an order in which neighbours follow each other.
#include "device/cuda.h"
#include "nearest/ops.h"
#include "pairs/ops.h"
#include "pairs/pairs_cuda.h"
#include "radius/ops.h"
#include "tree/tree_cuda.h"

sap_status sap_pairs_meet_cuda(const sap_tree* a, const sap_tree* b) {
    if (a->device == b->device) return SAP_OK;
    if (sap_cuda_of(a->device)->ordinal != sap_cuda_of(b->device)->ordinal)
        return sap_fail(a->device, SAP_ERROR_UNSUPPORTED, "b: lies on another GPU than a; copy it there");
    const sap_status status = sap_device_wait(a->device); // whose stream another one's is not ordered with
    return status == SAP_OK ? sap_device_wait(b->device) : status;
}

static sap_rows points_of(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    const sap_rows rows = {NULL, s->source_count, s->dims, s->dims, s->real_bits};
    return rows;
}

sap_status sap_pairs_collect_cuda(const sap_pairs_job* job) {
    sap_radius_job search = {};
    search.queries = points_of(job->a);
    search.from = job->a;
    search.limit2 = job->limit2;
    search.self = job->greater_only;
    search.found = job->found;
    const sap_status status = sap_pairs_meet_cuda(job->a, job->b);
    return status == SAP_OK ? sap_radius_cuda(job->b, &search) : status;
}

sap_status sap_tree_nearest_cuda(const sap_tree_nearest_job* job) {
    sap_told told;
    sap_nearest_job search = {};
    search.queries = points_of(job->a);
    search.from = job->a;
    search.ids = job->ids;
    search.distance2 = job->distance2;
    const sap_status status = sap_pairs_meet_cuda(job->a, job->b);
    return status == SAP_OK ? sap_nearest_run_job(job->b, &job->search, &told, &search) : status;
}

sap_status sap_pairs_view_cuda(const sap_tree* tree, sap_host_view* view) {
    sap_cuda_call call;
    int64_t bad = INT64_MAX;
    sap_status status = sap_host_view_open(tree, view);
    if (status != SAP_OK) return status;
    sap_cuda_begin(&call, tree->device);
    sap_cuda_fetch(&call, &bad, sap_cuda_tree_of(tree)->bad, sizeof bad);
    status = sap_cuda_end(&call, SAP_OK);
    if (status != SAP_OK) sap_host_view_close(view);
    if (bad != INT64_MAX) view->tree.shape.count = 0;
    return status;
}

sap_status sap_pairs_shifts_cuda(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts) {
    sap_host_view view;
    sap_status status = sap_pairs_view_cuda(tree, &view);
    if (status != SAP_OK) return status;
    status = sap_pairs_shifts_cpu(&view.tree, pairs, shifts);
    sap_host_view_close(&view);
    return status;
}
