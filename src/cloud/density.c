// The public functions of densities and outliers: arguments are checked here, once for all processors.
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include <math.h>

static sap_status check_radius(const sap_device* device, double radius) {
    if (radius > 0 && isfinite(radius)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g; give one that is above 0 and finite", radius);
}

static sap_status check_k(const sap_device* device, int32_t k) {
    return k >= 0 ? SAP_OK : sap_fail(device, SAP_ERROR_ARGUMENT, "options.k: %d is negative", (int)k);
}

static sap_status check_density(const sap_tree* tree, sap_density_options* o) {
    const sap_device* device = tree->device;
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status == SAP_OK) status = check_k(device, o->k);
    if (status != SAP_OK) return status;
    if (o->kind < SAP_DENSITY_COUNT || o->kind > SAP_DENSITY_KERNEL)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.kind: unknown density %d", (int)o->kind);
    if (o->dims < 0 || o->dims > tree->shape.dims)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.dims: %d is not 1 to %d, the tree's dimensions",
                        (int)o->dims, (int)tree->shape.dims);
    if (o->dims == 0) o->dims = tree->shape.dims;
    if (o->k == 0) o->k = 1;
    if (o->kind == SAP_DENSITY_DISTANCE) return SAP_OK;
    status = check_radius(device, o->radius);
    double power = o->radius * o->radius;
    for (int32_t n = 2; n < o->dims; n++) power *= o->radius;
    if (status == SAP_OK && o->kind == SAP_DENSITY_KERNEL && !(power >= 1e-290 && power <= 1e290))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g to the power of %d is no usual number",
                        o->radius, (int)o->dims);
    return status;
}

sap_status sap_cloud_density(const sap_tree* tree, const sap_density_options* options, double* densities) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    sap_density_job job = {tree, *options, densities};
    const sap_status status = check_density(tree, &job.options);
    if (status != SAP_OK) return status;
    if (!densities && tree->shape.source_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "densities: is NULL");
    if (!SAP_CAN(device, cloud, density)) return sap_unsupported(device, "find densities");
    return device->rooms.cloud->density(&job);
}

static sap_status check_outliers(const sap_tree* tree, sap_outliers_options* o) {
    const sap_device* device = tree->device;
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status == SAP_OK) status = check_k(device, o->k);
    if (status != SAP_OK) return status;
    if (o->kind != SAP_OUTLIERS_STATISTICAL && o->kind != SAP_OUTLIERS_RADIUS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.kind: unknown kind of outliers %d", (int)o->kind);
    if (!(o->ratio >= 0 && isfinite(o->ratio)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.ratio: %g is negative or not finite", o->ratio);
    if (o->ratio == 0) o->ratio = 2;
    if (o->k == 0) o->k = o->kind == SAP_OUTLIERS_RADIUS ? 1 : 20;
    return o->kind == SAP_OUTLIERS_RADIUS ? check_radius(device, o->radius) : SAP_OK;
}

sap_status sap_cloud_outliers(const sap_tree* tree, const sap_outliers_options* options, uint8_t* keep,
                              sap_outliers_info* info) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    sap_outliers_job job = {.tree = tree, .options = options ? *options : (sap_outliers_options){0}, .keep = keep};
    sap_status status = check_outliers(tree, &job.options);
    if (status != SAP_OK) return status;
    if (!keep && tree->shape.source_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "keep: is NULL");
    if (!SAP_CAN(device, cloud, outliers)) return sap_unsupported(device, "find outliers");
    status = device->rooms.cloud->outliers(&job);
    if (status == SAP_OK && info) *info = job.info;
    return status;
}
