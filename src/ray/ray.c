// The public functions of rays, nearest points and insides of meshes: arguments are checked here, once for all
// processors.
#include "ray/ray.h"

static sap_status refuse(const sap_mesh_tree* tree, const char* sentence) {
    return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s", sentence);
}

static sap_status check_count(const sap_mesh_tree* tree, int64_t count, int64_t limit, const void* rays,
                              const char* name) {
    int64_t answers;
    if (count < 0) return refuse(tree, "count: is negative");
    if (__builtin_mul_overflow(count, limit, &answers) || answers > PTRDIFF_MAX / 64)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "count: %lld rows overflow", (long long)count);
    if (count && !rays) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s: is NULL", name);
    return SAP_OK;
}

static sap_status trace(const sap_mesh_tree* tree, const sap_ray_job* job) {
    if (!tree->device->table->trace) return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "this device traces no rays");
    return tree->device->table->trace(tree, job);
}

sap_status sap_trace(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, sap_hit* hits) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = check_count(tree, count, 1, rays, "rays");
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits});
}

sap_status sap_occluded(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, uint8_t* occluded) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = check_count(tree, count, 1, rays, "rays");
    if (status != SAP_OK) return status;
    if (count && !occluded) return refuse(tree, "occluded: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .occluded = occluded});
}

sap_status sap_trace_all(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, int32_t limit, sap_hit* hits,
                         int32_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (limit < 1) return refuse(tree, "limit: is less than 1");
    sap_status status = check_count(tree, count, limit, rays, "rays");
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits, .limit = limit, .counts = counts});
}

sap_status sap_trace_visits(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, sap_hit* hits,
                            int32_t* visits) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = check_count(tree, count, 1, rays, "rays");
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    if (count && !visits) return refuse(tree, "visits: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits, .visits = visits});
}

sap_status sap_closest_point(const sap_mesh_tree* tree, const float* points, int64_t count, sap_closest* closest) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = check_count(tree, count, 1, points, "points");
    if (status != SAP_OK) return status;
    if (count && !closest) return refuse(tree, "closest: is NULL");
    if (!tree->device->table->closest)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "this device finds no nearest points on meshes");
    return tree->device->table->closest(tree, &(sap_closest_job){points, count, closest});
}

sap_status sap_inside(const sap_mesh_tree* tree, const float* points, int64_t count, uint8_t* inside) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = check_count(tree, count, 1, points, "points");
    if (status != SAP_OK) return status;
    if (count && !inside) return refuse(tree, "inside: is NULL");
    if (!tree->device->table->inside)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "this device tells not what lies inside meshes");
    return tree->device->table->inside(tree, &(sap_inside_job){points, count, inside});
}
