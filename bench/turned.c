#include "turned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void make_turn(double turn[9]) {
    const double angle = 5 / 57.295779513082323, c = cos(angle), s = sin(angle), k = 1 - c, root = sqrt(14);
    const double axis[3] = {1 / root, 2 / root, 3 / root};
    const double skew[9] = {0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0};
    for (int i = 0; i < 9; i++) turn[i] = axis[i / 3] * axis[i % 3] * k + skew[i] * s + (i % 4 == 0 ? c : 0);
}

bench_turned bench_turned_of(const float* points, int64_t count) {
    double least[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, most[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, squares = 0;
    bench_turned turned;
    make_turn(turned.turn);
    for (int64_t i = 0; i < 3 * count; i++) {
        least[i % 3] = fmin(least[i % 3], (double)points[i]);
        most[i % 3] = fmax(most[i % 3], (double)points[i]);
    }
    for (int a = 0; a < 3; a++) {
        turned.middle[a] = (least[a] + most[a]) / 2;
        squares += (most[a] - least[a]) * (most[a] - least[a]);
    }
    turned.diagonal = sqrt(squares);
    return turned;
}

void bench_turned_move(const bench_turned* t, const double from[3], float to[3]) {
    for (int r = 0; r < 3; r++) {
        double sum = t->middle[r] + 0.02 * t->diagonal / sqrt(3);
        for (int a = 0; a < 3; a++) sum += t->turn[3 * r + a] * (from[a] - t->middle[a]);
        to[r] = (float)sum;
    }
}

double bench_degrees_left(const bench_turned* t, const double transform[16]) {
    double m[9];
    for (int i = 0; i < 9; i++) {
        m[i] = 0;
        for (int k = 0; k < 3; k++) m[i] += transform[4 * (i / 3) + k] * t->turn[3 * k + i % 3];
    }
    const double x = m[7] - m[5], y = m[2] - m[6], z = m[3] - m[1];
    return asin(sqrt(x * x + y * y + z * z) / 2) * 57.295779513082323;
}

double bench_next_unit(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

void bench_write_words(const char* folder, const char* name, const void* words, int64_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(words, 4, (size_t)count, file) != (size_t)count || fclose(file)) {
        fprintf(stderr, "sapwood: cannot write %s\n", path);
        exit(1);
    }
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

double bench_middle_of(double* samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return samples[count / 2];
}
