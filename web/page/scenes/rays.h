// What the parts of the scene Rays agree on: meshes and trees are made in the worker (rays_mesh.c, rays_build.c),
// pictures are drawn on the page's thread (rays.c).
#ifndef SAPWOOD_PAGE_RAYS_H
#define SAPWOOD_PAGE_RAYS_H

#include "page.h"
#include "scenes/rays_fields.h"

enum {
    RAYS_MATERIALS = 6,  // of the built-in mesh
    RAYS_MOST = 4000000, // triangles that the page takes
    RAYS_NUMBERS = 13    // floats of a material, as they travel: all of sap_material but its name
};

// A mesh that owns its arrays, which are malloc's. Arrays that it has not are NULL.
typedef struct rays_mesh {
    float* vertices;
    int64_t vertex_count;
    int32_t* triangles;
    int64_t triangle_count;
    float* colors;
    int32_t* material_ids;
    float (*materials)[RAYS_NUMBERS];
    int32_t material_count;
} rays_mesh;

void rays_mesh_free(rays_mesh* mesh);
// A knot, balls and a floor of about so many triangles. False, with nothing to free: there is no memory.
bool rays_mesh_make(int64_t triangles, rays_mesh* mesh);
// A point of the knot: u goes along it, v around it, both from 0 to 1; y is up.
void rays_knot(double u, double v, double to[3]);
sap_material rays_material(const float numbers[RAYS_NUMBERS]);

#endif
