// A step of points that repel each other, on the CPU.
#include "cloud/cloud.h"
#include "cloud/points_cpu.h"
#include "device/cpu.h"

typedef struct consumer {
    const sap_relax_job* job;
    const sap_cloud_kernels* kernels;
    const void* points;
} consumer;

static void consume(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const consumer* c = context;
    (void)worker;
    c->kernels->relax(c->job, c->points, rows);
}

sap_status sap_cloud_relax_cpu(const sap_relax_job* job) {
    const sap_tree* tree = job->tree;
    sap_cloud_points points = {NULL, {NULL, 0}};
    SAP_ASSERT(tree->shape.count == tree->shape.source_count && tree->shape.real_bits == 32);
    if (!sap_cloud_points_open(tree, &points))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the points by their ids");
    sap_progress_state progress = sap_progress_begin(tree->device, tree->shape.count);
    consumer c = {job, sap_cpu_kernels_of(tree->device, 32)->cloud, points.points};
    const sap_cloud_search search = {.tree = tree,
                                     .k = job->near.k,
                                     .with_self = true,
                                     .limit2 = job->near.limit2,
                                     .consume = consume,
                                     .context = &c,
                                     .progress = &progress};
    const sap_status status = sap_cloud_search_cpu(&search);
    sap_cloud_points_close(tree, &points);
    return status;
}
