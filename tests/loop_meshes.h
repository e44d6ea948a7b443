// Meshes to subdivide. For test programs only: needs test.h.
#ifndef SAPWOOD_TESTS_LOOP_MESHES_H
#define SAPWOOD_TESTS_LOOP_MESHES_H

#include "sapwood/move.h"
#include <math.h>

enum { MESH_VERTICES = 400, MESH_TRIANGLES = 400, MESH_MARKS = 100 };

// A mesh, its creases and its corners.
typedef struct coarse {
    const char* name;
    float at[MESH_VERTICES][3];
    int32_t triangles[MESH_TRIANGLES][3];
    int64_t vertices, count;
    int32_t creases[MESH_MARKS][2], corners[MESH_MARKS];
    int64_t crease_count, corner_count;
} coarse;

static inline void add_vertex(coarse* m, double x, double y, double z) {
    m->at[m->vertices][0] = (float)x;
    m->at[m->vertices][1] = (float)y;
    m->at[m->vertices++][2] = (float)z;
}

static inline void add_triangle(coarse* m, int a, int b, int c) {
    m->triangles[m->count][0] = a;
    m->triangles[m->count][1] = b;
    m->triangles[m->count++][2] = c;
}

static inline void add_crease(coarse* m, int a, int b) {
    m->creases[m->crease_count][0] = a;
    m->creases[m->crease_count++][1] = b;
}

// n triangles about vertex 0, all round, or over half of a turn; vertex 0 stands out. A second ring keeps the borders
// away.
static inline coarse fan_mesh(int n, bool whole, double height) {
    coarse m = {.name = whole ? "fan" : "half a fan"};
    const int around = whole ? n : n + 1;
    add_vertex(&m, 0, 0, height);
    for (int ring = 1; ring <= 2; ring++)
        for (int i = 0; i < around; i++) {
            const double angle = (whole ? 2 : 1) * 3.14159265358979 * i / n;
            add_vertex(&m, ring * cos(angle), ring * sin(angle), 0.1 * ((i * 5 + ring) % 3));
        }
    for (int i = 0; i < n; i++) {
        const int a = 1 + i, b = 1 + (i + 1) % around;
        add_triangle(&m, 0, a, b);
        add_triangle(&m, a, a + around, b);
        add_triangle(&m, b, a + around, b + around);
    }
    return m;
}

// A sheet of side x side squares, in two triangles each: heights of a pattern where it is bumpy.
static inline coarse sheet_mesh(int side, bool bumpy) {
    coarse m = {.name = "sheet"};
    for (int y = 0; y <= side; y++)
        for (int x = 0; x <= side; x++) add_vertex(&m, x, y, bumpy ? ((x * 7 + y * 5) % 4) * 0.25 : 0.3);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            const int a = y * (side + 1) + x, b = a + 1, c = a + side + 1, d = c + 1;
            add_triangle(&m, a, b, d);
            add_triangle(&m, a, d, c);
        }
    return m;
}

static inline coarse octahedron_mesh(void) {
    coarse m = {.name = "octahedron"};
    for (int i = 0; i < 6; i++)
        add_vertex(&m, i / 2 == 0 ? 1 - i % 2 * 2 : 0, i / 2 == 1 ? 1 - i % 2 * 2 : 0, i / 2 == 2 ? 1 - i % 2 * 2 : 0);
    for (int i = 0; i < 8; i++) {
        const int x = i & 1, y = 2 + (i >> 1 & 1), z = 4 + (i >> 2 & 1);
        const bool even = ((i ^ i >> 1 ^ i >> 2) & 1) == 0;
        add_triangle(&m, x, even ? y : z, even ? z : y);
    }
    return m;
}

// A torus whose squares are cut either way, so that vertices have four to eight neighbours.
static inline coarse torus_mesh(void) {
    enum { U = 9, V = 6 };
    coarse m = {.name = "torus"};
    for (int u = 0; u < U; u++)
        for (int v = 0; v < V; v++) {
            const double a = 2 * 3.14159265358979 * u / U, b = 2 * 3.14159265358979 * v / V, r = 3 + cos(b);
            add_vertex(&m, r * cos(a), r * sin(a), sin(b) + 0.1 * ((u * 3 + v) % 4));
        }
    for (int u = 0; u < U; u++)
        for (int v = 0; v < V; v++) {
            const int a = u * V + v, b = (u + 1) % U * V + v, c = u * V + (v + 1) % V,
                      d = (u + 1) % U * V + (v + 1) % V;
            const bool other = (u * 5 + v * 3) % 4 == 0;
            add_triangle(&m, a, b, other ? c : d);
            add_triangle(&m, other ? b : a, d, c);
        }
    return m;
}

// Creases of one edge of about every `of`, and corners of about as many vertices, chosen by a pattern.
static inline void mark_some(coarse* m, int of) {
    for (int64_t t = 0; t < m->count && m->crease_count < MESH_MARKS; t++)
        if ((t * 7 + t / 5) % of == 0) add_crease(m, m->triangles[t][t % 3], m->triangles[t][(t + 1) % 3]);
    for (int64_t v = 0; v < m->vertices && m->corner_count < MESH_MARKS; v++)
        if ((v * 11 + 3) % (3 * of) == 0) m->corners[m->corner_count++] = (int32_t)v;
}

static inline sap_subdivision_options options_of(const coarse* m) {
    return (sap_subdivision_options){.creases = m->creases[0],
                                     .crease_count = m->crease_count,
                                     .corners = m->corners,
                                     .corner_count = m->corner_count};
}

static inline sap_status create_of(sap_device* device, const coarse* m, int32_t levels,
                                   const sap_subdivision_options* options, sap_subdivision** made) {
    return sap_subdivision_create(device, m->triangles[0], m->count, m->vertices, levels, options, made);
}

enum { PILLOW = 9, MESH_KINDS = 10 };

// Meshes with all that is to be told apart.
static inline coarse mesh_of_kind(int kind) {
    coarse m;
    switch (kind) {
    case 0: return octahedron_mesh();
    case 1: return sheet_mesh(6, true);
    case 2: return torus_mesh();
    case 3: m = torus_mesh(), mark_some(&m, 2); return m;
    case 4: m = torus_mesh(), mark_some(&m, 9); return m;
    case 5: m = sheet_mesh(7, true), mark_some(&m, 5); return m;
    case 6: return fan_mesh(9, true, 1);
    case 7: m = fan_mesh(5, false, 1), add_crease(&m, 0, 3), add_crease(&m, 3, 9); return m;
    case 8: // two tetrahedra and a triangle that have one vertex in common, and a vertex without triangles
        m = (coarse){.name = "bow tie"};
        for (int i = 0; i < 10; i++) add_vertex(&m, i % 3, i % 4, i * i % 7);
        for (int i = 0; i < 2; i++) {
            const int a = 3 * i + 1, b = a + 1, c = a + 2;
            add_triangle(&m, 0, a, b);
            add_triangle(&m, 0, b, c);
            add_triangle(&m, 0, c, a);
            add_triangle(&m, a, c, b);
        }
        add_triangle(&m, 7, 0, 8);
        return m;
    default: // PILLOW: one triangle, seen from both sides
        m = (coarse){.name = "pillow"};
        for (int i = 0; i < 3; i++) add_vertex(&m, i, i * i, 1);
        add_triangle(&m, 0, 1, 2);
        add_triangle(&m, 2, 1, 0);
        return m;
    }
}

#endif
