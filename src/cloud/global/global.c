// The public functions of features and of alignment without a start: arguments are checked here, once for all processors.
#include "cloud/given.h"
#include "cloud/ops.h"
#include "device/reserved.h"
#include "mesh/layout.h"
#include "tree/layout.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>

enum { FEWEST = 100, MOST = 100000 };

// ---- Features

static sap_status check_features(sap_features_job* job) {
    const sap_tree* tree = job->tree;
    const sap_device* device = tree->device;
    const sap_features_options* o = &job->options;
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (tree->shape.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: its points have %d dimensions, but features are those of 3",
                        (int)tree->shape.dims);
    if (o->is_oriented && !o->normals)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.is_oriented: no normals are given");
    status = sap_periods_refuse(tree, "be described by features");
    if (status == SAP_OK) status = sap_given_check_normals(tree, o->normals, "options.normals");
    job->near = (sap_neighborhoods){.k = o->k == 0 && o->radius == 0 ? 32 : o->k, .radius = o->radius};
    return status == SAP_OK ? sap_cloud_check_neighbors(tree, &job->near) : status;
}

sap_status sap_cloud_features(const sap_tree* tree, const sap_features_options* options, float* features) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_features_job job = {
        .tree = tree, .options = options ? *options : (sap_features_options){.k = 0}, .features = features};
    const sap_status status = check_features(&job);
    if (status != SAP_OK) return status;
    if (!features && tree->shape.source_count) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "features: is NULL");
    if (!SAP_CAN(tree->device, cloud, features)) return sap_unsupported(tree->device, "find features");
    return tree->device->rooms.cloud->features(&job);
}

// ---- Alignment without a start

static sap_status check_options(sap_global_job* job) {
    const sap_device* device = job->device;
    sap_global_options* o = &job->options;
    const sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (!(o->spacing >= 0 && isfinite(o->spacing)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.spacing: %g is negative or not finite", o->spacing);
    if (o->most != 0 && (o->most < FEWEST || o->most > MOST))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.most: %d is not 0 nor %d to %d", (int)o->most, FEWEST,
                        MOST);
    if (!(o->least_overlap >= 0 && o->least_overlap <= 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.least_overlap: %g is not between 0 and 1",
                        o->least_overlap);
    if (o->most == 0) o->most = 4000;
    if (o->least_overlap == 0) o->least_overlap = 0.1;
    return sap_cloud_check_start(device, o->start, job->start);
}

static sap_status check_clouds(const sap_global_job* job) {
    const sap_rows* rows = &job->source;
    const sap_device* device = job->device;
    const sap_status status = sap_rows_check(device, rows, "source");
    if (status != SAP_OK) return status;
    if (rows->dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "source: its points have %d dimensions, not 3", (int)rows->dims);
    if (job->mesh) return SAP_OK;
    if (job->tree->shape.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "target: its points have %d dimensions, not 3",
                        (int)job->tree->shape.dims);
    if (job->tree->shape.real_bits != rows->real_bits)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "target: its precision is not that of the source");
    return sap_periods_refuse(job->tree, "be aligned with");
}

static sap_status align(sap_global_job* job, const sap_global_options* options, sap_global_motion* motion) {
    if (options) job->options = *options;
    sap_status status = check_options(job);
    if (status == SAP_OK) status = check_clouds(job);
    if (status != SAP_OK) return status;
    if (!motion) return sap_fail(job->device, SAP_ERROR_ARGUMENT, "motion: is NULL");
    if (!SAP_CAN(job->device, cloud, global)) return sap_unsupported(job->device, "align clouds");
    status = job->device->rooms.cloud->global(job);
    if (status == SAP_OK) *motion = job->out;
    return status;
}

sap_status sap_cloud_align_global(const sap_tree* target, sap_points source, const sap_global_options* options,
                                  sap_global_motion* motion) {
    if (!target) return SAP_ERROR_ARGUMENT;
    sap_global_job job = {.tree = target, .device = target->device, .source = sap_rows_f32(source)};
    return align(&job, options, motion);
}

sap_status sap_cloud_align_global_f64(const sap_tree* target, sap_points_f64 source, const sap_global_options* options,
                                      sap_global_motion* motion) {
    if (!target) return SAP_ERROR_ARGUMENT;
    sap_global_job job = {.tree = target, .device = target->device, .source = sap_rows_f64(source)};
    return align(&job, options, motion);
}

sap_status sap_cloud_align_global_mesh(const sap_mesh_tree* target, sap_points source,
                                       const sap_global_options* options, sap_global_motion* motion) {
    if (!target) return SAP_ERROR_ARGUMENT;
    sap_global_job job = {.mesh = target, .device = target->device, .source = sap_rows_f32(source)};
    return align(&job, options, motion);
}
