// Meshes and rays about them, on the device: those of a folder that are known here, or else a torus made by a formula.
//
// Primary rays are a camera's, 8 x 4 pixels a warp. A bounce ray leaves where a primary ray hits, in a direction drawn
// uniformly from the hemisphere about the triangle's normal, which is not turned towards the camera; where the primary
// ray misses, it comes from a sphere of twice the scene's radius and goes through the centre.
#include "gpu_rays.cuh"
#include "gpu_vector.cuh"

#include <cmath>
#include <string>

static const gpu_ray_view views[GPU_RAY_VIEWS] = {
    {"sponza_dabrovic", "sponza", false, {0}, {0}},
    {"sponza_dabrovic", "sponza in", true, {0.16f, 0.22f, 0.47f}, {0.80f, 0.35f, 0.52f}},
    {"fairy_forest", "fairy", false, {0}, {0}},
    {"dragon", "dragon", false, {0}, {0}},
    {"bunny", "bunny", false, {0}, {0}},
    {"ct_head_surface", "ct head", false, {0}, {0}},
};
static const gpu_ray_view torus = {"", "torus", false, {0}, {0}};

// ---- Meshes

static bool read_mesh(gpu_bench* b, gpu_ray_scene* s) {
    s->file = gpu_mesh_read(b, s->view->file);
    if (s->file) s->mesh = s->file->mesh;
    return s->mesh.triangle_count > 0;
}

// ---- Rays

typedef struct camera {
    float3 eye, look, right, up;
    float open; // half the picture's side, at distance 1
} camera;

static __global__ void make_primary(camera c, sap_ray* rays) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), tile = i / 32;
    const int x = tile % (GPU_RAY_SIDE / 8) * 8 + i % 8, y = tile / (GPU_RAY_SIDE / 8) * 4 + i % 32 / 8;
    const float a = c.open * (2 * ((float)x + 0.5f) / GPU_RAY_SIDE - 1);
    const float b = c.open * (1 - 2 * ((float)y + 0.5f) / GPU_RAY_SIDE);
    rays[i] = gpu_ray_of(c.eye, gpu_unit(gpu_moved(gpu_moved(c.look, a, c.right), b, c.up)), INFINITY);
}

static __device__ float random_of(uint32_t i, uint32_t kind) {
    uint32_t x = i * 2654435761u ^ kind * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (float)((x ^ x >> 16) >> 8) * (1.0f / 16777216);
}

static __device__ float3 random_direction(uint32_t i) {
    const float z = 2 * random_of(i, 1) - 1, turn = 6.2831853f * random_of(i, 2), out = sqrtf(1 - z * z);
    return make_float3(out * cosf(turn), out * sinf(turn), z);
}

static __global__ void make_bounce(sap_mesh mesh, const sap_ray* primary, const sap_hit* hits, float3 middle,
                                   float radius, sap_ray* rays) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const float3 direction = random_direction(i);
    const sap_hit hit = hits[i];
    if (hit.triangle < 0) {
        rays[i] = gpu_ray_of(gpu_moved(middle, -2 * radius, direction), direction, INFINITY);
        return;
    }
    const float3 normal = gpu_normal_of(mesh, hit.triangle);
    const float3 to = gpu_dot(normal, direction) < 0 ? gpu_moved(make_float3(0, 0, 0), -1, direction) : direction;
    const float3 at = gpu_moved(gpu_vector_of(primary[i].origin), hit.t, gpu_vector_of(primary[i].direction));
    rays[i] = gpu_ray_of(gpu_moved(at, 2e-5f * radius, normal), to, INFINITY);
}

static __global__ void make_points(float3 lower, float3 size, float* points) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    points[3 * i] = lower.x + size.x * random_of(i, 3);
    points[3 * i + 1] = lower.y + size.y * random_of(i, 4);
    points[3 * i + 2] = lower.z + size.z * random_of(i, 5);
}

static camera camera_of(const gpu_ray_view* view, float3 lower, float3 size, float3 middle, float radius) {
    camera c;
    float3 target = middle;
    c.eye = gpu_moved(middle, 2 * radius, make_float3(0.55f, 0.35f, 0.75f));
    c.open = view->inside ? 0.7f : 0.32f;
    if (view->inside) {
        const float *e = view->eye, *t = view->target;
        c.eye = make_float3(lower.x + e[0] * size.x, lower.y + e[1] * size.y, lower.z + e[2] * size.z);
        target = make_float3(lower.x + t[0] * size.x, lower.y + t[1] * size.y, lower.z + t[2] * size.z);
    }
    c.look = gpu_unit(gpu_moved(target, -1, c.eye));
    c.right = gpu_unit(gpu_cross(c.look, make_float3(0, 1, 0)));
    c.up = gpu_cross(c.right, c.look);
    return c;
}

bool gpu_ray_scene_read(gpu_bench* b, int number, gpu_ray_scene* s) {
    s->view = number < GPU_RAY_VIEWS ? &views[number] : &torus;
    if (number >= GPU_RAY_VIEWS) s->mesh = gpu_torus(360, &s->made_vertices, &s->made_triangles);
    return number >= GPU_RAY_VIEWS || (b->data && read_mesh(b, s));
}

void gpu_ray_scene_aim(gpu_bench* b, gpu_ray_scene* s, const sap_mesh_tree* tree) {
    enum { THREADS = 256 };
    sap_mesh_tree_info info;
    GPU_SAP(sap_mesh_tree_describe(tree, &info));
    const float3 lower = make_float3(info.lower[0], info.lower[1], info.lower[2]);
    const float3 size = make_float3(info.upper[0] - lower.x, info.upper[1] - lower.y, info.upper[2] - lower.z);
    const float3 middle = gpu_moved(lower, 0.5f, size);
    const float radius = 0.5f * sqrtf(gpu_dot(size, size));
    s->rays[0] = (sap_ray*)gpu_memory(GPU_RAYS * sizeof(sap_ray));
    s->rays[1] = (sap_ray*)gpu_memory(GPU_RAYS * sizeof(sap_ray));
    s->points = (float*)gpu_memory(GPU_RAY_POINTS * 3 * sizeof(float));
    sap_hit* hits = (sap_hit*)gpu_memory(GPU_RAYS * sizeof(sap_hit));
    const sap_mesh there = gpu_mesh_upload(&s->mesh);
    make_primary<<<GPU_RAYS / THREADS, THREADS, 0, b->stream>>>(camera_of(s->view, lower, size, middle, radius),
                                                                s->rays[0]);
    GPU_SAP(sap_trace(tree, s->rays[0], GPU_RAYS, hits));
    make_bounce<<<GPU_RAYS / THREADS, THREADS, 0, b->stream>>>(there, s->rays[0], hits, middle, radius, s->rays[1]);
    make_points<<<GPU_RAY_POINTS / THREADS, THREADS, 0, b->stream>>>(lower, size, s->points);
    GPU_CUDA(cudaGetLastError());
    GPU_CUDA(cudaStreamSynchronize(b->stream));
    GPU_CUDA(cudaFree(hits));
    gpu_mesh_free(&there);
}

void gpu_ray_scene_close(gpu_ray_scene* s) {
    for (void* memory : {(void*)s->rays[0], (void*)s->rays[1], (void*)s->points}) GPU_CUDA(cudaFree(memory));
    sap_mesh_file_free(s->file);
}
