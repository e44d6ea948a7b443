// Counts of pairs at many radii, on one thread; beside a count within each of the radii.
#include "bench.h"

#include <math.h>

enum { RADII = 20 };

typedef struct pairs_state {
    bench_work* work;
    double radii[RADII];
    double pairs; // within the largest radius
} pairs_state;

static void together_pass(void* state) {
    pairs_state* s = state;
    double counts[RADII];
    bench_check(sap_tree_count_pairs(s->work->tree, s->work->tree, s->radii, RADII, NULL, NULL, true, counts),
                "sap_tree_count_pairs");
    s->pairs = counts[RADII - 1];
}

static void singly_pass(void* state) {
    pairs_state* s = state;
    for (int r = 0; r < RADII; r++) {
        s->pairs = 0;
        bench_check(sap_radius_count(s->work->tree, bench_points(s->work), s->radii[r], s->work->counts),
                    "sap_radius_count");
        for (int64_t i = 0; i < s->work->count; i++) s->pairs += (double)s->work->counts[i];
    }
}

void bench_pairs_group(bench_run* run) {
    const char* key = "pair-counts";
    if (!bench_wanted(run, key)) return;
    const int64_t count = run->options->quick ? 20000 : 100000;
    bench_work work;
    bench_work_open(&work, bench_uniform(count, 3, 1), count, bench_uniform(count, 3, 2), count, 3, false);
    pairs_state states[2] = {{.work = &work}, {.work = &work}};
    for (int r = 0; r < RADII; r++) states[0].radii[r] = states[1].radii[r] = 0.1 * pow(10, 0.1 * (r - RADII + 1));
    bench_side sides[2] = {{.pass = together_pass, .state = &states[0]}, {.pass = singly_pass, .state = &states[1]}};
    bench_take_turns(sides, 2, run->options);
    bench_row row = {.key = key,
                     .work = "uniform, pairs within 20 radii",
                     .unit = BENCH_SECONDS,
                     .versus = "a count for each radius",
                     .target = 5};
    row.subject = bench_median(&sides[0]);
    row.rival = bench_median(&sides[1]);
    bench_report_samples(run->report, key, "together", &sides[0]);
    bench_report_samples(run->report, key, "singly", &sides[1]);
    if (states[0].pairs != states[1].pairs)
        bench_report_wrong(run->report, key, "%.0f pairs together, %.0f singly", states[0].pairs, states[1].pairs);
    bench_report_row(run->report, &row);
    bench_work_close(&work);
}
