// Skinning on a GPU: a thread moves a vertex.
#include "device/cuda.h"
#include "move/ops.h"
#include "move/skin.h"

enum { SKIN_THREADS = 128 };

static __global__ void __launch_bounds__(SKIN_THREADS) skin_duals(const float* matrices, int count, float* duals) {
    const int bone = (int)(blockIdx.x * SKIN_THREADS + threadIdx.x);
    if (bone < count) sap_skin_dual_of(matrices + 12 * (int64_t)bone, duals + SAP_DUAL_NUMBERS * (int64_t)bone);
}

static __global__ void __launch_bounds__(SKIN_THREADS)
    skin_move(const __grid_constant__ sap_skin skin, const float* motions, float* moved, float* turned,
              unsigned long long* wrong) {
    const int64_t i = (int64_t)blockIdx.x * SKIN_THREADS + threadIdx.x;
    if (i < skin.count && !sap_skin_vertex(&skin, motions, i, moved, turned)) atomicMin(wrong, (unsigned long long)i);
}

static sap_status skin_on(sap_cuda_call* call, const sap_skin* given, float* moved, float* turned) {
    sap_skin skin = *given;
    const size_t n = (size_t)skin.count, three = 3 * n * sizeof(float), each = n * (size_t)skin.each;
    const size_t bones = (size_t)skin.matrix_count;
    skin.vertices = (const float*)sap_cuda_in(call, skin.vertices, three);
    skin.normals = (const float*)sap_cuda_in(call, skin.normals, skin.normals ? three : 0);
    skin.bones = (const int32_t*)sap_cuda_in(call, skin.bones, each * sizeof(int32_t));
    skin.weights = (const float*)sap_cuda_in(call, skin.weights, each * sizeof(float));
    skin.matrices = (const float*)sap_cuda_in(call, skin.matrices, bones * 12 * sizeof(float));
    moved = (float*)sap_cuda_out(call, moved, three);
    turned = (float*)sap_cuda_out(call, turned, three);
    unsigned long long first = UINT64_MAX, *wrong = (unsigned long long*)sap_cuda_take(call, sizeof first);
    sap_cuda_fill(call, wrong, 0xff, sizeof first);
    const float* motions = skin.matrices;
    if (skin.blend == SAP_SKIN_DUAL_QUATERNIONS) {
        float* duals = (float*)sap_cuda_take(call, bones * SAP_DUAL_NUMBERS * sizeof(float));
        sap_cuda_launch(call, skin_duals, sap_cuda_grid_for(skin.matrix_count, SKIN_THREADS), skin.matrices,
                        (int)skin.matrix_count, duals);
        motions = duals;
    }
    sap_cuda_launch(call, skin_move, sap_cuda_grid_for(skin.count, SKIN_THREADS), skin, motions, moved, turned, wrong);
    if (!call->waits) return call->status; // nobody may learn of a wrong bone but by its NaN
    sap_cuda_fetch(call, &first, wrong, sizeof first);
    return call->status == SAP_OK && first < n ? sap_skin_refuse(call->device, given, (int64_t)first) : call->status;
}

sap_status sap_skin_cuda(sap_device* device, const sap_skin* skin, float* moved, float* turned) {
    sap_cuda_call call;
    sap_status status = sap_cuda_begin(&call, device);
    if (status == SAP_OK) status = skin_on(&call, skin, moved, turned);
    return sap_cuda_end(&call, status);
}
