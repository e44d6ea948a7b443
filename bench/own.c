// A tree's own points as queries, beside a batch of the same queries in random order.
#include "bench.h"

#include <stdio.h>
#include <string.h>

typedef struct own_state {
    bench_work* work;
    sap_search search;
    bool own;
} own_state;

static void own_pass(void* state) {
    own_state* s = state;
    const bench_work* work = s->work;
    if (s->own)
        bench_check(sap_nearest_self(work->tree, &s->search, work->ids, work->distance2), "sap_nearest_self");
    else
        bench_check(sap_nearest(work->tree, bench_queries(work), &s->search, work->ids, work->distance2),
                    "sap_nearest");
}

// The points are in random order already: asked as they lie, they lie in none of the tree's.
static void own_row(bench_run* run, bench_work* work, const char* cloud, int k) {
    char key[48], text[80];
    snprintf(key, sizeof key, "own-%s-k%d", cloud, k);
    if (!bench_wanted(run, key)) return;
    snprintf(text, sizeof text, "%s, the tree's own points, k = %d", cloud, k);
    own_state states[2];
    bench_side sides[2];
    double sums[2];
    for (int i = 0; i < 2; i++) {
        states[i] = (own_state){.work = work, .search = {.k = k, .with_self = true}, .own = i == 0};
        sides[i] = (bench_side){.pass = own_pass, .state = &states[i]};
        own_pass(&states[i]);
        sums[i] = bench_checksum(work, k, (const uint32_t*)work->ids, work->count);
    }
    if (sums[0] != sums[1]) bench_report_wrong(run->report, key, "sums %.17g and %.17g", sums[0], sums[1]);
    bench_take_turns(sides, 2, run->options);
    bench_report_samples(run->report, key, "own", &sides[0]);
    bench_report_samples(run->report, key, "batch", &sides[1]);
    const bench_row row = {.key = key,
                           .work = text,
                           .versus = "a batch of the same",
                           .unit = BENCH_RATE,
                           .operations = (double)work->count,
                           .target = k == 16 ? 1.5 : 0,
                           .subject = bench_median(&sides[0]),
                           .rival = bench_median(&sides[1])};
    bench_report_row(run->report, &row);
}

static void own_cloud(bench_run* run, const char* cloud, float* (*make)(int64_t count, uint64_t seed)) {
    char key[48];
    snprintf(key, sizeof key, "own-%s", cloud);
    if (!bench_wanted(run, key)) return;
    static const int ks[] = {1, 8, 16};
    const int64_t count = run->options->quick ? 100000 : 1000000;
    bench_work work;
    bench_work_open(&work, make(count, 1), count, make(count, 1), count, 3, false);
    for (int i = 0; i < 3; i++) own_row(run, &work, cloud, ks[i]);
    bench_work_close(&work);
}

static float* uniform_cloud(int64_t count, uint64_t seed) { return bench_uniform(count, 3, seed); }

void bench_own_group(bench_run* run) {
    own_cloud(run, "uniform", uniform_cloud);
    own_cloud(run, "scan-like", bench_scan);
}
