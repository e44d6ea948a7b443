// Rays about a mesh, and brute force over all of its triangles with the shared texts.
#ifndef SAPWOOD_TESTS_RAY_ORACLE_H
#define SAPWOOD_TESTS_RAY_ORACLE_H

#include "ray/walk_cpu.h"
#include "ray_meshes.h"

static inline sap_triangle oracle_triangle(const sap_mesh* mesh, int64_t i) {
    const int32_t* t = mesh->triangles + 3 * i;
    return (sap_triangle){sap_vector_of(mesh->vertices + 3 * t[0]), sap_vector_of(mesh->vertices + 3 * t[1]),
                          sap_vector_of(mesh->vertices + 3 * t[2])};
}

static inline void oracle_box(const sap_mesh* mesh, float* lower, float* upper) {
    for (int k = 0; k < 3; k++) {
        lower[k] = INFINITY;
        upper[k] = -INFINITY;
    }
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            float x = mesh->vertices[3 * mesh->triangles[i] + k];
            lower[k] = x < lower[k] ? x : lower[k];
            upper[k] = x > upper[k] ? x : upper[k];
        }
}

// The first `limit` hits of a ray; returns how many. The rest of hits is misses.
static inline int32_t oracle_trace(const sap_mesh* mesh, const sap_ray* ray, int32_t limit, sap_hit* hits) {
    sap_prepared_ray prepared = sap_ray_prepare_cpu(ray, 1);
    int32_t count = 0;
    for (int64_t i = 0; i < mesh->triangle_count && prepared.is_ray; i++) {
        sap_crossing hit = sap_triangle_cross(prepared, oracle_triangle(mesh, i));
        if (hit.is_hit) count = sap_hits_insert(hits, 1, count, limit, (sap_hit){hit.t, hit.u, hit.v, (int32_t)i});
    }
    for (int32_t i = count; i < limit; i++) hits[i] = (sap_hit){INFINITY, 0, 0, -1};
    return count;
}

static inline sap_closest oracle_closest(const sap_mesh* mesh, const float* point) {
    sap_closest best = {{point[0], point[1], point[2]}, INFINITY, 0, 0, -1};
    if (!sap_is_finite(sap_vector_of(point))) return best;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        sap_near_point p = sap_triangle_nearest(oracle_triangle(mesh, i), sap_vector_of(point), INFINITY);
        if (p.distance2 < best.distance2)
            best = (sap_closest){{p.point.x, p.point.y, p.point.z}, p.distance2, p.u, p.v, (int32_t)i};
    }
    return best;
}

enum { RAY_KINDS = 16 };

// Ray number i about a mesh; i % RAY_KINDS says of which kind.
static inline sap_ray oracle_ray(const sap_mesh* mesh, const float* lower, const float* upper, int64_t i,
                                 uint64_t* state) {
    float p[3], q[3];
    int64_t vertices = mesh->triangle_count ? mesh->triangle_count * 3 : 0;
    static const float nowhere[3] = {0, 0, 0};
    const float* v[5];
    for (int j = 0; j < 3; j++)
        v[j] = vertices ? mesh->vertices + 3 * mesh->triangles[random_below(state, vertices)] : nowhere;
    int64_t edge = vertices ? random_below(state, vertices / 3) * 3 : 0;
    for (int j = 0; j < 2; j++) v[3 + j] = vertices ? mesh->vertices + 3 * mesh->triangles[edge + j] : nowhere;
    int axis = (int)(i / RAY_KINDS % 3);
    float size = 0;
    for (int k = 0; k < 3; k++) size = vertices && upper[k] - lower[k] > size ? upper[k] - lower[k] : size;
    for (int k = 0; k < 3; k++) {
        float unit = (float)random_unit(state), low = vertices ? lower[k] : 0,
              side = vertices ? upper[k] - lower[k] : 1;
        float within = low + unit * side, other = low + (float)random_unit(state) * side;
        p[k] = within;
        q[k] = other;
        switch (i % RAY_KINDS) {
        case 0: p[k] = v[0][k], q[k] = v[1][k]; break;                   // vertex to vertex
        case 1: q[k] = 0.5f * (v[3][k] + v[4][k]); break;                // at an edge
        case 2: p[k] = v[k][k], q[k] = p[k] + (float)(k == axis); break; // along an axis, on planes
        case 3: p[k] = k == axis ? v[0][k] : v[1][k], q[k] = k == axis ? v[0][k] : v[2][k]; break; // in a plane
        case 4: p[k] = v[0][k] + (v[0][k] - v[1][k]) * 3, q[k] = v[1][k]; break;          // through two vertices
        case 5: p[k] = v[3][k], q[k] = v[4][k]; break;                                    // along an edge
        case 6: p[k] = v[3][k] * 100 - v[4][k] * 99, q[k] = v[0][k]; break;               // from far away
        case 7: p[k] = low + (unit * 4 - 2) * side; break;                                // from around the mesh
        case 8: q[k] = p[k] - (float)(k == axis) * (i & 64 ? -1.0f : 1.0f); break;        // down an axis
        case 9: q[k] = k == axis ? p[k] : q[k]; break;                                    // one zero component
        case 10: p[k] = 0.5f * (v[3][k] + v[4][k]); break;                                // from the surface
        case 11: p[k] = low + 0.5f * side, q[k] = v[0][k]; break;                         // from the middle to a vertex
        case 12: q[k] = p[k] + (v[3][k] - v[4][k]) + (unit - 0.5f) * size * 1e-4f; break; // grazing
        case 13: q[k] = p[k] + (v[0][k] - p[k]) * 1e-3f; break;                           // a short direction
        default: break;
        }
    }
    sap_ray ray = {{p[0], p[1], p[2]}, 0, {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, INFINITY};
    if (i % RAY_KINDS == 14) ray.t_min = 0.25f, ray.t_max = 0.75f; // a part of a ray
    if (i % RAY_KINDS == 15) {                                     // what is no ray
        float bad[] = {NAN, INFINITY, -INFINITY};
        float* at[] = {ray.origin, ray.direction, ray.direction + 1, ray.origin + 2, &ray.t_min, &ray.t_max};
        int64_t which = i / RAY_KINDS % 10;
        if (which < 6) *at[which] = which == 5 ? NAN : bad[i / 7 % 3];
        if (which == 6) ray.direction[0] = ray.direction[1] = ray.direction[2] = -0.0f;
        if (which == 7) ray.t_min = 0.5f, ray.t_max = 0.25f;
        if (which == 8) ray.t_min = -1;
        if (which == 9) ray.t_max = -INFINITY;
    }
    return ray;
}

#endif
