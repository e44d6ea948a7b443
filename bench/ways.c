// Other ways to ask the same: one query a call, two threads, narrower vectors.
#include "bench.h"

#include <string.h>

typedef struct way_state {
    bench_work* work;
    const sap_tree* tree;
    sap_tree* rebuilt;
    const bench_rival* rival;
    const void* index;
    int k;
} way_state;

static void batch_pass(void* state) {
    way_state* s = state;
    sap_search search = {.k = s->k};
    bench_check(sap_nearest(s->tree, bench_queries(s->work), &search, s->work->ids, s->work->distance2), "sap_nearest");
}

static void one_by_one_pass(void* state) {
    way_state* s = state;
    bench_work* w = s->work;
    sap_search search = {.k = s->k};
    for (int64_t i = 0; i < w->query_count; i++) {
        sap_points query = {.coords = w->queries + i * w->dims, .count = 1, .dims = w->dims};
        bench_check(sap_nearest(s->tree, query, &search, w->ids + i * s->k, w->distance2 + i * s->k), "sap_nearest");
    }
}

// The rival knows no batch: its own loop asks one by one, without the cost of this program's interface.
static void rival_loop_pass(void* state) {
    way_state* s = state;
    s->rival->nearest(s->index, s->work->queries, (size_t)s->work->query_count, s->k, s->work->rival_ids);
}

static void rebuild_pass(void* state) {
    way_state* s = state;
    bench_check(sap_tree_rebuild(s->rebuilt, bench_points(s->work)), "sap_tree_rebuild");
}

// A row of two sides, whose ratio is second over first.
static void two_sides(bench_run* run, bench_row* row, void (*passes[2])(void*), way_state states[2],
                      const char* const names[2], int count) {
    bench_side sides[2] = {{.pass = passes[0], .state = &states[0]}, {.pass = passes[1], .state = &states[1]}};
    bench_options options = *run->options;
    // Threads save time, not processor time.
    if (row->versus && strcmp(row->versus, "one thread") == 0) options.cpu_time = false;
    bench_take_turns(sides, count, &options);
    row->subject = bench_median(&sides[0]);
    if (count > 1) row->rival = bench_median(&sides[1]);
    for (int i = 0; i < count; i++) bench_report_samples(run->report, row->key, names[i], &sides[i]);
    bench_report_row(run->report, row);
}

static void single_row(bench_run* run, bench_work* work) {
    if (!bench_wanted(run, "single-1nn")) return;
    const bench_rival* rival = work->indexes[0] ? bench_main_rival() : NULL;
    way_state states[2] = {{.work = work, .tree = work->tree, .k = 1},
                           {.work = work, .rival = rival, .index = work->indexes[0], .k = 1}};
    bench_row row = {.key = "single-1nn",
                     .work = "uniform 1M, one query a call, 1-NN",
                     .unit = BENCH_RATE,
                     .operations = (double)work->query_count,
                     .target = 1.5};
    const char* names[2] = {"sapwood", rival ? rival->name : ""};
    two_sides(run, &row, (void (*[2])(void*)){one_by_one_pass, rival_loop_pass}, states, names, rival ? 2 : 1);
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
        two_sides(run, &row, (void (*[2])(void*)){pass, pass}, states, names, 2);
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
                  (const char* [2]){"narrow", "avx512"}, 2);
        sap_tree_free(trees[0]);
        sap_tree_free(trees[1]);
    }
    sap_device_close(narrow);
    sap_device_close(wide);
}

void bench_ways_group(bench_run* run) {
    if (!bench_wanted(run, "single") && !bench_wanted(run, "threads") && !bench_wanted(run, "vectors")) return;
    int64_t million = run->options->quick ? 200000 : 1000000;
    bench_work work;
    bench_work_open(&work, bench_uniform(million, 3, 1), million, bench_uniform(million, 3, 2), million, 3, false);
    single_row(run, &work);
    threads_rows(run, &work);
    vectors_row(run, &work, SAP_SIMD_AVX2, "vectors-avx2", "AVX2 over AVX-512, uniform 1M x 1M, 1-NN", 0.7);
    vectors_row(run, &work, SAP_SIMD_PORTABLE, "vectors-portable", "16-byte over AVX-512, uniform 1M x 1M, 1-NN", 0.45);
    bench_work_close(&work);
}
