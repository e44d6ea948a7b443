// Builds: into kept memory, in turn with the rival in this process; and in fresh memory, each in a process of its own.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rebuild_state {
    bench_work* work;
    const bench_rival* rival; // NULL: Sapwood
    void* index;
} rebuild_state;

static void rebuild_pass(void* state) {
    rebuild_state* s = state;
    if (s->rival)
        s->rival->rebuild(s->index);
    else
        bench_check(sap_tree_rebuild(s->work->tree, bench_points(s->work)), "sap_tree_rebuild");
}

double bench_build_floor(const bench_run* run, int64_t count, int dims) {
    enum { LEAF = 32, CACHE = 1 << 20 };
    double point_bytes = 4.0 * dims + 4, seconds = 0, part = (double)count;
    while (part > LEAF) {
        bool cached = part * point_bytes <= CACHE;
        seconds += 2 * point_bytes * (double)count / (cached ? run->rates.cache_bytes : run->rates.memory_bytes);
        part /= 2;
    }
    return seconds;
}

void bench_rebuild_row(bench_run* run, bench_work* work, const char* key, const char* text, double target) {
    if (!bench_wanted(run, key)) return;
    rebuild_state states[2] = {{.work = work}, {.work = work, .rival = bench_main_rival(), .index = work->indexes[0]}};
    bench_side sides[2] = {{.pass = rebuild_pass, .state = &states[0]}, {.pass = rebuild_pass, .state = &states[1]}};
    int count = bench_main_rival() && work->indexes[0] ? 2 : 1;
    bench_take_turns(sides, count, run->options);
    bench_row row = {.key = key, .work = text, .unit = BENCH_SECONDS, .target = target};
    row.subject = bench_median(&sides[0]);
    if (count > 1) row.rival = bench_median(&sides[1]);
    row.floor = bench_build_floor(run, work->count, work->dims);
    bench_report_samples(run->report, key, "sapwood", &sides[0]);
    if (count > 1) bench_report_samples(run->report, key, bench_main_rival()->name, &sides[1]);
    bench_report_row(run->report, &row);
}

typedef struct first_index {
    const float* points;
    int64_t count;
    int dims;
    const bench_rival* rival; // NULL: Sapwood
    sap_device* device;
    sap_tree* tree;
    void* index;
} first_index;

static void first_index_build(void* state) {
    first_index* s = state;
    sap_points given = {.coords = s->points, .count = s->count, .dims = s->dims};
    if (s->rival)
        s->index = s->rival->build(s->points, (size_t)s->count, s->dims);
    else
        bench_check(sap_tree_build(s->device, given, NULL, &s->tree), "sap_tree_build");
}

int bench_first_build(const char* who, int64_t count, int dims) {
    float* points = bench_uniform(count, dims, 31);
    first_index s = {.points = points, .count = count, .dims = dims};
    bool is_sapwood = strcmp(who, "sapwood") == 0;
    for (int i = 0; i < bench_rival_count; i++)
        if (strcmp(who, bench_rivals[i]->name) == 0) s.rival = bench_rivals[i];
    if (is_sapwood) s.device = bench_device(1, SAP_SIMD_AUTO, NULL);
    if (is_sapwood || s.rival) bench_first_timed(first_index_build, &s);
    if (s.index) s.rival->release(s.index);
    bool built = s.tree || s.index;
    sap_tree_free(s.tree);
    sap_device_close(s.device);
    free(points);
    return built ? 0 : 1;
}

// The words by which a process builds one index over `count` points.
typedef struct first_words {
    char count[32], dims[32];
} first_words;

static bench_first first_of(const bench_run* run, const char* who, first_words* words, int64_t count, int dims) {
    snprintf(words->count, sizeof words->count, "%lld", (long long)count);
    snprintf(words->dims, sizeof words->dims, "%d", dims);
    return (bench_first){run->options, {who, words->count, words->dims}};
}

static void first_row(bench_run* run, const char* key, const char* text, int64_t count, int dims, double target) {
    if (!bench_wanted(run, key)) return;
    const bench_rival* rival = bench_main_rival();
    first_words words;
    bench_first states[2] = {first_of(run, "sapwood", &words, count, dims),
                             first_of(run, rival ? rival->name : "", &words, count, dims)};
    bench_side sides[2] = {{.timed = bench_first_pass, .state = &states[0]},
                           {.timed = bench_first_pass, .state = &states[1]}};
    bench_take_cold_turns(sides, rival ? 2 : 1, run->options);
    bench_row row = {.key = key, .work = text, .unit = BENCH_SECONDS, .target = target};
    row.subject = bench_median(&sides[0]);
    row.rival = bench_median(&sides[1]);
    row.floor = bench_build_floor(run, count, dims);
    bench_report_samples(run->report, key, "sapwood", &sides[0]);
    if (rival) bench_report_samples(run->report, key, rival->name, &sides[1]);
    bench_report_row(run->report, &row);
}

static void rebuild_rows(bench_run* run, const char* key, const char* text, int64_t count, int dims, double target) {
    if (!bench_wanted(run, key)) return;
    bench_work work;
    // One query: the arrays for answers stay small.
    bench_work_open(&work, bench_uniform(count, dims, 31), count, bench_uniform(1, dims, 32), 1, dims, false);
    bench_rebuild_row(run, &work, key, text, target);
    bench_work_close(&work);
}

// Builds by the rivals beside, for the row of the 1M rebuild.
static void beside_rows(bench_run* run, int64_t count) {
    if (!bench_wanted(run, "build-beside")) return;
    bench_row row = {.key = "build-beside", .work = "uniform 1M 3-D, first build", .unit = BENCH_SECONDS};
    for (int i = 0; i <= bench_rival_count; i++) {
        const char* who = i < bench_rival_count ? bench_rivals[i]->name : "sapwood";
        first_words words;
        bench_first state = first_of(run, who, &words, count, 3);
        bench_side side = {.timed = bench_first_pass, .state = &state, .most = 3};
        bench_take_cold_turns(&side, 1, run->options);
        double seconds = bench_median(&side);
        int place = bench_report_other(run->report, who);
        if (i == bench_rival_count)
            row.subject = seconds;
        else if (place >= 0)
            row.others[place] = seconds;
        else
            row.rival = seconds;
        bench_report_samples(run->report, row.key, who, &side);
    }
    bench_report_row(run->report, &row);
}

void bench_build_group(bench_run* run) {
    bool quick = run->options->quick;
    int64_t million = quick ? 200000 : 1000000, large = quick ? 2000000 : 10000000, huge = quick ? 2097152 : 16777216;
    rebuild_rows(run, "rebuild-1m", "rebuild 1M 3-D", million, 3, 5.5);
    rebuild_rows(run, "rebuild-10m", "rebuild 10M 3-D", large, 3, 7.5);
    rebuild_rows(run, "rebuild-17m-4d", "rebuild 16.8M 4-D", huge, 4, 8);
    first_row(run, "first-1m", "first build, fresh process, 1M 3-D", million, 3, 2.5);
    first_row(run, "first-10m", "first build, fresh process, 10M 3-D", large, 3, 3);
    first_row(run, "first-17m-4d", "first build, fresh process, 16.8M 4-D", huge, 4, 3);
    beside_rows(run, million);
}
