// Trees of all split rules: the same searches in each.
#include "bench.h"

#include <math.h>
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

// The rules that stand beside the median tree's.
static const struct {
    sap_split split;
    const char *key, *name;
} rules[] = {{SAP_SPLIT_SLIDING_MIDPOINT, "splits", "sliding"}, {SAP_SPLIT_VVH, "splits-vvh", "vvh"}};

static void splits_row(bench_run* run, const bench_work* work, sap_tree* tree, sap_tree* median, int rule,
                       const char* cloud, int leaf_size, int k, bool ordered) {
    char key[64], text[96];
    snprintf(key, sizeof key, "%s-%s-l%d-k%d%s", rules[rule].key, cloud, leaf_size, k, ordered ? "-given" : "");
    if (!bench_wanted(run, key)) return;
    snprintf(text, sizeof text, "%s: %s, leaves of %d, k = %d%s", rules[rule].name, cloud, leaf_size, k,
             ordered ? ", order as given" : "");
    splits_state states[2];
    bench_side sides[2];
    const char* const who[2] = {rules[rule].name, "median"};
    sap_tree* const trees[2] = {tree, median};
    for (int i = 0; i < 2; i++) {
        states[i] = (splits_state){.work = work, .tree = trees[i], .search = {.k = k, .ordered = ordered}};
        sides[i] = (bench_side){.pass = splits_pass, .state = &states[i]};
    }
    bench_take_turns(sides, 2, run->options);
    for (int i = 0; i < 2; i++) bench_report_samples(run->report, key, who[i], &sides[i]);
    const double queries = (double)work->query_count;
    const bool sliding = rules[rule].split == SAP_SPLIT_SLIDING_MIDPOINT;
    const bench_row row = {.key = key,
                           .work = text,
                           .versus = "median tree",
                           .unit = BENCH_RATE,
                           .operations = queries,
                           .target = sliding                     ? (k == 8 && leaf_size == 32 && !ordered ? 0.8 : 0)
                                     : !strcmp(cloud, "caustic") ? 1.1
                                                                 : 1.0,
                           .subject = bench_median(&sides[0]),
                           .rival = bench_median(&sides[1])};
    bench_report_row(run->report, &row);
    bench_report_note(run->report, "    leaves a query: %.2f and %.2f; points: %.0f and %.0f",
                      (double)states[0].stats.leaves / queries, (double)states[1].stats.leaves / queries,
                      (double)states[0].stats.points / queries, (double)states[1].stats.points / queries);
}

static sap_tree* splits_build(const bench_work* work, sap_split split, int leaf_size, double radius) {
    const sap_tree_options options = {.split = split, .leaf_size = leaf_size, .query_radius = radius};
    sap_tree* tree = NULL;
    const double start = bench_seconds();
    bench_check(sap_tree_build(work->device, bench_points(work), &options, &tree), "sap_tree_build");
    if (split == SAP_SPLIT_VVH) printf("    vvh, radius %.3g: built in %.3g s\n", radius, bench_seconds() - start);
    return tree;
}

static int by_distance(const void* a, const void* b) {
    const float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

// The median distance of the k-th neighbour.
static double splits_radius(const bench_work* work, sap_tree* tree, int k) {
    enum { ASKED = 1001 };
    static float last[ASKED];
    const sap_search search = {.k = k};
    bench_check(sap_nearest(tree, bench_queries(work), &search, work->ids, work->distance2), "sap_nearest");
    for (int i = 0; i < ASKED; i++)
        last[i] = ((const float*)work->distance2)[work->query_count / ASKED * i * k + k - 1];
    qsort(last, ASKED, sizeof *last, by_distance);
    return sqrt((double)last[ASKED / 2]);
}

static void splits_cloud(bench_run* run, const char* name, float* (*make)(int64_t count, uint64_t seed)) {
    static const int leaf_sizes[] = {8, 32, 128}, ks[] = {1, 8, 16, 50};
    char sliding[48], vvh[48];
    snprintf(sliding, sizeof sliding, "%s-%s", rules[0].key, name);
    snprintf(vvh, sizeof vvh, "%s-%s", rules[1].key, name);
    if (!bench_wanted(run, sliding) && !bench_wanted(run, vvh)) return;
    const int64_t count = run->options->quick ? 100000 : 1000000;
    bench_work work;
    bench_work_open(&work, make(count, 1), count, make(count, 2), count, 3, false);
    for (int l = 0; l < 3; l++) {
        sap_tree* median = splits_build(&work, SAP_SPLIT_MEDIAN, leaf_sizes[l], 0);
        sap_tree* tree = splits_build(&work, SAP_SPLIT_SLIDING_MIDPOINT, leaf_sizes[l], 0);
        for (int k = 0; k < 3; k++) splits_row(run, &work, tree, median, 0, name, leaf_sizes[l], ks[k], false);
        splits_row(run, &work, tree, median, 0, name, leaf_sizes[l], 8, true);
        sap_tree_free(tree);
        for (int k = 0; k < 4 && leaf_sizes[l] == 32; k++) {
            tree = splits_build(&work, SAP_SPLIT_VVH, leaf_sizes[l], splits_radius(&work, median, ks[k]));
            splits_row(run, &work, tree, median, 1, name, leaf_sizes[l], ks[k], false);
            sap_tree_free(tree);
        }
        sap_tree_free(median);
    }
    bench_work_close(&work);
}

static float* uniform_cloud(int64_t count, uint64_t seed) { return bench_uniform(count, 3, seed); }

void bench_splits_group(bench_run* run) {
    splits_cloud(run, "uniform", uniform_cloud);
    splits_cloud(run, "scan-like", bench_scan);
    splits_cloud(run, "shell", bench_shell);
    splits_cloud(run, "caustic", bench_caustic);
    splits_cloud(run, "outlier", bench_outlier);
}
