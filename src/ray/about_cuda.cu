// Nearest points on a mesh, and whether points lie inside one, on CUDA devices: a query a thread, by the shared texts.
#include "device/cuda_rooms.h"
#include "ray/walks_cuda.cuh"

enum { ABOUT_THREADS = 128 };

static __global__ void __launch_bounds__(ABOUT_THREADS)
    find_closest(const __grid_constant__ sap_mesh_tree tree, const sap_closest_job job) {
    const int64_t i = (int64_t)blockIdx.x * ABOUT_THREADS + threadIdx.x;
    if (i >= job.count) return;
    const sap_vector query = sap_vector_of(job.points + 3 * i);
    sap_near_point best = sap_no_near_point(query, INFINITY);
    if (sap_is_finite(query) && tree.shape.triangles)
        best = sap_mesh_nearest(&tree, query, sap_mesh_lower(&tree), sap_mesh_upper(&tree), INFINITY);
    sap_closest* to = job.closest + i;
    to->point[0] = best.point.x;
    to->point[1] = best.point.y;
    to->point[2] = best.point.z;
    to->distance2 = best.distance2;
    to->u = best.u;
    to->v = best.v;
    to->triangle = best.triangle;
}

static __global__ void __launch_bounds__(ABOUT_THREADS)
    tell_inside(const __grid_constant__ sap_mesh_tree tree, const sap_inside_job job, float magnitude) {
    const int64_t i = (int64_t)blockIdx.x * ABOUT_THREADS + threadIdx.x;
    if (i < job.count) job.inside[i] = sap_is_inside(&tree, sap_vector_of(job.points + 3 * i), magnitude);
}

sap_status sap_closest_point_cuda(const sap_mesh_tree* tree, const sap_closest_job* job) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_closest_job on_device = *job;
    on_device.points = (const float*)sap_cuda_in(&call, job->points, (size_t)job->count * 3 * sizeof(float));
    on_device.closest = (sap_closest*)sap_cuda_out(&call, job->closest, (size_t)job->count * sizeof(sap_closest));
    sap_cuda_launch(&call, find_closest, sap_cuda_grid_for(job->count, ABOUT_THREADS), *tree, on_device);
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_inside_cuda(const sap_mesh_tree* tree, const sap_inside_job* job) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_inside_job on_device = *job;
    on_device.points = (const float*)sap_cuda_in(&call, job->points, (size_t)job->count * 3 * sizeof(float));
    on_device.inside = (uint8_t*)sap_cuda_out(&call, job->inside, (size_t)job->count);
    sap_cuda_launch(&call, tell_inside, sap_cuda_grid_for(job->count, ABOUT_THREADS), *tree, on_device,
                    sap_mesh_magnitude(tree));
    return sap_cuda_end(&call, SAP_OK);
}
