// Surfaces of volumes.
#include "module.h"

/** Extracts a surface; spacing stands in numbers[0 … 2], origin in [3 … 5]. integers[0] is then the surface, for
 * web_surface_free, [1] the vertices and [2] the triangles that it has, [3 … 5] where vertices, normals and triangles
 * stand. */
SAP_EXPORT sap_status web_surface(const void* values, int32_t type, int32_t width, int32_t height, int32_t depth,
                                  float level, int32_t low_inside) {
    const double* n = web_shared.numbers;
    const sap_volume volume = {.values = values,
                               .type = (sap_voxel)type,
                               .size = {width, height, depth},
                               .spacing = {(float)n[0], (float)n[1], (float)n[2]},
                               .origin = {(float)n[3], (float)n[4], (float)n[5]}};
    const sap_isosurface_options options = {.level = level, .low_inside = low_inside != 0};
    sap_isosurface* surface = NULL;
    const sap_status status = sap_isosurface_extract(web_device, volume, &options, &surface);
    if (status != SAP_OK) return status;
    web_shared.integers[0] = web_address(surface);
    web_shared.integers[1] = (int32_t)surface->mesh.vertex_count;
    web_shared.integers[2] = (int32_t)surface->mesh.triangle_count;
    web_shared.integers[3] = web_address(surface->mesh.vertices);
    web_shared.integers[4] = web_address(surface->normals);
    web_shared.integers[5] = web_address(surface->mesh.triangles);
    return SAP_OK;
}

SAP_EXPORT void web_surface_free(sap_isosurface* surface) { sap_isosurface_free(surface); }
