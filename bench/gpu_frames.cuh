// Frames of meshes that move: what the files share that measure them.
#ifndef BENCH_GPU_FRAMES_CUH
#define BENCH_GPU_FRAMES_CUH

#include "gpu_vector.cuh"

#include <string>

typedef struct gpu_frame_view { // a camera and a light
    float3 eye, forward, right, up, light;
    float lift; // how far off surfaces further rays begin
} gpu_frame_view;

typedef struct gpu_frame_stage {
    std::string name;
    sap_mesh moved; // of the device
    float* rest;    // its vertices at rest, on the device; NULL: `move` has its own
    gpu_frame_view view;
    sap_quality quality;
    bool bounces;            // a ray goes on from what each pixel's ray hits
    sap_mesh_tree* tree;     // of the moved mesh
    sap_ray *rays, *shadows; // of the device, as is all below; rays that went on take the shadows' place
    sap_hit* hits;
    uint8_t *dark, *pixels; // pixels: [1024 * 1024], rows from top to bottom
    float wave;             // of the twist, radians a unit: once over the height of the mesh
    int moves;
    // Moves the mesh once more.
    void (*move)(gpu_bench* b, struct gpu_frame_stage* s);
    void* how; // what `move` needs
} gpu_frame_stage;

// Takes memory for a stage whose mesh is there, and gives it back.
void gpu_frame_open(gpu_frame_stage* s);
void gpu_frame_close(gpu_bench* b, gpu_frame_stage* s);
// Frames of a stage: moved, built, drawn.
void gpu_frame_measure(gpu_bench* b, gpu_frame_stage* s, const char* work, double target);
// Twists vertices, and each time more.
void gpu_frame_twist(gpu_bench* b, gpu_frame_stage* s, const float* rest, float* moved, int64_t count);

#endif
