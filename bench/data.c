#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586;

// splitmix64 (Steele, Lea and Flood 2014).
uint64_t bench_random_next(bench_random* random) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double bench_random_unit(bench_random* random) { return (double)(bench_random_next(random) >> 11) * 0x1.0p-53; }

float bench_random_float(bench_random* random) { return (float)(bench_random_next(random) >> 40) * 0x1.0p-24f; }

static double gaussian(bench_random* random) {
    double u = bench_random_unit(random) + 1e-300, v = bench_random_unit(random);
    return sqrt(-2 * log(u)) * cos(TWO_PI * v);
}

void* bench_memory(size_t count, size_t bytes) {
    size_t size;
    void* memory = __builtin_mul_overflow(count, bytes, &size) ? NULL : malloc(size > 0 ? size : 1);
    if (!memory) {
        fprintf(stderr, "bench: out of memory (%zu items of %zu bytes)\n", count, bytes);
        exit(1);
    }
    return memory;
}

float* bench_uniform(int64_t count, int dims, uint64_t seed) {
    bench_random random = {seed};
    int64_t numbers = count * dims;
    float* points = bench_memory((size_t)numbers, sizeof(float));
    for (int64_t i = 0; i < numbers; i++) points[i] = bench_random_float(&random);
    return points;
}

enum { SPHERES = 24, POLES = 40, STOPS = 8, BEAMS = 64, SIDE = 40 };

// What the scanner sees: a yard of SIDE by SIDE metres, its ground and walls, and things in it.
typedef struct scene {
    double sphere[SPHERES][4]; // centre, radius
    double pole[POLES][3];     // x, y, radius
    double stop[STOPS][3];     // where the scanner stood
} scene;

static void make_scene(scene* s) {
    bench_random random = {777};
    for (int i = 0; i < SPHERES; i++) {
        for (int a = 0; a < 2; a++) s->sphere[i][a] = 2 + (SIDE - 4) * bench_random_unit(&random);
        s->sphere[i][2] = 0.3 + 3 * bench_random_unit(&random);
        s->sphere[i][3] = 0.2 + bench_random_unit(&random);
    }
    for (int i = 0; i < POLES; i++) {
        for (int a = 0; a < 2; a++) s->pole[i][a] = 2 + (SIDE - 4) * bench_random_unit(&random);
        s->pole[i][2] = 0.1 + 0.4 * bench_random_unit(&random);
    }
    for (int i = 0; i < STOPS; i++) {
        for (int a = 0; a < 2; a++) s->stop[i][a] = 5 + (SIDE - 10) * bench_random_unit(&random);
        s->stop[i][2] = 1.7;
    }
}

// The nearer of t and the first root of a*t*t + 2*b*t + c that lies ahead.
static double nearer_root(double t, double a, double b, double c) {
    double discriminant = b * b - a * c;
    if (discriminant <= 0) return t;
    double root = (-b - sqrt(discriminant)) / a;
    return root > 1e-3 && root < t ? root : t;
}

static double distance_seen(const scene* s, const double from[3], const double along[3]) {
    double t = 1e9;
    if (along[2] < -1e-9) t = -from[2] / along[2];
    for (int a = 0; a < 2; a++) {
        double wall = along[a] > 0 ? SIDE : 0;
        if (fabs(along[a]) > 1e-9) t = fmin(t, (wall - from[a]) / along[a]);
    }
    for (int i = 0; i < SPHERES; i++) {
        const double* p = s->sphere[i];
        double x = from[0] - p[0], y = from[1] - p[1], z = from[2] - p[2];
        t = nearer_root(t, 1, x * along[0] + y * along[1] + z * along[2], x * x + y * y + z * z - p[3] * p[3]);
    }
    double flat = along[0] * along[0] + along[1] * along[1];
    for (int i = 0; i < POLES; i++) {
        const double* p = s->pole[i];
        double x = from[0] - p[0], y = from[1] - p[1];
        t = nearer_root(t, flat, x * along[0] + y * along[1], x * x + y * y - p[2] * p[2]);
    }
    return t;
}

float* bench_scan(int64_t count, uint64_t seed) {
    scene yard;
    make_scene(&yard);
    bench_random random = {seed};
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        const double* from = yard.stop[bench_random_next(&random) % STOPS];
        double azimuth = TWO_PI * bench_random_unit(&random);
        double beam = (double)(bench_random_next(&random) % BEAMS);
        double elevation = (-25 + 0.625 * beam + 0.02 * gaussian(&random)) * TWO_PI / 360;
        double along[3] = {cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation)};
        double t = distance_seen(&yard, from, along) + 0.004 * gaussian(&random);
        for (int a = 0; a < 3; a++) points[3 * i + a] = (float)(from[a] + t * along[a]);
    }
    return points;
}

float* bench_equal(int64_t count) {
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int64_t i = 0; i < 3 * count; i++) points[i] = 0.5f;
    return points;
}

float* bench_line(int64_t count, uint64_t seed) {
    bench_random random = {seed};
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        points[3 * i] = seed ? (float)(bench_random_unit(&random) * (double)count) : (float)i;
        points[3 * i + 1] = points[3 * i + 2] = 0;
    }
    return points;
}

float* bench_lattice(int64_t count, uint64_t seed) {
    bench_random random = {seed};
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        uint64_t cell = (seed ? bench_random_next(&random) : (uint64_t)i) % 1000000;
        points[3 * i] = (float)(cell / 10000);
        points[3 * i + 1] = (float)(cell / 100 % 100);
        points[3 * i + 2] = (float)(cell % 100);
    }
    return points;
}

float* bench_shell(int64_t count, uint64_t seed) {
    bench_random random = {seed};
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        double z = 2 * bench_random_unit(&random) - 1, azimuth = TWO_PI * bench_random_unit(&random);
        double flat = sqrt(fmax(0, 1 - z * z));
        points[3 * i] = (float)(flat * cos(azimuth));
        points[3 * i + 1] = (float)(flat * sin(azimuth));
        points[3 * i + 2] = (float)z;
    }
    return points;
}

// Where light that left (0.6, 0.8, 0) for the inner side of a unit cylinder of height 1 meets the floor, or the sides of a
// box of 4 x 4, after one reflection there.
float* bench_caustic(int64_t count, uint64_t seed) {
    bench_random random = {seed};
    float* points = bench_memory((size_t)count * 3, sizeof(float));
    for (int64_t i = 0; i < count;) {
        const double z = 2 * bench_random_unit(&random) - 1, azimuth = TWO_PI * bench_random_unit(&random);
        const double lamp[3] = {0.6, 0.8, 0}, flat = sqrt(fmax(0, 1 - z * z));
        double way[3] = {flat * cos(azimuth), z, flat * sin(azimuth)};
        const double a = way[0] * way[0] + way[2] * way[2], b = lamp[0] * way[0];
        const double t = (-b + sqrt(b * b + a * (1 - lamp[0] * lamp[0]))) / a;
        const double on[3] = {lamp[0] + t * way[0], lamp[1] + t * way[1], t * way[2]};
        if (!(on[1] > 0 && on[1] < 1)) continue;
        const double turned = 2 * (way[0] * on[0] + way[2] * on[2]); // the cylinder's normal is (x, 0, z)
        way[0] -= turned * on[0];
        way[2] -= turned * on[2];
        double far = way[1] < 0 ? -on[1] / way[1] : (double)INFINITY;
        for (int axis = 0; axis < 3; axis += 2)
            if (way[axis] != 0) far = fmin(far, (copysign(2, way[axis]) - on[axis]) / way[axis]);
        for (int k = 0; k < 3; k++) points[3 * i + k] = (float)(on[k] + far * way[k]);
        i++;
    }
    return points;
}

float* bench_outlier(int64_t count, uint64_t seed) {
    float* points = bench_uniform(count, 3, seed);
    if (count > 0) points[0] = points[1] = points[2] = 1e6f;
    return points;
}

static int by_x(const void* a, const void* b) {
    float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

float* bench_sorted(int64_t count, uint64_t seed) {
    float* points = bench_uniform(count, 3, seed);
    qsort(points, (size_t)count, 3 * sizeof(float), by_x);
    return points;
}

void bench_shuffle(float* points, int64_t count, int dims, uint64_t seed) {
    bench_random random = {seed};
    size_t bytes = (size_t)dims * sizeof(float);
    float kept[SAP_MAX_DIMS];
    for (int64_t i = count - 1; i > 0; i--) {
        float* a = points + i * dims;
        float* b = points + (int64_t)(bench_random_next(&random) % (uint64_t)(i + 1)) * dims;
        memcpy(kept, a, bytes);
        memmove(a, b, bytes);
        memcpy(b, kept, bytes);
    }
}
