// sapwood cluster: points with the number of their cluster.
#include "cloud.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cluster_run {
    sap_cli_cloud cloud;
    int32_t* labels;
    uint8_t* kinds;
    int64_t clusters, noise;
} cluster_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_output output = {"-o", cli->options->output};
    if (isinf(cli->options->radius)) return sap_cli_usage(cli, "--radius must be finite");
    return sap_cli_cloud_check(cli, &output, 1);
}

static sap_cli_exit find(sap_cli* cli, cluster_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_reference* reference = &run->cloud.reference;
    const int64_t n = reference->info.source_count;
    const sap_clusters_options options = {.radius = o->radius, .fewest = o->fewest, .least = o->least};
    run->labels = sap_cli_allocate(cli, n, sizeof *run->labels);
    run->kinds = sap_cli_allocate(cli, n, 1);
    if (!run->labels || !run->kinds) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "finding clusters");
    const sap_status status = sap_cloud_clusters(reference->tree, &options, run->labels, run->kinds, &run->clusters);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    run->noise = -reference->info.not_finite;
    for (int64_t i = 0; status == SAP_OK && i < n; i++) run->noise += run->labels[i] < 0;
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, cli->options->operands[0]);
}

static sap_cli_exit write_points(sap_cli* cli, const cluster_run* run) {
    const sap_cli_column columns[] = {{{"cluster"}, "i4", run->labels, 1}, {{"kind"}, "u1", run->kinds, 1}};
    const sap_cli_points* points = &run->cloud.reference.points;
    return sap_cli_cloud_write(cli, points, columns, cli->options->kinds ? 2 : 1, sap_cli_all_rows(points));
}

sap_cli_exit sap_cli_cluster(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    cluster_run run = {.labels = NULL};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_cloud_open(cli, &run.cloud);
    if (result == SAP_EXIT_OK) result = find(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    if (result == SAP_EXIT_OK && o->json) {
        sap_json json = {0};
        sap_cli_cloud_report_begin(cli, &run.cloud, &json);
        sap_json_real(&json, "radius", o->radius, 64);
        sap_json_int(&json, "clusters", run.clusters);
        sap_json_int(&json, "noise", run.noise);
        sap_cli_cloud_report_end(cli, &run.cloud, &json);
    }
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld clusters, %lld of %lld points in none, found in %.3g s", (long long)run.clusters,
                     (long long)run.noise, (long long)sap_cli_cloud_counted(&run.cloud), run.cloud.work_seconds);
    free(run.labels);
    free(run.kinds);
    sap_cli_cloud_close(&run.cloud);
    return result;
}
