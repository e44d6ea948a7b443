// One query a call, as robots ask: a prepared search and sap_nearest, beside nanoflann's own loop.
#include "bench.h"

#include <stdio.h>
#include <string.h>

typedef struct single_state {
    bench_work* work;
    sap_query* query; // a prepared search; NULL: sap_nearest, or the rival
    const bench_rival* rival;
    int k;
} single_state;

static void prepared_pass(void* state) {
    const single_state* s = state;
    const bench_work* w = s->work;
    for (int64_t i = 0; i < w->query_count; i++)
        sap_query_nearest(s->query, w->queries + i * w->dims, w->ids + i * s->k, w->distance2 + i * s->k);
}

static void call_pass(void* state) {
    const single_state* s = state;
    const bench_work* w = s->work;
    const sap_search search = {.k = s->k};
    for (int64_t i = 0; i < w->query_count; i++) {
        const sap_points query = {.coords = w->queries + i * w->dims, .count = 1, .dims = w->dims};
        bench_check(sap_nearest(w->tree, query, &search, w->ids + i * s->k, w->distance2 + i * s->k), "sap_nearest");
    }
}

// The rival knows no batch: its own loop asks one by one, without the cost of this program's interface.
static void rival_pass(void* state) {
    const single_state* s = state;
    s->rival->nearest(s->work->indexes[0], s->work->queries, (size_t)s->work->query_count, s->k, s->work->rival_ids);
}

static void single_row(bench_run* run, bench_work* work, const char* cloud, int64_t count, int k, double target) {
    char key[48], text[96], size[24];
    snprintf(size, sizeof size, count < 1000000 ? "%dk" : "%dm",
             (int)(count < 1000000 ? count / 1000 : count / 1000000));
    snprintf(key, sizeof key, "single-%s-%s-k%d", size, cloud, k);
    if (!bench_wanted(run, key)) return;
    snprintf(text, sizeof text, "%s %s, one query a call, k = %d", cloud, size, k);
    single_state states[2] = {{.work = work, .k = k}, {.work = work, .rival = bench_main_rival(), .k = k}};
    bench_check(sap_query_open(work->tree, &(sap_search){.k = k}, &states[0].query), "sap_query_open");
    bench_side sides[3] = {{.pass = prepared_pass, .state = &states[0]},
                           {.pass = call_pass, .state = &states[0]},
                           {.pass = rival_pass, .state = &states[1]}};
    static const char* const names[3] = {"sapwood", "sap_nearest", "rival"};
    const bool beside = work->indexes[0] && states[1].rival;
    bench_take_turns(sides, beside ? 3 : 2, run->options);
    for (int i = 0; i < (beside ? 3 : 2); i++) bench_report_samples(run->report, key, names[i], &sides[i]);
    const bench_row row = {.key = key,
                           .work = text,
                           .unit = BENCH_RATE,
                           .operations = (double)work->query_count,
                           .target = target,
                           .subject = bench_median(&sides[0]),
                           .rival = beside ? bench_median(&sides[2]) : 0};
    bench_report_row(run->report, &row);
    bench_report_note(run->report, "through sap_nearest: %.3g M/s", row.operations / bench_median(&sides[1]) * 1e-6);
    prepared_pass(&states[0]);
    const double ours = bench_checksum(work, k, (const uint32_t*)work->ids, work->query_count);
    const double theirs = beside ? bench_checksum(work, k, work->rival_ids, work->query_count) : ours;
    if (!(ours >= theirs * (1 - 1e-6) && ours <= theirs * (1 + 1e-6)))
        bench_report_wrong(run->report, key, "Sapwood's sum is %.12g, the rival's %.12g", ours, theirs);
    sap_query_close(states[0].query);
}

static void single_cloud(bench_run* run, bool is_scan, int64_t count, double target) {
    enum { QUERIES = 100000 };
    bench_work work;
    const char* cloud = is_scan ? "scan" : "uniform";
    float* points = is_scan ? bench_scan(count, 11) : bench_uniform(count, 3, 1);
    float* queries = is_scan ? bench_scan(QUERIES, 12) : bench_uniform(QUERIES, 3, 2);
    bench_work_open(&work, points, count, queries, QUERIES, 3, false);
    single_row(run, &work, cloud, count, 1, target);
    single_row(run, &work, cloud, count, 8, target);
    bench_work_close(&work);
}

void bench_single_group(bench_run* run) {
    static const struct {
        const char* key;
        int64_t count;
        double target;
    } sizes[] = {{"single-1k", 1000, 1.5}, {"single-100k", 100000, 2}, {"single-1m", 1000000, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!bench_wanted(run, sizes[i].key)) continue;
        single_cloud(run, false, sizes[i].count, sizes[i].target);
        single_cloud(run, true, sizes[i].count, sizes[i].target);
    }
    // Ten million take a while: only when they are asked for.
    if (run->options->only && strstr(run->options->only, "single-10m")) {
        single_cloud(run, false, 10000000, 3);
        single_cloud(run, true, 10000000, 3);
    }
}
