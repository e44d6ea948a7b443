// sapwood outliers: the points that are no outliers, or those that are.
#include "cloud.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct outliers_run {
    sap_cli_cloud cloud;
    uint8_t* keep;
    sap_outliers_info info;
} outliers_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->radius == 0 || isinf(o->radius)) return sap_cli_usage(cli, "--radius must be above 0 and finite");
    if (sap_cli_given(o, "ratio") && o->ratio == 0) return sap_cli_usage(cli, "--ratio must be above 0");
    if (o->radius > 0 && sap_cli_given(o, "ratio"))
        return sap_cli_usage(cli, "--ratio is for mean distances, and --radius for neighbours within it; give one");
    return sap_cli_cloud_check(cli, &output, 1);
}

static sap_cli_exit find(sap_cli* cli, outliers_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_reference* reference = &run->cloud.reference;
    const int64_t n = reference->info.source_count;
    sap_outliers_options options = {.k = sap_cli_given(o, "neighbors") ? o->k : 0, .ratio = o->ratio};
    if (o->radius > 0) {
        options.kind = SAP_OUTLIERS_RADIUS;
        options.radius = o->radius;
    }
    run->keep = sap_cli_allocate(cli, n, 1);
    if (!run->keep) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "finding outliers");
    const sap_status status = sap_cloud_outliers(reference->tree, &options, run->keep, &run->info);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    for (int64_t i = 0; status == SAP_OK && o->invert && i < n; i++) run->keep[i] = !run->keep[i];
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, cli->options->operands[0]);
}

static sap_cli_exit write_points(sap_cli* cli, const outliers_run* run) {
    const sap_cli_points* points = &run->cloud.reference.points;
    int32_t* ids = sap_cli_allocate(cli, points->count, sizeof *ids);
    sap_cli_rows rows = {ids, 0};
    if (!ids) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < points->count; i++)
        if (run->keep[i]) ids[rows.count++] = (int32_t)i;
    const sap_cli_exit result = sap_cli_cloud_write(cli, points, NULL, 0, rows);
    free(ids);
    return result;
}

sap_cli_exit sap_cli_outliers(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    outliers_run run = {.keep = NULL};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_cloud_open(cli, &run.cloud);
    if (result == SAP_EXIT_OK) result = find(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    const int64_t n = run.cloud.reference.info.source_count, outliers = n - run.info.kept;
    if (result == SAP_EXIT_OK && o->json) {
        sap_json json = {0};
        sap_cli_cloud_report_begin(cli, &run.cloud, &json);
        sap_json_int(&json, "kept", run.info.kept);
        sap_json_int(&json, "outliers", outliers);
        if (o->radius < 0) {
            sap_json_real(&json, "mean", run.info.mean, 64);
            sap_json_real(&json, "deviation", run.info.deviation, 64);
            sap_json_real(&json, "limit", run.info.limit, 64);
        }
        sap_cli_cloud_report_end(cli, &run.cloud, &json);
    }
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld of %lld points are outliers, found in %.3g s", (long long)outliers, (long long)n,
                     run.cloud.work_seconds);
    free(run.keep);
    sap_cli_cloud_close(&run.cloud);
    return result;
}
