// Points in boxes about a cloud's queries, in one batch call, on one thread; beside the fastest of the rivals.
#include "bench.h"

#include <math.h>
#include <stdlib.h>

// A side: one library and what it is asked.
typedef struct box_state {
    bench_work* work;
    const float *lower, *upper;
    const bench_rival* rival; // NULL: Sapwood
    const void* index;
    int64_t boxes;
    uint64_t hits;
    bool collect;
} box_state;

static sap_points corners(const box_state* s, const float* coords) {
    return (sap_points){.coords = coords, .count = s->boxes, .dims = s->work->dims};
}

static void box_pass(void* state) {
    box_state* s = state;
    const sap_points lower = corners(s, s->lower), upper = corners(s, s->upper);
    s->hits = 0;
    if (s->rival) {
        uint64_t (*function)(const void*, const float*, const float*, size_t) =
            s->collect ? s->rival->box_collect : s->rival->box_count;
        s->hits = function(s->index, s->lower, s->upper, (size_t)s->boxes);
    } else if (s->collect) {
        sap_neighbors* found = NULL;
        bench_check(sap_box_search(s->work->tree, lower, upper, &found), "sap_box_search");
        s->hits = (uint64_t)found->offsets[found->count];
        sap_neighbors_free(found);
    } else {
        bench_check(sap_box_count(s->work->tree, lower, upper, s->work->counts), "sap_box_count");
        for (int64_t i = 0; i < s->boxes; i++) s->hits += (uint64_t)s->work->counts[i];
    }
}

// A rival that cannot count finds all points, which is the fastest that its users can do.
static bool enter(box_state* state, bench_side* side, int rival) {
    const bench_rival* other = bench_rivals[rival];
    state->rival = other;
    state->index = state->work->indexes[rival];
    state->collect = state->collect || !other->box_count;
    state->boxes = state->work->other_queries;
    *side = (bench_side){
        .pass = box_pass, .state = state, .scale = (double)state->work->query_count / (double)state->boxes};
    return state->index && other->box_collect;
}

// The hits of the boxes that a rival has answered, too: every library finds the same points.
static void check_hits(bench_run* run, const char* key, box_state ours, const box_state* theirs) {
    ours.boxes = theirs->boxes;
    box_pass(&ours);
    if (ours.hits != theirs->hits)
        bench_report_wrong(run->report, key, "Sapwood finds %llu points, %s %llu", (unsigned long long)ours.hits,
                           theirs->rival->name, (unsigned long long)theirs->hits);
}

static void box_row(bench_run* run, const box_state* asked, bool collect, const char* key, const char* text,
                    double target) {
    if (!bench_wanted(run, key)) return;
    box_state states[BENCH_MAX_SIDES];
    bench_side sides[BENCH_MAX_SIDES] = {{.pass = box_pass, .state = &states[0]}};
    int count = 1;
    for (int i = 0; i < BENCH_MAX_SIDES; i++) {
        states[i] = *asked;
        states[i].collect = collect;
    }
    for (int i = 0; i < bench_rival_count && count < BENCH_MAX_SIDES; i++)
        count += enter(&states[count], &sides[count], i);
    bench_take_turns(sides, count, run->options);
    bench_row row = {.key = key, .work = text, .unit = BENCH_RATE, .target = target};
    row.operations = (double)asked->boxes;
    row.subject = bench_median(&sides[0]);
    bench_report_samples(run->report, key, "sapwood", &sides[0]);
    for (int i = 1; i < count; i++) {
        const double seconds = bench_median(&sides[i]);
        bench_report_samples(run->report, key, states[i].rival->name, &sides[i]);
        check_hits(run, key, states[0], &states[i]);
        if (row.rival > 0 && row.rival <= seconds) continue;
        row.rival = seconds;
        row.versus = states[i].rival->name;
    }
    bench_report_row(run->report, &row);
}

void bench_box_group(bench_run* run) {
    if (!bench_wanted(run, "box")) return;
    const int64_t count = run->options->quick ? 200000 : 1000000;
    const float reach = (float)(0.5 * cbrt(30 / (double)count)); // about 30 points a box
    bench_work work;
    bench_work_open(&work, bench_uniform(count, 3, 1), count, bench_uniform(count, 3, 2), count, 3, true);
    float *lower = bench_memory((size_t)count * 3, sizeof *lower),
          *upper = bench_memory((size_t)count * 3, sizeof *upper);
    for (int64_t i = 0; i < 3 * count; i++) {
        lower[i] = work.queries[i] - reach;
        upper[i] = work.queries[i] + reach;
    }
    const box_state asked = {.work = &work, .lower = lower, .upper = upper, .boxes = count};
    box_row(run, &asked, false, "box-count", "uniform, boxes of 30 points, count", 15);
    box_row(run, &asked, true, "box-collect", "uniform, boxes of 30 points, collect", 8);
    free(lower);
    free(upper);
    bench_work_close(&work);
}
