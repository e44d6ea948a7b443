// sapwood nearest: the k nearest points of each query.
#include "check.h"
#include "file.h"
#include "ranks.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct nearest_run {
    sap_cli_reference reference;
    sap_cli_points queries;
    bool asked; // QUERIES was given
    int64_t rows, found;
    int32_t* ids;
    void* distance2;
    sap_cli_answers joined; // of several ranks, in the place of these two
    double search_seconds;
    sap_cli_checked checked;
    sap_cli_told told;
} nearest_run;

static sap_cli_exit check_usage(sap_cli* cli, nearest_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_cli_output outputs[] = {{"-o", options->output}, {"--distances", options->distances}};
    if (options->radius == 0)
        return sap_cli_usage(cli, "--radius must be above 0; 'sapwood radius' finds equal points");
    if (options->with_self && options->operands[1])
        return sap_cli_usage(cli, "--with-self is for searches without QUERIES");
    if (options->ordered && !options->operands[1]) return sap_cli_usage(cli, "--ordered is for searches with QUERIES");
    if (options->format && options->json && !options->output && !options->distances)
        return sap_cli_usage(cli, "--format is for what -o and --distances write; with --json alone that is nothing");
    sap_cli_exit result = sap_cli_told_check(cli, &run->told);
    if (result == SAP_EXIT_OK) result = sap_cli_ranks_check(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_check_inputs(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_check_possible(cli);
    return result == SAP_EXIT_OK ? sap_cli_check_outputs(cli, outputs, 2) : result;
}

static sap_cli_exit read_inputs(sap_cli* cli, nearest_run* run) {
    const char* queries = cli->options->operands[1];
    sap_cli_exit result = sap_cli_inputs_open(cli, cli->options->operands[0], queries, &run->reference, &run->queries);
    run->asked = queries != NULL;
    run->rows = !queries ? run->reference.info.source_count : cli->ranks ? run->queries.all : run->queries.count;
    if (result == SAP_EXIT_OK) result = sap_cli_told_read(cli, &run->reference, run->rows, &run->told);
    return sap_cli_agree(cli, result);
}

static sap_cli_exit search_ranks(sap_cli* cli, nearest_run* run, const sap_search* wanted) {
    sap_cli_stage_begin(cli, "searching");
    const sap_cli_exit result = sap_cli_joined_nearest(cli, &run->reference, run->asked ? &run->queries : NULL, wanted,
                                                       cli->options->distances != NULL, &run->joined);
    run->search_seconds = sap_cli_stage_end(cli);
    if (result != SAP_EXIT_OK) return result;
    run->found = (int64_t)sap_cli_ranks_sum(cli, (uint64_t)run->joined.found);
    return SAP_EXIT_OK;
}

static sap_cli_exit search(sap_cli* cli, nearest_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_tree* tree = run->reference.tree;
    bool wide = run->reference.info.real_bits == 64, measured = options->distances || options->verify;
    sap_search wanted = run->told.search;
    wanted.k = options->k;
    wanted.walk = options->walk;
    wanted.ordered = options->ordered;
    wanted.with_self = options->with_self;
    if (options->radius > 0 && isfinite(options->radius)) wanted.radius = options->radius;
    if (cli->ranks) return search_ranks(cli, run, &wanted);
    run->ids = sap_cli_allocate_neighbors(cli, run->rows, sizeof *run->ids);
    if (!run->ids) return SAP_EXIT_FAILED;
    if (measured) run->distance2 = sap_cli_allocate_neighbors(cli, run->rows, wide ? sizeof(double) : sizeof(float));
    if (measured && !run->distance2) return SAP_EXIT_FAILED;
    sap_status status;
    sap_cli_stage_begin(cli, "searching");
    if (run->asked && wide)
        status = sap_nearest_f64(tree, sap_cli_f64(&run->queries), &wanted, run->ids, run->distance2);
    else if (run->asked)
        status = sap_nearest(tree, sap_cli_f32(&run->queries), &wanted, run->ids, run->distance2);
    else if (wide)
        status = sap_nearest_self_f64(tree, &wanted, run->ids, run->distance2);
    else
        status = sap_nearest_self(tree, &wanted, run->ids, run->distance2);
    run->search_seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_nearest_failed(cli, status);
    for (int64_t i = 0; i < run->rows * options->k; i++) run->found += run->ids[i] >= 0;
    return SAP_EXIT_OK;
}

static sap_cli_exit verify(sap_cli* cli, nearest_run* run) {
    sap_cli_check check = {.reference = &run->reference,
                           .queries = run->asked ? &run->queries : NULL,
                           .radius = cli->options->radius,
                           .with_self = cli->options->with_self,
                           .told = run->told.is_told ? &run->told : NULL};
    sap_cli_exit result = sap_cli_check_nearest(cli, &check, cli->options->k, run->ids, run->distance2, &run->checked);
    if (result == SAP_EXIT_OK) sap_cli_check_note(cli, &run->checked);
    return result;
}

static sap_cli_exit write_table(sap_cli* cli, const nearest_run* run, const char* path, const sap_table* table,
                                const char* prefix) {
    if (!cli->ranks) return sap_cli_write(cli, path, table, prefix);
    return sap_cli_joined_write(cli, path, table, run->joined.first, run->joined.all, prefix);
}

static sap_cli_exit write_outputs(sap_cli* cli, nearest_run* run) {
    const sap_cli_options* options = cli->options;
    sap_table ids = {.values = run->ids, .rows = run->rows, .columns = options->k, .number = SAP_INT32};
    if (cli->ranks) {
        ids.number = run->joined.number;
        ids.values = run->joined.ids;
        ids.rows = run->joined.rows;
    }
    sap_table distances = ids;
    distances.values = cli->ranks ? run->joined.distance2 : run->distance2;
    distances.number = run->reference.info.real_bits == 64 ? SAP_FLOAT64 : SAP_FLOAT32;
    sap_cli_exit result = SAP_EXIT_OK;
    if (options->output || (!options->distances && !options->json))
        result = write_table(cli, run, options->output, &ids, "id");
    if (result == SAP_EXIT_OK && options->distances)
        result = write_table(cli, run, options->distances, &distances, "distance2_");
    return result;
}

static void report(sap_cli* cli, const nearest_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_cli_reference* reference = &run->reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "nearest");
    sap_json_int(&json, "points", reference->info.count);
    sap_json_int(&json, "dims", reference->info.dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->info.real_bits));
    sap_json_int(&json, "queries", run->rows);
    sap_cli_not_finite_json(&json, run->asked ? &run->queries : &reference->points);
    sap_json_int(&json, "k", options->k);
    if (options->radius >= 0) sap_json_real(&json, "radius", options->radius, 64);
    sap_json_int(&json, "found", run->found);
    sap_json_text(&json, "ids", options->output);
    sap_json_text(&json, "distances", options->distances);
    sap_json_effort(&json, cli, reference->read_seconds, reference->build_seconds, "search", run->search_seconds);
    if (options->verify) sap_cli_check_json(&json, &run->checked);
    sap_json_close(&json, '}');
}

static void free_run(nearest_run* run) {
    free(run->ids);
    free(run->distance2);
    sap_cli_answers_free(&run->joined);
    sap_cli_told_free(&run->told);
    sap_cli_points_free(&run->queries);
    sap_cli_reference_close(&run->reference);
}

sap_cli_exit sap_cli_nearest(sap_cli* cli) {
    nearest_run run = {0};
    sap_cli_exit result = sap_cli_agree(cli, check_usage(cli, &run));
    if (result == SAP_EXIT_OK) result = read_inputs(cli, &run);
    if (result == SAP_EXIT_OK) result = search(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->verify) result = verify(cli, &run);
    if (result == SAP_EXIT_OK) result = write_outputs(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json && sap_cli_is_first(cli)) report(cli, &run);
    if (result == SAP_EXIT_OK && (cli->options->output || cli->options->distances))
        sap_cli_note(cli, "%lld neighbours of %lld queries among %lld points, searched in %.3g s", (long long)run.found,
                     (long long)run.rows, (long long)run.reference.info.count, run.search_seconds);
    free_run(&run);
    return result;
}
