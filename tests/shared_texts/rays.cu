// The shared texts of rays as CUDA: every thread is a ray, or a query for the nearest point. This program is compiled,
// not run.
#include "mesh/access.h"

#define SAP_MESH_STACK SAP_MESH_DEPTH_MAX
#include "ray/intersect.h"

#include "ray/closest.h"
#include "ray/walk.h"

__device__ sap_vector vector_of(const float* v) {
    sap_vector w;
    w.x = v[0];
    w.y = v[1];
    w.z = v[2];
    return w;
}

__global__ void trace(sap_mesh_tree mesh, const sap_ray* rays, int count, float magnitude, sap_ray_result* found) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    sap_prepared_ray ray = sap_ray_prepare(vector_of(rays[i].origin), vector_of(rays[i].direction), rays[i].t_min,
                                           rays[i].t_max, magnitude);
    found[i] = sap_ray_walk(&mesh, ray, sap_mesh_lower(&mesh), sap_mesh_upper(&mesh), false);
}

__global__ void nearest(sap_mesh_tree mesh, const float* points, int count, sap_near_point* found) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    found[i] = sap_mesh_nearest(&mesh, vector_of(points + 3 * i), sap_mesh_lower(&mesh), sap_mesh_upper(&mesh),
                                sap_float_of_bits(0x7f800000u));
}
