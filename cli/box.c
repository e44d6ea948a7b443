// sapwood box: how many points lie in each box, and which.
#include "file.h"
#include "ranks.h"
#include "rows.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The run of the verb. All zero can be freed.
typedef struct box_run {
    sap_cli_reference reference;
    sap_point_set* read; // BOXES, one a row: its lower corner, then its upper one
    float corners[2 * SAP_MAX_DIMS];
    double corners_f64[2 * SAP_MAX_DIMS]; // those of --lower and --upper, in either precision
    const void* boxes;                    // [count][2][dims] of one of these
    int64_t count, total;                 // boxes; points in all of them
    int64_t* counts;
    sap_neighbors* found;  // --ids
    sap_cli_points shared; // boxes of this rank, where there are several
    sap_cli_joined_rows joined;
    double search_seconds;
} box_run;

static sap_cli_exit check_boxes(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const bool has_corners = o->lower.count || o->upper.count;
    if (o->operands[1] && has_corners) return sap_cli_usage(cli, "--lower and --upper are one box, without BOXES");
    if (!o->operands[1] && !has_corners) return sap_cli_usage(cli, "no boxes; give BOXES, or --lower and --upper");
    if (o->lower.count != o->upper.count)
        return sap_cli_usage(cli, "--lower has %d coordinates and --upper has %d; give both as many",
                             (int)o->lower.count, (int)o->upper.count);
    if (o->operands[1] && !strcmp(o->operands[0], "-") && !strcmp(o->operands[1], "-"))
        return sap_cli_usage(cli, "only one of REFERENCE and BOXES can be standard input");
    return SAP_EXIT_OK;
}

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--ids", o->ids}};
    if (o->sorted && !o->ids) return sap_cli_usage(cli, "--sorted is for what --ids writes");
    if (o->limit >= 0 && !o->ids) return sap_cli_usage(cli, "--limit is for what --ids writes");
    if (o->format && o->json && !o->output && !o->ids)
        return sap_cli_usage(cli, "--format is for what -o and --ids write; name one of them");
    sap_cli_exit result = check_boxes(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_ranks_check(cli);
    return result == SAP_EXIT_OK ? sap_cli_check_outputs(cli, outputs, 2) : result;
}

// ---- Boxes, in the precision of the points.

static sap_cli_exit check_columns(sap_cli* cli, const box_run* run, const char* path, int64_t count, int32_t columns) {
    const int32_t dims = run->reference.info.dims;
    if (!count || columns == 2 * dims) return SAP_EXIT_OK;
    return sap_cli_error(cli,
                         "%s: has %d columns; boxes about points of %d coordinates have %d, the lower corner and "
                         "then the upper one",
                         path, (int)columns, (int)dims, 2 * (int)dims);
}

// Those of this rank.
static sap_cli_exit share_boxes(sap_cli* cli, box_run* run, const char* path, const sap_points_read_options* how) {
    const sap_cli_exit result =
        sap_cli_share_read(cli, path, SAP_FORMAT_AUTO, run->reference.info.real_bits, how, &run->shared);
    run->count = run->shared.all;
    return result == SAP_EXIT_OK ? check_columns(cli, run, path, run->shared.all, run->shared.dims) : result;
}

static sap_cli_exit read_boxes(sap_cli* cli, box_run* run, const char* path) {
    const sap_tree_info* info = &run->reference.info;
    const sap_points_read_options how = {.unpack_limit = cli->options->unpack_limit};
    if (cli->ranks) return share_boxes(cli, run, path, &how);
    const sap_status status =
        sap_points_read_with(cli->device, path, SAP_FORMAT_AUTO, info->real_bits, &how, &run->read);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    const sap_cli_exit result = check_columns(cli, run, path, run->read->count, run->read->dims);
    if (result != SAP_EXIT_OK) return result;
    run->count = run->read->count;
    run->boxes = info->real_bits == 64 ? (const void*)run->read->coords_f64 : (const void*)run->read->coords;
    return SAP_EXIT_OK;
}

static sap_cli_exit take_corners(sap_cli* cli, box_run* run) {
    const sap_cli_corner *lower = &cli->options->lower, *upper = &cli->options->upper;
    const sap_tree_info* info = &run->reference.info;
    if (lower->count != info->dims)
        return sap_cli_error(cli, "--lower and --upper have %d coordinates, but the points have %d", (int)lower->count,
                             (int)info->dims);
    for (int32_t a = 0; a < info->dims; a++) {
        run->corners_f64[a] = lower->at[a];
        run->corners_f64[info->dims + a] = upper->at[a];
    }
    for (int32_t i = 0; i < 2 * info->dims; i++) run->corners[i] = (float)run->corners_f64[i];
    run->count = 1;
    run->boxes = info->real_bits == 64 ? (const void*)run->corners_f64 : (const void*)run->corners;
    run->shared = (sap_cli_points){.coords = run->boxes, // which rank 0 asks for
                                   .count = sap_cli_is_first(cli),
                                   .dims = 2 * info->dims,
                                   .real_bits = info->real_bits,
                                   .first = !sap_cli_is_first(cli),
                                   .all = 1};
    return SAP_EXIT_OK;
}

static sap_cli_exit read_inputs(sap_cli* cli, box_run* run) {
    const char* boxes = cli->options->operands[1];
    const sap_cli_exit result = sap_cli_reference_open(cli, cli->options->operands[0], &run->reference);
    if (result != SAP_EXIT_OK) return result;
    return boxes ? read_boxes(cli, run, boxes) : take_corners(cli, run);
}

// ---- Searching. What --ids writes is counted before, so that memory for it is not asked for blindly.

static sap_status count_points(box_run* run) {
    const int32_t dims = run->reference.info.dims;
    const int64_t stride = 2 * (int64_t)dims;
    const float* narrow = run->boxes;
    const double* wide = run->boxes;
    if (run->reference.info.real_bits == 64)
        return sap_box_count_f64(run->reference.tree, (sap_points_f64){wide, run->count, dims, stride},
                                 (sap_points_f64){wide + dims, run->count, dims, stride}, run->counts);
    return sap_box_count(run->reference.tree, (sap_points){narrow, run->count, dims, stride},
                         (sap_points){narrow + dims, run->count, dims, stride}, run->counts);
}

static sap_status find_points(box_run* run) {
    const int32_t dims = run->reference.info.dims;
    const int64_t stride = 2 * (int64_t)dims;
    const float* narrow = run->boxes;
    const double* wide = run->boxes;
    if (run->reference.info.real_bits == 64)
        return sap_box_search_f64(run->reference.tree, (sap_points_f64){wide, run->count, dims, stride},
                                  (sap_points_f64){wide + dims, run->count, dims, stride}, &run->found);
    return sap_box_search(run->reference.tree, (sap_points){narrow, run->count, dims, stride},
                          (sap_points){narrow + dims, run->count, dims, stride}, &run->found);
}

static sap_cli_exit check_limit(sap_cli* cli, const box_run* run) {
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const int64_t given = cli->options->limit;
    const int64_t limit = given >= 0 ? given : (int64_t)(0.5 * memory / (double)sizeof(int32_t));
    if (run->total <= limit) return SAP_EXIT_OK;
    return sap_cli_error(cli,
                         "%lld points would be collected, in %.3g GB of memory, and the limit is %lld; take smaller "
                         "boxes, leave --ids out, or take a larger --limit",
                         (long long)run->total, (double)run->total * (double)sizeof(int32_t) * 1e-9, (long long)limit);
}

static sap_cli_exit search_ranks(sap_cli* cli, box_run* run) {
    sap_cli_stage_begin(cli, "searching");
    const sap_cli_exit result = sap_cli_joined_boxes(cli, &run->reference, &run->shared, &run->joined);
    run->search_seconds = sap_cli_stage_end(cli);
    run->total = run->joined.total;
    return result;
}

static sap_cli_exit search(sap_cli* cli, box_run* run) {
    const sap_cli_options* options = cli->options;
    if (cli->ranks) return search_ranks(cli, run);
    run->counts = sap_cli_allocate(cli, run->count, sizeof *run->counts);
    if (!run->counts) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "searching");
    sap_status status = count_points(run);
    for (int64_t i = 0; status == SAP_OK && i < run->count; i++) run->total += run->counts[i];
    sap_cli_exit result = status == SAP_OK && options->ids ? check_limit(cli, run) : SAP_EXIT_OK;
    if (status == SAP_OK && result == SAP_EXIT_OK && options->ids) status = find_points(run);
    if (status == SAP_OK && run->found && options->sorted) status = sap_neighbors_sort(run->found);
    run->search_seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    return result;
}

// ---- Answers.

static sap_cli_exit write_outputs(sap_cli* cli, box_run* run) {
    const sap_cli_options* options = cli->options;
    if (cli->ranks) return sap_cli_joined_rows_write(cli, &run->reference, false, &run->joined);
    const sap_table counts = {.values = run->counts, .rows = run->count, .number = SAP_INT64};
    if (!run->found)
        return options->output || !options->json ? sap_cli_write(cli, options->output, &counts, "count") : SAP_EXIT_OK;
    const sap_table offsets = {.values = run->found->offsets, .rows = run->count + 1, .number = SAP_INT64};
    const sap_table points = {.values = run->found->ids, .rows = run->total, .number = SAP_INT32};
    sap_cli_exit result = SAP_EXIT_OK;
    if (options->output) result = sap_cli_write(cli, options->output, &offsets, "offset");
    return result == SAP_EXIT_OK ? sap_cli_write(cli, options->ids, &points, "id") : result;
}

static void report(sap_cli* cli, const box_run* run) {
    const sap_cli_options* options = cli->options;
    const sap_cli_reference* reference = &run->reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "box");
    sap_json_int(&json, "points", reference->info.count);
    sap_json_int(&json, "dims", reference->info.dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->info.real_bits));
    sap_json_int(&json, "boxes", run->count);
    sap_json_int(&json, "found", run->total);
    sap_json_text(&json, options->ids ? "offsets" : "counts", options->output);
    if (options->ids) sap_json_text(&json, "ids", options->ids);
    sap_json_effort(&json, cli, reference->read_seconds, reference->build_seconds, "search", run->search_seconds);
    sap_json_close(&json, '}');
}

static void free_run(box_run* run) {
    free(run->counts);
    sap_neighbors_free(run->found);
    sap_point_set_free(run->read);
    sap_cli_points_free(&run->shared);
    sap_cli_joined_rows_free(&run->joined);
    sap_cli_reference_close(&run->reference);
}

sap_cli_exit sap_cli_box(sap_cli* cli) {
    box_run run = {0};
    sap_cli_exit result = sap_cli_agree(cli, check_usage(cli));
    if (result == SAP_EXIT_OK) result = sap_cli_agree(cli, read_inputs(cli, &run));
    if (result == SAP_EXIT_OK) result = search(cli, &run);
    if (result == SAP_EXIT_OK) result = write_outputs(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && cli->options->json && sap_cli_is_first(cli)) report(cli, &run);
    if (result == SAP_EXIT_OK && (cli->options->output || cli->options->ids))
        sap_cli_note(cli, "%lld points in %lld boxes among %lld points, searched in %.3g s", (long long)run.total,
                     (long long)run.count, (long long)run.reference.info.count, run.search_seconds);
    free_run(&run);
    return result;
}
