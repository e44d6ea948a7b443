// HIGH's nodes of many parts: the cheapest plane of all, triangles clipped exactly.
#include "mesh/large_cuda.cuh"
#include "mesh/planes_cuda.cuh"

namespace {

struct sap_mesh_high {
    enum { fast = 0 };
    typedef sap_mesh_find_shared shared;

    // While planes are found, the room for the parts of the batch's children is scratch memory.
    static __device__ float* scratch_of(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
        const sap_mesh_cuda_state* state = b.state;
        const int64_t before = job->below - sap_mesh_parts_below(b, state->side, state->from);
        return (float*)(b.parts + (state->used[0] >> SAP_MESH_JOB_BITS) + 2 * before);
    }

    static __device__ void find(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, sap_mesh_find_shared* s) {
        const sap_plane plane =
            sap_mesh_find_plane(b, job->cell, b.parts + job->first, job->room, job->count, scratch_of(b, job), s);
        __syncthreads();
        if (threadIdx.x != 0) return;
        job->axis = plane.axis;
        job->plane = plane.at;
        job->planar_left = plane.planar_left;
        job->sides[0] = job->sides[1] = job->arrived = 0;
        job->task = SAP_MESH_COUNT;
        if (plane.axis < 0) sap_mesh_end_job(b, job);
    }
};

} // namespace

void sap_mesh_cuda_large_high(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    sap_mesh_launch_large<sap_mesh_high>(call, b);
}
