// A picture in the making: the scene with everything worked out that rays need, and the paths of one batch.
#ifndef SAPWOOD_RENDER_PICTURE_H
#define SAPWOOD_RENDER_PICTURE_H

#include "render/sample.h"
#include "render/vector.h"
#include "sapwood/render.h"

enum { SAP_TILE = 64, SAP_PASS = 16 }; // pixels a side; samples of a pixel that are traced together

// A camera ready to send rays: through (x, y), -1 … 1 across the picture, goes forward + x * right + y * up.
typedef struct sap_lens {
    sap_vector eye, forward, right, up;
} sap_lens;

typedef struct sap_lamp {
    sap_vector position, color, side[2];
    double reach2; // the squared distance at which it shines with `color`
} sap_lamp;

typedef struct sap_picture {
    sap_device* device;
    const sap_mesh_tree* tree;
    const sap_mesh_file* file;
    sap_render_options options; // defaults filled in
    int32_t threads;
    sap_lens lens;
    sap_vector sky_up;
    sap_vector middle; // of the mesh's box
    double radius;     // half its diagonal
    sap_lamp* lamps;
    int32_t lamp_count;
    float* normals; // [3*vertex_count] unit or zero; NULL: flat
    int64_t rays;
} sap_picture;

// A path that goes on with rays[i].
typedef struct sap_path {
    sap_vector weight; // how much of what is found arrives at the camera
    int32_t slot;      // pixel * samples + sample in the batch
    uint32_t pixel;    // seed
    uint32_t sample;
    bool scattered; // by a dull surface
} sap_path;

// Where a path has met a surface: what lights need to know.
typedef struct sap_surface {
    sap_vector point;              // a little off the surface, on the side where the ray came from
    sap_vector normal, view;       // towards that side; to where the ray came from
    sap_vector diffuse, highlight; // weights; both zero: nothing to light
    int32_t exponent;
} sap_surface;

// A batch: one tile, some samples of each of its pixels. Arrays hold `room` entries.
typedef struct sap_batch {
    int32_t x, y, width, height; // the tile
    int32_t first, samples;      // of each pixel
    int64_t room, live;          // paths
    sap_path* paths;
    sap_ray* rays;
    sap_hit* hits;
    sap_surface* surfaces;
    sap_ray* shadows;
    sap_vector* lit; // what a lamp sheds on a surface if nothing is between
    uint8_t* dark;
    int32_t* visits;
    sap_vector* found; // [room] light by slot
} sap_batch;

// ---- camera.c
sap_vector sap_camera_up(const sap_camera* camera);
void sap_lens_aim(const sap_camera* camera, int32_t width, int32_t height, sap_lens* lens);
// The box's middle and half its diagonal; a cube around the origin for a tree without triangles.
void sap_box_around(const sap_mesh_tree_info* info, sap_vector* middle, double* radius);

// ---- surface.c
// Normals of the vertices, the sum of those of the triangles around each by area; NULL when memory is missing.
void sap_normals_fill(const sap_mesh* mesh, float* normals);
// Meets the surfaces of hits: adds what shines, readies what lamps need, and sends the paths on; `last`: not any more.
void sap_shade(const sap_picture* picture, sap_batch* batch, int32_t bounce, bool last);

// ---- light.c
sap_status sap_lamps_prepare(sap_picture* picture, const sap_scene* scene);
// Adds the light of all lamps to the surfaces of a batch.
sap_status sap_light_surfaces(sap_picture* picture, sap_batch* batch, int32_t bounce);
sap_vector sap_sky(const sap_picture* picture, sap_vector direction);

// ---- color.c: sRGB pixels of the summed light of all samples, and of counts as heat; the latter returns the largest.
void sap_develop(const sap_picture* picture, const float* light, uint8_t* pixels);
float sap_develop_heat(const sap_picture* picture, const float* light, uint8_t* pixels);

#endif
