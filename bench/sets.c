// Points that come and go, beside nanoflann's adaptor of static trees: inserts and removals in a million points, what a
// query takes after them, and the frames of a vehicle that maps a street.
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NEIGHBORS = 5, HELD = 1000000, ASKED = 20000, MOST_POINTS = 100000 };

// The calling thread's time: a thread beside it is not waited for.
static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// One of the contenders.
typedef struct mover {
    sap_set* set;
    sap_tree* tree;                  // or NULL: of a million points, for queries
    const bench_moving_rival* rival; // and its set, or NULL: Sapwood's
    void* theirs;
    bench_random random;
    int64_t next;  // id
    float* points; // [MOST_POINTS] of a cube, made anew before each pass
    int64_t batch, batches;
    const float* queries;
    int32_t* ids;
    float* distance2;
} mover;

static void insert(mover* m, const float* points, int64_t count) {
    if (m->rival)
        m->rival->insert(m->theirs, points, (size_t)count);
    else
        bench_check(sap_set_insert(m->set, (sap_points){points, count, 3, 0}, NULL, NULL), "sap_set_insert");
    m->next += count;
}

static void remove_ids(mover* m, const int32_t* ids, int64_t count) {
    if (m->rival)
        m->rival->remove(m->theirs, (const uint32_t*)ids, (size_t)count);
    else
        bench_check(sap_set_remove(m->set, ids, count, NULL), "sap_set_remove");
}

static void keep_box(mover* m, const float* lower, const float* upper) {
    const double low[3] = {(double)lower[0], (double)lower[1], (double)lower[2]},
                 high[3] = {(double)upper[0], (double)upper[1], (double)upper[2]};
    if (m->rival)
        m->rival->keep_box(m->theirs, lower, upper);
    else
        bench_check(sap_set_keep_box(m->set, low, high, NULL), "sap_set_keep_box");
}

static void ask(const mover* m, const float* queries, int64_t count) {
    const sap_points rows = {queries, count, 3, 0};
    const sap_search search = {.k = NEIGHBORS};
    if (m->tree)
        bench_check(sap_nearest(m->tree, rows, &search, m->ids, m->distance2), "sap_nearest");
    else if (m->rival)
        m->rival->nearest(m->theirs, queries, (size_t)count, NEIGHBORS, (uint32_t*)m->ids, m->distance2);
    else
        bench_check(sap_set_nearest(m->set, rows, &search, m->ids, m->distance2), "sap_set_nearest");
}

static double sum_of(const mover* m, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count * NEIGHBORS; i++) sum += (double)m->distance2[i];
    return sum;
}

static void open_mover(mover* m, sap_device* device, bool background) {
    if (m->rival)
        m->theirs = m->rival->create();
    else
        bench_check(sap_set_create(device, 3, &(sap_set_options){.background = background}, &m->set), "sap_set_create");
    m->points = bench_memory((size_t)MOST_POINTS * 3, sizeof *m->points);
    m->ids = bench_memory((size_t)ASKED * NEIGHBORS, sizeof *m->ids);
    m->distance2 = bench_memory((size_t)ASKED * NEIGHBORS, sizeof *m->distance2);
    m->random.state = 5;
}

static void close_mover(mover* m) {
    if (m->rival) m->rival->release(m->theirs);
    sap_set_free(m->set);
    free(m->points);
    free(m->ids);
    free(m->distance2);
}

// ---- A million points

static double insert_pass(void* state) {
    mover* m = state;
    double total = 0;
    const int64_t together = MOST_POINTS / m->batch < m->batches ? MOST_POINTS / m->batch : m->batches;
    for (int64_t done = 0; done < m->batches; done += together) {
        for (int64_t j = 0; j < 3 * m->batch * together; j++) m->points[j] = bench_random_float(&m->random);
        const double start = thread_seconds();
        for (int64_t i = 0; i < together; i++) insert(m, m->points + 3 * i * m->batch, m->batch);
        total += thread_seconds() - start;
    }
    return total;
}

static double remove_pass(void* state) {
    mover* m = state;
    int32_t* ids = (int32_t*)(void*)m->points;
    for (int64_t i = 0; i < m->batch * m->batches; i++)
        ids[i] = (int32_t)((bench_random_next(&m->random) >> 33) % (uint64_t)m->next);
    const double start = thread_seconds();
    for (int64_t i = 0; i < m->batches; i++) remove_ids(m, ids + i * m->batch, m->batch);
    return thread_seconds() - start;
}

static void ask_pass(void* state) { ask(state, ((const mover*)state)->queries, ASKED); }

static void change_row(bench_run* run, mover* movers, int sides, const char* what, int64_t batch, int64_t batches,
                       double target, double (*pass)(void* state)) {
    char key[48], text[80];
    snprintf(key, sizeof key, "sets-%s-%lld", what, (long long)batch);
    if (!bench_wanted(run, key)) return;
    snprintf(text, sizeof text, "1M points: %s, %lld at once", what, (long long)batch);
    bench_side side[2] = {{.timed = pass, .state = &movers[0]}, {.timed = pass, .state = &movers[1]}};
    for (int i = 0; i < sides; i++) {
        movers[i].batch = batch;
        movers[i].batches = batches;
    }
    bench_take_turns(side, sides, run->options);
    const double points = (double)(batch * batches);
    const bench_row row = {.key = key,
                           .work = text,
                           .unit = BENCH_MICROSECONDS,
                           .subject = bench_median(&side[0]) / points,
                           .target = target};
    bench_report_row(run->report, &row);
    if (sides > 1)
        bench_report_note(run->report, "%s: %.3g us", movers[1].rival->name, bench_median(&side[1]) / points * 1e6);
    for (int i = 0; i < sides; i++) bench_report_samples(run->report, key, i ? "rival" : "sapwood", &side[i]);
}

// What a query takes after all that; and beside it one tree over as many points.
static void query_row(bench_run* run, mover* movers, int sides, sap_device* device) {
    if (!bench_wanted(run, "sets-query")) return;
    mover single = movers[0];
    sap_set_info info;
    bench_check(sap_set_describe(movers[0].set, &info), "sap_set_describe");
    float* points = bench_uniform(info.count, 3, 1);
    bench_check(sap_tree_build(device, (sap_points){points, info.count, 3, 0}, NULL, &single.tree), "sap_tree_build");
    bench_side side[3] = {{.pass = ask_pass, .state = &movers[0]},
                          {.pass = ask_pass, .state = &single},
                          {.pass = ask_pass, .state = &movers[1]}};
    bench_take_turns(side, sides + 1, run->options);
    const double ours = bench_median(&side[0]) / ASKED, theirs = sides > 1 ? bench_median(&side[2]) / ASKED : 0;
    const bench_row rows[] = {{.key = "sets-query",
                               .work = "1M points after these: a query, k = 5",
                               .versus = sides > 1 ? movers[1].rival->name : NULL,
                               .unit = BENCH_NANOSECONDS,
                               .subject = ours,
                               .rival = theirs,
                               .target = 8},
                              {.key = "sets-query-tree",
                               .work = "the same, beside one tree",
                               .versus = "one tree",
                               .unit = BENCH_NANOSECONDS,
                               .subject = ours,
                               .rival = bench_median(&side[1]) / ASKED,
                               .target = 1 / 1.5},
                              {.key = "sets-query-time",
                               .work = "the same, by the clock",
                               .unit = BENCH_MICROSECONDS,
                               .subject = ours,
                               .target = 0.9}};
    for (int i = 0; i < 3; i++) bench_report_row(run->report, &rows[i]);
    bench_report_note(run->report, "%d trees", (int)info.trees);
    ask_pass(&movers[0]);
    if (sides > 1) {
        ask_pass(&movers[1]);
        const double sum = sum_of(&movers[0], ASKED), other = sum_of(&movers[1], ASKED);
        if (!(fabs(sum - other) <= 1e-5 * sum))
            bench_report_wrong(run->report, "sets-query", "Sapwood's sum is %.12g, the rival's %.12g", sum, other);
    }
    sap_tree_free(single.tree);
    free(points);
}

static void million_rows(bench_run* run, sap_device* device) {
    mover movers[2] = {{.next = 0}, {.rival = bench_moving()}};
    const int sides = movers[1].rival ? 2 : 1;
    float *points = bench_uniform(HELD, 3, 1), *queries = bench_uniform(ASKED, 3, 2);
    for (int i = 0; i < sides; i++) {
        open_mover(&movers[i], device, false);
        movers[i].queries = queries;
        insert(&movers[i], points, HELD);
    }
    change_row(run, movers, sides, "insert", 1, 20000, 0.3, insert_pass);
    change_row(run, movers, sides, "insert", 1000, 50, 0.5, insert_pass);
    change_row(run, movers, sides, "remove", 1, 5000, 0.1, remove_pass);
    change_row(run, movers, sides, "remove", 1000, 5, 0.1, remove_pass);
    query_row(run, movers, sides, device);
    change_row(run, movers, sides, "insert", 100000, 2, 0.25, insert_pass);
    for (int i = 0; i < sides; i++) close_mover(&movers[i]);
    free(points);
    free(queries);
}

// With a thread beside: the longest of 500 inserts of 1,000.
static void longest_row(bench_run* run, sap_device* device) {
    if (!bench_wanted(run, "sets-longest")) return;
    enum { INSERTS = 500, BATCH = 1000 };
    mover m = {.next = 0};
    float* points = bench_uniform(HELD, 3, 1);
    double longest = 0, total = 0;
    open_mover(&m, device, true);
    insert(&m, points, HELD);
    for (int i = 0; i < INSERTS; i++) {
        const double start = thread_seconds();
        insert(&m, points + (int64_t)i * 3 * BATCH, BATCH);
        const double seconds = thread_seconds() - start;
        total += seconds;
        if (seconds > longest) longest = seconds;
    }
    const bench_row row = {.key = "sets-longest",
                           .work = "1M points, a thread beside: longest insert of 1,000",
                           .unit = BENCH_MICROSECONDS,
                           .subject = longest,
                           .target = 5000};
    bench_report_row(run->report, &row);
    bench_report_note(run->report, "on average %.0f us", total / INSERTS * 1e6);
    close_mover(&m);
    free(points);
}

// ---- A vehicle that maps a street

enum { FRAMES = 150, TRIM = 10, FRAME_QUERIES = 2000 };

typedef struct street {
    int64_t live, fresh; // points within reach; new ones a frame
    float reach, step;   // metres; the street is as wide as it is deep
} street;

static void points_between(float* points, int64_t count, float from, float to, float reach, bench_random* random) {
    for (int64_t i = 0; i < count; i++) {
        const float height = bench_random_float(random);
        points[3 * i] = from + (to - from) * bench_random_float(random);
        points[3 * i + 1] = reach * (2 * bench_random_float(random) - 1);
        points[3 * i + 2] = height * height * height * 10;
    }
}

static double drive_frame(mover* m, const street* s, int frame, const float* fresh, const float* queries) {
    const float at = (float)frame * s->step;
    const double start = thread_seconds();
    insert(m, fresh, s->fresh);
    if (frame % TRIM == TRIM - 1)
        keep_box(m, (float[3]){at - s->reach, -s->reach, -1}, (float[3]){at + 2 * s->reach, s->reach, 100});
    ask(m, queries, FRAME_QUERIES);
    return thread_seconds() - start;
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void street_rows(bench_run* run, sap_device* device, const char* name, int64_t live, int64_t fresh_count,
                        double median_ms, double slow_ms) {
    char key[48], text[80];
    snprintf(key, sizeof key, "sets-map-%s", name);
    if (!bench_wanted(run, key)) return;
    street s = {.live = live, .fresh = fresh_count, .reach = 100};
    s.step = 2 * s.reach * (float)fresh_count / (float)live;
    mover movers[3] = {{.next = 0}, {.next = 0}, {.rival = bench_moving()}};
    const int sides = movers[2].rival ? 3 : 2;
    bench_random random = {.state = 77};
    float* points = bench_memory((size_t)live * 3, sizeof *points);
    float queries[FRAME_QUERIES * 3];
    double times[3][FRAMES];
    points_between(points, live, -s.reach, s.reach, s.reach, &random);
    for (int i = 0; i < sides; i++) {
        open_mover(&movers[i], device, i == 1);
        insert(&movers[i], points, live);
    }
    for (int frame = 0; frame < FRAMES; frame++) {
        const float at = (float)frame * s.step + s.reach;
        points_between(points, s.fresh, at, at + s.step, s.reach, &random);
        points_between(queries, FRAME_QUERIES, at - s.reach / 2, at, s.reach, &random);
        for (int i = 0; i < sides; i++) times[i][frame] = drive_frame(&movers[i], &s, frame, points, queries);
        const double ours = sum_of(&movers[0], FRAME_QUERIES);
        for (int i = 1; i < sides; i++)
            if (!(fabs(sum_of(&movers[i], FRAME_QUERIES) - ours) <= 1e-5 * ours))
                bench_report_wrong(run->report, key, "frame %d: sums differ", frame);
    }
    for (int i = 0; i < sides; i++) qsort(times[i], FRAMES, sizeof times[i][0], ascending);
    const int middle = FRAMES / 2, slow = FRAMES * 95 / 100;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "map of %s points, a thread beside: %s frame", name, i ? "95 %" : "median");
        snprintf(key, sizeof key, "sets-map-%s-%s", name, i ? "p95" : "median");
        const bench_row row = {.key = key,
                               .work = text,
                               .unit = BENCH_MICROSECONDS,
                               .subject = times[1][i ? slow : middle],
                               .target = 1000 * (i ? slow_ms : median_ms)};
        bench_report_row(run->report, &row);
    }
    for (int i = 0; i < sides; i += 2)
        bench_report_note(run->report, "%s: median %.3g ms, 95 %% %.3g ms", i ? movers[i].rival->name : "in the call",
                          times[i][middle] * 1e3, times[i][slow] * 1e3);
    for (int i = 0; i < sides; i++) close_mover(&movers[i]);
    free(points);
}

void bench_sets_group(bench_run* run) {
    if (!bench_wanted(run, "sets")) return;
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, NULL);
    million_rows(run, device);
    longest_row(run, device);
    street_rows(run, device, "0.4M", 410000, 3539, 2, 4);
    street_rows(run, device, "1.5M", 1510000, 10927, 3, 6);
    if (!run->options->quick) street_rows(run, device, "5.3M", 5290000, 16403, 4, 10);
    sap_device_close(device);
}
