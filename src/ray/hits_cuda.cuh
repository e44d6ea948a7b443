// Hits on the way out, on CUDA devices: single ones, and rows of all hits of a ray.
#ifndef SAPWOOD_RAY_HITS_CUDA_CUH
#define SAPWOOD_RAY_HITS_CUDA_CUH

#include "device/cuda.h"
#include "ray/ray.h"

enum { SAP_HITS_SHARED = 8 }; // rows of so many hits or fewer stay in shared memory until they are complete

// Bytes of shared memory for the rows of `threads`. A row begins an odd number of hits behind the one before: lanes
// that look at the same place of their rows are not in each other's way.
static __host__ __device__ __forceinline__ size_t sap_hit_rows_shared(int limit, int threads) {
    return limit <= SAP_HITS_SHARED ? (size_t)(limit | 1) * (size_t)threads * sizeof(sap_hit) : 0;
}

static __device__ __forceinline__ sap_hit sap_hit_of(float t, float u, float v, int triangle) {
    sap_hit hit;
    hit.t = t;
    hit.u = u;
    hit.v = v;
    hit.triangle = triangle;
    return hit;
}

// `wide`: `to` is a multiple of 16 bytes.
static __device__ __forceinline__ void sap_hit_write(sap_hit* to, sap_hit hit, bool wide) {
    if (wide)
        *(float4*)to = make_float4(hit.t, hit.u, hit.v, __int_as_float(hit.triangle));
    else
        *to = hit;
}

// Where a thread gathers the hits of ray number i.
static __device__ __forceinline__ sap_hit* sap_hit_row_of(const sap_ray_job& job, sap_hit* shared, unsigned thread,
                                                          int64_t i) {
    return job.limit <= SAP_HITS_SHARED ? shared + thread * (unsigned)(job.limit | 1) : job.hits + i * job.limit;
}

// A whole warp completes the rows of some of its lanes, one after the other: `count` hits of ray `number`, then misses.
static __device__ __forceinline__ void sap_hit_rows_write(const sap_ray_job& job, sap_hit* shared, unsigned lanes,
                                                          int64_t number, int count, bool wide) {
    const int lane = (int)(threadIdx.x % SAP_WARP);
    __syncwarp();
    for (; lanes; lanes &= lanes - 1) {
        const int from = __ffs((int)lanes) - 1;
        const int64_t ray = __shfl_sync(SAP_ALL_LANES, number, from);
        const int found = __shfl_sync(SAP_ALL_LANES, count, from);
        const sap_hit* row = sap_hit_row_of(job, shared, threadIdx.x - (unsigned)(lane - from), ray);
        for (int j = lane; j < job.limit; j += SAP_WARP)
            sap_hit_write(job.hits + ray * job.limit + j, j < found ? row[j] : sap_hit_of(INFINITY, 0, 0, -1), wide);
    }
    __syncwarp();
}

#endif
