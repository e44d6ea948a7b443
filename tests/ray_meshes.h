// Meshes that rays are tried on.
#ifndef SAPWOOD_TESTS_RAY_MESHES_H
#define SAPWOOD_TESTS_RAY_MESHES_H

#include "families.h"
#include "mesh_families.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum ray_mesh {
    RAY_MESH_NONE,
    RAY_MESH_ONE,
    RAY_MESH_CUBE,
    RAY_MESH_SPHERE,
    RAY_MESH_TORUS,
    RAY_MESH_SOUP,       // triangles of all sizes anywhere
    RAY_MESH_COPLANAR,   // overlapping triangles in one plane
    RAY_MESH_DUPLICATES, // each triangle several times
    RAY_MESH_NEEDLES,    // long and thin, and some without area
    RAY_MESH_POINTS,     // without area all of them
    RAY_MESH_LATTICE,    // many walls along the axes
    RAY_MESH_FAR,        // a torus 1e7 away
    RAY_MESH_TINY,       // a torus 0.15 across
    RAY_MESH_OTHERS,     // from here on: the families of mesh_families.h
    RAY_MESHES = RAY_MESH_OTHERS + MESH_FAMILIES
} ray_mesh;

// A mesh that owns its arrays.
typedef struct scene_mesh {
    sap_mesh mesh;
    float* vertices;
    int32_t* triangles;
} scene_mesh;

static inline scene_mesh scene_mesh_make(int64_t vertices, int64_t triangles) {
    scene_mesh m = {.vertices = calloc((size_t)vertices * 3 + 1, sizeof(float)),
                    .triangles = calloc((size_t)triangles * 3 + 1, sizeof(int32_t))};
    m.mesh = (sap_mesh){m.vertices, vertices, m.triangles, triangles};
    return m;
}

static inline void scene_mesh_free(scene_mesh* m) {
    free(m->vertices);
    free(m->triangles);
}

static inline void set_vertex(scene_mesh* m, int64_t i, double x, double y, double z) {
    m->vertices[3 * i] = (float)x;
    m->vertices[3 * i + 1] = (float)y;
    m->vertices[3 * i + 2] = (float)z;
}

static inline void set_triangle(scene_mesh* m, int64_t i, int64_t a, int64_t b, int64_t c) {
    m->triangles[3 * i] = (int32_t)a;
    m->triangles[3 * i + 1] = (int32_t)b;
    m->triangles[3 * i + 2] = (int32_t)c;
}

// A closed torus of n * n quads.
static inline scene_mesh mesh_torus(int n, double ring, double tube) {
    const double turn = 6.283185307179586;
    scene_mesh m = scene_mesh_make((int64_t)n * n, 2 * (int64_t)n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double a = turn * i / n, b = turn * j / n, r = ring + tube * cos(b);
            int64_t at = (int64_t)i * n + j, right = (int64_t)((i + 1) % n) * n + j;
            int64_t up = (int64_t)i * n + (j + 1) % n, both = (int64_t)((i + 1) % n) * n + (j + 1) % n;
            set_vertex(&m, at, r * cos(a), r * sin(a), tube * sin(b));
            set_triangle(&m, 2 * at, at, right, both);
            set_triangle(&m, 2 * at + 1, at, both, up);
        }
    return m;
}

// A closed sphere of n slices and n rings, its poles one vertex each.
static inline scene_mesh mesh_sphere(int n, double radius) {
    const double half = 3.141592653589793;
    scene_mesh m = scene_mesh_make((int64_t)n * (n - 1) + 2, 2 * (int64_t)n * (n - 1));
    int64_t top = (int64_t)n * (n - 1), bottom = top + 1, next = 0;
    set_vertex(&m, top, 0, 0, radius);
    set_vertex(&m, bottom, 0, 0, -radius);
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < n; j++) {
            double a = half * (i + 1) / n, b = 2 * half * j / n;
            int64_t at = (int64_t)i * n + j, side = (int64_t)i * n + (j + 1) % n;
            set_vertex(&m, at, radius * sin(a) * cos(b), radius * sin(a) * sin(b), radius * cos(a));
            if (i == 0) set_triangle(&m, next++, top, at, side);
            if (i == n - 2) set_triangle(&m, next++, bottom, side, at);
            if (i == n - 2) continue;
            set_triangle(&m, next++, at, at + n, side + n);
            set_triangle(&m, next++, at, side + n, side);
        }
    return m;
}

static inline scene_mesh mesh_cube(void) {
    static const int faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                     {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    scene_mesh m = scene_mesh_make(8, 12);
    for (int i = 0; i < 8; i++) set_vertex(&m, i, i & 1, i >> 1 & 1, i >> 2);
    for (int i = 0; i < 12; i++) set_triangle(&m, i, faces[i][0], faces[i][1], faces[i][2]);
    return m;
}

// n triangles that share no vertex. Their corners: see the families.
static inline scene_mesh mesh_soup(ray_mesh kind, int n, uint64_t seed) {
    scene_mesh m = scene_mesh_make(3 * (int64_t)n, n);
    uint64_t state = seed;
    for (int i = 0; i < n; i++) {
        double at[3], size = pow(0.5, (double)random_below(&state, 8));
        for (int k = 0; k < 3; k++) at[k] = random_unit(&state) * 4 - 2;
        int wall = (int)random_below(&state, 3);
        double level = (double)random_below(&state, 9) / 4 - 1;
        for (int c = 0; c < 3; c++) {
            double v[3];
            for (int k = 0; k < 3; k++) {
                double offset = random_unit(&state) - 0.5;
                v[k] = at[k] + offset * size;
                if (kind == RAY_MESH_NEEDLES) v[k] = c < 2 ? at[k] * c : at[k] * 0.5 + (i % 3 ? offset * 1e-5 : 0);
                if (kind == RAY_MESH_POINTS) v[k] = c < 2 ? at[k] : at[k] + (i & 1) * k;
                if (kind == RAY_MESH_COPLANAR && k == 2) v[k] = 0.25;
                if (kind == RAY_MESH_LATTICE) v[k] = k == wall ? level : (double)random_below(&state, 9) / 4 - 1;
            }
            set_vertex(&m, 3 * i + c, v[0], v[1], v[2]);
        }
        int64_t first = kind == RAY_MESH_DUPLICATES ? 3 * random_below(&state, i / 4 + 1) : 3 * (int64_t)i;
        set_triangle(&m, i, first, first + 1, first + 2);
    }
    return m;
}

static inline scene_mesh mesh_copy(sap_mesh from) {
    scene_mesh m = scene_mesh_make(from.vertex_count, from.triangle_count);
    if (from.vertex_count) memcpy(m.vertices, from.vertices, (size_t)from.vertex_count * 3 * sizeof(float));
    if (from.triangle_count) memcpy(m.triangles, from.triangles, (size_t)from.triangle_count * 3 * sizeof(int32_t));
    mesh_free(&from);
    return m;
}

static inline scene_mesh ray_mesh_of(ray_mesh kind, int size) {
    int side = 3;
    if (kind >= RAY_MESH_OTHERS) return mesh_copy(mesh_of_family((mesh_family)(kind - RAY_MESH_OTHERS), size, 5));
    while (2 * side * side < size) side++;
    switch (kind) {
    case RAY_MESH_NONE: return scene_mesh_make(0, 0);
    case RAY_MESH_ONE: return mesh_soup(RAY_MESH_SOUP, 1, 3);
    case RAY_MESH_CUBE: return mesh_cube();
    case RAY_MESH_SPHERE: return mesh_sphere(side, 1);
    case RAY_MESH_TORUS: return mesh_torus(side, 1, 0.4);
    case RAY_MESH_TINY: return mesh_torus(side, 0.06, 0.015);
    case RAY_MESH_FAR: {
        scene_mesh m = mesh_torus(side, 1000, 400);
        for (int64_t i = 0; i < 3 * m.mesh.vertex_count; i++) m.vertices[i] += 1e7f;
        return m;
    }
    default: return mesh_soup(kind, size, 11 + (uint64_t)kind);
    }
}

// A tree over a mesh, or NULL.
static inline sap_mesh_tree* ray_tree(sap_device* device, const sap_mesh* mesh, sap_quality quality) {
    sap_mesh_tree_options options = {.quality = quality};
    sap_mesh_tree* tree = NULL;
    return sap_mesh_tree_build(device, *mesh, &options, &tree) == SAP_OK ? tree : NULL;
}

#endif
