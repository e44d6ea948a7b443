// The public functions of rays about instances: arguments are checked here, once for all processors.
#include "instance/layout.h"
#include "mesh/layout.h"
#include "ray/ops.h"

static sap_status refuse(const sap_instance_tree* tree, const char* sentence) {
    return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s", sentence);
}

// The device can: it built the tree.
static sap_status trace(const sap_instance_tree* tree, const sap_instance_job* job) {
    return job->count ? tree->device->rooms.instance->trace(tree, job) : SAP_OK;
}

sap_status sap_instance_trace(const sap_instance_tree* tree, const sap_ray* rays, int64_t count,
                              sap_instance_hit* hits) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_status status = sap_rays_check(tree->device, rays, count, 1);
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    return trace(tree, &(sap_instance_job){.rays = rays, .count = count, .hits = hits});
}

sap_status sap_instance_trace_numbered(const sap_instance_tree* tree, const sap_ray* rays, int64_t count,
                                       sap_hit* hits) {
    const sap_status status = sap_rays_check(tree->device, rays, count, 1);
    if (status != SAP_OK) return status;
    if (tree->triangles > INT32_MAX)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "instances: have %lld triangles; at most 2^31 - 1",
                        (long long)tree->triangles);
    return trace(tree, &(sap_instance_job){.rays = rays, .count = count, .numbered = hits});
}

sap_status sap_instance_occluded(const sap_instance_tree* tree, const sap_ray* rays, int64_t count, uint8_t* occluded) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_status status = sap_rays_check(tree->device, rays, count, 1);
    if (status != SAP_OK) return status;
    if (count && !occluded) return refuse(tree, "occluded: is NULL");
    return trace(tree, &(sap_instance_job){.rays = rays, .count = count, .occluded = occluded});
}

sap_status sap_instance_trace_all(const sap_instance_tree* tree, const sap_ray* rays, int64_t count, int32_t limit,
                                  sap_instance_hit* hits, int32_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (limit < 1) return refuse(tree, "limit: is less than 1");
    const sap_status status = sap_rays_check(tree->device, rays, count, limit);
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    return trace(tree,
                 &(sap_instance_job){.rays = rays, .count = count, .hits = hits, .limit = limit, .counts = counts});
}
