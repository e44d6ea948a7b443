#include "mesh_families.h"
#include <stdlib.h>
#include <string.h>

typedef struct draft {
    float* vertices;
    int32_t* triangles;
    int64_t vertex_count, triangle_count;
    uint64_t state;
} draft;

// 0 … 1, a multiple of 2^-24 (the generator of Steele, Lea and Flood 2014).
static float random_unit(draft* d) {
    uint64_t z = d->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (float)((z ^ (z >> 31)) >> 40) * 0x1p-24F;
}

static int32_t add_vertex(draft* d, float x, float y, float z) {
    float* v = d->vertices + 3 * d->vertex_count;
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return (int32_t)d->vertex_count++;
}

static void add_triangle(draft* d, int32_t a, int32_t b, int32_t c) {
    int32_t* t = d->triangles + 3 * d->triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

// A triangle around a random place, its corners within these distances.
static void add_random(draft* d, float x, float y, float z) {
    float at[3] = {random_unit(d), random_unit(d), random_unit(d)};
    int32_t corner[3];
    for (int i = 0; i < 3; i++) {
        float dx = (random_unit(d) - 0.5F) * x, dy = (random_unit(d) - 0.5F) * y, dz = (random_unit(d) - 0.5F) * z;
        corner[i] = add_vertex(d, at[0] + dx, at[1] + dy, at[2] + dz);
    }
    add_triangle(d, corner[0], corner[1], corner[2]);
}

static void add_soup(draft* d, int64_t triangles, float x, float y, float z) {
    for (int64_t i = 0; i < triangles; i++) add_random(d, x, y, z);
}

// A square of cells, two triangles each, at heights up to `height`.
static void add_field(draft* d, int64_t triangles, float height) {
    int32_t side = 1;
    while (2 * (int64_t)(side + 1) * (side + 1) <= triangles) side++;
    for (int32_t y = 0; y <= side; y++)
        for (int32_t x = 0; x <= side; x++)
            add_vertex(d, (float)x / (float)side, (float)y / (float)side, height * random_unit(d));
    for (int32_t y = 0; y < side; y++)
        for (int32_t x = 0; x < side; x++) {
            int32_t at = y * (side + 1) + x;
            add_triangle(d, at, at + 1, at + side + 2);
            add_triangle(d, at, at + side + 2, at + side + 1);
        }
}

// A cube's six faces as fields, pushed out towards the sphere by one step of Newton's for the length.
static void add_ball(draft* d, int64_t triangles) {
    int64_t first = d->vertex_count;
    for (int face = 0; face < 6; face++) {
        int64_t from = d->vertex_count, from_triangle = d->triangle_count;
        add_field(d, triangles / 6, 0);
        for (int64_t i = from; i < d->vertex_count; i++) {
            float* v = d->vertices + 3 * i;
            float p[3] = {2 * v[0] - 1, 2 * v[1] - 1, 1};
            for (int k = 0; k < 3; k++) v[(k + face) % 3] = face < 3 ? p[k] : -p[k];
        }
        for (int64_t i = 3 * from_triangle; i < 3 * d->triangle_count; i++) d->triangles[i] += (int32_t)from;
    }
    for (int64_t i = first; i < d->vertex_count; i++) {
        float* v = d->vertices + 3 * i;
        float scale = 2 / (1 + (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 1.5F);
        for (int k = 0; k < 3; k++) v[k] *= scale;
    }
}

static void add_boxes(draft* d, int64_t triangles) {
    static const int32_t faces[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                                         {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    for (int64_t i = 0; i < triangles / 12; i++) {
        // On a lattice: many boxes share their planes.
        float size = i % 10 == 0 ? 0.5F : 0.0625F, at[3];
        for (int k = 0; k < 3; k++) at[k] = (float)(int)(random_unit(d) * 64) / 64;
        int32_t first = (int32_t)d->vertex_count;
        for (int c = 0; c < 8; c++)
            add_vertex(d, at[0] + (c & 1 ? size : 0), at[1] + (c & 2 ? size : 0), at[2] + (c & 4 ? size : 0));
        for (int f = 0; f < 12; f++) add_triangle(d, first + faces[f][0], first + faces[f][1], first + faces[f][2]);
    }
}

static void add_flat(draft* d, mesh_family kind, int64_t triangles) {
    for (int64_t i = 0; i < triangles; i++) {
        add_random(d, 0.1F, 0.1F, 0.1F);
        float* v = d->vertices + 3 * (d->vertex_count - 3);
        if (kind == MESH_COPLANAR)
            for (int k = 0; k < 3; k++) v[3 * k + 2] = v[3 * k] + v[3 * k + 1];
        if (kind == MESH_NO_AREA) memcpy(v + 3, i % 2 ? v : v + 6, 3 * sizeof *v);
        if (kind == MESH_NO_AREA && i % 3 == 0) memcpy(v + 6, v, 3 * sizeof *v);
        for (int k = 0; k < 9; k++)
            if (kind == MESH_POINT || (kind == MESH_LINE && k % 3 != 1)) v[k] = 0.25F;
    }
}

static void transform(draft* d, float scale, float offset) {
    for (int64_t i = 0; i < 3 * d->vertex_count; i++) d->vertices[i] = d->vertices[i] * scale + offset;
}

sap_mesh mesh_of_family(mesh_family kind, int64_t triangles, uint64_t seed) {
    draft d = {.state = seed};
    d.vertices = malloc((size_t)(9 * triangles + 600) * sizeof *d.vertices);
    d.triangles = malloc((size_t)(3 * triangles + 60) * sizeof *d.triangles);
    switch (kind) {
    case MESH_SOUP: add_soup(&d, triangles, 0.05F, 0.05F, 0.05F); break;
    case MESH_BIG_SOUP: add_soup(&d, triangles, 2, 2, 2); break;
    case MESH_BALL: add_ball(&d, triangles); break;
    case MESH_GRID: add_field(&d, triangles, 0); break;
    case MESH_HILLS: add_field(&d, triangles, 0.1F); break;
    case MESH_ROOMS: add_boxes(&d, triangles); break;
    case MESH_NEEDLES: add_soup(&d, triangles, 2, 0.0001F, 0.0001F); break;
    case MESH_COPIES:
        add_random(&d, 1, 1, 1);
        for (int64_t i = 1; i < triangles; i++) add_triangle(&d, 0, 1, 2);
        break;
    case MESH_COPLANAR:
    case MESH_NO_AREA:
    case MESH_LINE:
    case MESH_POINT: add_flat(&d, kind, triangles); break;
    case MESH_TINY:
        add_ball(&d, triangles);
        transform(&d, 0.075F, 0);
        break;
    default:
        add_soup(&d, triangles, 0.05F, 0.05F, 0.05F);
        transform(&d, 100, 1e7F);
        break;
    }
    return (sap_mesh){d.vertices, d.vertex_count, d.triangles, d.triangle_count};
}

void mesh_free(sap_mesh* mesh) {
    free((void*)(uintptr_t)mesh->vertices);
    free((void*)(uintptr_t)mesh->triangles);
    *mesh = (sap_mesh){NULL, 0, NULL, 0};
}

const char* mesh_family_name(mesh_family kind) {
    static const char* const names[] = {"soup",   "big soup", "ball",    "grid", "hills", "rooms", "needles",
                                        "copies", "coplanar", "no area", "line", "point", "tiny",  "far"};
    return kind < MESH_FAMILIES ? names[kind] : "unknown";
}
