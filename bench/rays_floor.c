// Floors: the nodes and triangles that the walks of a set's rays meet, counted, over what this machine does in a
// second at best: loops as simple as they come over 16 rays side by side, all in cache.
#include "rays.h"

#include "mesh/access.h"
#include "ray/ray.h"

#define SAP_MESH_STACK SAP_MESH_DEPTH_MAX
#include "ray/intersect.h"

#include <stdlib.h>

// The library's own text of the walk, its tests counted.
static int64_t tests_made;

static inline sap_crossing counted_cross(sap_prepared_ray ray, sap_triangle triangle) {
    tests_made++;
    return sap_triangle_cross(ray, triangle);
}
#define sap_triangle_cross counted_cross
#include "ray/walk.h"
#undef sap_triangle_cross

static sap_vector vector_of(const float* v) { return (sap_vector){v[0], v[1], v[2]}; }

rays_work rays_count_work(const sap_mesh_tree* tree, const rays_set* set) {
    float magnitude = sap_mesh_magnitude(tree);
    int64_t nodes = 0;
    tests_made = 0;
    for (int64_t i = 0; i < set->count; i++) {
        const sap_ray* r = set->rays + i;
        sap_prepared_ray ray =
            sap_ray_prepare(vector_of(r->origin), vector_of(r->direction), r->t_min, r->t_max, magnitude);
        nodes += sap_ray_walk(tree, ray, sap_mesh_lower(tree), sap_mesh_upper(tree), set->is_shadow).visits;
    }
    return (rays_work){(double)nodes, (double)tests_made};
}

enum { LANES = 16, PLANES = 1024, TRIANGLES = 256, ROUNDS = 400, SAMPLES = 5 };

typedef struct lanes {
    float origin[3][LANES], inverse[LANES], shear[3][LANES], from[LANES], to[LANES], early[LANES], late[LANES];
    float t[LANES], weight[LANES];
    int both[LANES];
} __attribute__((aligned(64))) lanes;

// Where 16 rays meet a plane, and how many reach both of its sides.
static inline void meet_plane(lanes* r, float plane) {
    for (int i = 0; i < LANES; i++) {
        float early = (plane - r->early[i]) * r->inverse[i], late = (plane - r->late[i]) * r->inverse[i];
        float near_to = late < r->to[i] ? late : r->to[i], far_from = early > r->from[i] ? early : r->from[i];
        r->both[i] += (r->from[i] <= near_to) & (far_from <= r->to[i]);
    }
}

// The watertight test of a triangle for 16 rays along one axis.
static inline void meet_triangle(lanes* r, const float* v) {
    for (int i = 0; i < LANES; i++) {
        float x[3], y[3], z[3];
        for (int c = 0; c < 3; c++) {
            z[c] = v[3 * c + 2] - r->origin[2][i];
            x[c] = (v[3 * c] - r->origin[0][i]) - r->shear[0][i] * z[c];
            y[c] = (v[3 * c + 1] - r->origin[1][i]) - r->shear[1][i] * z[c];
        }
        float a = x[2] * y[1] - y[2] * x[1], b = x[0] * y[2] - y[0] * x[2], c = x[1] * y[0] - y[1] * x[0];
        float low = a < b ? a : b, high = a < b ? b : a, sum = (a + b) + c;
        low = low < c ? low : c;
        high = high < c ? c : high;
        float t = ((a * z[0] + b * z[1]) + c * z[2]) * r->shear[2][i];
        // Without a division: t / sum < best.
        bool better = (low >= 0) & (t < r->t[i] * sum) & (high > 0);
        r->t[i] = better ? t : r->t[i];
        r->weight[i] = better ? b : r->weight[i];
    }
}

static lanes random_lanes(void) {
    bench_random random = {3};
    lanes r = {.both = {0}};
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < 3; k++) {
            r.origin[k][i] = bench_random_float(&random);
            r.shear[k][i] = bench_random_float(&random);
        }
        r.inverse[i] = 1 + bench_random_float(&random);
        r.early[i] = r.late[i] = r.origin[0][i];
        r.to[i] = r.t[i] = 1;
    }
    return r;
}

rays_rates rays_measure_rates(void) {
    float *planes = bench_uniform(PLANES, 1, 7), *triangles = bench_uniform(TRIANGLES, 9, 8);
    rays_rates best = {0, 0};
    for (int sample = 0; sample < SAMPLES; sample++) {
        lanes r = random_lanes();
        double start = bench_seconds();
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < PLANES; i++) meet_plane(&r, planes[i]);
            __asm__ volatile("" : : "r"(&r) : "memory");
        }
        double middle = bench_seconds();
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < TRIANGLES; i++) meet_triangle(&r, triangles + 9 * i);
            __asm__ volatile("" : : "r"(&r) : "memory");
        }
        double nodes = (double)ROUNDS * PLANES * LANES / (middle - start);
        double tests = (double)ROUNDS * TRIANGLES * LANES / (bench_seconds() - middle);
        best.nodes = nodes > best.nodes ? nodes : best.nodes;
        best.tests = tests > best.tests ? tests : best.tests;
    }
    free(planes);
    free(triangles);
    return best;
}
