// sapwood normals: points with their normals, and how curved the surface is there.
#include "cloud.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

typedef struct normals_run {
    sap_cli_cloud cloud;
    sap_cloud_axes axes;
    int64_t without; // points that have no normal
} normals_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->radius == 0) return sap_cli_usage(cli, "--radius must be above 0");
    if (sap_cli_given(o, "view") && o->orient != SAP_ORIENT_NONE)
        return sap_cli_usage(cli, "--view turns normals to a place, and --orient %s otherwise; give one of them",
                             "consistent");
    return sap_cli_cloud_check(cli, &output, 1);
}

static sap_cli_exit find(sap_cli* cli, normals_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_reference* reference = &run->cloud.reference;
    const int64_t n = reference->info.source_count;
    sap_normals_options options = {.k = sap_cli_given(o, "neighbors") ? o->k : 0, .orient = o->orient};
    if (o->radius > 0) options.radius = o->radius;
    if (sap_cli_given(o, "view")) options.orient = SAP_ORIENT_VIEW;
    memcpy(options.view, o->view, sizeof options.view);
    run->axes.normals = sap_cli_allocate(cli, n, 3 * sizeof(float));
    run->axes.curvatures = sap_cli_allocate(cli, n, sizeof(float));
    run->axes.kinds = sap_cli_allocate(cli, n, 1);
    if (!run->axes.normals || !run->axes.curvatures || !run->axes.kinds) return SAP_EXIT_FAILED;
    if (o->shapes) {
        run->axes.planarities = sap_cli_allocate(cli, n, sizeof(float));
        run->axes.linearities = sap_cli_allocate(cli, n, sizeof(float));
        if (!run->axes.planarities || !run->axes.linearities) return SAP_EXIT_FAILED;
    }
    sap_cli_stage_begin(cli, "finding normals");
    const sap_status status = sap_cloud_shapes(reference->tree, &options, &run->axes);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    for (int64_t i = 0; status == SAP_OK && i < 3 * n; i++) run->axes.normals[i] += 0.0f; // makes 0 of -0
    run->without = -reference->info.not_finite;
    for (int64_t i = 0; status == SAP_OK && i < n; i++) run->without += run->axes.kinds[i] != SAP_NEIGHBORHOOD_SURFACE;
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, cli->options->operands[0]);
}

static sap_cli_exit write_points(sap_cli* cli, const normals_run* run) {
    const sap_cli_column columns[] = {{{"nx", "ny", "nz"}, "f4", run->axes.normals, 3},
                                      {{"curvature"}, "f4", run->axes.curvatures, 1},
                                      {{"planarity"}, "f4", run->axes.planarities, 1},
                                      {{"linearity"}, "f4", run->axes.linearities, 1}};
    const sap_cli_points* points = &run->cloud.reference.points;
    return sap_cli_cloud_write(cli, points, columns, cli->options->shapes ? 4 : 2, sap_cli_all_rows(points));
}

static void report(sap_cli* cli, const normals_run* run) {
    sap_json json = {0};
    sap_cli_cloud_report_begin(cli, &run->cloud, &json);
    sap_json_int(&json, "without", run->without);
    sap_cli_cloud_report_end(cli, &run->cloud, &json);
}

static void free_run(normals_run* run) {
    free(run->axes.normals);
    free(run->axes.curvatures);
    free(run->axes.kinds);
    free(run->axes.planarities);
    free(run->axes.linearities);
    sap_cli_cloud_close(&run->cloud);
}

sap_cli_exit sap_cli_normals(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    normals_run run = {.without = 0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_cloud_open(cli, &run.cloud);
    if (result == SAP_EXIT_OK) result = find(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && run.without)
        sap_cli_note(cli, "%lld of %lld points have no normal: too few neighbours, or all on a line; theirs is 0 0 0",
                     (long long)run.without, (long long)sap_cli_cloud_counted(&run.cloud));
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "normals of %lld points, found in %.3g s", (long long)sap_cli_cloud_counted(&run.cloud),
                     run.cloud.work_seconds);
    free_run(&run);
    return result;
}
