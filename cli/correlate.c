// sapwood correlate: how many pairs of points lie within each of some radii, or what their weights are.
#include "file.h"
#include "input.h"
#include "jackknife.h"
#include "verbs.h"

#include <stdlib.h>

// The run of the verb. All zero can be freed.
typedef struct correlate_run {
    sap_cli_reference reference;
    sap_cli_points queries;
    sap_tree* asking;                     // over QUERIES; NULL: the reference asks itself
    sap_point_set *weights_a, *weights_b; // of the tree that asks, and of the reference; NULL: 1 each
    double *counts, *without, *errors;    // by radius; without: of each block of the jackknife
    sap_cli_points cells;
    double count_seconds;
} correlate_run;

static bool is_weighted(const correlate_run* run) { return run->weights_a || run->weights_b; }

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--blocks", o->blocks}};
    if (o->query_weights && !o->operands[1]) return sap_cli_usage(cli, "--query-weights is for QUERIES");
    if (o->format && !o->output && o->json) return sap_cli_usage(cli, "--format is for what -o writes; name a file");
    if ((o->cells || o->blocks) && !o->jackknife)
        return sap_cli_usage(cli, "%s is for --jackknife", o->cells ? "--cells" : "--blocks");
    const sap_cli_exit result = sap_cli_check_inputs(cli);
    return result == SAP_EXIT_OK ? sap_cli_check_outputs(cli, outputs, 2) : result;
}

// One number for each point of a tree.
static sap_cli_exit read_weights(sap_cli* cli, const char* path, int64_t rows, sap_point_set** weights) {
    if (!path) return SAP_EXIT_OK;
    const sap_status status = sap_points_read(cli->device, path, SAP_FORMAT_AUTO, 64, weights);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    if ((*weights)->count == rows && ((*weights)->dims == 1 || rows == 0)) return SAP_EXIT_OK;
    return sap_cli_error(cli, "%s: has %lld rows of %d columns; weights are one number for each of %lld points", path,
                         (long long)(*weights)->count, (int)(*weights)->dims, (long long)rows);
}

static sap_cli_exit read_cells(sap_cli* cli, correlate_run* run) {
    const char* path = cli->options->cells;
    const sap_cli_exit result = sap_cli_points_read(cli, path, 0, &run->cells);
    if (result != SAP_EXIT_OK || run->cells.dims == run->reference.info.dims) return result;
    return sap_cli_error(cli, "%s: has %d columns, but the points have %d", path, (int)run->cells.dims,
                         (int)run->reference.info.dims);
}

// Each block of the jackknife holds a point at least, or leaving it out would say nothing.
static sap_cli_exit check_blocks(sap_cli* cli, const correlate_run* run) {
    const sap_cli_options* o = cli->options;
    const int64_t points = o->cells ? run->cells.count : run->reference.points.count;
    if (o->jackknife <= points) return SAP_EXIT_OK;
    return sap_cli_error(cli, "%s: has %lld points, which make no %d blocks for --jackknife",
                         o->cells ? o->cells : o->operands[0], (long long)points, (int)o->jackknife);
}

static sap_cli_exit read_inputs(sap_cli* cli, correlate_run* run) {
    const sap_cli_options* o = cli->options;
    const char *path = o->operands[0], *queries = o->operands[1];
    sap_cli_exit result = sap_cli_inputs_open(cli, path, queries, &run->reference, &run->queries);
    if (result == SAP_EXIT_OK)
        result = read_weights(cli, o->point_weights, run->reference.info.source_count, &run->weights_b);
    if (result == SAP_EXIT_OK && o->jackknife && run->reference.saved)
        result = sap_cli_error(cli, "%s: a saved tree; --jackknife needs the points it was built over", path);
    if (result == SAP_EXIT_OK && o->cells) result = read_cells(cli, run);
    if (result == SAP_EXIT_OK && o->jackknife) result = check_blocks(cli, run);
    if (result == SAP_EXIT_OK && queries)
        result = sap_cli_tree_build_beside(cli, &run->queries, queries, run->reference.tree, &run->asking);
    if (result == SAP_EXIT_OK && queries)
        result = read_weights(cli, o->query_weights, run->queries.count, &run->weights_a);
    return result;
}

static sap_cli_exit find_errors(sap_cli* cli, correlate_run* run, const sap_cli_counted* pairs) {
    const int32_t radii = cli->options->many_radii.count, blocks = cli->options->jackknife;
    run->without = sap_cli_allocate(cli, (int64_t)radii * blocks, sizeof *run->without);
    run->errors = sap_cli_allocate(cli, radii, sizeof *run->errors);
    if (!run->without || !run->errors) return SAP_EXIT_FAILED;
    return sap_cli_jackknife(cli, pairs, cli->options->cells ? &run->cells : pairs->points, run->without, run->errors);
}

static sap_cli_exit count_pairs(sap_cli* cli, correlate_run* run) {
    const sap_cli_numbers* radii = &cli->options->many_radii;
    const sap_tree* tree = run->reference.tree;
    const double* weights_b = run->weights_b ? run->weights_b->coords_f64 : NULL;
    const double* weights_a = run->weights_a ? run->weights_a->coords_f64 : run->asking ? NULL : weights_b;
    run->counts = sap_cli_allocate(cli, radii->count, sizeof *run->counts);
    if (!run->counts) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "counting");
    const sap_status status = sap_tree_count_pairs(run->asking ? run->asking : tree, tree, radii->at, radii->count,
                                                   weights_a, weights_b, !cli->options->bins, run->counts);
    sap_cli_exit result = status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
    if (result == SAP_EXIT_OK && cli->options->jackknife) {
        const sap_cli_counted pairs = {.points = &run->reference.points,
                                       .queries = run->asking ? &run->queries : NULL,
                                       .tree = tree,
                                       .asking = run->asking ? run->asking : tree,
                                       .weights = weights_b,
                                       .asking_weights = weights_a,
                                       .counts = run->counts};
        result = find_errors(cli, run, &pairs);
    }
    run->count_seconds = sap_cli_stage_end(cli);
    return result;
}

// Counts beside their errors.
static sap_cli_exit write_errors(sap_cli* cli, const correlate_run* run) {
    static const char* const names[] = {"count", "error"};
    const sap_cli_options* o = cli->options;
    double both[2 * SAP_CLI_MOST_NUMBERS];
    const sap_table table = {
        .values = both, .rows = o->many_radii.count, .columns = 2, .number = SAP_FLOAT64, .names = names};
    const sap_table blocks = {
        .values = run->without, .rows = o->jackknife, .columns = o->many_radii.count, .number = SAP_FLOAT64};
    for (int32_t i = 0; i < o->many_radii.count; i++) {
        both[2 * i] = run->counts[i];
        both[2 * i + 1] = run->errors[i];
    }
    sap_cli_exit result = o->blocks ? sap_cli_write(cli, o->blocks, &blocks, "radius") : SAP_EXIT_OK;
    if (result == SAP_EXIT_OK && (o->output || !o->json)) result = sap_cli_write(cli, o->output, &table, NULL);
    return result;
}

static sap_cli_exit write_counts(sap_cli* cli, const correlate_run* run) {
    const sap_cli_options* o = cli->options;
    int64_t counts[SAP_CLI_MOST_NUMBERS];
    sap_table table = {.values = run->counts, .rows = o->many_radii.count, .number = SAP_FLOAT64};
    if (run->errors) return write_errors(cli, run);
    if (!o->output && o->json) return SAP_EXIT_OK;
    if (!is_weighted(run)) {
        for (int32_t i = 0; i < o->many_radii.count; i++) counts[i] = (int64_t)run->counts[i];
        table.values = counts;
        table.number = SAP_INT64;
    }
    return sap_cli_write(cli, o->output, &table, is_weighted(run) ? "weight" : "count");
}

static void report(sap_cli* cli, const correlate_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_reference* reference = &run->reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "correlate");
    sap_json_int(&json, "points", reference->info.count);
    sap_json_int(&json, "dims", reference->info.dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->info.real_bits));
    sap_cli_period_json(&json, &reference->info);
    sap_json_int(&json, "queries", run->asking ? run->queries.count : reference->info.source_count);
    sap_json_open(&json, "radii", '[');
    for (int32_t i = 0; i < o->many_radii.count; i++) sap_json_real(&json, NULL, o->many_radii.at[i], 64);
    sap_json_close(&json, ']');
    sap_json_open(&json, is_weighted(run) ? "weights" : "pairs", '[');
    for (int32_t i = 0; run->counts && i < o->many_radii.count; i++)
        if (is_weighted(run))
            sap_json_real(&json, NULL, run->counts[i], 64);
        else
            sap_json_int(&json, NULL, (int64_t)run->counts[i]);
    sap_json_close(&json, ']');
    if (run->errors) {
        sap_json_open(&json, "errors", '[');
        for (int32_t i = 0; i < o->many_radii.count; i++) sap_json_real(&json, NULL, run->errors[i], 64);
        sap_json_close(&json, ']');
        sap_json_text(&json, "blocks", o->blocks);
    }
    sap_json_text(&json, "counts", o->output);
    sap_json_effort(&json, cli, reference->read_seconds, reference->build_seconds, "search", run->count_seconds);
    sap_json_close(&json, '}');
}

static void free_run(correlate_run* run) {
    free(run->counts);
    free(run->without);
    free(run->errors);
    sap_cli_points_free(&run->cells);
    sap_tree_free(run->asking);
    sap_point_set_free(run->weights_a);
    sap_point_set_free(run->weights_b);
    sap_cli_points_free(&run->queries);
    sap_cli_reference_close(&run->reference);
}

sap_cli_exit sap_cli_correlate(sap_cli* cli) {
    correlate_run run = {0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = read_inputs(cli, &run);
    if (result == SAP_EXIT_OK) result = count_pairs(cli, &run);
    if (result == SAP_EXIT_OK) result = write_counts(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->output)
        sap_cli_note(cli, "pairs within %d radii, counted in %.3g s", (int)cli->options->many_radii.count,
                     run.count_seconds);
    free_run(&run);
    return result;
}
