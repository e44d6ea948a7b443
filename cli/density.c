// sapwood density: points with the density about them.
#include "cloud.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct density_run {
    sap_cli_cloud cloud;
    double* densities;
} density_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    const bool has_radius = o->radius >= 0, has_k = sap_cli_given(o, "neighbors");
    if (has_radius == has_k) return sap_cli_usage(cli, "give either --radius or -k");
    if (o->kernel && !has_radius) return sap_cli_usage(cli, "--kernel needs --radius");
    if (sap_cli_given(o, "surface") && !o->kernel) return sap_cli_usage(cli, "--surface is for --kernel");
    if (o->radius == 0 || isinf(o->radius)) return sap_cli_usage(cli, "--radius must be above 0 and finite");
    return sap_cli_cloud_check(cli, &output, 1);
}

static sap_density kind_of(const sap_cli_options* o) {
    return o->radius < 0 ? SAP_DENSITY_DISTANCE : o->kernel ? SAP_DENSITY_KERNEL : SAP_DENSITY_COUNT;
}

static sap_cli_exit find(sap_cli* cli, density_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_reference* reference = &run->cloud.reference;
    sap_density_options options = {.kind = kind_of(o), .k = o->k};
    if (o->radius > 0) options.radius = o->radius;
    if (o->surface) options.dims = reference->info.dims > 1 ? reference->info.dims - 1 : 1;
    run->densities = sap_cli_allocate(cli, reference->info.source_count, sizeof(double));
    if (!run->densities) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "finding densities");
    const sap_status status = sap_cloud_density(reference->tree, &options, run->densities);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, cli->options->operands[0]);
}

static sap_cli_exit write_points(sap_cli* cli, const density_run* run) {
    static const char* const names[] = {"count", "distance", "density"};
    const sap_cli_column column = {{names[kind_of(cli->options)]}, "f8", run->densities, 1};
    const sap_cli_points* points = &run->cloud.reference.points;
    return sap_cli_cloud_write(cli, points, &column, 1, sap_cli_all_rows(points));
}

sap_cli_exit sap_cli_density(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    density_run run = {.densities = NULL};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_cloud_open(cli, &run.cloud);
    if (result == SAP_EXIT_OK) result = find(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    if (result == SAP_EXIT_OK && o->json) {
        sap_json json = {0};
        sap_cli_cloud_report_begin(cli, &run.cloud, &json);
        if (o->radius > 0) sap_json_real(&json, "radius", o->radius, 64);
        sap_cli_cloud_report_end(cli, &run.cloud, &json);
    }
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "densities of %lld points, found in %.3g s", (long long)sap_cli_cloud_counted(&run.cloud),
                     run.cloud.work_seconds);
    free(run.densities);
    sap_cli_cloud_close(&run.cloud);
    return result;
}
