// Time, and the median of times, for the benchmarks of OpenGL.
#ifndef SAPWOOD_BENCH_GL_TIMES_H
#define SAPWOOD_BENCH_GL_TIMES_H

#include <stdlib.h>
#include <time.h>

// Milliseconds since some moment.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The median of times, which are put in order.
static double median(double* times, int count) {
    qsort(times, (size_t)count, sizeof *times, by_size);
    return times[count / 2];
}

#endif
