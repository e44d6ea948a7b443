// sapwood thin: one point for each cell of a grid, or points far from one another.
#include "cloud.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct thin_run {
    sap_cli_cloud cloud;  // of a grid only the points are read
    sap_thinned* thinned; // by a grid
    int32_t* ids;         // chosen
    int64_t count;
} thin_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_output output = {"-o", cli->options->output};
    const sap_cli_options* o = cli->options;
    if ((o->cell_size >= 0) + (o->disks >= 0) + (o->farthest > 0) != 1)
        return sap_cli_usage(cli, "give one of --cell-size, --farthest and --disks");
    if (o->cell_size == 0 || isinf(o->cell_size)) return sap_cli_usage(cli, "--cell-size must be above 0 and finite");
    if (o->disks == 0 || isinf(o->disks)) return sap_cli_usage(cli, "--disks must be above 0 and finite");
    if (o->disks < 0 && sap_cli_given(o, "seed")) return sap_cli_usage(cli, "--seed is for --disks");
    if (o->cell_size < 0 && (sap_cli_given(o, "point") || o->fewest || o->counts_too))
        return sap_cli_usage(cli, "--point, --fewest and --counts are for --cell-size");
    return sap_cli_cloud_check(cli, &output, 1);
}

// A grid needs no tree.
static sap_cli_exit read_points(sap_cli* cli, thin_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_points* points = &run->cloud.reference.points;
    sap_cli_stage_begin(cli, "reading");
    const sap_cli_exit result = sap_cli_points_read(cli, o->operands[0], o->precision, points);
    run->cloud.reference.read_seconds = sap_cli_stage_end(cli);
    if (result == SAP_EXIT_OK && o->tree.drop_nonfinite) sap_cli_left_out_look(cli, o->operands[0], points);
    return result;
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
    if (status != SAP_OK) return sap_cli_failed(cli, status, o->operands[0]);
    run->count = run->thinned->count;
    return SAP_EXIT_OK;
}

static sap_cli_exit choose(sap_cli* cli, thin_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_reference* reference = &run->cloud.reference;
    sap_sample_options options = {.most = o->farthest};
    if (o->disks > 0)
        options = (sap_sample_options){.kind = SAP_SAMPLE_POISSON, .radius = o->disks, .seed = (uint64_t)o->seed};
    const int64_t n = reference->info.source_count;
    run->ids = sap_cli_allocate(cli, o->disks > 0 || o->farthest > n ? n : o->farthest, sizeof *run->ids);
    if (!run->ids) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "choosing points");
    const sap_status status = sap_cloud_sample(reference->tree, &options, run->ids, &run->count);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, cli->options->operands[0]);
}

static sap_cli_exit write_points(sap_cli* cli, const thin_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_points* points = &run->cloud.reference.points;
    const sap_thinned* t = run->thinned;
    if (!t) return sap_cli_cloud_write(cli, points, NULL, 0, (sap_cli_rows){run->ids, run->count});
    sap_field* fields = sap_cli_thinned_fields(cli, points, t, o->chosen == SAP_VOXELS_CENTROID);
    if (!fields) return SAP_EXIT_FAILED;
    const sap_cli_column columns[] = {{{"count"}, "i4", t->counts, 1}, {{"id"}, "i4", t->ids, 1}};
    const bool is_wide = t->coords_f64 != NULL;
    const sap_cli_points left = {.coords = is_wide ? (const void*)t->coords_f64 : (const void*)t->coords,
                                 .count = t->count,
                                 .dims = t->dims,
                                 .real_bits = is_wide ? 64 : 32,
                                 .set = points->set,
                                 .fields = fields,
                                 .field_count = points->field_count};
    const sap_cli_exit result =
        sap_cli_cloud_write(cli, &left, columns, o->counts_too ? 2 : 0, sap_cli_all_rows(&left));
    free(fields);
    return result;
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
    sap_json_int(&json, "kept", run->count);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, run->cloud.reference.read_seconds, run->cloud.reference.build_seconds, "search",
                    run->cloud.work_seconds);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_thin(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    thin_run run = {.thinned = NULL};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = o->cell_size > 0 ? read_points(cli, &run) : sap_cli_cloud_open(cli, &run.cloud);
    if (result == SAP_EXIT_OK) result = o->cell_size > 0 ? thin(cli, &run) : choose(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld points of %lld, thinned in %.3g s", (long long)run.count,
                     (long long)run.cloud.reference.points.count, run.cloud.work_seconds);
    sap_thinned_free(run.thinned);
    free(run.ids);
    sap_cli_cloud_close(&run.cloud);
    return result;
}
