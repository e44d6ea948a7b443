// Rays on a GPU: what the files of that part of the benchmark share.
#ifndef BENCH_GPU_RAYS_CUH
#define BENCH_GPU_RAYS_CUH

#include "gpu.cuh"

#include <vector>

enum {
    GPU_RAY_SIDE = 2048,
    GPU_RAYS = GPU_RAY_SIDE * GPU_RAY_SIDE,
    GPU_RAY_POINTS = 1 << 20,
    GPU_RAY_VIEWS = 6, // of scenes in a folder; one more is made by a formula
    GPU_RAY_LIMIT = 8  // hits of a ray, where all are asked for
};

// A camera that looks at a scene's centre from outside; or inside: where it stands and what it looks at, in fractions
// of the scene's box.
typedef struct gpu_ray_view {
    const char *file, *name;
    bool inside;
    float eye[3], target[3];
} gpu_ray_view;

typedef struct gpu_ray_scene {
    const gpu_ray_view* view;
    sap_mesh mesh;
    sap_mesh_file* file; // that holds the mesh; NULL: made by a formula
    std::vector<float> made_vertices;
    std::vector<int32_t> made_triangles;
    sap_ray* rays[2]; // primary, bounce: GPU_RAYS each, on the device
    float* points;    // GPU_RAY_POINTS, uniform in the scene's box, on the device
} gpu_ray_scene;

// Reads scene `number`, or makes the last one. False if it is not there.
bool gpu_ray_scene_read(gpu_bench* b, int number, gpu_ray_scene* scene);
// Makes rays and points, by the tree of the scene on the device.
void gpu_ray_scene_aim(gpu_bench* b, gpu_ray_scene* scene, const sap_mesh_tree* tree);
void gpu_ray_scene_close(gpu_ray_scene* scene);

#endif
