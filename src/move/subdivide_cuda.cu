// Loop subdivision on a GPU: a thread refines a vertex, a kernel a level. Subdivisions are made on the host and copied
// there.
#include "device/cuda.h"
#include "move/ops.h"
#include "move/subdivision.h"

enum { LOOP_THREADS = 128 };

static __global__ void __launch_bounds__(LOOP_THREADS)
    loop_refine(const __grid_constant__ sap_loop_level level, const float* from, float* to) {
    const int64_t i = (int64_t)blockIdx.x * LOOP_THREADS + threadIdx.x;
    if (i < level.vertices + level.edges) sap_loop_refine(&level, from, i, to);
}

static __global__ void __launch_bounds__(LOOP_THREADS)
    loop_finish(const __grid_constant__ sap_loop_level level, const float* from, float* to, float* normals) {
    const int64_t i = (int64_t)blockIdx.x * LOOP_THREADS + threadIdx.x;
    if (i < level.vertices) sap_loop_finish(&level, from, i, to, normals);
}

static void subdivide_on(sap_cuda_call* call, const sap_subdivision_owned* s, const float* vertices, float* refined,
                         float* normals) {
    const int32_t levels = s->shown.levels;
    const size_t three = 3 * sizeof(float), result = (size_t)s->shown.vertex_count * three,
                 given = (size_t)s->shown.coarse_count * three;
    const float* from = (const float*)sap_cuda_in(call, vertices, given);
    refined = (float*)sap_cuda_out(call, refined, result);
    normals = (float*)sap_cuda_out(call, normals, result);
    for (int32_t l = 0; l < levels; l++) {
        const int64_t count = s->counts[l + 1].vertices;
        float* to = l + 1 < levels || s->limit ? (float*)sap_cuda_take(call, (size_t)count * three) : refined;
        sap_cuda_launch(call, loop_refine, sap_cuda_grid_for(count, LOOP_THREADS), sap_loop_level_of(s, l), from, to);
        from = to;
    }
    if (levels == 0 && !s->limit) sap_cuda_copy(call, refined, from, result);
    if (s->limit || normals)
        sap_cuda_launch(call, loop_finish, sap_cuda_grid_for(s->shown.vertex_count, LOOP_THREADS),
                        sap_loop_level_of(s, levels), from, s->limit ? refined : NULL, normals);
}

sap_status sap_subdivide_cuda(const sap_subdivision_owned* subdivision, const float* vertices, float* refined,
                              float* normals) {
    sap_cuda_call call;
    const sap_status status = sap_cuda_begin(&call, subdivision->device);
    if (status == SAP_OK) subdivide_on(&call, subdivision, vertices, refined, normals);
    return sap_cuda_end(&call, status);
}

sap_status sap_subdivision_fetch_cuda(sap_device* device, const void* from, size_t bytes, void* to) {
    sap_cuda_call call;
    const sap_status status = sap_cuda_begin(&call, device);
    call.waits = true;
    if (sap_cuda_on_device(&call, from))
        sap_cuda_copy(&call, to, from, bytes);
    else if (call.status == SAP_OK)
        memcpy(to, from, bytes);
    return sap_cuda_end(&call, status);
}

sap_status sap_subdivision_place_cuda(sap_subdivision_owned* subdivision) {
    sap_cuda_call call;
    sap_status status = sap_cuda_begin(&call, subdivision->device);
    const size_t bytes = subdivision->shown.bytes;
    call.waits = true;
    void* there = sap_cuda_allocate(&call, bytes);
    sap_cuda_copy(&call, there, subdivision->arrays, bytes);
    status = sap_cuda_end(&call, status);
    if (status != SAP_OK) {
        sap_cuda_release(subdivision->device, there, bytes);
        return status;
    }
    sap_memory_release(subdivision->device, subdivision->arrays, bytes);
    subdivision->arrays = (unsigned char*)there;
    subdivision->shown.on_device = true;
    return SAP_OK;
}

void sap_subdivision_remove_cuda(sap_subdivision_owned* subdivision) {
    sap_cuda_release(subdivision->device, subdivision->arrays, subdivision->shown.bytes);
    subdivision->arrays = NULL;
}
