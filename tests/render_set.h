// What pictures are drawn of in tests, and in which ways.
#ifndef SAPWOOD_TESTS_RENDER_SET_H
#define SAPWOOD_TESTS_RENDER_SET_H

#include "ray_meshes.h"
#include "sapwood/render.h"

enum { RENDER_WIDTH = 70, RENDER_HEIGHT = 40, RENDER_SETS = 6 };

// A floor, a box of glass or mirror above it, a torus beside that.
typedef struct render_set {
    scene_mesh mesh;
    int32_t material_ids[2048];
    sap_material materials[3];
    sap_mesh_file file;
} render_set;

static inline void render_set_make(render_set* s) {
    scene_mesh torus = mesh_torus(20, 1, 0.4);
    int64_t v = torus.mesh.vertex_count, t = torus.mesh.triangle_count;
    s->mesh = scene_mesh_make(v + 8, t + 4);
    memcpy(s->mesh.vertices, torus.vertices, (size_t)v * 3 * sizeof(float));
    memcpy(s->mesh.triangles, torus.triangles, (size_t)t * 3 * sizeof(int32_t));
    scene_mesh_free(&torus);
    for (int i = 0; i < 4; i++) {
        double x = i == 0 || i == 3 ? -3 : 3, z = i < 2 ? 3 : -3;
        set_vertex(&s->mesh, v + i, x, -1.5, z);
        set_vertex(&s->mesh, v + 4 + i, x * 0.3 - 1.9, z * 0.4, -2.5);
    }
    for (int i = 0; i < 2; i++) {
        set_triangle(&s->mesh, t + 2 * i, v + 4 * i, v + 4 * i + 1, v + 4 * i + 2);
        set_triangle(&s->mesh, t + 2 * i + 1, v + 4 * i, v + 4 * i + 2, v + 4 * i + 3);
    }
    sap_material plain = {"clay", {0.7f, 0.3f, 0.2f}, {0.2f, 0.2f, 0.2f}, {0, 0, 0}, 30, 1, 1, 2, {0, 0, 0}};
    sap_material glass = {"glass", {0, 0, 0}, {0.5f, 0.5f, 0.5f}, {0, 0, 0}, 500, 0.1f, 1.5f, 7, {0, 0, 0}};
    sap_material mirror = {"mirror", {0.1f, 0.1f, 0.1f}, {0.8f, 0.8f, 0.8f}, {0, 0, 0.1f}, 500, 1, 1, 5, {0, 0, 0}};
    s->materials[0] = plain;
    s->materials[1] = glass;
    s->materials[2] = mirror;
    for (int64_t i = 0; i < t + 4; i++) s->material_ids[i] = i < t / 2 ? 0 : i < t ? 1 : i < t + 2 ? -1 : 2;
    s->file = (sap_mesh_file){
        .mesh = s->mesh.mesh, .material_ids = s->material_ids, .materials = s->materials, .material_count = 3};
}

static const sap_render_options render_small = {.width = RENDER_WIDTH, .height = RENDER_HEIGHT, .samples = 4};
static const float render_background[3] = {1, 0, 0.5f};
static const sap_light render_lamps[2] = {{{2, 6, 3}, {0.5f, 0.8f, 0.9f}, {{0, 0, 0}, {0, 0, 0}}},
                                          {{-4, 4, 3}, {0.9f, 0.5f, 0.3f}, {{1, 0, 0}, {0, 0, 1}}}};

// What is drawn in one way after the other.
static inline sap_render_options render_set_options(sap_scene* in, int which) {
    sap_render_options o = render_small;
    in->lights = which >= 2 ? render_lamps : NULL;
    in->light_count = which >= 2 ? 2 : 0;
    in->camera = (sap_camera){.fov = 0};
    if (which == 1) o.flat = true;
    if (which == 3) o.background = render_background;
    if (which == 3) in->camera = (sap_camera){{0, 3, 6}, {0, -0.5f, 0}, {0, 1, 0.2f}, 50};
    if (which == 4) o.heat = true;
    if (which == 5) o.samples = 19;
    return o;
}

#endif
