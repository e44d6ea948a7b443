// Other ways to ask: two threads, narrower vectors, other metrics, periods.
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct way_state {
    bench_work* work;
    const sap_tree* tree;
    sap_tree* rebuilt;
    int k;
    sap_metric metric;
    int8_t* shifts; // of pairs, or NULL
} way_state;

static void batch_pass(void* state) {
    way_state* s = state;
    sap_search search = {.k = s->k, .metric = s->metric};
    bench_check(sap_nearest(s->tree, bench_queries(s->work), &search, s->work->ids, s->work->distance2), "sap_nearest");
}

static void rebuild_pass(void* state) {
    way_state* s = state;
    bench_check(sap_tree_rebuild(s->rebuilt, bench_points(s->work)), "sap_tree_rebuild");
}

// A row of two sides, whose ratio is second over first.
static void two_sides(bench_run* run, bench_row* row, void (*passes[2])(void*), way_state states[2],
                      const char* const names[2]) {
    bench_side sides[2] = {{.pass = passes[0], .state = &states[0]}, {.pass = passes[1], .state = &states[1]}};
    bench_options options = *run->options;
    // Threads save time, not processor time.
    if (row->versus && strcmp(row->versus, "one thread") == 0) options.cpu_time = false;
    bench_take_turns(sides, 2, &options);
    row->subject = bench_median(&sides[0]);
    row->rival = bench_median(&sides[1]);
    for (int i = 0; i < 2; i++) bench_report_samples(run->report, row->key, names[i], &sides[i]);
    bench_report_row(run->report, row);
}

static void threads_rows(bench_run* run, bench_work* work) {
    if (!bench_wanted(run, "threads")) return;
    sap_device* device = bench_device(run->options->threads, SAP_SIMD_AUTO, NULL);
    sap_tree* tree = NULL;
    if (!device) return;
    bench_check(sap_tree_build(device, bench_points(work), NULL, &tree), "sap_tree_build");
    way_state states[2] = {{.work = work, .tree = tree, .rebuilt = tree},
                           {.work = work, .tree = work->tree, .rebuilt = work->tree}};
    const char* names[2] = {"threads", "one"};
    static const struct {
        const char *key, *text;
        int k;
        double target;
    } rows[] = {{"threads-1nn", "threads over one, uniform 1M x 1M, 1-NN", 1, 1.9},
                {"threads-k8", "threads over one, uniform 1M x 1M, k = 8", 8, 1.9},
                {"threads-rebuild", "threads over one, rebuild 1M 3-D", 0, 1.8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!bench_wanted(run, rows[i].key)) continue;
        bench_row row = {.key = rows[i].key, .work = rows[i].text, .versus = "one thread"};
        // The targets are stated for two threads.
        if (run->options->threads == 2) row.target = rows[i].target;
        row.unit = rows[i].k > 0 ? BENCH_RATE : BENCH_SECONDS;
        row.operations = (double)work->query_count;
        states[0].k = states[1].k = rows[i].k;
        void (*pass)(void*) = rows[i].k > 0 ? batch_pass : rebuild_pass;
        two_sides(run, &row, (void (*[2])(void*)){pass, pass}, states, names);
    }
    sap_tree_free(tree);
    sap_device_close(device);
}

static void vectors_row(bench_run* run, bench_work* work, sap_simd simd, const char* key, const char* text,
                        double target) {
    if (!bench_wanted(run, key)) return;
    sap_device* narrow = bench_device(1, simd, NULL);
    sap_device* wide = bench_device(1, SAP_SIMD_AVX512, NULL);
    if (!narrow || !wide) {
        bench_report_note(run->report, "%s: skipped, these vectors are not on this machine or in this build", text);
    } else {
        sap_tree* trees[2] = {NULL, NULL};
        bench_check(sap_tree_copy(work->tree, narrow, &trees[0]), "sap_tree_copy");
        bench_check(sap_tree_copy(work->tree, wide, &trees[1]), "sap_tree_copy");
        way_state states[2] = {{.work = work, .tree = trees[0], .k = 1}, {.work = work, .tree = trees[1], .k = 1}};
        bench_row row = {.key = key, .work = text, .versus = "AVX-512", .unit = BENCH_RATE, .target = target};
        row.operations = (double)work->query_count;
        two_sides(run, &row, (void (*[2])(void*)){batch_pass, batch_pass}, states,
                  (const char* [2]){"narrow", "avx512"});
        sap_tree_free(trees[0]);
        sap_tree_free(trees[1]);
    }
    sap_device_close(narrow);
    sap_device_close(wide);
}

static void metric_row(bench_run* run, bench_work* work, sap_metric metric, const char* key, const char* text) {
    if (!bench_wanted(run, key)) return;
    way_state states[2] = {{.work = work, .tree = work->tree, .k = 8, .metric = metric},
                           {.work = work, .tree = work->tree, .k = 8}};
    bench_row row = {.key = key, .work = text, .versus = "L2", .unit = BENCH_RATE, .target = 0.9};
    row.operations = (double)work->query_count;
    two_sides(run, &row, (void (*[2])(void*)){batch_pass, batch_pass}, states, (const char* [2]){"metric", "l2"});
}

static void within_pass(void* state) {
    way_state* s = state;
    sap_neighbors* found = NULL;
    bench_check(sap_radius(s->tree, bench_queries(s->work), s->work->radius, &found), "sap_radius");
    sap_neighbors_free(found);
}

static void pairs_pass(void* state) {
    way_state* s = state;
    sap_neighbors* found = NULL;
    bench_check(sap_pairs(s->tree, s->work->radius, &found), "sap_pairs");
    if (s->shifts) bench_check(sap_pairs_shifts(s->tree, found, s->shifts), "sap_pairs_shifts");
    sap_neighbors_free(found);
}

static int64_t count_pairs(const way_state* s) {
    sap_neighbors* found = NULL;
    bench_check(sap_pairs(s->tree, s->work->radius, &found), "sap_pairs");
    const int64_t count = found->offsets[found->count];
    sap_neighbors_free(found);
    return count;
}

static void sliding_row(bench_run* run, bench_work* work) {
    if (!bench_wanted(run, "periodic-sliding-pairs")) return;
    sap_tree* trees[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const double period = i ? 0 : 1;
        const sap_tree_options options = {.split = SAP_SPLIT_SLIDING_MIDPOINT, .period = {period, period, period}};
        bench_check(sap_tree_build(work->device, bench_points(work), &options, &trees[i]), "sap_tree_build");
    }
    way_state states[2] = {{.work = work, .tree = trees[0]}, {.work = work, .tree = trees[1]}};
    bench_row row = {.key = "periodic-sliding-pairs",
                     .work = "sliding midpoints, periodic over open, pairs of 30 hits",
                     .versus = "open axes",
                     .unit = BENCH_RATE,
                     .operations = (double)work->query_count};
    two_sides(run, &row, (void (*[2])(void*)){pairs_pass, pairs_pass}, states, (const char* [2]){"periodic", "open"});
    sap_tree_free(trees[0]);
    sap_tree_free(trees[1]);
}

// The unit cube closed in a circle along each axis, against the open one; and pairs with the shift of each.
static void periodic_rows(bench_run* run, bench_work* work) {
    if (!bench_wanted(run, "periodic")) return;
    const sap_tree_options options = {.period = {1, 1, 1}};
    sap_tree* tree = NULL;
    bench_check(sap_tree_build(work->device, bench_points(work), &options, &tree), "sap_tree_build");
    work->radius = 0.0193 / cbrt((double)work->count / 1000000);
    static const struct {
        const char *key, *text, *versus;
        void (*pass)(void*);
        double target;
    } rows[] = {{"periodic-k8", "periodic over open, uniform 1M x 1M, k = 8", "open axes", batch_pass, 0.8},
                {"periodic-collect", "periodic over open, radius of 30 hits, collect", "open axes", within_pass, 0.8},
                {"periodic-pairs", "pairs of 30 hits with shifts over those without", "no shifts", pairs_pass, 0.77}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!bench_wanted(run, rows[i].key)) continue;
        const bool is_pairs = rows[i].pass == pairs_pass;
        way_state states[2] = {{.work = work, .tree = tree, .k = 8},
                               {.work = work, .tree = is_pairs ? tree : work->tree, .k = 8}};
        if (is_pairs) states[0].shifts = bench_memory((size_t)count_pairs(&states[0]) * 3, 1);
        bench_row row = {.key = rows[i].key, .work = rows[i].text, .versus = rows[i].versus, .unit = BENCH_RATE};
        row.target = rows[i].target;
        row.operations = (double)work->query_count;
        two_sides(run, &row, (void (*[2])(void*)){rows[i].pass, rows[i].pass}, states,
                  (const char* [2]){"periodic", "open"});
        free(states[0].shifts);
    }
    sap_tree_free(tree);
    sliding_row(run, work);
}

void bench_ways_group(bench_run* run) {
    if (!bench_wanted(run, "threads") && !bench_wanted(run, "vectors") && !bench_wanted(run, "metric") &&
        !bench_wanted(run, "periodic"))
        return;
    int64_t million = run->options->quick ? 200000 : 1000000;
    bench_work work;
    bench_work_open(&work, bench_uniform(million, 3, 1), million, bench_uniform(million, 3, 2), million, 3, false);
    threads_rows(run, &work);
    vectors_row(run, &work, SAP_SIMD_AVX2, "vectors-avx2", "AVX2 over AVX-512, uniform 1M x 1M, 1-NN", 0.7);
    vectors_row(run, &work, SAP_SIMD_PORTABLE, "vectors-portable", "16-byte over AVX-512, uniform 1M x 1M, 1-NN", 0.45);
    metric_row(run, &work, SAP_METRIC_L1, "metric-l1", "L1 over L2, uniform 1M x 1M, k = 8");
    metric_row(run, &work, SAP_METRIC_LINF, "metric-linf", "L-infinity over L2, uniform 1M x 1M, k = 8");
    periodic_rows(run, &work);
    bench_work_close(&work);
}
