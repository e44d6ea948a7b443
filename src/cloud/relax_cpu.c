// Points that repel each other, on the CPU.
#include "cloud/cloud.h"
#include "cloud/points_cpu.h"
#include "cloud/surface.h"
#include "device/cpu.h"
#include <math.h>

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

static sap_status step(const sap_relax_job* job) {
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

static bool take(sap_device* device, size_t bytes, sap_scratch* memory) {
    return sap_scratch_take(device, bytes, memory);
}

static sap_status copy(sap_device* device, void* to, const void* from, size_t bytes) {
    (void)device;
    memcpy(to, from, bytes);
    return SAP_OK;
}

static sap_status measure(sap_device* device, const float* from, const float* to, int64_t coordinates, double* sum) {
    double all = 0;
    (void)device;
    for (int64_t first = 0; first < coordinates; first += SAP_SUM_BLOCK) {
        double lanes[SAP_SUM_LANES] = {0}, block = 0;
        const int64_t end = coordinates - first < SAP_SUM_BLOCK ? coordinates : first + SAP_SUM_BLOCK;
        for (int64_t i = first; i < end; i++) {
            const double d = (double)to[i] - (double)from[i];
            lanes[(i - first) % SAP_SUM_LANES] += d * d;
        }
        for (int l = 0; l < SAP_SUM_LANES; l++) block += lanes[l];
        all += block;
    }
    *sum = all;
    return SAP_OK;
}

static sap_status put_back(const sap_relax_return* job) {
    const sap_points* given = &job->points;
    const int64_t stride = given->stride ? given->stride : 3;
    const sap_status status = sap_nearest(job->given, (sap_points){job->at, job->count, 3, 0}, &(sap_search){.k = 1},
                                          job->ids, job->distance2);
    for (int64_t i = 0; status == SAP_OK && i < job->count; i++) {
        if (job->ids[i] < 0) continue; // too far off for a distance
        const int64_t id = job->ids[i];
        sap_surface_return(given->coords + id * stride, job->surface + 3 * id, job->normals + 3 * i, job->reach,
                           job->at + 3 * i);
    }
    return status;
}

const sap_relax_ops sap_cloud_relax_cpu = {
    .take = take, .give = sap_scratch_give, .copy = copy, .step = step, .measure = measure, .put_back = put_back};
