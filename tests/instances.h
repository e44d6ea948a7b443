// Transforms of instances, of all kinds.
#ifndef SAPWOOD_TESTS_INSTANCES_H
#define SAPWOOD_TESTS_INSTANCES_H

#include "ray_oracle.h"
#include "sapwood/instances.h"

enum { TRANSFORM_KINDS = 12 };

static inline void turn(float m[12], uint64_t* state) {
    const double a = random_unit(state) * 6, b = random_unit(state) * 6;
    const double first[9] = {cos(a), -sin(a), 0, sin(a), cos(a), 0, 0, 0, 1};
    const double second[9] = {1, 0, 0, 0, cos(b), -sin(b), 0, sin(b), cos(b)};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += first[3 * r + k] * second[3 * k + c];
            m[4 * r + c] = (float)sum;
        }
}

static inline void scale(float m[12], double x, double y, double z) {
    const double by[3] = {x, y, z};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) m[4 * r + c] = (float)((double)m[4 * r + c] * by[c]);
}

// A transform of a kind; `size` is about the mesh's.
static inline void transform_of(float m[12], int kind, double size, uint64_t* state) {
    const double far = kind == 9 ? 1e4 : kind == 10 ? 0 : 3;
    for (int i = 0; i < 12; i++) m[i] = i % 5 == 0 ? 1 : 0;
    if (kind) turn(m, state);
    if (kind == 2) scale(m, 1, 20, 0.1);
    if (kind == 3) scale(m, -1, 1, 1);
    if (kind == 4) scale(m, 1e-3, 1e-3, 1e-3);
    if (kind == 5) scale(m, 500, 500, 500);
    if (kind == 6) m[1] += 2, m[6] -= 1; // sheared
    if (kind == 7) scale(m, 1, 1, 1e-4);
    if (kind == 8) scale(m, 1e6, 1, 1);
    for (int r = 0; r < 3 && kind; r++) m[4 * r + 3] = (float)((random_unit(state) * 2 - 1) * far * size);
    if (kind == 11) // axes exchanged: exact
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) m[4 * r + c] = (r + 1) % 3 == c ? 1 : 0;
}

static inline double size_of(const scene_mesh* mesh) {
    float lower[3], upper[3];
    double size = 1e-30;
    oracle_box(&mesh->mesh, lower, upper);
    for (int k = 0; k < 3 && mesh->mesh.triangle_count; k++)
        size = fmax(size, fmax(fabs((double)lower[k]), fabs((double)upper[k])));
    return size;
}

static inline void into_world(const float m[12], const float* v, float point, float* to) {
    for (int r = 0; r < 3; r++)
        to[r] = m[4 * r] * v[0] + m[4 * r + 1] * v[1] + m[4 * r + 2] * v[2] + point * m[4 * r + 3];
}

#endif
