// Whether points lie inside a mesh, on CUDA devices: one thread per point runs the shared text (ray/inside.h).
#include "ray/walk_cuda.cuh"

#include "ray/inside.h"

enum { INSIDE_THREADS = 128 };

static __global__ void __launch_bounds__(INSIDE_THREADS)
    test_inside(const __grid_constant__ sap_mesh_tree tree, const sap_inside_job job, float magnitude) {
    const int64_t i = (int64_t)blockIdx.x * INSIDE_THREADS + threadIdx.x;
    if (i >= job.points.count) return;
    const sap_vector point = sap_vector_of((const float*)job.points.coords + job.points.stride * i);
    job.inside[i] = sap_is_inside(&tree, point, magnitude);
}

sap_status sap_inside_cuda(const sap_mesh_tree* tree, const sap_inside_job* job) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_inside_job on_device = *job;
    on_device.points = sap_cuda_rows_in(&call, &job->points);
    on_device.inside = (uint8_t*)sap_cuda_out(&call, job->inside, (size_t)job->points.count);
    sap_cuda_launch(&call, test_inside, sap_cuda_grid_for(job->points.count, INSIDE_THREADS), *tree, on_device,
                    sap_mesh_magnitude(tree));
    return sap_cuda_end(&call, SAP_OK);
}
