// sapwood thin: one point for each cell of a grid.
#include "cloud.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

typedef struct thin_run {
    sap_cli_cloud cloud; // of which only the points are read
    sap_thinned* thinned;
} thin_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_output output = {"-o", cli->options->output};
    if (cli->options->cell_size == 0) return sap_cli_usage(cli, "--cell-size must be above 0");
    return sap_cli_cloud_check(cli, &output, 1);
}

static sap_cli_exit thin(sap_cli* cli, thin_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_points* points = &run->cloud.reference.points;
    sap_voxels_options options = {
        .point = (sap_voxels_point)o->chosen, .fewest = o->fewest, .drop_nonfinite = o->tree.drop_nonfinite};
    for (int a = 0; a < SAP_MAX_DIMS; a++) options.sizes[a] = o->cell_size;
    sap_cli_stage_begin(cli, "thinning");
    const sap_status status = points->real_bits == 64
                                  ? sap_cloud_voxels_f64(cli->device, sap_cli_f64(points), &options, &run->thinned)
                                  : sap_cloud_voxels(cli->device, sap_cli_f32(points), &options, &run->thinned);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, o->operands[0]);
}

static sap_cli_exit write_points(sap_cli* cli, const thin_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_thinned* t = run->thinned;
    const sap_cli_column columns[] = {{{"count"}, "i4", t->counts, 1}, {{"id"}, "i4", t->ids, 1}};
    const bool is_wide = t->coords_f64 != NULL;
    const sap_cli_cloud left = {
        .reference.points = {.coords = is_wide ? (const void*)t->coords_f64 : (const void*)t->coords,
                             .count = t->count,
                             .dims = t->dims,
                             .real_bits = is_wide ? 64 : 32}};
    return sap_cli_cloud_write(cli, &left, columns, o->counts_too ? 2 : 0, NULL);
}

static void report(sap_cli* cli, const thin_run* run) {
    const sap_cli_points* points = &run->cloud.reference.points;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "thin");
    sap_json_int(&json, "points", points->count);
    sap_json_int(&json, "dims", points->dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(points->real_bits));
    sap_cli_not_finite_json(&json, points);
    sap_json_int(&json, "kept", run->thinned->count);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, run->cloud.reference.read_seconds, 0, "search", run->cloud.work_seconds);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_thin(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    thin_run run = {.thinned = NULL};
    sap_cli_exit result = check_usage(cli);
    sap_cli_stage_begin(cli, "reading");
    if (result == SAP_EXIT_OK)
        result = sap_cli_points_read(cli, o->operands[0], o->precision, &run.cloud.reference.points);
    run.cloud.reference.read_seconds = sap_cli_stage_end(cli);
    if (result == SAP_EXIT_OK && o->tree.drop_nonfinite)
        sap_cli_left_out_look(cli, o->operands[0], &run.cloud.reference.points);
    if (result == SAP_EXIT_OK) result = thin(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld points of %lld, thinned in %.3g s", (long long)run.thinned->count,
                     (long long)run.cloud.reference.points.count, run.cloud.work_seconds);
    sap_thinned_free(run.thinned);
    sap_cli_cloud_close(&run.cloud);
    return result;
}
