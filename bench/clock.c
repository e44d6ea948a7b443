#include "bench.h"

#include <stdlib.h>
#include <time.h>

static double seconds_on(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_seconds(void) { return seconds_on(CLOCK_MONOTONIC); }

double bench_cpu_seconds(void) { return seconds_on(CLOCK_PROCESS_CPUTIME_ID); }

static double sample(const bench_side* side, bool cpu_time) {
    double scale = side->scale > 0 ? side->scale : 1;
    if (side->timed) return side->timed(side->state) * scale;
    double (*clock_of)(void) = cpu_time ? bench_cpu_seconds : bench_seconds;
    double start = clock_of();
    side->pass(side->state);
    return (clock_of() - start) * scale;
}

void bench_take_cold_turns(bench_side* sides, int count, const bench_options* options) {
    for (int rep = 0; rep < options->reps && rep < BENCH_MAX_REPS; rep++) {
        for (int i = 0; i < count; i++) {
            if (sides[i].most > 0 && sides[i].count >= sides[i].most) continue;
            sides[i].samples[sides[i].count++] = sample(&sides[i], options->cpu_time);
        }
    }
}

void bench_take_turns(bench_side* sides, int count, const bench_options* options) {
    for (int i = 0; i < count; i++) (void)sample(&sides[i], options->cpu_time);
    bench_take_cold_turns(sides, count, options);
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double bench_median(const bench_side* side) {
    if (side->count == 0) return 0;
    double sorted[BENCH_MAX_REPS] = {0};
    for (int i = 0; i < side->count; i++) sorted[i] = side->samples[i];
    qsort(sorted, (size_t)side->count, sizeof sorted[0], ascending);
    int middle = side->count / 2;
    return side->count % 2 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}
