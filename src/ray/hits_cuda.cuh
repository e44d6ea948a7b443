// Writing hits on CUDA devices: single hits, and rows of all hits of a ray.
#ifndef SAPWOOD_RAY_HITS_CUDA_CUH
#define SAPWOOD_RAY_HITS_CUDA_CUH

#include "device/cuda.h"
#include "ray/ray.h"

enum { SAP_HITS_SHARED = 8 }; // rows of at most so many hits stay in shared memory until they are complete

// A lane's hits so far. In shared memory the rows of a block's threads are interleaved.
typedef struct sap_hit_row {
    sap_hit* hits;
    int stride, count;
} sap_hit_row;

static __device__ __forceinline__ sap_hit sap_hit_of(float t, float u, float v, int triangle) {
    sap_hit hit;
    hit.t = t;
    hit.u = u;
    hit.v = v;
    hit.triangle = triangle;
    return hit;
}

// aligned: `to` is aligned to 16 bytes.
static __device__ __forceinline__ void sap_hit_write(sap_hit* to, sap_hit hit, bool aligned) {
    if (aligned)
        *(float4*)to = make_float4(hit.t, hit.u, hit.v, __int_as_float(hit.triangle));
    else
        *to = hit;
}

// An empty row for ray number i.
static __device__ __forceinline__ sap_hit_row sap_hit_row_of(const sap_ray_job& job, sap_hit* shared, int64_t i) {
    sap_hit_row row;
    const bool is_shared = job.limit <= SAP_HITS_SHARED;
    row.hits = is_shared ? shared + threadIdx.x : job.hits + i * job.limit;
    row.stride = is_shared ? (int)blockDim.x : 1;
    row.count = 0;
    return row;
}

// A lane completes its ray's row: its hits if they lie in shared memory, then misses.
static __device__ __forceinline__ void sap_hit_row_write(const sap_ray_job& job, const sap_hit_row& row, int64_t ray,
                                                         bool aligned) {
    SAP_ASSERT(row.count <= job.limit && ray >= 0 && ray < job.count);
    sap_hit* to = job.hits + ray * job.limit;
    for (int j = job.limit <= SAP_HITS_SHARED ? 0 : row.count; j < job.limit; j++)
        sap_hit_write(to + j, j < row.count ? row.hits[j * row.stride] : sap_hit_of(INFINITY, 0, 0, -1), aligned);
}

// The same for 32 consecutive rays, beginning with `first`: lanes write consecutive hits.
static __device__ __forceinline__ void sap_hit_rows_write(const sap_ray_job& job, const sap_hit* shared, int count,
                                                          int64_t first, bool aligned) {
    SAP_ASSERT(job.limit <= SAP_HITS_SHARED && first + SAP_WARP <= job.count);
    const int lane = (int)(threadIdx.x % SAP_WARP);
    const sap_hit* warp = shared + (threadIdx.x - (unsigned)lane);
    sap_hit* to = job.hits + first * job.limit;
    __syncwarp();
    for (int at = lane; at < SAP_WARP * job.limit; at += SAP_WARP) {
        const int ray = at / job.limit, place = at % job.limit, found = __shfl_sync(SAP_ALL_LANES, count, ray);
        const sap_hit hit = place < found ? warp[place * (int)blockDim.x + ray] : sap_hit_of(INFINITY, 0, 0, -1);
        sap_hit_write(to + at, hit, aligned);
    }
    __syncwarp();
}

#endif
