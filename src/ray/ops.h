// What a processor does with rays, and with points about a mesh.
#ifndef SAPWOOD_RAY_OPS_H
#define SAPWOOD_RAY_OPS_H

#include "device/device.h"
#include "sapwood/mesh.h"
#include "sapwood/query.h"

#ifdef __cplusplus
extern "C" {
#endif

// What rays are asked, checked: first hits, all of them in order, or whether there is any.
typedef struct sap_ray_job {
    const sap_ray* rays;
    int64_t count;
    sap_hit* hits;     // [count], or [count * limit] where limit is not 0; NULL: occluded is asked for
    int32_t limit;     // all hits: how many of each ray; else 0
    int32_t* counts;   // all hits: [count] or NULL
    uint8_t* occluded; // [count], else NULL
    int32_t* visits;   // first hits: [count], else NULL
} sap_ray_job;

// What is asked about points and a mesh, checked.
typedef struct sap_closest_job {
    sap_rows points;      // 3-D floats
    sap_closest* closest; // [points.count]
    const float* known; // [points.count][3] points of the mesh, near those of the answers, or NaN; NULL: none is known
    bool is_ordered;    // points that lie near each other follow each other already
} sap_closest_job;

typedef struct sap_inside_job {
    sap_rows points; // 3-D floats
    uint8_t* inside; // [points.count]
} sap_inside_job;

typedef struct sap_ray_ops {
    sap_status (*trace)(const sap_mesh_tree* tree, const sap_ray_job* job);
    sap_status (*closest)(const sap_mesh_tree* tree, const sap_closest_job* job); // (optional)
    sap_status (*inside)(const sap_mesh_tree* tree, const sap_inside_job* job);   // (optional)
    void (*prepare)(sap_mesh_query* query); // (optional) chooses what answers a prepared search (ray/query.h)
} sap_ray_ops;

sap_status sap_trace_cpu(const sap_mesh_tree* tree, const sap_ray_job* job);
sap_status sap_trace_first_cpu(const sap_mesh_tree* tree, const sap_ray_job* job); // first hits; else unsupported
sap_status sap_closest_point_cpu(const sap_mesh_tree* tree, const sap_closest_job* job);
sap_status sap_inside_cpu(const sap_mesh_tree* tree, const sap_inside_job* job);
void sap_mesh_query_prepare_cpu(sap_mesh_query* query);

sap_status sap_trace_cuda(const sap_mesh_tree* tree, const sap_ray_job* job);
sap_status sap_closest_point_cuda(const sap_mesh_tree* tree, const sap_closest_job* job);
sap_status sap_inside_cuda(const sap_mesh_tree* tree, const sap_inside_job* job);

sap_status sap_trace_gl(const sap_mesh_tree* tree, const sap_ray_job* job);

// ray.c: whether there are so many rays, and memory for `limit` answers to each.
sap_status sap_rays_check(const sap_device* device, const sap_ray* rays, int64_t count, int64_t limit);

#ifdef __cplusplus
}
#endif
#endif
