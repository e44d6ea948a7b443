// sapwood project: a few points on the surface that a noisy cloud samples.
#include "moved.h"
#include "verbs.h"

#include <string.h>

enum { POINTS_FOR_ONE = 20 };

typedef struct project_run {
    sap_cli_moved points;
    sap_project_info info;
} project_run;

static sap_cli_exit read_points(sap_cli* cli, project_run* run) {
    const sap_cli_exit result = sap_cli_moved_read(cli, "points that are projected", &run->points);
    const int64_t given = run->points.cloud.reference.points.count, wanted = cli->options->made;
    if (result != SAP_EXIT_OK) return result;
    if (wanted > given)
        return sap_cli_usage(cli, "--count can be the number of points at most, which is %lld", (long long)given);
    return sap_cli_moved_room(cli, wanted ? wanted : (given + POINTS_FOR_ONE - 1) / POINTS_FOR_ONE, &run->points);
}

static sap_cli_exit project(sap_cli* cli, project_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_project_options options = {.count = run->points.count,
                                         .radius = o->radius > 0 ? o->radius : 0,
                                         .steps = o->steps,
                                         .push = o->push,
                                         .tolerance = o->tolerance,
                                         .by_density = o->by_density,
                                         .to_median = o->to_median};
    sap_cli_stage_begin(cli, "projecting");
    const sap_status status =
        sap_cloud_project(cli->device, sap_cli_moved_given(&run->points), &options, run->points.moved, &run->info);
    run->points.cloud.work_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, o->operands[0]);
}

static void report(sap_cli* cli, const project_run* run) {
    const sap_cli_reference* reference = &run->points.cloud.reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "project");
    sap_json_int(&json, "points", reference->points.count);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->points.real_bits));
    sap_cli_not_finite_json(&json, &reference->points);
    sap_json_int(&json, "made", run->info.count);
    sap_json_real(&json, "radius", run->info.radius, 64);
    sap_json_int(&json, "steps", run->info.steps);
    sap_json_real(&json, "movement", run->info.movement, 64);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, reference->read_seconds, 0, "search", run->points.cloud.work_seconds);
    sap_json_close(&json, '}');
}

static void tell(sap_cli* cli, const project_run* run) {
    const sap_cli_options* o = cli->options;
    if (o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld points of %lld, projected within a radius of %.4g in %.3g s",
                     (long long)run->points.count, (long long)run->points.cloud.reference.points.count,
                     run->info.radius, run->points.cloud.work_seconds);
    else if (!sap_cli_given(o, "radius") && run->info.radius > 0)
        sap_cli_note(cli, "projected within a radius of %.4g; --radius chooses another", run->info.radius);
}

sap_cli_exit sap_cli_project(sap_cli* cli) {
    project_run run = {.info = {0}};
    sap_cli_exit result = sap_cli_moved_check(cli);
    if (result == SAP_EXIT_OK) result = read_points(cli, &run);
    if (result == SAP_EXIT_OK) result = project(cli, &run);
    if (result == SAP_EXIT_OK) result = sap_cli_moved_write(cli, false, &run.points);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK) tell(cli, &run);
    sap_cli_moved_free(&run.points);
    return result;
}
