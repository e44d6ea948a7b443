// What the arithmetic of a picture reads and writes in C and CUDA: the scene, and the state of each path. Kernels take
// a sap_scene_data by value; its arrays lie on the GPU.
#ifndef SAPWOOD_RENDER_SCENE_DATA_H
#define SAPWOOD_RENDER_SCENE_DATA_H

#include "render/sample.h"
#include "render/vector.h"
#include "sapwood/render.h"

#define SAP_OVER_PI 0.31830988618f

// A camera ready to send rays: through (x, y), -1 … 1 across the picture, goes forward + x * right + y * up.
typedef struct sap_lens {
    sap_vector eye, forward, right, up;
} sap_lens;

typedef struct sap_lamp {
    sap_vector position, color, side[2];
    double reach2; // squared distance at which its light is `color`
} sap_lamp;

// How the light of surfaces beyond the first dull one is found: by following paths, in photon maps at the first dull
// surface, or in them at the second.
typedef enum sap_beyond { SAP_BEYOND_PATHS, SAP_BEYOND_PHOTONS, SAP_BEYOND_GATHERED } sap_beyond;

// How a path came here: from the camera by mirrors and glass at most; straight from a dull surface; from one by mirrors
// and glass.
typedef enum sap_scattered { SAP_NOT_SCATTERED, SAP_SCATTERED, SAP_SCATTERED_MIRRORED } sap_scattered;

// A triangle that shines.
typedef struct sap_shiner {
    double until; // the part of all power that this and those before it have; the last: 1
    int32_t triangle;
} sap_shiner;

// A mesh somewhere: the triangles from `first` on of all that rays may hit are those from `triangle` on of the file.
typedef struct sap_standing {
    int32_t first, triangle;
    float transform[12], turn[9]; // of places, as in sap_instance, and of normals
    float scale, shift;           // a coordinate becomes no more than scale times the largest, plus shift
} sap_standing;

enum { SAP_BOUNCES_MOST = 128 }; // a lamp has a purpose of samples for each

typedef struct sap_scene_data {
    sap_lens lens;
    sap_vector sky_up;
    int32_t width, height, samples; // of the whole picture
    float ambient, exposure;
    int32_t beyond; // a sap_beyond
    int32_t tone;   // a sap_tone
    bool heat;
    bool has_background; // else the sky is seen past the mesh
    sap_vector background;
    // The mesh. As in sap_mesh_file, but for the normals: [3*vertices] unit or zero; NULL: flat.
    const float* vertices;
    const int32_t* triangles;
    const float* normals;
    const float* colors;
    const int32_t* material_ids;
    const sap_material* materials;
    const sap_standing* standings; // [standing_count] by `first`; NULL: the mesh is where it is
    int64_t standing_count;
    const sap_lamp* lamps;
    const sap_shiner* shiners; // [shiner_count], 0 unless rays are sent to them
    int32_t shiner_count;
    double shine_part; // 1 over the sum of all areas times their brightest colours
} sap_scene_data;

// A path, which continues with the ray of the same number.
typedef struct sap_path {
    sap_vector weight; // how much of the light that it finds arrives at the camera
    int32_t slot;      // pixel * samples + sample in the tile
    uint32_t pixel;    // seed
    uint32_t sample;
    uint32_t scattered; // a sap_scattered
    float density;      // by solid angle, of the direction in which it was scattered; 0: of another way to go on
} sap_path;

// Where a path has hit a surface: what lamps need.
typedef struct sap_surface {
    sap_vector point;              // a little off the surface, on the side where the ray came from
    sap_vector normal, view;       // towards that side; to where the ray came from
    sap_vector diffuse, highlight; // weights; both zero: nothing to light
    int32_t exponent;              // 0: lamps do not light it, their photons do
    float scatter;                 // how often a path goes on from here scattered
} sap_surface;

// The part of a picture that is traced at once: a tile, and some samples of each of its pixels.
typedef struct sap_tile {
    int32_t x, y, width, height;
    int32_t first, samples; // of each pixel
} sap_tile;

SAP_FN sap_ray sap_ray_make(sap_vector origin, sap_vector direction, float t_max) {
    sap_ray ray;
    ray.origin[0] = origin.x;
    ray.origin[1] = origin.y;
    ray.origin[2] = origin.z;
    ray.t_min = 0;
    ray.direction[0] = direction.x;
    ray.direction[1] = direction.y;
    ray.direction[2] = direction.z;
    ray.t_max = t_max;
    return ray;
}

#endif
