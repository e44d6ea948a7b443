// The start of a build over triangles on CUDA devices: checks the mesh and copies its triangles corner by corner.
#include "mesh/build_cuda.cuh"

enum { LOAD_THREADS = 256 };

typedef struct load_source {
    const float* vertices;
    const int32_t* triangles;
    int64_t vertex_count;
    float most; // largest coordinate
} load_source;

static __device__ __forceinline__ bool load_corner(const load_source& from, int32_t vertex, float4* corner) {
    if (vertex < 0 || vertex >= from.vertex_count) return false;
    const float* v = from.vertices + 3 * (int64_t)vertex;
    *corner = make_float4(v[0], v[1], v[2], 0.0f);
    return fabsf(corner->x) <= from.most && fabsf(corner->y) <= from.most && fabsf(corner->z) <= from.most;
}

static __device__ __forceinline__ float least_of(float x, float y, float z) {
    const float low = x < y ? x : y;
    return low < z ? low : z;
}
static __device__ __forceinline__ float most_of(float x, float y, float z) {
    const float high = x < y ? y : x;
    return high > z ? high : z;
}

// Each thread loads triangles in a grid-stride loop. Then each warp merges its bounds into those of the mesh.
static __global__ void __launch_bounds__(LOAD_THREADS)
    load_triangles(const load_source from, const sap_mesh_cuda_build b, float4* corners) {
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = (int64_t)blockIdx.x * LOAD_THREADS + threadIdx.x; i < b.triangles;
         i += (int64_t)gridDim.x * LOAD_THREADS) {
        float4 c[3];
        const int32_t* ids = from.triangles + 3 * i;
        bool good = true;
        for (int k = 0; k < 3; k++) good = good && load_corner(from, ids[k], &c[k]);
        if (!good) {
            atomicMin(&b.state->bad, (unsigned long long)i);
            continue;
        }
        sap_mesh_box box;
        box.lower[0] = least_of(c[0].x, c[1].x, c[2].x);
        box.lower[1] = least_of(c[0].y, c[1].y, c[2].y);
        box.lower[2] = least_of(c[0].z, c[1].z, c[2].z);
        box.upper[0] = most_of(c[0].x, c[1].x, c[2].x);
        box.upper[1] = most_of(c[0].y, c[1].y, c[2].y);
        box.upper[2] = most_of(c[0].z, c[1].z, c[2].z);
        for (int k = 0; k < 3; k++) {
            corners[3 * i + k] = c[k];
            lower[k] = fminf(lower[k], box.lower[k]);
            upper[k] = fmaxf(upper[k], box.upper[k]);
        }
        SAP_ASSERT(i < b.capacity);
        b.parts[i] = sap_mesh_part_of(box, (int)i);
    }
    for (int k = 0; k < 3; k++) {
        const uint32_t least = sap_warp_min(sap_ordinal_of(lower[k])), most = sap_warp_max(sap_ordinal_of(upper[k]));
        if (sap_lane() != 0) continue;
        if (least < *(volatile uint32_t*)&b.state->bounds[k]) atomicMin(&b.state->bounds[k], least);
        if (most > *(volatile uint32_t*)&b.state->bounds[3 + k]) atomicMax(&b.state->bounds[3 + k], most);
    }
}

void sap_mesh_cuda_load(sap_cuda_call* call, const sap_mesh_cuda_build* b, const float* vertices, int64_t vertex_count,
                        const int32_t* triangles) {
    const load_source from = {vertices, triangles, vertex_count, (float)sap_largest_coordinate(32, 3)};
    sap_cuda_grid grid = sap_cuda_grid_for(b->triangles, LOAD_THREADS);
    if (call->status == SAP_OK && grid.blocks > 16 * (int64_t)call->cuda->multiprocessors)
        grid.blocks = 16 * (int64_t)call->cuda->multiprocessors;
    sap_cuda_launch(call, load_triangles, grid, from, *b, (float4*)(uintptr_t)b->corners);
}
