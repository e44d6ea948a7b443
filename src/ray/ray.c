// The public functions of rays, nearest points and insides of meshes: arguments are checked here, once for all
// processors.
#include "ray/ray.h"
#include "tree/queries.h"

static sap_status refuse(const sap_mesh_tree* tree, const char* sentence) {
    return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s", sentence);
}

sap_status sap_rays_check(const sap_device* device, const sap_ray* rays, int64_t count, int64_t limit) {
    int64_t answers;
    if (count < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: is negative");
    if (__builtin_mul_overflow(count, limit, &answers) || answers > PTRDIFF_MAX / 64)
        return sap_fail(device, SAP_ERROR_RANGE, "count: %lld rays are more than memory can be", (long long)count);
    if (count && !rays) return sap_fail(device, SAP_ERROR_ARGUMENT, "rays: is NULL");
    return SAP_OK;
}

static sap_status trace(const sap_mesh_tree* tree, const sap_ray_job* job) {
    if (!SAP_CAN(tree->device, ray, trace)) return sap_unsupported(tree->device, "trace rays");
    return tree->device->rooms.ray->trace(tree, job);
}

sap_status sap_trace(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, sap_hit* hits) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_rays_check(tree->device, rays, count, 1);
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits});
}

sap_status sap_occluded(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, uint8_t* occluded) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_rays_check(tree->device, rays, count, 1);
    if (status != SAP_OK) return status;
    if (count && !occluded) return refuse(tree, "occluded: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .occluded = occluded});
}

sap_status sap_trace_all(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, int32_t limit, sap_hit* hits,
                         int32_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (limit < 1) return refuse(tree, "limit: is less than 1");
    sap_status status = sap_rays_check(tree->device, rays, count, limit);
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits, .limit = limit, .counts = counts});
}

sap_status sap_trace_visits(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, sap_hit* hits,
                            int32_t* visits) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_rays_check(tree->device, rays, count, 1);
    if (status != SAP_OK) return status;
    if (count && !hits) return refuse(tree, "hits: is NULL");
    if (count && !visits) return refuse(tree, "visits: is NULL");
    return trace(tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits, .visits = visits});
}

static sap_status check_points(const sap_mesh_tree* tree, const sap_rows* points) {
    sap_status status = sap_rows_check(tree->device, points, "points");
    if (status == SAP_OK && points->dims != 3)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "points.dims: is %d, but a mesh has 3", (int)points->dims);
    return status;
}

sap_status sap_closest_point(const sap_mesh_tree* tree, sap_points points, sap_closest* closest) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_rows rows = sap_rows_f32(points);
    sap_status status = check_points(tree, &rows);
    if (status != SAP_OK) return status;
    if (points.count && !closest) return refuse(tree, "closest: is NULL");
    if (!SAP_CAN(tree->device, ray, closest))
        return sap_unsupported(tree->device, "search for the nearest points on meshes");
    return tree->device->rooms.ray->closest(tree, &(sap_closest_job){.points = rows, .closest = closest});
}

sap_status sap_inside(const sap_mesh_tree* tree, sap_points points, uint8_t* inside) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_rows rows = sap_rows_f32(points);
    sap_status status = check_points(tree, &rows);
    if (status != SAP_OK) return status;
    if (points.count && !inside) return refuse(tree, "inside: is NULL");
    if (!SAP_CAN(tree->device, ray, inside))
        return sap_unsupported(tree->device, "test whether points lie inside a mesh");
    return tree->device->rooms.ray->inside(tree, &(sap_inside_job){rows, inside});
}
