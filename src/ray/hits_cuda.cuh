// Writing hits on CUDA devices: single hits, and rows of all hits of a ray.
#ifndef SAPWOOD_RAY_HITS_CUDA_CUH
#define SAPWOOD_RAY_HITS_CUDA_CUH

#include "device/cuda.h"
#include "ray/ray.h"

enum {
    SAP_HITS_SHARED = 8,   // rows of at most so many hits stay in shared memory until they are complete
    SAP_HIT_THREADS = 128, // of a block
    // In shared memory the rows of a block's threads are interleaved: consecutive hits of a row lie so far apart. One
    // more than there are threads: lanes that read consecutive hits of the same ray meet different banks.
    SAP_HIT_STRIDE = SAP_HIT_THREADS + 1
};

// Where a lane's hits lie.
typedef struct sap_hit_row {
    sap_hit* hits;
    int stride;
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

// Where the hits of ray number i lie: in shared memory, which begins with the block's rows, or where they are wanted.
static __device__ __forceinline__ sap_hit_row sap_hit_row_of(const sap_ray_job& job, bool is_shared, int64_t i) {
    SAP_CUDA_SHARED(sap_hit, shared);
    sap_hit_row row;
    row.hits = is_shared ? shared + threadIdx.x : job.hits + i * job.limit;
    row.stride = is_shared ? (int)SAP_HIT_STRIDE : 1;
    return row;
}

// A lane completes its ray's row of `count` hits: the hits if they lie in shared memory, then misses.
static __device__ __forceinline__ void sap_hit_row_write(const sap_ray_job& job, bool is_shared, int count, int64_t ray,
                                                         bool aligned) {
    SAP_ASSERT(count <= job.limit && ray >= 0 && ray < job.count);
    const sap_hit_row row = sap_hit_row_of(job, is_shared, ray);
    sap_hit* to = job.hits + ray * job.limit;
    for (int j = is_shared ? 0 : count; j < job.limit; j++)
        sap_hit_write(to + j, j < count ? row.hits[j * row.stride] : sap_hit_of(INFINITY, 0, 0, -1), aligned);
}

// The same for 32 consecutive rays, beginning with `first`, whose hits lie in shared memory: lanes write consecutive
// hits.
static __device__ __forceinline__ void sap_hit_rows_write(const sap_ray_job& job, int count, int64_t first,
                                                          bool aligned) {
    SAP_ASSERT(job.limit <= SAP_HITS_SHARED && first + SAP_WARP <= job.count);
    SAP_CUDA_SHARED(sap_hit, shared);
    const int lane = (int)(threadIdx.x % SAP_WARP);
    const sap_hit* warp = shared + (threadIdx.x - (unsigned)lane);
    sap_hit* to = job.hits + first * job.limit;
    const int rays = SAP_WARP / job.limit, places = SAP_WARP % job.limit; // from one of a lane's hits to its next
    int ray = lane / job.limit, place = lane % job.limit;
    __syncwarp();
#pragma unroll 1
    for (int at = lane; at < SAP_WARP * job.limit; at += SAP_WARP) {
        const int found = __shfl_sync(SAP_ALL_LANES, count, ray);
        float4 hit = make_float4(INFINITY, 0, 0, __int_as_float(-1));
        if (place < found) hit = *(const float4*)(warp + place * SAP_HIT_STRIDE + ray);
        sap_hit_write(to + at, sap_hit_of(hit.x, hit.y, hit.z, __float_as_int(hit.w)), aligned);
        const bool is_past = place + places >= job.limit;
        place += is_past ? places - job.limit : places;
        ray += is_past ? rays + 1 : rays;
    }
    __syncwarp();
}

#endif
