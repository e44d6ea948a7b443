// sapwood align: a cloud of points moved onto another.
#include "cloud.h"
#include "file.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct align_run {
    sap_cli_reference target;
    sap_cli_points source;
    sap_cli_points start; // of --start
    sap_align_options options;
    sap_alignment found;
    void* moved; // as many coordinates as the source has
    double seconds;
} align_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--transform", o->transform}};
    if (!strcmp(o->operands[0], "-") && !strcmp(o->operands[1], "-"))
        return sap_cli_usage(cli, "only one of SOURCE and TARGET can be standard input");
    if (o->find_overlap && o->overlap > 0) return sap_cli_usage(cli, "give one of --overlap and --find-overlap");
    if (o->scale > 0 && o->weighting == SAP_KERNEL_NONE) return sap_cli_usage(cli, "--scale is for --weights");
    return sap_cli_cloud_check(cli, outputs, 2);
}

static sap_cli_exit read_start(sap_cli* cli, align_run* run) {
    const char* path = cli->options->start;
    if (!path) return SAP_EXIT_OK;
    const sap_cli_exit result = sap_cli_points_read(cli, path, 64, &run->start);
    if (result != SAP_EXIT_OK) return result;
    if (run->start.count != 4 || run->start.dims != 4)
        return sap_cli_error(cli, "%s: has %lld rows of %d numbers; a motion has 4 of 4", path,
                             (long long)run->start.count, (int)run->start.dims);
    memcpy(run->options.start, run->start.coords, sizeof run->options.start);
    return SAP_EXIT_OK;
}

static sap_cli_exit read_clouds(sap_cli* cli, align_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_exit result = sap_cli_inputs_open(cli, o->operands[1], o->operands[0], &run->target, &run->source);
    if (result != SAP_EXIT_OK) return result;
    if (run->source.dims != 3)
        return sap_cli_error(cli, "%s: its points have %d coordinates; clouds are aligned in 3; --columns chooses them",
                             o->operands[0], (int)run->source.dims);
    return read_start(cli, run);
}

static sap_cli_exit align(sap_cli* cli, align_run* run) {
    const sap_cli_options* o = cli->options;
    const bool is_wide = run->source.real_bits == 64;
    run->options.method = o->method;
    run->options.kernel = o->weighting;
    run->options.kernel_scale = o->scale;
    run->options.iterations = o->iterations;
    run->options.tolerance = o->tolerance;
    run->options.levels = o->levels;
    run->options.max_distance = o->max_distance;
    run->options.overlap = o->overlap;
    run->options.find_overlap = o->find_overlap;
    run->options.max_angle = o->max_angle / 57.295779513082323;
    run->options.one_to_one = o->one_to_one;
    run->options.drop_nonfinite = o->tree.drop_nonfinite;
    sap_cli_stage_begin(cli, "aligning");
    const sap_status status =
        is_wide ? sap_cloud_align_f64(run->target.tree, sap_cli_f64(&run->source), &run->options, &run->found)
                : sap_cloud_align(run->target.tree, sap_cli_f32(&run->source), &run->options, &run->found);
    run->seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK)
        return sap_cli_failed(cli, status, status == SAP_ERROR_ARGUMENT && o->start ? o->start : o->operands[0]);
    if (run->found.reason == SAP_ALIGN_NO_PAIRS)
        return sap_cli_error(cli, "no point of %s has a point of %s that counts", o->operands[0], o->operands[1]);
    return SAP_EXIT_OK;
}

static sap_cli_exit write_moved(sap_cli* cli, align_run* run) {
    const sap_cli_points* from = &run->source;
    run->moved = sap_cli_allocate(cli, from->count, 3 * (size_t)from->real_bits / 8);
    if (!run->moved) return SAP_EXIT_FAILED;
    const sap_status status = from->real_bits == 64
                                  ? sap_transform_points_f64(run->found.transform, sap_cli_f64(from), run->moved)
                                  : sap_transform_points(run->found.transform, sap_cli_f32(from), run->moved);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    const sap_table points = {.values = run->moved,
                              .rows = from->count,
                              .columns = 3,
                              .number = from->real_bits == 64 ? SAP_FLOAT64 : SAP_FLOAT32};
    const sap_cli_options* o = cli->options;
    sap_cli_exit result = SAP_EXIT_OK;
    // The matrix or the report alone may be what is wanted.
    if (o->output || !(o->transform || o->json)) result = sap_cli_write(cli, o->output, &points, NULL);
    if (result != SAP_EXIT_OK || !o->transform) return result;
    const sap_table matrix = {.values = run->found.transform, .rows = 4, .columns = 4, .number = SAP_FLOAT64};
    return sap_cli_write(cli, o->transform, &matrix, "c");
}

static void numbers(sap_json* json, const char* key, const double* values, int count) {
    sap_json_open(json, key, '[');
    for (int i = 0; i < count; i++) sap_json_real(json, NULL, values[i], 64);
    sap_json_close(json, ']');
}

static void report(sap_cli* cli, const align_run* run) {
    static const char* const reasons[] = {"converged", "iterations", "no pairs"};
    const sap_alignment* found = &run->found;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "align");
    sap_json_int(&json, "source", run->source.count);
    sap_json_int(&json, "target", run->target.info.source_count);
    sap_json_text(&json, "precision", sap_cli_precision_name(run->source.real_bits));
    sap_json_bool(&json, "converged", found->converged);
    sap_json_text(&json, "reason", reasons[found->reason]);
    sap_json_int(&json, "iterations", found->iterations);
    sap_json_int(&json, "pairs", found->pairs);
    sap_json_real(&json, "fitness", found->fitness, 32);
    sap_json_real(&json, "rmse", found->rmse, 32);
    sap_json_real(&json, "overlap", found->overlap, 32);
    sap_json_int(&json, "undetermined", found->undetermined);
    numbers(&json, "transform", found->transform, 16);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, run->target.read_seconds, run->target.build_seconds, "search", run->seconds);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_align(sap_cli* cli) {
    align_run run = {.seconds = 0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = read_clouds(cli, &run);
    if (result == SAP_EXIT_OK) result = align(cli, &run);
    if (result == SAP_EXIT_OK) result = write_moved(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK && run.found.reason == SAP_ALIGN_ITERATIONS)
        sap_cli_note(cli, "still moving after %d steps", (int)run.found.iterations);
    if (result == SAP_EXIT_OK && cli->options->output && strcmp(cli->options->output, "-") != 0)
        sap_cli_note(cli, "%lld pairs of %lld points, rmse %.3g, after %d steps, aligned in %.3g s",
                     (long long)run.found.pairs, (long long)run.source.count, run.found.rmse, (int)run.found.iterations,
                     run.seconds);
    free(run.moved);
    sap_cli_points_free(&run.start);
    sap_cli_points_free(&run.source);
    sap_cli_reference_close(&run.target);
    return result;
}
