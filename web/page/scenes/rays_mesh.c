// The built-in mesh of the scene Rays: surfaces of formulas, cut into quadrilaterals as finely as is asked for.
#include "scenes/meshes.h"
#include "scenes/rays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct point {
    double x, y, z;
} point;

static const double full_turn = 6.283185307179586;

enum { GOLD, MIRROR, GLASS, CLAY, LIGHT_TILE, DARK_TILE };

// Diffuse, specular, emission; shininess, opacity, refraction, illum.
static const float materials[RAYS_MATERIALS][RAYS_NUMBERS] = {
    {0.62f, 0.33f, 0.10f, 0.35f, 0.27f, 0.16f, 0, 0, 0, 60, 1, 1, 5},
    {0.03f, 0.03f, 0.04f, 0.88f, 0.90f, 0.92f, 0, 0, 0, 400, 1, 1, 3},
    {0.00f, 0.00f, 0.00f, 0.10f, 0.10f, 0.10f, 0, 0, 0, 400, 0.06f, 1.5f, 5},
    {0.16f, 0.36f, 0.52f, 0.06f, 0.06f, 0.06f, 0, 0, 0, 20, 1, 1, 2},
    {0.66f, 0.64f, 0.60f, 0.05f, 0.05f, 0.05f, 0, 0, 0, 200, 1, 1, 5},
    {0.20f, 0.21f, 0.23f, 0.05f, 0.05f, 0.05f, 0, 0, 0, 200, 1, 1, 5}};

static point plus(point a, point b, double s) { return (point){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
static point cross(point a, point b) {
    return (point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static point unit(point a) {
    double length = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
    return (point){a.x / length, a.y / length, a.z / length};
}

// ---- Surfaces, of u and v in 0 ... 1.

// A line around a torus twice, while it goes three times around the torus's own tube; turned back by `tilt`.
static point knot_line(double t, double tilt) {
    double far = 1.0 + 0.42 * cos(3 * t);
    return (point){far * cos(2 * t - tilt), 0.42 * sin(3 * t), far * sin(2 * t - tilt)};
}

static point knot_at(double u, double v, double tilt, double height) {
    const double t = full_turn * u, small = 1e-4, turn = full_turn * v;
    const point at = knot_line(t, tilt), away = {cos(2 * t - tilt), 0, sin(2 * t - tilt)};
    const point along = unit(plus(knot_line(t + small, tilt), knot_line(t - small, tilt), -1));
    const point side = unit(cross(along, away)), up = cross(side, along);
    const point tube = plus(plus(at, side, 0.26 * cos(turn)), up, 0.26 * sin(turn));
    return (point){tube.x * 1.15, tube.z * 1.15 + height, tube.y * 1.15}; // upright on the floor
}

// With two of its three corners below, to stand on.
static point knot(double u, double v) { return knot_at(u, v, full_turn / 12, 1.6); }

void rays_knot(double u, double v, double to[3]) {
    const point at = knot_at(u, v, 0, 1.83);
    to[0] = at.x;
    to[1] = at.y;
    to[2] = at.z;
}

static point ball(double u, double v) {
    const double turn = full_turn * u, tilt = 0.5 * full_turn * v;
    return (point){sin(tilt) * cos(turn), cos(tilt), -sin(tilt) * sin(turn)};
}

typedef struct surface {
    point (*at)(double u, double v);
    int32_t columns, rows, material;
    point middle;
    double radius;
} surface;

// ---- Triangles.

void rays_follow(rays_mesh* mesh, int64_t vertex, int32_t first, int32_t second, double part) {
    mesh->bones[2 * vertex] = first;
    mesh->bones[2 * vertex + 1] = second;
    mesh->weights[2 * vertex] = (float)(1 - part);
    mesh->weights[2 * vertex + 1] = (float)part;
}

static void put_vertex(rays_mesh* mesh, point p) {
    const int64_t vertex = mesh->vertex_count++;
    float* to = mesh->rest + 3 * vertex;
    to[0] = (float)p.x;
    to[1] = (float)p.y;
    to[2] = (float)p.z;
    rays_follow(mesh, vertex, RAYS_BONE_REST, RAYS_BONE_REST, 0);
}

// The knot's vertices at u follow its body, and the nearest corner the more the nearer it is.
static void put_knot(rays_mesh* mesh, double u, double v) {
    const int32_t corners[4] = {RAYS_BONE_RIGHT, RAYS_BONE_LEFT, RAYS_BONE_HEAD, RAYS_BONE_RIGHT};
    const double near = 0.5 + 0.5 * cos(3 * full_turn * u);
    put_vertex(mesh, knot(u, v));
    rays_follow(mesh, mesh->vertex_count - 1, RAYS_BONE_BODY, corners[(int)(3 * u + 0.5)],
                near * near * (3 - 2 * near));
}

static void put_triangle(rays_mesh* mesh, int64_t a, int64_t b, int64_t c, int32_t material) {
    page_put_triangle(mesh->triangles, mesh->material_ids, mesh->triangle_count++, (int64_t[3]){a, b, c}, material);
}

// u is closed; so is v of the knot. The poles of balls are rings of one place: their triangles without area do no harm.
static void put_surface(rays_mesh* mesh, const surface* s) {
    const int64_t first = mesh->vertex_count;
    const bool closed = s->at == knot;
    const int32_t rings = closed ? s->rows : s->rows + 1;
    for (int32_t r = 0; r < rings; r++)
        for (int32_t c = 0; c < s->columns; c++) {
            const double u = (double)c / s->columns, v = (double)r / s->rows;
            if (closed)
                put_knot(mesh, u, v);
            else
                put_vertex(mesh, plus(s->middle, s->at(u, v), s->radius));
        }
    for (int32_t r = 0; r < s->rows; r++)
        for (int32_t c = 0; c < s->columns; c++) {
            const int64_t at = first + (int64_t)r * s->columns, under = first + (int64_t)((r + 1) % rings) * s->columns;
            const int32_t next = (c + 1) % s->columns;
            put_triangle(mesh, at + c, under + c, under + next, s->material);
            put_triangle(mesh, at + c, under + next, at + next, s->material);
        }
}

enum { TILES = 12 }; // on a side of the floor

static void put_floor(rays_mesh* mesh) {
    const int64_t first = mesh->vertex_count;
    for (int i = 0; i <= TILES; i++)
        for (int j = 0; j <= TILES; j++) put_vertex(mesh, (point){j * 0.6 - 3.6, 0, i * 0.6 - 3.6});
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j < TILES; j++) {
            const int64_t a = first + i * (TILES + 1) + j, c = a + TILES + 1;
            const int32_t material = (i + j) % 2 ? DARK_TILE : LIGHT_TILE;
            put_triangle(mesh, a, c, c + 1, material);
            put_triangle(mesh, a, c + 1, a + 1, material);
        }
}

void rays_mesh_free(rays_mesh* mesh) {
    free(mesh->vertices);
    free(mesh->rest);
    free(mesh->bones);
    free(mesh->weights);
    free(mesh->triangles);
    free(mesh->colors);
    free(mesh->material_ids);
    free(mesh->materials);
    memset(mesh, 0, sizeof *mesh);
}

bool rays_mesh_room(rays_mesh* mesh, int64_t vertices, int64_t triangles) {
    mesh->vertices = malloc((size_t)vertices * 12 + 12);
    mesh->rest = malloc((size_t)vertices * 12 + 12);
    mesh->bones = malloc((size_t)vertices * 8 + 8);
    mesh->weights = malloc((size_t)vertices * 8 + 8);
    mesh->triangles = malloc((size_t)triangles * 12 + 12);
    return mesh->vertices && mesh->rest && mesh->bones && mesh->weights && mesh->triangles;
}

// As many rows that so many quadrilaterals make `shape` times as many columns.
static surface cut(point (*at)(double, double), double quads, double shape, int32_t material) {
    int32_t rows = (int32_t)fmax(6, sqrt(quads / shape));
    return (surface){at, (int32_t)fmax(8, quads / rows), rows, material, {0, 0, 0}, 1};
}

bool rays_mesh_make(int64_t triangles, rays_mesh* mesh) {
    const double quads = (double)triangles / 2;
    surface parts[4] = {cut(knot, quads * 0.76, 12, GOLD), cut(ball, quads * 0.12, 2, MIRROR),
                        cut(ball, quads * 0.07, 2, GLASS), cut(ball, quads * 0.05, 2, CLAY)};
    parts[1].middle = (point){-2.75, 0.75, -0.4}, parts[1].radius = 0.75;
    parts[2].middle = (point){1.05, 0.42, 1.55}, parts[2].radius = 0.42;
    parts[3].middle = (point){-0.75, 0.3, 1.5}, parts[3].radius = 0.3;
    int64_t vertices = (TILES + 1) * (TILES + 1), faces = 2 * TILES * TILES;
    for (int i = 0; i < 4; i++) {
        vertices += (int64_t)(parts[i].rows + 1) * parts[i].columns;
        faces += 2 * (int64_t)parts[i].rows * parts[i].columns;
    }
    *mesh = (rays_mesh){.material_ids = malloc((size_t)faces * 4),
                        .materials = malloc(sizeof materials),
                        .material_count = RAYS_MATERIALS,
                        .walks = true};
    if (!rays_mesh_room(mesh, vertices, faces) || !mesh->material_ids || !mesh->materials) {
        rays_mesh_free(mesh);
        return false;
    }
    memcpy(mesh->materials, materials, sizeof materials);
    for (int i = 0; i < 4; i++) put_surface(mesh, &parts[i]);
    put_floor(mesh);
    memcpy(mesh->vertices, mesh->rest, (size_t)mesh->vertex_count * 12);
    return true;
}

sap_material rays_material(const float n[RAYS_NUMBERS]) {
    sap_material material = {.shininess = n[9], .opacity = n[10], .refraction = n[11], .illum = (int32_t)n[12]};
    memcpy(material.diffuse, n, sizeof material.diffuse);
    memcpy(material.specular, n + 3, sizeof material.specular);
    memcpy(material.emission, n + 6, sizeof material.emission);
    return material;
}
