// Trees of both split rules, median and sliding midpoint: the same searches in each.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct splits_state {
    const bench_work* work;
    sap_tree* tree;
    sap_search search;
    sap_search_stats stats; // of a pass
} splits_state;

static void splits_pass(void* state) {
    splits_state* s = state;
    memset(&s->stats, 0, sizeof s->stats);
    s->search.stats = &s->stats;
    bench_check(sap_nearest(s->tree, bench_queries(s->work), &s->search, s->work->ids, s->work->distance2),
                "sap_nearest");
}

static void splits_row(bench_run* run, const bench_work* work, sap_tree* const trees[2], const char* cloud,
                       int leaf_size, int k, bool ordered) {
    char key[64], text[96];
    snprintf(key, sizeof key, "splits-%s-l%d-k%d%s", cloud, leaf_size, k, ordered ? "-given" : "");
    if (!bench_wanted(run, key)) return;
    snprintf(text, sizeof text, "%s, leaves of %d, k = %d%s", cloud, leaf_size, k, ordered ? ", order as given" : "");
    splits_state states[2];
    bench_side sides[2];
    static const char* const who[2] = {"sliding", "median"};
    for (int i = 0; i < 2; i++) {
        states[i] = (splits_state){.work = work, .tree = trees[i], .search = {.k = k, .ordered = ordered}};
        sides[i] = (bench_side){.pass = splits_pass, .state = &states[i]};
    }
    bench_take_turns(sides, 2, run->options);
    for (int i = 0; i < 2; i++) bench_report_samples(run->report, key, who[i], &sides[i]);
    const double queries = (double)work->query_count;
    const bench_row row = {.key = key,
                           .work = text,
                           .versus = "median tree",
                           .unit = BENCH_RATE,
                           .operations = queries,
                           .target = k == 8 && leaf_size == 32 && !ordered ? 0.8 : 0,
                           .subject = bench_median(&sides[0]),
                           .rival = bench_median(&sides[1])};
    bench_report_row(run->report, &row);
    bench_report_note(run->report, "    leaves a query: %.2f and %.2f; points: %.0f and %.0f",
                      (double)states[0].stats.leaves / queries, (double)states[1].stats.leaves / queries,
                      (double)states[0].stats.points / queries, (double)states[1].stats.points / queries);
}

static void splits_cloud(bench_run* run, const char* name, float* (*make)(int64_t count, uint64_t seed)) {
    char key[48];
    snprintf(key, sizeof key, "splits-%s", name);
    if (!bench_wanted(run, key)) return;
    static const int leaf_sizes[] = {8, 32, 128}, ks[] = {1, 8, 16};
    const int64_t count = run->options->quick ? 100000 : 1000000;
    bench_work work;
    bench_work_open(&work, make(count, 1), count, make(count, 2), count, 3, false);
    for (int l = 0; l < 3; l++) {
        sap_tree* trees[2] = {NULL, NULL};
        for (int i = 0; i < 2; i++) {
            const sap_tree_options options = {.split = i ? SAP_SPLIT_MEDIAN : SAP_SPLIT_SLIDING_MIDPOINT,
                                              .leaf_size = leaf_sizes[l]};
            bench_check(sap_tree_build(work.device, bench_points(&work), &options, &trees[i]), "sap_tree_build");
        }
        for (int k = 0; k < 3; k++) splits_row(run, &work, trees, name, leaf_sizes[l], ks[k], false);
        splits_row(run, &work, trees, name, leaf_sizes[l], 8, true);
        for (int i = 0; i < 2; i++) sap_tree_free(trees[i]);
    }
    bench_work_close(&work);
}

static float* uniform_cloud(int64_t count, uint64_t seed) { return bench_uniform(count, 3, seed); }

void bench_splits_group(bench_run* run) {
    splits_cloud(run, "uniform", uniform_cloud);
    splits_cloud(run, "scan-like", bench_scan);
    splits_cloud(run, "shell", bench_shell);
    splits_cloud(run, "outlier", bench_outlier);
}
