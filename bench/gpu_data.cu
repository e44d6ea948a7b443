// Points on the device, made there from a seed; points and meshes that are brought there.
#include "gpu.cuh"

const char* const gpu_kind_names[3] = {"uniform", "clustered", "surface"};

void* gpu_memory(size_t bytes) {
    void* memory = NULL;
    GPU_CUDA(cudaMalloc(&memory, bytes ? bytes : 1));
    return memory;
}

void* gpu_upload(const void* from, size_t bytes) {
    void* to = gpu_memory(bytes);
    GPU_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

sap_mesh gpu_mesh_upload(const sap_mesh* mesh) {
    sap_mesh there = *mesh;
    there.vertices = (const float*)gpu_upload(mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof(float));
    there.triangles = (const int32_t*)gpu_upload(mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(int32_t));
    return there;
}

void gpu_mesh_free(const sap_mesh* mesh) {
    GPU_CUDA(cudaFree((void*)(uintptr_t)mesh->vertices));
    GPU_CUDA(cudaFree((void*)(uintptr_t)mesh->triangles));
}

static __device__ unsigned scramble(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// A number of [0, 1) with 24 bits.
static __device__ float unit(int64_t i, unsigned seed) {
    return (float)(scramble((unsigned)i * 2654435761u ^ scramble(seed + (unsigned)((uint64_t)i >> 32))) >> 8) *
           0x1p-24f;
}

// About normal, of variance 1/2.
static __device__ float bell(int64_t i, unsigned seed) {
    float sum = 0;
    for (int j = 0; j < 6; j++) sum += unit(i * 6 + j, seed) - 0.5f;
    return sum;
}

static __global__ void fill(float* coords, int64_t count, int dims, gpu_kind kind, unsigned seed) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    float c[4];
    for (int a = 0; a < dims; a++) c[a] = unit(i * dims + a, seed);
    if (kind == GPU_CLUSTERED) { // a thousand blobs of sigma 0.0005 to 0.0105
        unsigned blob = scramble((unsigned)i + seed * 77) % 1000;
        float sigma = 0.0005f + 0.01f * unit(blob, 99);
        for (int a = 0; a < dims; a++) c[a] = unit(blob * 4 + a, 123) + sigma * 1.41f * bell(i * 4 + a, seed + 5);
    }
    if (kind == GPU_SURFACE) { // a sphere with bumps, a little thick
        float angle = 6.2831853f * c[0], z = 2 * c[1] - 1, round = sqrtf(1 - z * z);
        float r = 1 + 0.1f * sinf(5 * angle) * cosf(7 * z) + 0.0005f * (c[2] - 0.5f);
        c[0] = r * round * cosf(angle);
        c[1] = r * round * sinf(angle);
        c[2] = r * z;
    }
    for (int a = 0; a < dims; a++) coords[i * dims + a] = c[a];
}

gpu_cloud gpu_cloud_make(gpu_bench* b, gpu_kind kind, int64_t count, int dims, unsigned seed) {
    gpu_cloud cloud = {(float*)gpu_memory((size_t)count * (size_t)dims * sizeof(float)), count, dims};
    fill<<<(unsigned)((count + 255) / 256), 256, 0, b->stream>>>(cloud.coords, count, dims, kind, seed);
    GPU_CUDA(cudaGetLastError());
    GPU_CUDA(cudaStreamSynchronize(b->stream));
    return cloud;
}

gpu_cloud gpu_cloud_upload(const float* coords, int64_t count, int dims) {
    size_t bytes = (size_t)count * (size_t)dims * sizeof(float);
    return gpu_cloud{(float*)gpu_upload(coords, bytes), count, dims};
}

float* gpu_cloud_download(const gpu_cloud* cloud) {
    size_t bytes = (size_t)cloud->count * (size_t)cloud->dims * sizeof(float);
    float* coords = (float*)malloc(bytes);
    if (!coords) gpu_sap_check(SAP_ERROR_MEMORY, "a copy of the points");
    GPU_CUDA(cudaMemcpy(coords, cloud->coords, bytes, cudaMemcpyDeviceToHost));
    return coords;
}

void gpu_cloud_free(gpu_cloud* cloud) {
    GPU_CUDA(cudaFree(cloud->coords));
    cloud->coords = NULL;
}

// The bits of each axis taken in turn, of 30 / dims bits an axis.
static uint64_t morton(const float* point, const float* low, const float* high, int dims) {
    int bits = 30 / dims;
    uint64_t key = 0;
    for (int a = 0; a < dims; a++) {
        float cells = (float)(1 << bits), at = (point[a] - low[a]) / (high[a] - low[a]) * cells;
        uint64_t cell = high[a] > low[a] ? (uint64_t)std::min(cells - 1, at) : 0;
        for (int bit = 0; bit < bits; bit++) key |= (cell >> bit & 1) << (bit * dims + a);
    }
    return key;
}

gpu_cloud gpu_cloud_ordered(const gpu_cloud* cloud) {
    int dims = cloud->dims;
    float *from = gpu_cloud_download(cloud), low[4], high[4];
    float* to = (float*)malloc((size_t)cloud->count * (size_t)dims * sizeof(float));
    uint64_t* keys = (uint64_t*)malloc((size_t)cloud->count * sizeof(uint64_t));
    if (!to || !keys) gpu_sap_check(SAP_ERROR_MEMORY, "ordering queries");
    for (int64_t i = 0; i < cloud->count * dims; i++) {
        int a = (int)(i % dims);
        low[a] = i < dims ? from[i] : std::min(low[a], from[i]);
        high[a] = i < dims ? from[i] : std::max(high[a], from[i]);
    }
    for (int64_t i = 0; i < cloud->count; i++) keys[i] = morton(from + i * dims, low, high, dims) << 32 | (uint64_t)i;
    std::sort(keys, keys + cloud->count);
    for (int64_t i = 0; i < cloud->count; i++)
        memcpy(to + i * dims, from + (int64_t)(uint32_t)keys[i] * dims, (size_t)dims * sizeof(float));
    gpu_cloud ordered = gpu_cloud_upload(to, cloud->count, dims);
    free(from);
    free(to);
    free(keys);
    return ordered;
}
