// Marching cubes as textbooks have it: loops over samples and cells, and a number for every edge in an array. And what
// a mesh is like: closed, how many pieces and handles, how large.
#ifndef SAPWOOD_TESTS_SURFACE_ORACLE_H
#define SAPWOOD_TESTS_SURFACE_ORACLE_H

#include "sapwood/surface.h"
#include "surface/lattice.h"
#include <math.h>
#include <stdlib.h>

typedef struct oracle_surface {
    float *vertices, *normals;
    int32_t *triangles, *numbers; // numbers: of the vertex on each edge, [samples][3]
    int64_t vertex_count, triangle_count;
} oracle_surface;

static inline void oracle_surface_free(oracle_surface* s) {
    free(s->vertices);
    free(s->normals);
    free(s->triangles);
    free(s->numbers);
}

static inline sap_lattice oracle_lattice(const sap_volume* v, const sap_isosurface_options* o) {
    sap_lattice lattice = {.level = o->level, .facing = o->low_inside ? 1 : -1};
    float least = INFINITY;
    for (int a = 0; a < 3; a++) {
        lattice.sides[a] = (int)v->size[a];
        lattice.spacing[a] = v->spacing[a] > 0 ? v->spacing[a] : 1;
        lattice.origin[a] = v->origin[a];
        least = fminf(least, lattice.spacing[a]);
    }
    for (int a = 0; a < 3; a++) lattice.slopes[a] = least / lattice.spacing[a];
    return lattice;
}

static inline void oracle_vertices(oracle_surface* s, const sap_volume* v, sap_voxels voxels, sap_lattice lattice) {
    const int64_t* size = v->size;
    for (int64_t i = 0; i < size[0] * size[1] * size[2]; i++) {
        int at[3] = {(int)(i % size[0]), (int)(i / size[0] % size[1]), (int)(i / size[0] / size[1])};
        for (int axis = 0; axis < 3; axis++) {
            int to[3] = {at[0], at[1], at[2]};
            if (++to[axis] >= size[axis]) continue;
            bool from_inside = sap_voxel_value(voxels, at[0], at[1], at[2]) >= lattice.level;
            if (from_inside == (sap_voxel_value(voxels, to[0], to[1], to[2]) >= lattice.level)) continue;
            sap_surface_vertex vertex = sap_surface_vertex_on(voxels, lattice, at[0], at[1], at[2], axis);
            memcpy(s->vertices + 3 * s->vertex_count, vertex.position, sizeof vertex.position);
            memcpy(s->normals + 3 * s->vertex_count, vertex.normal, sizeof vertex.normal);
            s->numbers[3 * i + axis] = (int32_t)s->vertex_count++;
        }
    }
}

static inline void oracle_cell(oracle_surface* s, const sap_volume* v, const sap_isosurface_options* o,
                               sap_voxels voxels, int x, int y, int z) {
    SAP_BITS inside = 0;
    for (int c = 0; c < 8; c++)
        if (sap_voxel_value(voxels, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)) >= o->level) inside |= 1u << c;
    for (SAP_BITS t = 0; t < sap_cube_triangles(inside); t++, s->triangle_count++) {
        for (SAP_BITS i = 0; i < 3; i++) {
            SAP_BITS edge = sap_cube_edge(inside, 3 * t + (o->low_inside ? (3 - i) % 3 : i));
            int64_t at[3];
            for (SAP_BITS a = 0; a < 3; a++) at[a] = sap_edge_step(edge, a);
            int64_t owner = x + at[0] + v->size[0] * (y + at[1] + v->size[1] * (z + at[2]));
            s->triangles[3 * s->triangle_count + i] = s->numbers[3 * owner + sap_edge_axis(edge)];
        }
    }
}

static inline oracle_surface oracle_extract(const sap_volume* v, const sap_isosurface_options* o) {
    oracle_surface s = {0};
    size_t samples = (size_t)(v->size[0] * v->size[1] * v->size[2]);
    s.vertices = malloc(samples * 9 * sizeof(float) + 1);
    s.normals = malloc(samples * 9 * sizeof(float) + 1);
    s.triangles = malloc(samples * 15 * sizeof(int32_t) + 1);
    s.numbers = malloc(samples * 3 * sizeof(int32_t) + 1);
    if (v->size[0] < 2 || v->size[1] < 2 || v->size[2] < 2) return s;
    sap_voxels voxels = {v->values, v->size[0], v->size[0] * v->size[1], v->type};
    oracle_vertices(&s, v, voxels, oracle_lattice(v, o));
    for (int z = 0; z + 1 < v->size[2]; z++)
        for (int y = 0; y + 1 < v->size[1]; y++)
            for (int x = 0; x + 1 < v->size[0]; x++) oracle_cell(&s, v, o, voxels, x, y, z);
    return s;
}

// ---- What a mesh is like

typedef struct mesh_shape {
    int64_t open;           // sides without exactly one that runs the other way
    int64_t euler;          // vertices - edges + triangles
    double volume, area;    // inside, if it is closed; and of all triangles
    double worst_agreement; // least cosine between a triangle's front and the normals of its corners
} mesh_shape;

static inline int compare_sides(const void* a, const void* b) {
    const int64_t* x = a;
    const int64_t* y = b;
    return (*x > *y) - (*x < *y);
}

static inline void measure_triangle(mesh_shape* shape, const sap_isosurface* s, int64_t t) {
    double p[3][3], cross[3], length = 0, box = 0;
    const int32_t* corner = s->mesh.triangles + 3 * t;
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++) p[i][a] = s->mesh.vertices[3 * (int64_t)corner[i] + a];
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        cross[a] = (p[1][b] - p[0][b]) * (p[2][c] - p[0][c]) - (p[1][c] - p[0][c]) * (p[2][b] - p[0][b]);
        length += cross[a] * cross[a];
        box += cross[a] * p[0][a];
    }
    length = sqrt(length);
    shape->area += length / 2;
    shape->volume += box / 6;
    for (int i = 0; i < 3 && length > 0; i++) {
        double cosine = 0;
        for (int a = 0; a < 3; a++) cosine += cross[a] / length * (double)s->normals[3 * (int64_t)corner[i] + a];
        if (cosine < shape->worst_agreement) shape->worst_agreement = cosine;
    }
}

static inline mesh_shape shape_of(const sap_isosurface* s) {
    mesh_shape shape = {.worst_agreement = 1};
    int64_t count = 3 * s->mesh.triangle_count, edges = 0;
    int64_t* side = malloc((size_t)count * sizeof *side + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t a = s->mesh.triangles[i], b = s->mesh.triangles[i % 3 == 2 ? i - 2 : i + 1];
        side[i] = a < b ? a << 32 | b << 1 : b << 32 | a << 1 | 1; // the direction is the lowest bit
    }
    qsort(side, (size_t)count, sizeof *side, compare_sides);
    for (int64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && side[next] >> 1 == side[i] >> 1;) next++;
        bool is_pair = next - i == 2 && side[i + 1] != side[i];
        shape.open += is_pair ? 0 : next - i;
        edges++;
    }
    free(side);
    for (int64_t t = 0; t < s->mesh.triangle_count; t++) measure_triangle(&shape, s, t);
    shape.euler = s->mesh.vertex_count - edges + s->mesh.triangle_count;
    return shape;
}

#endif
