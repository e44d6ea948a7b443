// Vectors of three floats, rays and triangles, for the scenes of the benchmark.
#ifndef BENCH_GPU_VECTOR_CUH
#define BENCH_GPU_VECTOR_CUH

#include "gpu.cuh"

#include <cmath>

static inline __host__ __device__ float3 gpu_vector_of(const float* v) { return make_float3(v[0], v[1], v[2]); }

static inline __host__ __device__ float3 gpu_moved(float3 a, float by, float3 d) {
    return make_float3(a.x + by * d.x, a.y + by * d.y, a.z + by * d.z);
}

static inline __host__ __device__ float gpu_dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline __host__ __device__ float3 gpu_cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline __host__ __device__ float3 gpu_with_length(float3 a, float length) { // of zero: zero
    const float own = sqrtf(gpu_dot(a, a));
    return own > 0 ? gpu_moved(make_float3(0, 0, 0), length / own, a) : a;
}

static inline __host__ __device__ float3 gpu_unit(float3 a) { return gpu_with_length(a, 1); }

static inline __host__ __device__ sap_ray gpu_ray_of(float3 from, float3 direction, float t_max) {
    return sap_ray{{from.x, from.y, from.z}, 0, {direction.x, direction.y, direction.z}, t_max};
}

// Of a triangle of a mesh on the device: its length is 1, or 0 where there is no area.
static inline __device__ float3 gpu_normal_of(const sap_mesh& mesh, int32_t triangle) {
    const int32_t* t = mesh.triangles + 3 * (int64_t)triangle;
    const float3 a = gpu_vector_of(mesh.vertices + 3 * (int64_t)t[0]);
    const float3 b = gpu_vector_of(mesh.vertices + 3 * (int64_t)t[1]);
    const float3 c = gpu_vector_of(mesh.vertices + 3 * (int64_t)t[2]);
    return gpu_unit(gpu_cross(gpu_moved(b, -1, a), gpu_moved(c, -1, a)));
}

#endif
