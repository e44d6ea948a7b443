// What the parts of the scene Rays agree on: meshes and trees are made in the worker (rays_mesh.c, rays_move.c,
// rays_build.c), pictures are drawn on the page's thread (rays.c).
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
    float* vertices; // where they are now
    float* rest;     // and where they were made
    int64_t vertex_count;
    int32_t* bones; // two that each vertex follows (rays_bone)
    float* weights; // how much
    int32_t* triangles;
    int64_t triangle_count;
    float* colors;
    int32_t* material_ids;
    float (*materials)[RAYS_NUMBERS];
    int32_t material_count;
    bool walks; // it is the knot
} rays_mesh;

// A mesh of a file has a body alone.
enum rays_bone { RAYS_BONE_REST, RAYS_BONE_BODY, RAYS_BONE_RIGHT, RAYS_BONE_LEFT, RAYS_BONE_HEAD, RAYS_BONES };

void rays_mesh_free(rays_mesh* mesh);
// Memory for the places, bones and triangles of a mesh; what there is of it is freed by rays_mesh_free.
bool rays_mesh_room(rays_mesh* mesh, int64_t vertices, int64_t triangles);
// A knot, balls and a floor of about so many triangles. False, with nothing to free: there is no memory.
bool rays_mesh_make(int64_t triangles, rays_mesh* mesh);
// A point of the knot before it is set on two feet: u goes along it, v around it, both from 0 to 1; y is up.
void rays_knot(double u, double v, double to[3]);
// Lets a vertex follow two bones, the second as much as `part`, from 0 to 1, says.
void rays_follow(rays_mesh* mesh, int64_t vertex, int32_t first, int32_t second, double part);
// Puts the vertices where they are after so many seconds; at 0 they are at rest. lower and upper: the box at rest, whose
// axis `up` points up.
sap_status rays_mesh_move(rays_mesh* mesh, double seconds, int up, const float lower[3], const float upper[3]);
sap_material rays_material(const float numbers[RAYS_NUMBERS]);

// How pixels become rays: a pixel at (x, y), -1 to 1 from left to right and from bottom to top, has a ray from `eye` along
// forward + x * right + y * up.
typedef struct rays_lens {
    double eye[3], right[3], up[3], forward[3];
} rays_lens;
// Of a picture as large as the canvas, from where the camera is but for its yaw and zoom; NULL: as they are. Page's
// thread (rays.c).
void rays_lens_from(const double yaw_and_zoom[2], rays_lens* lens);
void rays_canvas(int32_t size[2]);
// The tree that is shown, whose arrays lie in host memory; NULL: there is none yet.
const sap_mesh_tree* rays_shown(void);
void rays_told_stop(void);

#endif
