// sapwood_align_bench: a cloud is cut into two random halves, of which one is turned by 5 degrees and shifted by 2 % of the
// diagonal, and aligned with the other. Writes both halves as raw floats to FOLDER for rivals, and prints a line for each
// work: key, median seconds of the whole call (tree included), steps, degrees left. bench/align.sh runs it beside rivals.
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct halves {
    sap_device* device;
    sap_points target, source;
    double turn[9], diagonal;
    sap_align_options options;
    sap_alignment found;
} halves;

static double next_unit(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

// 5 degrees about the direction 1 2 3.
static void make_turn(double turn[9]) {
    const double angle = 5 / 57.295779513082323, c = cos(angle), s = sin(angle), k = 1 - c, root = sqrt(14);
    const double axis[3] = {1 / root, 2 / root, 3 / root};
    const double skew[9] = {0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0};
    for (int i = 0; i < 9; i++) turn[i] = axis[i / 3] * axis[i % 3] * k + skew[i] * s + (i % 4 == 0 ? c : 0);
}

static void cut(halves* h, const sap_point_set* set, float* target, float* source) {
    float least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint64_t state = 12345;
    int64_t targets = 0, sources = 0;
    double middle[3], squares = 0;
    for (int64_t i = 0; i < 3 * set->count; i++) {
        least[i % 3] = fminf(least[i % 3], set->coords[i]);
        most[i % 3] = fmaxf(most[i % 3], set->coords[i]);
    }
    for (int a = 0; a < 3; a++) {
        middle[a] = ((double)least[a] + (double)most[a]) / 2;
        squares += ((double)most[a] - (double)least[a]) * ((double)most[a] - (double)least[a]);
    }
    h->diagonal = sqrt(squares);
    for (int64_t i = 0; i < set->count; i++) {
        const float* p = set->coords + 3 * i;
        if (next_unit(&state) < 0.5) {
            memcpy(target + 3 * targets++, p, 3 * sizeof *p);
            continue;
        }
        for (int r = 0; r < 3; r++) {
            double sum = middle[r] + 0.02 * h->diagonal / sqrt(3);
            for (int a = 0; a < 3; a++) sum += h->turn[3 * r + a] * ((double)p[a] - middle[a]);
            source[3 * sources + r] = (float)sum;
        }
        sources++;
    }
    // In random order, as unkind to all.
    for (int64_t i = sources - 1; i > 0; i--) {
        const int64_t j = (int64_t)(next_unit(&state) * (double)(i + 1));
        float other[3];
        memcpy(other, source + 3 * i, sizeof other);
        memcpy(source + 3 * i, source + 3 * j, sizeof other);
        memcpy(source + 3 * j, other, sizeof other);
    }
    h->target = (sap_points){target, targets, 3, 0};
    h->source = (sap_points){source, sources, 3, 0};
}

static void write_floats(const char* folder, const char* name, const sap_points* points) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    const size_t count = 3 * (size_t)points->count;
    if (!file || fwrite(points->coords, sizeof(float), count, file) != count || fclose(file)) {
        fprintf(stderr, "sapwood_align_bench: cannot write %s\n", path);
        exit(1);
    }
}

static void align(halves* h) {
    sap_tree* tree = NULL;
    bench_check(sap_tree_build(h->device, h->target, NULL, &tree), "sap_tree_build");
    bench_check(sap_cloud_align(tree, h->source, &h->options, &h->found), "sap_cloud_align");
    sap_tree_free(tree);
}

static double degrees_left(const halves* h) {
    double m[9];
    for (int i = 0; i < 9; i++) {
        m[i] = 0;
        for (int k = 0; k < 3; k++) m[i] += h->found.transform[4 * (i / 3) + k] * h->turn[3 * k + i % 3];
    }
    const double x = m[7] - m[5], y = m[2] - m[6], z = m[3] - m[1];
    return asin(sqrt(x * x + y * y + z * z) / 2) * 57.295779513082323;
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
    static const char* const methods[] = {"point", "plane", "generalised"};
    if (argc != 5) {
        fprintf(stderr, "usage: sapwood_align_bench POINTS.ply THREADS PASSES FOLDER\n");
        return 2;
    }
    const int threads = bench_whole_number(argv[2], 1, 1024), passes = bench_whole_number(argv[3], 1, BENCH_MAX_REPS);
    halves h = {.device = bench_device(threads, SAP_SIMD_AUTO, NULL)};
    sap_point_set* set = NULL;
    bench_check(sap_points_read(h.device, argv[1], SAP_FORMAT_AUTO, 32, &set), "sap_points_read");
    float *target = bench_memory((size_t)set->count, 3 * sizeof(float)),
          *source = bench_memory((size_t)set->count, 3 * sizeof(float));
    make_turn(h.turn);
    cut(&h, set, target, source);
    write_floats(argv[4], "target.raw", &h.target);
    write_floats(argv[4], "source.raw", &h.source);
    printf("distance %.9g\n", 0.1 * h.diagonal);
    for (int work = 0; work < 6; work++) {
        double samples[BENCH_MAX_REPS] = {0};
        // 20 steps, whatever happens, or to the end.
        h.options = (sap_align_options){.method = (sap_align_method)(work / 2), .max_distance = 0.1 * h.diagonal};
        h.options.iterations = work % 2 ? 200 : 20;
        if (work % 2 == 0) h.options.tolerance = 1e-300;
        align(&h);
        for (int i = 0; i < passes; i++) {
            const double start = threads == 1 ? bench_cpu_seconds() : bench_seconds();
            align(&h);
            samples[i] = (threads == 1 ? bench_cpu_seconds() : bench_seconds()) - start;
        }
        qsort(samples, (size_t)passes, sizeof *samples, ascending);
        printf("%s-%s %.6f %d %.5f\n", methods[work / 2], work % 2 ? "end" : "20", samples[passes / 2],
               (int)h.found.iterations, degrees_left(&h));
    }
    free(target);
    free(source);
    sap_point_set_free(set);
    sap_device_close(h.device);
    return 0;
}
