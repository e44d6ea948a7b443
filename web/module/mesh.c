// Trees over triangles: rays, nearest points, inside or outside.
#include "module.h"

#include <math.h>
#include <stdlib.h>

// Quick builds stop at leaves of some thirty triangles: a page waits half as long for the tree, and rays take an eighth
// longer.
static sap_mesh_tree_options options_of(sap_quality quality) {
    const sap_mesh_tree_options fast = {.quality = SAP_QUALITY_FAST, .traversal_cost = 30, .small_node = 32};
    return quality == SAP_QUALITY_FAST ? fast : (sap_mesh_tree_options){.quality = quality};
}

/** Builds a tree; its address is then integers[0]. */
SAP_EXPORT sap_status web_mesh_build(const float* vertices, int32_t vertex_count, const int32_t* triangles,
                                     int32_t triangle_count, int32_t quality) {
    const sap_mesh_tree_options options = options_of((sap_quality)quality);
    sap_mesh_tree* tree = NULL;
    const sap_status status =
        sap_mesh_tree_build(web_device, (sap_mesh){vertices, vertex_count, triangles, triangle_count}, &options, &tree);
    web_shared.integers[0] = web_address(tree);
    return status;
}

SAP_EXPORT sap_status web_mesh_rebuild(sap_mesh_tree* tree, const float* vertices, int32_t vertex_count,
                                       const int32_t* triangles, int32_t triangle_count) {
    return sap_mesh_tree_rebuild(tree, (sap_mesh){vertices, vertex_count, triangles, triangle_count});
}

SAP_EXPORT void web_mesh_free(sap_mesh_tree* tree) { sap_mesh_tree_free(tree); }

/** integers: triangles, nodes, leaves, references, depth; numbers: bytes, expected cost of a ray, lower, upper. */
SAP_EXPORT sap_status web_mesh_describe(const sap_mesh_tree* tree) {
    sap_mesh_tree_info info;
    const sap_status status = sap_mesh_tree_describe(tree, &info);
    if (status != SAP_OK) return status;
    const int32_t integers[] = {(int32_t)info.triangles, (int32_t)info.nodes, (int32_t)info.leaves,
                                (int32_t)info.references, info.depth};
    for (int i = 0; i < 5; i++) web_shared.integers[i] = integers[i];
    web_shared.numbers[0] = (double)info.bytes;
    web_shared.numbers[1] = info.cost;
    for (int a = 0; a < 3; a++) {
        web_shared.numbers[2 + a] = (double)info.lower[a];
        web_shared.numbers[5 + a] = (double)info.upper[a];
    }
    return SAP_OK;
}

/** How many bytes a saved tree has: numbers[0]. */
SAP_EXPORT sap_status web_mesh_saved_size(const sap_mesh_tree* tree) {
    int64_t size = 0;
    const sap_status status = sap_mesh_tree_saved_size(tree, &size);
    web_shared.numbers[0] = (double)size;
    return status;
}

/** Saves to memory of web_allocate_saved. */
SAP_EXPORT sap_status web_mesh_save(const sap_mesh_tree* tree, void* bytes, size_t size) {
    return sap_mesh_tree_save_memory(tree, bytes, (int64_t)size);
}

/** As web_tree_load. */
SAP_EXPORT sap_status web_mesh_load(const void* bytes, size_t size, int32_t trusted) {
    const sap_load_options options = {.trust = trusted != 0};
    sap_mesh_tree* tree = NULL;
    const sap_status status = sap_mesh_tree_load_memory(web_device, bytes, (int64_t)size, &options, &tree);
    web_shared.integers[0] = web_address(tree);
    return status;
}

// ---- One ray: numbers[0 … 2] its origin, [3] t_min, [4 … 6] its direction, [7] t_max.

static sap_ray shared_ray(void) {
    const double* n = web_shared.numbers;
    return (sap_ray){.origin = {(float)n[0], (float)n[1], (float)n[2]},
                     .t_min = (float)n[3],
                     .direction = {(float)n[4], (float)n[5], (float)n[6]},
                     .t_max = (float)n[7]};
}

/** The first hit: integers[0] the triangle or -1, numbers[0 … 2] t, u, v. */
SAP_EXPORT sap_status web_mesh_trace(const sap_mesh_tree* tree) {
    const sap_ray ray = shared_ray();
    sap_hit hit = {.triangle = -1};
    const sap_status status = sap_trace(tree, &ray, 1, &hit);
    web_shared.integers[0] = hit.triangle;
    web_shared.numbers[0] = (double)hit.t;
    web_shared.numbers[1] = (double)hit.u;
    web_shared.numbers[2] = (double)hit.v;
    return status;
}

/** Whether the ray hits anything: integers[0]. */
SAP_EXPORT sap_status web_mesh_occluded(const sap_mesh_tree* tree) {
    const sap_ray ray = shared_ray();
    uint8_t occluded = 0;
    const sap_status status = sap_occluded(tree, &ray, 1, &occluded);
    web_shared.integers[0] = occluded;
    return status;
}

/** The nearest point of the mesh to a place: integers[0] its triangle or -1, numbers[0 … 2] the point, [3] how far. */
SAP_EXPORT sap_status web_mesh_closest(const sap_mesh_tree* tree, float x, float y, float z) {
    const float place[3] = {x, y, z};
    sap_closest closest = {.triangle = -1};
    const sap_status status = sap_closest_point(tree, (sap_points){place, 1, 3, 0}, &closest);
    web_shared.integers[0] = closest.triangle;
    for (int a = 0; a < 3; a++) web_shared.numbers[a] = (double)closest.point[a];
    web_shared.numbers[3] = (double)sqrtf(closest.distance2);
    return status;
}

// ---- Many rays.

/** The first `limit` hits of each ray: t, u, v and triangles hold [count*limit], counts[count] how many there are
 * (NULL: not told). */
SAP_EXPORT sap_status web_mesh_trace_all(const sap_mesh_tree* tree, const sap_ray* rays, int32_t count, int32_t limit,
                                         float* t, float* u, float* v, int32_t* triangles, int32_t* counts) {
    const size_t rows = (size_t)count * (size_t)limit;
    if (limit > 0 && rows / (size_t)limit != (size_t)count)
        return web_fail(SAP_ERROR_RANGE, "rays * limit is more than memory can be");
    if (rows > SIZE_MAX / sizeof(sap_hit) - 1) return web_fail(SAP_ERROR_MEMORY, "no memory for the hits");
    sap_hit* hits = malloc((rows + 1) * sizeof *hits);
    if (!hits) return web_fail(SAP_ERROR_MEMORY, "no memory for the hits");
    const sap_status status = limit == 1 && !counts ? sap_trace(tree, rays, count, hits)
                                                    : sap_trace_all(tree, rays, count, limit, hits, counts);
    for (size_t i = 0; status == SAP_OK && i < rows; i++) {
        t[i] = hits[i].t, u[i] = hits[i].u, v[i] = hits[i].v;
        triangles[i] = hits[i].triangle;
    }
    free(hits);
    return status;
}

SAP_EXPORT sap_status web_mesh_occluded_all(const sap_mesh_tree* tree, const sap_ray* rays, int32_t count,
                                            uint8_t* occluded) {
    return sap_occluded(tree, rays, count, occluded);
}

/** The nearest points of the mesh: places[3*count], distances[count] (squared if asked) and triangles[count]. */
SAP_EXPORT sap_status web_mesh_closest_all(const sap_mesh_tree* tree, const float* points, int32_t count, float* places,
                                           float* distances, int32_t* triangles, int32_t squared) {
    if ((size_t)count > SIZE_MAX / sizeof(sap_closest) - 1)
        return web_fail(SAP_ERROR_MEMORY, "no memory for the nearest points");
    sap_closest* closest = malloc(((size_t)count + 1) * sizeof *closest);
    if (!closest) return web_fail(SAP_ERROR_MEMORY, "no memory for the nearest points");
    const sap_status status = sap_closest_point(tree, (sap_points){points, count, 3, 0}, closest);
    for (int32_t i = 0; status == SAP_OK && i < count; i++) {
        for (int a = 0; a < 3; a++) places[3 * i + a] = closest[i].point[a];
        distances[i] = squared ? closest[i].distance2 : sqrtf(closest[i].distance2);
        triangles[i] = closest[i].triangle;
    }
    free(closest);
    return status;
}

SAP_EXPORT sap_status web_mesh_inside_all(const sap_mesh_tree* tree, const float* points, int32_t count,
                                          uint8_t* inside) {
    return sap_inside(tree, (sap_points){points, count, 3, 0}, inside);
}
