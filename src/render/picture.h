// A picture in the making: the scene with everything that rays need, the wavefront, and the steps between two traces,
// for which each processor has its own loops.
#ifndef SAPWOOD_RENDER_PICTURE_H
#define SAPWOOD_RENDER_PICTURE_H

#include "mesh/layout.h"
#include "render/ops.h"
#include "render/scene_data.h"
#include "sapwood/photons.h"

#include <time.h>

enum { SAP_PASS = 16 }; // most samples of a pixel that are traced together

// The paths that are traced together, a bounce at a time: those of one tile, in memory of the processor that traces
// them. Arrays hold `room` entries.
typedef struct sap_wavefront {
    sap_tile tile;
    int64_t room, live; // paths
    sap_path* paths;
    sap_ray* rays;
    sap_hit* hits;
    sap_surface* surfaces;
    sap_ray* shadows;
    sap_vector* lit; // light of a lamp that reaches a surface if nothing is between
    uint8_t* dark;
    uint8_t* goes_on; // whether a path continues
    int32_t* visits;
    sap_vector* found; // [room] light by slot of a path
} sap_wavefront;

// What sends photons towards a ball: around the scene, or around all that may begin caustics.
typedef struct sap_photon_aim {
    const struct sap_source* sources; // in host memory
    int32_t count;
    sap_vector middle;
    double radius;
} sap_photon_aim;

typedef enum sap_aim_kind { SAP_AIM_SCENE, SAP_AIM_CAUSTICS } sap_aim_kind;

struct sap_picture {
    sap_device* device;        // the caller's: log, host memory, progress
    const sap_mesh_tree* tree; // NULL: the instances' trees
    const sap_instance_tree* instances;
    const sap_mesh_file* file;
    int64_t triangles;          // that rays may hit
    sap_render_options options; // defaults filled in
    int32_t threads;
    sap_vector middle; // of the mesh's box
    double radius;     // half its diagonal
    sap_lamp* lamps;
    int32_t lamp_count;
    sap_scene_data scene;   // arrays: the host's until `begin`
    sap_photon_aim aims[2]; // by sap_aim_kind
    double source_power[3]; // of all sources of photons
    // Of the pass that is drawn: caustic photons, and others; NULL: without.
    sap_render_photons lighting; // defaults filled in
    sap_photons *caustics, *global;
    int32_t drawn; // passes
    float error;
    int64_t rays, photons;
    double trace_seconds, photon_seconds;
    // From `begin` to `end` of the steps.
    int32_t tile_width, tile_height, pass; // largest width, height and samples of a pixel of a tile
    sap_wavefront wavefront;
    float* light; // [3 * width * height] the sum over all samples
    sap_scratch scratch[2];
    void* state;
};

// ---- options.c
// Checks options and camera, fills in defaults, and sets up a picture. It does not read the scene's file.
sap_status sap_picture_prepare(sap_picture* picture, sap_device* device, const sap_scene* scene,
                               const sap_render_options* options);
// Whether a mesh has so many triangles, their vertices and materials exist, and these and colours are finite.
sap_status sap_mesh_file_check(const sap_device* device, const sap_mesh_file* file, int64_t triangles);

// ---- passes.c: draws the passes, between `begin` and `end` of the steps. scene.samples becomes what was drawn.
sap_status sap_picture_draw_passes(sap_picture* picture, const sap_render_ops* steps);
// ---- render.c: adds the samples of a pass to the light.
sap_status sap_picture_draw_tiles(sap_picture* picture, const sap_render_ops* steps, int32_t pass);
// How much of the picture is done when so much of the rays of a pass is.
double sap_picture_done(const sap_picture* picture, int32_t pass, double rays);

// ---- wavefront.c
// Places the arrays of a wavefront in its aligned block of memory; with memory NULL, only counts the bytes. The bytes.
size_t sap_wavefront_layout(sap_wavefront* wavefront, unsigned char* memory);
// Sets the largest size of a tile, in pixels, and with it the wavefront's room.
void sap_tiles_limit(sap_picture* picture, int32_t width, int32_t height);

// ---- camera.c
sap_vector sap_camera_up(const sap_camera* camera);
void sap_lens_aim(const sap_camera* camera, int32_t width, int32_t height, sap_lens* lens);
// The box's middle and half its diagonal; a cube around the origin for an empty box.
void sap_box_around(const float lower[3], const float upper[3], sap_vector* middle, double* radius);

// ---- standing.c: scenes of instances, which a page has none of.
#if defined(__EMSCRIPTEN__)
static inline sap_status sap_instances_check(sap_device* device, const sap_scene* scene,
                                             const sap_render_options* options) {
    (void)scene, (void)options;
    return sap_unsupported(device, "draw instances");
}
static inline void sap_instances_box(sap_picture* picture, const sap_scene* scene, float lower[3], float upper[3]) {
    (void)picture, (void)scene, (void)lower, (void)upper;
}
static inline void sap_standings_fill(const sap_mesh_places* places, sap_standing* standings) {
    (void)places, (void)standings;
}
#else
// Whether the instances of a scene are those of its places.
sap_status sap_instances_check(sap_device* device, const sap_scene* scene, const sap_render_options* options);
// The box of their triangles, and how many those are.
void sap_instances_box(sap_picture* picture, const sap_scene* scene, float lower[3], float upper[3]);
// Fills in places, of which there is one for each of the scene's.
void sap_standings_fill(const sap_mesh_places* places, sap_standing* standings);
#endif

// ---- normals.c: for each vertex the unit sum of its triangles' normals, weighted by area, or zero: [3*vertex_count].
void sap_normals_fill(const sap_mesh* mesh, int32_t threads, float* normals);

// ---- fill.c: fills in a checked scene, whose lamps, normals, places, faces that shine and sources of photons lie in
// scratch memory. sap_picture_empty follows, also after a failure.
typedef enum sap_filled {
    SAP_FILLED_LAMPS,
    SAP_FILLED_NORMALS,
    SAP_FILLED_STANDINGS,
    SAP_FILLED_SHINERS,
    SAP_FILLED_SOURCES
} sap_filled;
enum { SAP_FILLED_ALL = SAP_FILLED_SOURCES + 1 };
sap_status sap_picture_fill(sap_picture* picture, const sap_scene* scene, bool photons, sap_scratch* memory);
void sap_picture_empty(sap_picture* picture, sap_scratch* memory);

// ---- light.c: the lamps of a scene, into picture->lamps.
sap_status sap_lamps_prepare(sap_picture* picture, const sap_scene* scene);

// ---- photons/light.c
// Checks what is told of photons, and fills in defaults.
sap_status sap_lighting_prepare(sap_picture* picture);
// Makes the maps of a pass anew, which is reported as this part of the whole; and frees them.
sap_status sap_lighting_begin(sap_picture* picture, int32_t pass, double from, double to);
void sap_lighting_end(sap_picture* picture);
static inline double sap_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int32_t sap_lesser(int32_t a, int32_t b) { return a < b ? a : b; }
static inline bool sap_finite(sap_vector a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

// The count that is drawn brightest in a picture of heat.
static inline float sap_heat_full(const sap_picture* picture, float most) {
    return picture->options.hottest > 0 ? picture->options.hottest : most > 0 ? most : 1;
}

#endif
