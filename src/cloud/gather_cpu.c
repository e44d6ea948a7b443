// Sums over neighbours on the CPU: neighbours of a batch of queries are found, added up and forgotten.
#include "cloud/cloud.h"
#include "cloud/points_cpu.h"
#include "device/cpu.h"

typedef struct consumer {
    const sap_gather_job* job;
    const sap_gather_kernels* kernels;
    const void* points;
} consumer;

static void consume(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const consumer* c = context;
    (void)worker;
    c->kernels->gather(c->job, c->points, rows);
}

static void clear(const sap_gather_job* job, int64_t count) {
    const size_t n = (size_t)count, dims = (size_t)job->tree->shape.dims, one = sizeof(double);
    const sap_gathered* out = &job->out;
    if (!n) return;
    if (out->counts) memset(out->counts, 0, n * sizeof(int32_t));
    if (out->weights) memset(out->weights, 0, n * one);
    if (out->offsets) memset(out->offsets, 0, n * dims * one);
    if (out->products) memset(out->products, 0, n * (dims * (dims + 1) / 2) * one);
    if (out->attributes) memset(out->attributes, 0, n * (size_t)job->attribute_count * one);
}

sap_status sap_cloud_gather_cpu(const sap_gather_job* job) {
    const sap_tree* tree = job->tree;
    const sap_gathered* out = &job->out;
    const bool count_only = job->near.k == 0 && !out->weights && !out->offsets && !out->products && !out->attributes;
    const int64_t count = job->queries ? job->queries->count : tree->shape.source_count;
    sap_cloud_points points = {NULL, {NULL, 0}};
    if (!count_only && !sap_cloud_points_open(tree, &points))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the points by their ids");
    clear(job, count);
    sap_progress_state progress = sap_progress_begin(tree->device, job->queries ? count : tree->shape.count);
    consumer c = {job, sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->gather, points.points};
    const sap_cloud_search search = {.tree = tree,
                                     .queries = job->queries,
                                     .k = job->near.k,
                                     .with_self = true,
                                     .count_only = count_only,
                                     .limit2 = job->near.limit2,
                                     .consume = consume,
                                     .context = &c,
                                     .progress = &progress};
    sap_status status = sap_cloud_search_cpu(&search);
    if (!count_only) sap_cloud_points_close(tree, &points);
    if (status == SAP_OK && !sap_progress_finish(&progress))
        status = sap_fail(tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    return status;
}
