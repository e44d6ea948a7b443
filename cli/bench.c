// sapwood bench: how long building and searching take, on generated points or on files.
#include "input.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATED = 1000000, MOST_WORKS = 5 };

// One kind of work and how long its runs took.
typedef struct work {
    const char* name;
    int64_t items; // points built or queries answered
    double median, best;
} work;

// The run of the verb. All zero can be freed.
typedef struct bench_run {
    sap_cli_reference reference;
    sap_cli_points queries;
    bool asked, wide; // there are queries besides the points; double precision
    int64_t rows;
    int32_t* ids;
    void* distance2;
    int64_t* counts;
    double* seconds; // of the repeats of one work
    work works[MOST_WORKS];
    int work_count;
} bench_run;

typedef sap_status (*work_function)(sap_cli* cli, bench_run* run);

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* options = cli->options;
    const char *reference = options->operands[0], *queries = options->operands[1];
    if (reference && (options->points >= 0 || options->precision || options->dims))
        return sap_cli_usage(
            cli, "--points, --dims and --precision are for generated points and cannot be combined with REFERENCE");
    if (reference && options->queries >= 0)
        return sap_cli_usage(cli, "--queries is for generated queries and cannot be combined with REFERENCE");
    if (reference && !queries && options->ordered) return sap_cli_usage(cli, "--ordered is for searches with QUERIES");
    if (reference && !queries && options->radius >= 0 && sap_cli_is_tree(cli, reference))
        return sap_cli_usage(cli, "--radius on a saved tree needs QUERIES");
    return sap_cli_check_inputs(cli);
}

// A number uniform in [0, 1) that is exact in the precision, the same on every machine.
static double uniform(uint64_t* state, int32_t bits) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return bits == 64 ? (double)(x >> 11) * 0x1p-53 : (double)(x >> 40) * 0x1p-24;
}

static sap_cli_exit generate(sap_cli* cli, int64_t count, int32_t dims, int32_t bits, uint64_t seed,
                             sap_cli_points* points) {
    int64_t values = count * dims;
    void* coords = sap_cli_allocate(cli, values, (size_t)bits / 8);
    if (!coords) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < values; i++) {
        double value = uniform(&seed, bits);
        if (bits == 64)
            ((double*)coords)[i] = value;
        else
            ((float*)coords)[i] = (float)value;
    }
    *points = (sap_cli_points){.coords = coords, .count = count, .dims = dims, .real_bits = bits, .owned = coords};
    return SAP_EXIT_OK;
}

static sap_cli_exit prepare_generated(sap_cli* cli, bench_run* run) {
    const sap_cli_options* options = cli->options;
    int64_t points = options->points < 0 ? GENERATED : options->points;
    int64_t queries = options->queries < 0 ? GENERATED : options->queries;
    int32_t dims = options->dims ? options->dims : 3, bits = options->precision ? options->precision : 32;
    uint64_t seed = (uint64_t)options->seed << 1; // odd starts belong to queries
    run->reference.path = "generated points";
    sap_cli_exit result = generate(cli, points, dims, bits, seed * 0xd1342543de82ef95u, &run->reference.points);
    if (result != SAP_EXIT_OK) return result;
    run->asked = true;
    return generate(cli, queries, dims, bits, (seed | 1) * 0xd1342543de82ef95u, &run->queries);
}

static sap_cli_exit prepare_files(sap_cli* cli, bench_run* run) {
    const char *reference = cli->options->operands[0], *queries = cli->options->operands[1];
    sap_cli_exit result = sap_cli_is_tree(cli, reference)
                              ? sap_cli_reference_open(cli, reference, &run->reference)
                              : sap_cli_points_read(cli, reference, 0, &run->reference.points);
    run->reference.path = reference;
    if (result == SAP_EXIT_OK && cli->options->tree.drop_nonfinite)
        sap_cli_left_out_look(cli, reference, &run->reference.points);
    if (result != SAP_EXIT_OK || !queries) return result;
    run->asked = true;
    result = sap_cli_queries_read(cli, queries, &run->reference, &run->queries);
    if (result == SAP_EXIT_OK) sap_cli_queries_look(cli, queries, &run->queries);
    return result;
}

static int compare_seconds(const void* left, const void* right) {
    double a = *(const double*)left, b = *(const double*)right;
    return (a > b) - (a < b);
}

static sap_status build_fresh(sap_cli* cli, bench_run* run) {
    const sap_cli_points* points = &run->reference.points;
    const sap_tree_options* options = &cli->options->tree;
    sap_tree_free(run->reference.tree);
    run->reference.tree = NULL;
    sap_device_trim(cli->device);
    return run->wide ? sap_tree_build_f64(cli->device, sap_cli_f64(points), options, &run->reference.tree)
                     : sap_tree_build(cli->device, sap_cli_f32(points), options, &run->reference.tree);
}

static sap_status rebuild(sap_cli* cli, bench_run* run) {
    const sap_cli_points* points = &run->reference.points;
    (void)cli;
    return run->wide ? sap_tree_rebuild_f64(run->reference.tree, sap_cli_f64(points))
                     : sap_tree_rebuild(run->reference.tree, sap_cli_f32(points));
}

static sap_status nearest(sap_cli* cli, bench_run* run) {
    const sap_tree* tree = run->reference.tree;
    sap_search search = {.k = cli->options->k, .walk = cli->options->walk, .ordered = cli->options->ordered};
    if (!run->asked)
        return run->wide ? sap_nearest_self_f64(tree, &search, run->ids, run->distance2)
                         : sap_nearest_self(tree, &search, run->ids, run->distance2);
    return run->wide ? sap_nearest_f64(tree, sap_cli_f64(&run->queries), &search, run->ids, run->distance2)
                     : sap_nearest(tree, sap_cli_f32(&run->queries), &search, run->ids, run->distance2);
}

static const sap_cli_points* radius_queries(const bench_run* run) {
    return run->asked ? &run->queries : &run->reference.points;
}

static sap_status count(sap_cli* cli, bench_run* run) {
    const sap_tree* tree = run->reference.tree;
    const sap_cli_points* queries = radius_queries(run);
    double radius = cli->options->radius;
    return run->wide ? sap_radius_count_f64(tree, sap_cli_f64(queries), radius, run->counts)
                     : sap_radius_count(tree, sap_cli_f32(queries), radius, run->counts);
}

static sap_status collect(sap_cli* cli, bench_run* run) {
    const sap_tree* tree = run->reference.tree;
    const sap_cli_points* queries = radius_queries(run);
    double radius = cli->options->radius;
    sap_neighbors* found = NULL;
    sap_status status = run->wide ? sap_radius_f64(tree, sap_cli_f64(queries), radius, &found)
                                  : sap_radius(tree, sap_cli_f32(queries), radius, &found);
    sap_neighbors_free(found);
    return status;
}

// Runs a work once to warm up, then as often as it is to be measured.
static sap_cli_exit measure(sap_cli* cli, bench_run* run, const char* name, int64_t items, work_function function) {
    int32_t repeat = cli->options->repeat;
    for (int32_t i = -1; i < repeat; i++) {
        sap_cli_stage_begin(cli, name);
        double start = sap_cli_seconds();
        sap_status status = function(cli, run);
        double seconds = sap_cli_seconds() - start;
        sap_cli_stage_end(cli);
        if (status != SAP_OK && function == nearest) return sap_cli_nearest_failed(cli, status);
        if (status != SAP_OK) return sap_cli_failed(cli, status, run->reference.path);
        if (i >= 0) run->seconds[i] = seconds;
    }
    qsort(run->seconds, (size_t)repeat, sizeof *run->seconds, compare_seconds);
    double median = (run->seconds[(repeat - 1) / 2] + run->seconds[repeat / 2]) / 2;
    run->works[run->work_count++] = (work){name, items, median, run->seconds[0]};
    return SAP_EXIT_OK;
}

static sap_cli_exit measure_builds(sap_cli* cli, bench_run* run) {
    int64_t points = run->reference.points.count;
    run->wide = run->reference.points.real_bits == 64;
    sap_cli_exit result = measure(cli, run, "first build", points, build_fresh);
    if (result == SAP_EXIT_OK) result = measure(cli, run, "rebuild", points, rebuild);
    if (result == SAP_EXIT_OK) sap_tree_describe(run->reference.tree, &run->reference.info);
    return result;
}

static sap_cli_exit measure_searches(sap_cli* cli, bench_run* run) {
    const sap_cli_options* options = cli->options;
    run->rows = run->asked ? run->queries.count : run->reference.info.source_count;
    run->ids = sap_cli_allocate_neighbors(cli, run->rows, sizeof *run->ids);
    if (!run->ids) return SAP_EXIT_FAILED;
    run->distance2 = sap_cli_allocate_neighbors(cli, run->rows, run->wide ? sizeof(double) : sizeof(float));
    if (!run->distance2) return SAP_EXIT_FAILED;
    run->counts = sap_cli_allocate(cli, run->rows, sizeof *run->counts);
    if (!run->counts) return SAP_EXIT_FAILED;
    sap_cli_exit result = measure(cli, run, "nearest", run->rows, nearest);
    if (result != SAP_EXIT_OK || options->radius < 0) return result;
    result = measure(cli, run, "radius count", run->rows, count);
    return result == SAP_EXIT_OK ? measure(cli, run, "radius", run->rows, collect) : result;
}

static void report_json(sap_cli* cli, const bench_run* run) {
    const sap_tree_info* info = &run->reference.info;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "bench");
    sap_json_text(&json, "reference", run->reference.path);
    sap_json_int(&json, "points", info->count);
    sap_json_int(&json, "dims", info->dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(info->real_bits));
    sap_json_int(&json, "queries", run->rows);
    sap_json_int(&json, "k", cli->options->k);
    if (cli->options->radius >= 0) sap_json_real(&json, "radius", cli->options->radius, 64);
    sap_json_int(&json, "seed", cli->options->seed);
    sap_json_processor(&json, cli);
    sap_json_text(&json, "simd", cli->info.processor == SAP_CPU ? sap_cli_simd_name(cli->info.simd) : NULL);
    sap_json_int(&json, "threads", cli->info.threads);
    sap_json_int(&json, "repeats", cli->options->repeat);
    sap_json_open(&json, "works", '[');
    for (const work* w = run->works; w < run->works + run->work_count; w++) {
        sap_json_open(&json, NULL, '{');
        sap_json_text(&json, "work", w->name);
        sap_json_real(&json, "median_seconds", w->median, 32);
        sap_json_real(&json, "best_seconds", w->best, 32);
        sap_json_real(&json, "per_second", (double)w->items / w->median, 32);
        sap_json_close(&json, '}');
    }
    sap_json_close(&json, ']');
    sap_json_close(&json, '}');
}

static void report_text(sap_cli* cli, const bench_run* run) {
    const sap_tree_info* info = &run->reference.info;
    sap_cli_show(stdout, run->reference.path);
    printf(": %lld x %d %s; queries %lld%s, k %d; %s; medians of %d\n", (long long)info->count, (int)info->dims,
           sap_cli_precision_name(info->real_bits), (long long)run->rows, run->asked ? "" : " (its own points)",
           (int)cli->options->k, sap_cli_where(cli).text, (int)cli->options->repeat);
    printf("%-14s %12s %12s %14s\n", "work", "median ms", "best ms", "per second");
    for (const work* w = run->works; w < run->works + run->work_count; w++)
        printf("%-14s %12.3f %12.3f %14.0f\n", w->name, w->median * 1e3, w->best * 1e3, (double)w->items / w->median);
}

static void free_run(bench_run* run) {
    free(run->ids);
    free(run->distance2);
    free(run->counts);
    free(run->seconds);
    sap_cli_points_free(&run->queries);
    sap_cli_reference_close(&run->reference);
}

sap_cli_exit sap_cli_bench(sap_cli* cli) {
    bench_run run = {0};
    sap_cli_exit result = check_usage(cli);
    if (result != SAP_EXIT_OK) return result;
    run.seconds = sap_cli_allocate(cli, cli->options->repeat, sizeof *run.seconds);
    result = run.seconds ? SAP_EXIT_OK : SAP_EXIT_FAILED;
    if (result == SAP_EXIT_OK)
        result = cli->options->operands[0] ? prepare_files(cli, &run) : prepare_generated(cli, &run);
    run.wide = run.reference.info.real_bits == 64;
    if (result == SAP_EXIT_OK && !run.reference.saved) result = measure_builds(cli, &run);
    if (result == SAP_EXIT_OK) result = measure_searches(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->json)
        report_json(cli, &run);
    else if (result == SAP_EXIT_OK)
        report_text(cli, &run);
    free_run(&run);
    return result;
}
