// sapwood_align_bench: a cloud is cut into two random halves, of which one is turned by 5 degrees and shifted by 2 % of the
// diagonal, and aligned with the other. Writes both halves as raw floats to FOLDER for rivals, and prints a line for each
// work: key, median seconds of the whole call (tree included), steps, degrees left. bench/align.sh runs it beside rivals.
#include "turned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct halves {
    sap_device* device;
    sap_points target, source;
    bench_turned turned;
    sap_align_options options;
    sap_alignment found;
} halves;

static void cut(halves* h, const sap_point_set* set, float* target, float* source) {
    uint64_t state = 12345;
    int64_t targets = 0, sources = 0;
    h->turned = bench_turned_of(set->coords, set->count);
    for (int64_t i = 0; i < set->count; i++) {
        const float* p = set->coords + 3 * i;
        if (bench_next_unit(&state) < 0.5) {
            memcpy(target + 3 * targets++, p, 3 * sizeof *p);
            continue;
        }
        bench_turned_move(&h->turned, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, source + 3 * sources);
        sources++;
    }
    // In random order, as unkind to all.
    for (int64_t i = sources - 1; i > 0; i--) {
        const int64_t j = (int64_t)(bench_next_unit(&state) * (double)(i + 1));
        float other[3];
        memcpy(other, source + 3 * i, sizeof other);
        memcpy(source + 3 * i, source + 3 * j, sizeof other);
        memcpy(source + 3 * j, other, sizeof other);
    }
    h->target = (sap_points){target, targets, 3, 0};
    h->source = (sap_points){source, sources, 3, 0};
}

static void align(halves* h) {
    sap_tree* tree = NULL;
    bench_check(sap_tree_build(h->device, h->target, NULL, &tree), "sap_tree_build");
    bench_check(sap_cloud_align(tree, h->source, &h->options, &h->found), "sap_cloud_align");
    sap_tree_free(tree);
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
    cut(&h, set, target, source);
    bench_write_words(argv[4], "target.raw", target, 3 * h.target.count);
    bench_write_words(argv[4], "source.raw", source, 3 * h.source.count);
    printf("distance %.9g\n", 0.1 * h.turned.diagonal);
    for (int work = 0; work < 6; work++) {
        double samples[BENCH_MAX_REPS] = {0};
        // 20 steps, whatever happens, or to the end.
        h.options =
            (sap_align_options){.method = (sap_align_method)(work / 2), .max_distance = 0.1 * h.turned.diagonal};
        h.options.iterations = work % 2 ? 200 : 20;
        if (work % 2 == 0) h.options.tolerance = 1e-300;
        align(&h);
        for (int i = 0; i < passes; i++) {
            const double start = threads == 1 ? bench_cpu_seconds() : bench_seconds();
            align(&h);
            samples[i] = (threads == 1 ? bench_cpu_seconds() : bench_seconds()) - start;
        }
        printf("%s-%s %.6f %d %.5f\n", methods[work / 2], work % 2 ? "end" : "20", bench_middle_of(samples, passes),
               (int)h.found.iterations, bench_degrees_left(&h.turned, h.found.transform));
    }
    free(target);
    free(source);
    sap_point_set_free(set);
    sap_device_close(h.device);
    return 0;
}
