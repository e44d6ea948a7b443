// Clouds that break k-d trees: all points equal, lines, lattices, shells, an outlier, sorted input. A search on them
// may take longer only as it must visit more leaves.
#include "bench.h"

#include <stdlib.h>

typedef struct family_state {
    bench_work* work;
    int k;
} family_state;

static void nearest_pass(void* state) {
    family_state* s = state;
    sap_search search = {.k = s->k};
    bench_check(sap_nearest(s->work->tree, bench_queries(s->work), &search, s->work->ids, s->work->distance2),
                "sap_nearest");
}

static void rebuild_pass(void* state) {
    family_state* s = state;
    bench_check(sap_tree_rebuild(s->work->tree, bench_points(s->work)), "sap_tree_rebuild");
}

// Opens a cloud for Sapwood alone.
static void open_alone(bench_work* work, float* points, int64_t count, float* queries, int64_t query_count) {
    bench_work_open(work, points, count, queries, query_count, 3, false);
}

static double leaves_visited(bench_work* work, int k) {
    sap_search_stats stats = {0};
    sap_search search = {.k = k, .stats = &stats};
    bench_check(sap_nearest(work->tree, bench_queries(work), &search, work->ids, work->distance2), "sap_nearest");
    return stats.leaves > 0 ? (double)stats.leaves : 1;
}

typedef struct family {
    const char *key, *text;
    float* (*points)(int64_t count, uint64_t seed);
    float* (*queries)(int64_t count, uint64_t seed);
    uint64_t seed; // of the points; 0: in order
} family;

static float* uniform_points(int64_t count, uint64_t seed) { return bench_uniform(count, 3, seed); }

static const family FAMILIES[] = {
    {"family-line", "line, a visited leaf against uniform, 1-NN", bench_line, bench_line, 0},
    {"family-lattice", "lattice 100^3, same", bench_lattice, bench_lattice, 0},
    {"family-shell", "sphere shell, same", bench_shell, bench_shell, 81},
    {"family-outlier", "one far outlier, same", bench_outlier, uniform_points, 83},
    {"family-sorted", "sorted by x, same", bench_sorted, uniform_points, 85},
};

static void family_row(bench_run* run, bench_work* uniform, const family* f) {
    if (!bench_wanted(run, f->key)) return;
    bench_work work;
    open_alone(&work, f->points(uniform->count, f->seed), uniform->count, f->queries(uniform->query_count, 62),
               uniform->query_count);
    family_state states[2] = {{&work, 1}, {uniform, 1}};
    bench_side sides[2] = {{.pass = nearest_pass, .state = &states[0]}, {.pass = nearest_pass, .state = &states[1]}};
    bench_take_turns(sides, 2, run->options);
    bench_row row = {.key = f->key, .work = f->text, .versus = "uniform", .unit = BENCH_NANOSECONDS, .target = 0.5};
    row.subject = bench_median(&sides[0]) / leaves_visited(&work, 1);
    row.rival = bench_median(&sides[1]) / leaves_visited(uniform, 1);
    bench_report_samples(run->report, f->key, "sapwood", &sides[0]);
    bench_report_samples(run->report, f->key, "uniform", &sides[1]);
    bench_report_row(run->report, &row);
    bench_work_close(&work);
}

// Half of the queries are the point itself.
static float* equal_queries(int64_t count) {
    float* queries = bench_uniform(count, 3, 52);
    for (int64_t i = 0; i < 3 * (count / 2); i++) queries[i] = 0.5f;
    bench_shuffle(queries, count, 3, 53);
    return queries;
}

static void equal_query_row(bench_run* run, bench_work* equal, const char* key, const char* text, int k) {
    if (!bench_wanted(run, key)) return;
    family_state state = {equal, k};
    bench_side side = {.pass = nearest_pass, .state = &state};
    bench_take_turns(&side, 1, run->options);
    bench_row row = {.key = key, .work = text, .unit = BENCH_MICROSECONDS, .target = 1};
    row.subject = bench_median(&side) / (double)equal->query_count;
    // The rival needs milliseconds a query here: a few hundred are enough.
    enum { FEW = 200 };
    const bench_rival* rival = bench_main_rival();
    if (rival && equal->indexes[0] && equal->query_count >= FEW) {
        double start = bench_cpu_seconds();
        rival->nearest(equal->indexes[0], equal->queries, FEW, k, equal->rival_ids);
        row.rival = (bench_cpu_seconds() - start) / FEW;
    }
    bench_report_samples(run->report, key, "sapwood", &side);
    bench_report_row(run->report, &row);
}

static void equal_rows(bench_run* run, bench_work* uniform) {
    if (!bench_wanted(run, "equal")) return;
    bench_work equal;
    open_alone(&equal, bench_equal(uniform->count), uniform->count, equal_queries(uniform->query_count),
               uniform->query_count);
    equal_query_row(run, &equal, "equal-1nn", "1M equal points, a query, 1-NN", 1);
    equal_query_row(run, &equal, "equal-k8", "1M equal points, a query, k = 8", 8);
    if (bench_wanted(run, "equal-build")) {
        family_state states[2] = {{&equal, 0}, {uniform, 0}};
        bench_side sides[2] = {{.pass = rebuild_pass, .state = &states[0]},
                               {.pass = rebuild_pass, .state = &states[1]}};
        bench_take_turns(sides, 2, run->options);
        bench_row row = {.key = "equal-build",
                         .work = "1M equal points, rebuild against uniform",
                         .versus = "uniform",
                         .unit = BENCH_SECONDS,
                         .subject = bench_median(&sides[0]),
                         .rival = bench_median(&sides[1]),
                         .target = 1};
        bench_report_samples(run->report, row.key, "sapwood", &sides[0]);
        bench_report_samples(run->report, row.key, "uniform", &sides[1]);
        bench_report_row(run->report, &row);
    }
    bench_work_close(&equal);
}

void bench_families_group(bench_run* run) {
    if (!bench_wanted(run, "equal") && !bench_wanted(run, "family")) return;
    int64_t million = run->options->quick ? 200000 : 1000000;
    bench_work uniform;
    open_alone(&uniform, bench_uniform(million, 3, 1), million, bench_uniform(million, 3, 2), million);
    equal_rows(run, &uniform);
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++) family_row(run, &uniform, &FAMILIES[i]);
    bench_work_close(&uniform);
}
