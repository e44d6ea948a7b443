// The machine's own limits, measured with loops as simple as they come.
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 32, LEAVES = 1024, COPIES = 5 };

static double copy_rate(size_t bytes, int repeats) {
    char* from = bench_memory(bytes, 1);
    char* to = bench_memory(bytes, 1);
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    double best = 0;
    for (int sample = 0; sample < COPIES; sample++) {
        double start = bench_seconds();
        for (int i = 0; i < repeats; i++) {
            memcpy(to, from, bytes);
            __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
        }
        double rate = 2.0 * (double)bytes * repeats / (bench_seconds() - start);
        if (rate > best) best = rate;
    }
    free(from);
    free(to);
    return best;
}

// The least squared distance from a query to LEAF points, as bits: they order as the floats do, and compilers reduce
// whole numbers with vectors.
static int32_t scan_leaf(const float* leaf, const float query[3]) {
    int32_t least = INT32_MAX;
    for (int i = 0; i < LEAF; i++) {
        float x = query[0] - leaf[i], y = query[1] - leaf[LEAF + i], z = query[2] - leaf[2 * LEAF + i];
        float distance2 = (x * x + y * y) + z * z;
        int32_t bits;
        memcpy(&bits, &distance2, sizeof bits);
        least = bits < least ? bits : least;
    }
    return least;
}

static double leaf_rate(void) {
    enum { ROUNDS = 500 };
    float* leaves = bench_uniform(LEAVES * LEAF, 3, 5);
    double best = 0;
    volatile int32_t kept = 0;
    for (int sample = 0; sample < COPIES; sample++) {
        double start = bench_seconds();
        for (int round = 0; round < ROUNDS; round++) {
            const float query[3] = {0.5f, 0.5f, 0.001f * (float)round};
            int32_t least = INT32_MAX;
            for (int leaf = 0; leaf < LEAVES; leaf++) {
                int32_t found = scan_leaf(leaves + leaf * 3 * LEAF, query);
                least = found < least ? found : least;
            }
            kept = least;
        }
        double rate = (double)ROUNDS * LEAVES / (bench_seconds() - start);
        if (rate > best) best = rate;
    }
    (void)kept;
    free(leaves);
    return best;
}

bench_rates bench_measure_rates(void) {
    bench_rates rates = {
        .memory_bytes = copy_rate((size_t)256 << 20, 1),
        .cache_bytes = copy_rate((size_t)256 << 10, 2000),
        .leaves = leaf_rate(),
    };
    return rates;
}
