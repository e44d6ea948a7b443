// A start for an alignment on a GPU: the host reads both clouds once and keeps what is a few thousand numbers; what is done
// with all points, with features and with motions is done by the device's own functions. Features are compared here.
#include "cloud/show_cuda.cuh"

extern "C" {
#include "cloud/global/global.h"
#include "device/memory.h"
#include "mesh/host_view.h"
#include "tree/host_view.h"
}

// ---- Which feature is most like another: a warp looks at all others for a few

enum { MATCH_THREADS = 128, MATCH_WARPS = MATCH_THREADS / SAP_WARP, MATCH_FEATURES = 4 }; // FEATURES: of a warp

typedef struct match_shared {
    float features[MATCH_WARPS][MATCH_FEATURES][SAP_FEATURE_NUMBERS];
} match_shared;

static __global__ void __launch_bounds__(MATCH_THREADS) match_features(const sap_feature_matching m) {
    SAP_CUDA_SHARED(match_shared, shared);
    const int warp = (int)threadIdx.x / SAP_WARP;
    const int64_t first = ((int64_t)blockIdx.x * MATCH_WARPS + warp) * MATCH_FEATURES;
    float least[MATCH_FEATURES];
    int ids[MATCH_FEATURES];
    if (first >= m.count) return;
#pragma unroll
    for (int f = 0; f < MATCH_FEATURES; f++) {
        const int64_t row = first + f < m.count ? first + f : first;
        for (int b = sap_lane(); b < SAP_FEATURE_NUMBERS; b += SAP_WARP)
            shared->features[warp][f][b] = m.features[row * SAP_FEATURE_NUMBERS + b];
        least[f] = INFINITY;
        ids[f] = -1;
    }
    __syncwarp();
    for (int64_t other = sap_lane(); other < m.padded; other += SAP_WARP) {
        float sums[MATCH_FEATURES] = {};
#pragma unroll
        for (int b = 0; b < SAP_FEATURE_NUMBERS; b++) {
            const float number = m.others[b * m.padded + other];
#pragma unroll
            for (int f = 0; f < MATCH_FEATURES; f++) {
                const float d = shared->features[warp][f][b] - number;
                sums[f] += d * d;
            }
        }
#pragma unroll
        for (int f = 0; f < MATCH_FEATURES; f++)
            if (sums[f] < least[f]) least[f] = sums[f], ids[f] = (int)other;
    }
#pragma unroll
    for (int f = 0; f < MATCH_FEATURES; f++) {
        for (int step = SAP_WARP / 2; step > 0; step /= 2) {
            const float sum = __shfl_xor_sync(SAP_ALL_LANES, least[f], step);
            const int id = __shfl_xor_sync(SAP_ALL_LANES, ids[f], step);
            if (sum < least[f] || (sum == least[f] && id < ids[f])) least[f] = sum, ids[f] = id;
        }
        if (sap_lane() != 0 || first + f >= m.count) continue;
        m.ids[first + f] = ids[f];
        m.distance2[first + f] = least[f];
    }
}

static sap_status match(const sap_feature_matching* matching) {
    sap_feature_matching m = *matching;
    const size_t rows = (size_t)m.count, others = (size_t)m.padded, bytes = SAP_FEATURE_NUMBERS * sizeof(float);
    sap_cuda_call call;
    if (m.count == 0) return SAP_OK;
    if (sap_cuda_begin(&call, m.device) == SAP_OK) {
        sap_cuda_grid grid = sap_cuda_grid_for(m.count, MATCH_WARPS * MATCH_FEATURES);
        grid.threads = MATCH_THREADS;
        grid.shared = sizeof(match_shared);
        m.features = (const float*)sap_cuda_in(&call, m.features, rows * bytes);
        m.others = (const float*)sap_cuda_in(&call, m.others, others * bytes);
        m.ids = (int32_t*)sap_cuda_out(&call, m.ids, rows * sizeof *m.ids);
        m.distance2 = (float*)sap_cuda_out(&call, m.distance2, rows * sizeof *m.distance2);
        sap_cuda_launch(&call, match_features, grid, m);
    }
    return sap_cuda_end(&call, SAP_OK);
}

// ---- The clouds, readable for the host

// Rows there; `memory` holds the copy, if there is one.
static sap_status rows_here(sap_device* device, sap_rows* rows, sap_scratch* memory) {
    sap_cuda_call call;
    if (rows->count == 0) return SAP_OK;
    const size_t numbers = (size_t)(rows->count - 1) * (size_t)rows->stride + (size_t)rows->dims;
    const size_t bytes = numbers * (size_t)rows->real_bits / 8;
    sap_status status = SAP_OK;
    if (sap_cuda_begin(&call, device) == SAP_OK && sap_cuda_on_device(&call, rows->coords)) {
        if (sap_scratch_take(device, bytes, memory)) {
            sap_cuda_fetch(&call, memory->memory, rows->coords, bytes);
            rows->coords = memory->memory;
        } else {
            status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)rows->count);
        }
    }
    return sap_cuda_end(&call, status);
}

static sap_status find_start(sap_global_job* job) {
    sap_global_job here = *job;
    sap_scratch memory = {NULL, 0};
    sap_status status = rows_here(job->device, &here.source, &memory);
    if (status == SAP_OK) status = sap_global_run(&here, match);
    job->out = here.out;
    sap_scratch_give(job->device, &memory);
    return status;
}

sap_status sap_cloud_global_cuda(sap_global_job* job) {
    sap_global_job here = *job;
    sap_host_view tree;
    sap_mesh_view mesh;
    // A build in the caller's stream only now says whether it met a point that is not finite.
    sap_status status = sap_device_wait(job->device);
    if (status != SAP_OK) return status;
    status = job->mesh ? sap_mesh_view_open(job->mesh, &mesh) : sap_host_view_open(job->tree, &tree);
    if (status != SAP_OK) return status;
    if (job->mesh)
        here.mesh = &mesh.tree;
    else
        here.tree = &tree.tree;
    status = find_start(&here);
    job->out = here.out;
    if (job->mesh)
        sap_mesh_view_close(&mesh);
    else
        sap_host_view_close(&tree);
    return status;
}
