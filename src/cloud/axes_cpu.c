// Covariances and axes on the CPU: neighbours of a batch of points are found, added up and forgotten.
#include "cloud/cloud.h"
#include "cloud/orient.h"
#include "cloud/points_cpu.h"
#include "device/cpu.h"

typedef struct consumer {
    const sap_axes_job* job;
    const sap_cloud_kernels* kernels;
    const void* points;
} consumer;

static void consume(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const consumer* c = context;
    (void)worker;
    c->kernels->axes(c->job, c->points, rows);
}

// Points that are not in the tree have rows of zeros.
static void clear(const sap_axes_job* job) {
    const size_t n = (size_t)job->tree->shape.source_count;
    const sap_cloud_axes* out = &job->out;
    if (out->normals) memset(out->normals, 0, 3 * n * sizeof(float));
    if (out->directions) memset(out->directions, 0, 3 * n * sizeof(float));
    if (out->covariances) memset(out->covariances, 0, 6 * n * sizeof(float));
    if (out->eigenvalues) memset(out->eigenvalues, 0, 3 * n * sizeof(float));
    if (out->curvatures) memset(out->curvatures, 0, n * sizeof(float));
    if (out->planarities) memset(out->planarities, 0, n * sizeof(float));
    if (out->linearities) memset(out->linearities, 0, n * sizeof(float));
    if (out->counts) memset(out->counts, 0, n * sizeof(int32_t));
    if (out->kinds) memset(out->kinds, 0, n);
}

sap_status sap_cloud_axes_cpu(const sap_axes_job* job) {
    const sap_tree* tree = job->tree;
    sap_cloud_points points = {NULL, {NULL, 0}};
    if (!sap_cloud_points_open(tree, &points))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the points by their ids");
    const bool is_turned = job->out.normals && job->options.orient != SAP_ORIENT_NONE && tree->shape.count;
    const bool is_twice = is_turned && job->options.orient == SAP_ORIENT_CONSISTENT; // all points ask once more
    sap_progress_state progress = sap_progress_begin(tree->device, tree->shape.count * (is_twice ? 2 : 1));
    consumer c = {job, sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->cloud, points.points};
    if (tree->shape.count < tree->shape.source_count) clear(job);
    const sap_cloud_search search = {.tree = tree,
                                     .k = job->near.k,
                                     .with_self = true,
                                     .limit2 = job->near.limit2,
                                     .consume = consume,
                                     .context = &c,
                                     .progress = &progress};
    sap_status status = sap_cloud_search_cpu(&search);
    sap_cloud_points_close(tree, &points);
    const sap_orient_job turning = {tree, job->options, job->out.normals};
    if (status == SAP_OK && is_turned)
        status = is_twice ? sap_orient_alike_cpu(&turning, &progress) : sap_cloud_orient_cpu(&turning);
    if (status == SAP_OK && !sap_progress_finish(&progress))
        status = sap_fail(tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    return status;
}
