// Nearest neighbours and balls of a cloud's queries, in one batch call, on one thread.
#include "bench.h"

#include <math.h>
#include <stdlib.h>

static const double TOLERANCE = 1e-6; // relative, between sums of Sapwood and of a rival

// A side of a search: one library and what it is asked.
typedef struct search_state {
    bench_work* work;
    const bench_rival* rival; // NULL: Sapwood
    const void* index;
    int k;
    int64_t queries;
    uint64_t hits;
    bool collect;
} search_state;

static void nearest_pass(void* state) {
    search_state* s = state;
    bench_work* w = s->work;
    if (s->rival) {
        s->rival->nearest(s->index, w->queries, (size_t)s->queries, s->k, w->rival_ids);
        return;
    }
    sap_search search = {.k = s->k};
    bench_check(sap_nearest(w->tree, bench_queries(w), &search, w->ids, w->distance2), "sap_nearest");
}

static void radius_pass(void* state) {
    search_state* s = state;
    bench_work* w = s->work;
    if (s->rival) {
        uint64_t (*function)(const void*, const float*, size_t, float) =
            s->collect ? s->rival->collect : s->rival->count;
        s->hits = function(s->index, w->queries, (size_t)s->queries, (float)w->radius);
    } else if (s->collect) {
        sap_neighbors* found = NULL;
        bench_check(sap_radius(w->tree, bench_queries(w), w->radius, &found), "sap_radius");
        s->hits = (uint64_t)found->offsets[found->count];
        sap_neighbors_free(found);
    } else {
        bench_check(sap_radius_count(w->tree, bench_queries(w), w->radius, w->counts), "sap_radius_count");
        s->hits = 0;
        for (int64_t i = 0; i < w->query_count; i++) s->hits += (uint64_t)w->counts[i];
    }
}

// The sides of a comparison, Sapwood first.
typedef struct contest {
    int count;
    bench_side sides[BENCH_MAX_SIDES];
    search_state states[BENCH_MAX_SIDES];
} contest;

static void enter(contest* c, bench_work* work, const bench_rival* rival, const void* index, int k, bool collect,
                  void (*pass)(void*)) {
    bool main_side = !rival || rival == bench_main_rival();
    search_state* state = &c->states[c->count];
    *state = (search_state){.work = work, .rival = rival, .index = index, .k = k, .collect = collect};
    state->queries = main_side ? work->query_count : work->other_queries;
    c->sides[c->count++] = (bench_side){.pass = pass,
                                        .state = state,
                                        .scale = (double)work->query_count / (double)state->queries,
                                        .most = main_side ? 0 : 3};
}

static contest* assemble(bench_work* work, int k, bool collect, void (*pass)(void*)) {
    contest* c = bench_memory(1, sizeof *c);
    *c = (contest){0};
    enter(c, work, NULL, NULL, k, collect, pass);
    for (int i = 0; i < bench_rival_count && c->count < BENCH_MAX_SIDES; i++) {
        const bench_rival* rival = bench_rivals[i];
        bool able = k > 0 || (collect ? rival->collect : rival->count);
        if (work->indexes[i] && able) enter(c, work, rival, work->indexes[i], k, collect, pass);
    }
    return c;
}

static void fill_in(const bench_run* run, const contest* c, bench_row* row) {
    row->subject = bench_median(&c->sides[0]);
    bench_report_samples(run->report, row->key, "sapwood", &c->sides[0]);
    for (int i = 1; i < c->count; i++) {
        const bench_rival* rival = c->states[i].rival;
        double seconds = bench_median(&c->sides[i]);
        int place = bench_report_other(run->report, rival->name);
        if (rival == bench_main_rival())
            row->rival = seconds;
        else if (place >= 0)
            row->others[place] = seconds;
        bench_report_samples(run->report, row->key, rival->name, &c->sides[i]);
    }
}

static bool agree(double a, double b) { return fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b)); }

// Seconds below which no search that visits these leaves and groups of boxes can go on this machine. The 16 boxes of a
// group cost about what 32 points do.
static double search_floor(const bench_run* run, const sap_search_stats* stats, double dims, double bytes) {
    double scans = ((double)stats->points / 32 + (double)stats->nodes) * dims / 3;
    return fmax(scans / run->rates.leaves, bytes / run->rates.memory_bytes);
}

void bench_nearest_row(bench_run* run, bench_work* work, const char* key, const char* text, int k, double target) {
    if (!bench_wanted(run, key)) return;
    contest* c = assemble(work, k, false, nearest_pass);
    bench_take_turns(c->sides, c->count, run->options);
    bench_row row = {
        .key = key, .work = text, .unit = BENCH_RATE, .operations = (double)work->query_count, .target = target};
    fill_in(run, c, &row);
    sap_search_stats stats = {0};
    sap_search search = {.k = k, .stats = &stats};
    bench_check(sap_nearest(work->tree, bench_queries(work), &search, work->ids, work->distance2), "sap_nearest");
    double bytes = (double)work->query_count * (4.0 * work->dims + 8.0 * k);
    row.floor = search_floor(run, &stats, work->dims, bytes);
    bench_report_row(run->report, &row);
    for (int i = 1; i < c->count; i++) {
        search_state* s = &c->states[i];
        nearest_pass(s);
        double ours = bench_checksum(work, k, (const uint32_t*)work->ids, s->queries);
        double theirs = bench_checksum(work, k, work->rival_ids, s->queries);
        if (!agree(ours, theirs))
            bench_report_wrong(run->report, key, "Sapwood's sum is %.12g, the rival's %.12g", ours, theirs);
    }
    free(c);
}

// What searching balls must look at: k-NN within the radius, k never reached, visits the same leaves.
static sap_search_stats ball_stats(bench_work* work) {
    enum { MOST = 1024, SAMPLE = 4096 };
    int64_t queries = work->query_count < SAMPLE ? work->query_count : SAMPLE;
    int32_t* ids = bench_memory((size_t)queries * MOST, sizeof *ids);
    sap_search_stats stats = {0};
    sap_search search = {.k = MOST, .radius = work->radius, .stats = &stats};
    sap_points part = bench_queries(work);
    part.count = queries;
    bench_check(sap_nearest(work->tree, part, &search, ids, NULL), "sap_nearest");
    free(ids);
    double scale = (double)work->query_count / (double)queries;
    stats.nodes = (int64_t)((double)stats.nodes * scale);
    stats.leaves = (int64_t)((double)stats.leaves * scale);
    stats.points = (int64_t)((double)stats.points * scale);
    return stats;
}

void bench_radius_row(bench_run* run, bench_work* work, const char* key, const char* text, bool collect,
                      double target) {
    if (!bench_wanted(run, key)) return;
    contest* c = assemble(work, 0, collect, radius_pass);
    bench_take_turns(c->sides, c->count, run->options);
    bench_row row = {
        .key = key, .work = text, .unit = BENCH_RATE, .operations = (double)work->query_count, .target = target};
    fill_in(run, c, &row);
    sap_search_stats stats = ball_stats(work);
    double out = collect ? 8.0 * (double)c->states[0].hits : 0;
    row.floor = search_floor(run, &stats, work->dims, (double)work->query_count * (4.0 * work->dims + 8) + out);
    bench_report_row(run->report, &row);
    for (int i = 1; i < c->count; i++) {
        if (c->states[i].queries != work->query_count) continue;
        double ours = (double)c->states[0].hits, theirs = (double)c->states[i].hits;
        if (!agree(ours, theirs))
            bench_report_wrong(run->report, key, "Sapwood's sum is %.12g, the rival's %.12g", ours, theirs);
    }
    free(c);
}

void bench_search_group(bench_run* run) {
    bool quick = run->options->quick;
    int64_t million = quick ? 200000 : 1000000, large = quick ? 2000000 : 10000000;
    // About 30 points in a ball whatever their number; on surfaces they grow with the radius squared.
    double few = (double)million / 1000000;
    bench_work work;
    if (bench_wanted(run, "uniform")) {
        bench_work_open(&work, bench_uniform(million, 3, 1), million, bench_uniform(million, 3, 2), million, 3, true);
        work.radius = 0.0193 / cbrt(few);
        bench_nearest_row(run, &work, "uniform-1nn", "uniform 1M x 1M, 1-NN", 1, 6);
        bench_nearest_row(run, &work, "uniform-k8", "uniform 1M x 1M, k = 8", 8, 5.5);
        bench_nearest_row(run, &work, "uniform-k16", "uniform 1M x 1M, k = 16", 16, 6);
        bench_radius_row(run, &work, "uniform-count", "uniform, radius of 30 hits, count", false, 12);
        bench_radius_row(run, &work, "uniform-collect", "uniform, radius of 30 hits, collect", true, 10);
        bench_work_close(&work);
    }
    if (bench_wanted(run, "scan")) {
        bench_work_open(&work, bench_scan(million, 11), million, bench_scan(million, 12), million, 3, true);
        work.radius = 0.0475 / sqrt(few);
        bench_nearest_row(run, &work, "scan-1nn", "scan-like 1M x 1M, 1-NN", 1, 5);
        bench_nearest_row(run, &work, "scan-k8", "scan-like 1M x 1M, k = 8", 8, 4);
        bench_nearest_row(run, &work, "scan-k16", "scan-like 1M x 1M, k = 16", 16, 5);
        bench_radius_row(run, &work, "scan-count", "scan-like, radius of 30 hits, count", false, 9);
        bench_radius_row(run, &work, "scan-collect", "scan-like, radius of 30 hits, collect", true, 7);
        bench_work_close(&work);
    }
    if (bench_wanted(run, "large")) {
        bench_work_open(&work, bench_uniform(large, 3, 41), large, bench_uniform(million, 3, 42), million, 3, false);
        bench_nearest_row(run, &work, "large-1nn", "uniform 10M points, 1M queries, 1-NN", 1, 9);
        bench_nearest_row(run, &work, "large-k8", "uniform 10M points, 1M queries, k = 8", 8, 8);
        bench_work_close(&work);
    }
}
