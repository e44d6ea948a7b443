// sapwood radius: the points within a radius of each query, or how many they are.
#include "check.h"
#include "file.h"
#include "ranks.h"
#include "rows.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The run of the verb. All zero can be freed.
typedef struct radius_run {
    sap_cli_reference reference;
    sap_cli_points queries;
    bool asked, wide; // QUERIES was given; double precision
    int64_t queries_count, total;
    int64_t* counts;            // --count
    sap_neighbors* found;       // as the library gives it
    sap_cli_own_rows own;       // where the points ask and are not in pairs
    sap_cli_rows rows;          // what to write: of one of the above
    sap_cli_joined_rows joined; // of several ranks, in the place of these
    double search_seconds;
    sap_cli_checked checked;
    sap_cli_told told;
} radius_run;

static bool writes_files(const sap_cli_options* options) {
    return options->output || options->ids || options->distances;
}

static sap_cli_exit check_usage(sap_cli* cli, radius_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_cli_output outputs[] = {
        {"-o", options->output}, {"--ids", options->ids}, {"--distances", options->distances}};
    bool asked = options->operands[1] != NULL;
    if (options->radius < 0 && !options->radii)
        return sap_cli_usage(cli, "option --radius R is required, or --radii FILE");
    if (options->count && (options->pairs || options->sorted || options->ids || options->distances))
        return sap_cli_usage(cli, "--count cannot be combined with --pairs, --sorted, --ids or --distances");
    if (options->count && options->limit >= 0)
        return sap_cli_usage(cli, "--limit is for points that are collected; --count collects none");
    if (options->pairs && (asked || options->with_self))
        return sap_cli_usage(cli, "--pairs cannot be combined with QUERIES or --with-self");
    if (options->with_self && asked) return sap_cli_usage(cli, "--with-self is for searches without QUERIES");
    if (options->format && !writes_files(options) && (options->json || !options->count))
        return sap_cli_usage(cli, "--format is for what -o, --ids and --distances write; name one of them");
    sap_cli_exit result = sap_cli_told_check(cli, &run->told);
    if (result == SAP_EXIT_OK && run->told.is_told && !asked)
        return sap_cli_usage(cli, "--metric, --weights, --mask, --box and --radii are for searches with QUERIES");
    if (result == SAP_EXIT_OK) result = sap_cli_ranks_check(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_check_inputs(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_check_possible(cli);
    return result == SAP_EXIT_OK ? sap_cli_check_outputs(cli, outputs, 3) : result;
}

static sap_cli_exit read_inputs(sap_cli* cli, radius_run* run) {
    const char* queries = cli->options->operands[1];
    sap_cli_exit result = sap_cli_inputs_open(cli, cli->options->operands[0], queries, &run->reference, &run->queries);
    run->asked = queries != NULL;
    run->wide = run->reference.info.real_bits == 64;
    run->queries_count = !queries     ? run->reference.info.source_count
                         : cli->ranks ? run->queries.all
                                      : run->queries.count;
    if (result == SAP_EXIT_OK) result = sap_cli_told_read(cli, &run->reference, run->queries_count, &run->told);
    return sap_cli_agree(cli, result);
}

// The search that --metric and its sisters ask for.
static sap_search search_told(const radius_run* run, double radius) {
    sap_search search = run->told.search;
    if (!search.radii) search.radius = radius;
    return search;
}

// Counts for each of some points.
static sap_status count_around(const radius_run* run, const sap_cli_points* points, double radius) {
    const sap_tree* tree = run->reference.tree;
    if (run->told.is_told) {
        const sap_search search = search_told(run, radius);
        return run->wide ? sap_radius_search_count_f64(tree, sap_cli_f64(points), &search, run->counts)
                         : sap_radius_search_count(tree, sap_cli_f32(points), &search, run->counts);
    }
    return run->wide ? sap_radius_count_f64(tree, sap_cli_f64(points), radius, run->counts)
                     : sap_radius_count(tree, sap_cli_f32(points), radius, run->counts);
}

// Turns counts around all points into those without self, and without points that were dropped.
static sap_cli_exit leave_out(sap_cli* cli, radius_run* run) {
    bool* present = sap_cli_present(cli, &run->reference);
    if (!present) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < run->queries_count; i++)
        run->counts[i] = present[i] ? run->counts[i] - !cli->options->with_self : 0;
    free(present);
    return SAP_EXIT_OK;
}

// A saved tree does not give its points back, so their counts come from its pairs.
static sap_cli_exit count_pairs(sap_cli* cli, radius_run* run) {
    sap_cli_exit result = SAP_EXIT_FAILED;
    bool* present = cli->options->with_self ? sap_cli_present(cli, &run->reference) : NULL;
    if (cli->options->with_self && !present) return result;
    sap_status status = sap_pairs(run->reference.tree, cli->options->radius, &run->found);
    if (status == SAP_OK) {
        const sap_neighbors* pairs = run->found;
        for (int64_t i = 0; i < pairs->count; i++) run->counts[i] = present && present[i];
        for (int64_t i = 0; i < pairs->count; i++) run->counts[i] += pairs->offsets[i + 1] - pairs->offsets[i];
        for (int64_t j = 0; j < pairs->offsets[pairs->count]; j++) run->counts[pairs->ids[j]]++;
        result = SAP_EXIT_OK;
    } else {
        sap_cli_failed(cli, status, NULL);
    }
    free(present);
    return result;
}

static sap_cli_exit count_points(sap_cli* cli, radius_run* run) {
    run->counts = sap_cli_allocate(cli, run->queries_count, sizeof *run->counts);
    if (!run->counts) return SAP_EXIT_FAILED;
    if (!run->asked && run->reference.saved) return count_pairs(cli, run);
    sap_status status = count_around(run, run->asked ? &run->queries : &run->reference.points, cli->options->radius);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    return run->asked ? SAP_EXIT_OK : leave_out(cli, run);
}

// ---- How many points there are to collect: memory for them is not asked for blindly.

// Whether the radius spans all points, so that each finds all.
static bool spans_all(const radius_run* run, double radius) {
    const sap_tree_info* info = &run->reference.info;
    double diagonal2 = 0;
    for (int32_t a = 0; a < info->dims; a++) {
        double side = info->upper[a] - info->lower[a];
        diagonal2 += side * side;
    }
    return radius * radius >= diagonal2;
}

// Total -1: only collecting them tells.
static sap_cli_exit count_before(sap_cli* cli, radius_run* run, int64_t* total) {
    const sap_cli_options* options = cli->options;
    const int64_t points = run->reference.info.count;
    *total = -1;
    if (!run->asked && run->reference.saved) {
        if (spans_all(run, options->radius)) *total = points * (points - !options->with_self);
    } else {
        sap_cli_exit result = count_points(cli, run);
        *total = 0;
        for (int64_t i = 0; result == SAP_EXIT_OK && i < run->queries_count; i++) *total += run->counts[i];
        free(run->counts);
        run->counts = NULL;
        if (result != SAP_EXIT_OK) return result;
    }
    if (options->pairs && *total > 0) *total /= 2;
    return SAP_EXIT_OK;
}

static sap_cli_exit check_limit(sap_cli* cli, radius_run* run) {
    const sap_cli_options* options = cli->options;
    // An id and a distance each; where points ask, their pairs are kept besides the rows that are made of them.
    double bytes = (double)(sizeof(int32_t) + (run->wide ? sizeof(double) : sizeof(float)));
    if (!run->asked && !options->pairs) bytes *= 1.5;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    int64_t limit = options->limit >= 0 ? options->limit : (int64_t)(0.5 * memory / bytes), total = -1;
    if ((double)run->queries_count * (double)run->reference.info.count <= (double)limit) return SAP_EXIT_OK;
    sap_cli_exit result = count_before(cli, run, &total);
    if (result != SAP_EXIT_OK || total <= limit) return result;
    return sap_cli_error(cli,
                         "%lld points would be collected, in %s of memory, and the limit is %lld%s; take a smaller "
                         "--radius, --count, or a larger --limit",
                         (long long)total, sap_cli_size((double)total * bytes).text, (long long)limit,
                         options->limit < 0 ? ", which fit into half of this machine's memory" : "");
}

// ---- Collecting.

static sap_cli_exit make_own_rows(sap_cli* cli, radius_run* run) {
    bool* present = cli->options->with_self ? sap_cli_present(cli, &run->reference) : NULL;
    if (cli->options->with_self && !present) return SAP_EXIT_FAILED;
    bool made = sap_cli_rows_of_pairs(cli, run->found, present, &run->own);
    if (made && cli->options->sorted) made = sap_cli_rows_sort(cli, &run->own, run->queries_count, run->wide);
    free(present);
    run->rows = (sap_cli_rows){run->queries_count, run->own.offsets, run->own.ids, run->own.distance2};
    return made ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

static sap_cli_exit collect_points(sap_cli* cli, radius_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_tree* tree = run->reference.tree;
    const sap_search told = search_told(run, options->radius);
    sap_status status;
    if (!run->asked)
        status = sap_pairs(tree, options->radius, &run->found);
    else if (run->told.is_told && run->wide)
        status = sap_radius_search_f64(tree, sap_cli_f64(&run->queries), &told, &run->found);
    else if (run->told.is_told)
        status = sap_radius_search(tree, sap_cli_f32(&run->queries), &told, &run->found);
    else if (run->wide)
        status = sap_radius_f64(tree, sap_cli_f64(&run->queries), options->radius, &run->found);
    else
        status = sap_radius(tree, sap_cli_f32(&run->queries), options->radius, &run->found);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    if (!run->asked && !options->pairs) return make_own_rows(cli, run);
    if (options->sorted) status = sap_neighbors_sort(run->found);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    const void* distance2 = run->wide ? (const void*)run->found->distance2_f64 : (const void*)run->found->distance2;
    run->rows = (sap_cli_rows){run->found->count, run->found->offsets, run->found->ids, distance2};
    return SAP_EXIT_OK;
}

// A saved tree does not give its points back, so what they find is counted once it is there.
static sap_cli_exit check_collected(sap_cli* cli, const radius_run* run) {
    const int64_t limit = cli->options->limit;
    if (limit < 0 || run->total <= limit) return SAP_EXIT_OK;
    return sap_cli_error(cli,
                         "%lld points were found, and the limit is %lld; take a smaller --radius, or a larger --limit",
                         (long long)run->total, (long long)limit);
}

static sap_cli_exit search_ranks(sap_cli* cli, radius_run* run) {
    sap_cli_stage_begin(cli, "searching");
    const sap_search told = search_told(run, cli->options->radius);
    const sap_cli_exit result = sap_cli_joined_radius(cli, &run->reference, run->asked ? &run->queries : NULL,
                                                      run->told.is_told ? &told : NULL, &run->joined);
    run->search_seconds = sap_cli_stage_end(cli);
    run->total = run->joined.total;
    return result;
}

static sap_cli_exit search(sap_cli* cli, radius_run* run) {
    if (cli->ranks) return search_ranks(cli, run);
    sap_cli_stage_begin(cli, "searching");
    sap_cli_exit result = cli->options->count ? count_points(cli, run) : check_limit(cli, run);
    if (result == SAP_EXIT_OK && !cli->options->count) result = collect_points(cli, run);
    run->search_seconds = sap_cli_stage_end(cli);
    if (result != SAP_EXIT_OK) return result;
    if (run->counts)
        for (int64_t i = 0; i < run->queries_count; i++) run->total += run->counts[i];
    else
        run->total = run->rows.offsets[run->rows.count];
    return check_collected(cli, run);
}

static sap_cli_exit verify(sap_cli* cli, radius_run* run) {
    sap_cli_check check = {.reference = &run->reference,
                           .queries = run->asked ? &run->queries : NULL,
                           .radius = cli->options->radius,
                           .with_self = cli->options->with_self,
                           .pairs = cli->options->pairs,
                           .sorted = cli->options->sorted,
                           .told = run->told.is_told ? &run->told : NULL};
    sap_cli_exit result = run->counts ? sap_cli_check_counts(cli, &check, run->counts, &run->checked)
                                      : sap_cli_check_rows(cli, &check, &run->rows, &run->checked);
    if (result == SAP_EXIT_OK) sap_cli_check_note(cli, &run->checked);
    return result;
}

static sap_cli_exit write_outputs(sap_cli* cli, radius_run* run) {
    const sap_cli_options* options = cli->options;
    if (cli->ranks) return sap_cli_joined_rows_write(cli, &run->reference, run->wide, &run->joined);
    sap_cli_exit result = SAP_EXIT_OK;
    sap_table counts = {.values = run->counts, .rows = run->queries_count, .number = SAP_INT64};
    if (run->counts)
        return options->output || !options->json ? sap_cli_write(cli, options->output, &counts, "count") : SAP_EXIT_OK;
    if (!writes_files(options)) return options->json ? SAP_EXIT_OK : sap_cli_rows_print(cli, &run->rows);
    sap_table offsets = {.values = run->rows.offsets, .rows = run->rows.count + 1, .number = SAP_INT64};
    sap_table ids = {.values = run->rows.ids, .rows = run->total, .number = SAP_INT32};
    sap_table distances = {.values = run->rows.distance2, .rows = run->total};
    distances.number = run->wide ? SAP_FLOAT64 : SAP_FLOAT32;
    if (options->output) result = sap_cli_write(cli, options->output, &offsets, "offset");
    if (result == SAP_EXIT_OK && options->ids) result = sap_cli_write(cli, options->ids, &ids, "id");
    if (result == SAP_EXIT_OK && options->distances)
        result = sap_cli_write(cli, options->distances, &distances, "distance2");
    return result;
}

static void report(sap_cli* cli, const radius_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_cli_reference* reference = &run->reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "radius");
    sap_json_int(&json, "points", reference->info.count);
    sap_json_int(&json, "dims", reference->info.dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->info.real_bits));
    sap_json_int(&json, "queries", run->queries_count);
    sap_cli_not_finite_json(&json, run->asked ? &run->queries : &reference->points);
    if (options->radius >= 0) sap_json_real(&json, "radius", options->radius, 64);
    sap_json_int(&json, "found", run->total);
    sap_json_text(&json, options->count ? "counts" : "offsets", options->output);
    if (!options->count) {
        sap_json_text(&json, "ids", options->ids);
        sap_json_text(&json, "distances", options->distances);
    }
    sap_json_effort(&json, cli, reference->read_seconds, reference->build_seconds, "search", run->search_seconds);
    if (options->verify) sap_cli_check_json(&json, &run->checked);
    sap_json_close(&json, '}');
}

static void free_run(radius_run* run) {
    free(run->counts);
    sap_neighbors_free(run->found);
    sap_cli_rows_free(&run->own);
    sap_cli_joined_rows_free(&run->joined);
    sap_cli_told_free(&run->told);
    sap_cli_points_free(&run->queries);
    sap_cli_reference_close(&run->reference);
}

sap_cli_exit sap_cli_radius(sap_cli* cli) {
    radius_run run = {0};
    sap_cli_exit result = sap_cli_agree(cli, check_usage(cli, &run));
    if (result == SAP_EXIT_OK) result = read_inputs(cli, &run);
    if (result == SAP_EXIT_OK) result = search(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->verify) result = verify(cli, &run);
    if (result == SAP_EXIT_OK) result = write_outputs(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json && sap_cli_is_first(cli)) report(cli, &run);
    if (result == SAP_EXIT_OK && writes_files(cli->options))
        sap_cli_note(cli, "%lld points within %s of %lld queries among %lld points, searched in %.3g s",
                     (long long)run.total,
                     cli->options->radii ? "their radii" : sap_cli_real(cli->options->radius, 64).text,
                     (long long)run.queries_count, (long long)run.reference.info.count, run.search_seconds);
    free_run(&run);
    return result;
}
