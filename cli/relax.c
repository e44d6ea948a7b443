// sapwood relax: points spread evenly over the surface that they sample, and more of them if asked for.
#include "moved.h"
#include "verbs.h"

#include <string.h>

typedef struct relax_run {
    sap_cli_moved points;
    sap_relax_info info;
} relax_run;

static sap_cli_exit read_points(sap_cli* cli, relax_run* run) {
    const sap_cli_exit result = sap_cli_moved_read(cli, "points that relax", &run->points);
    const int64_t given = run->points.cloud.reference.points.count;
    if (result != SAP_EXIT_OK) return result;
    if (cli->options->more > 8 * given)
        return sap_cli_usage(cli, "--more can be 8 times the points at most, which are %lld", (long long)given);
    return sap_cli_moved_room(cli, given + cli->options->more, &run->points);
}

static sap_cli_exit relax(sap_cli* cli, relax_run* run) {
    const sap_cli_options* o = cli->options;
    sap_relax_options options = {.k = sap_cli_given(o, "neighbors") ? o->k : 0,
                                 .radius = o->radius > 0 ? o->radius : 0,
                                 .steps = o->steps ? o->steps : 20,
                                 .more = o->more,
                                 .is_free = o->is_free};
    sap_cli_stage_begin(cli, "relaxing");
    const sap_status status =
        sap_cloud_relax(cli->device, sap_cli_moved_given(&run->points), &options, run->points.moved, NULL, &run->info);
    run->points.cloud.work_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, o->operands[0]);
}

// How many points were added; they have nothing beside their coordinates, so that no field has values for all then.
static int64_t added(const relax_run* run) { return run->points.count - run->points.cloud.reference.points.count; }

static void report(sap_cli* cli, const relax_run* run) {
    const sap_cli_reference* reference = &run->points.cloud.reference;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "relax");
    sap_json_int(&json, "points", reference->points.count);
    sap_json_text(&json, "precision", sap_cli_precision_name(reference->points.real_bits));
    sap_cli_not_finite_json(&json, &reference->points);
    sap_json_int(&json, "added", added(run));
    sap_json_int(&json, "steps", run->info.steps);
    sap_json_real(&json, "movement", run->info.movement, 64);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, reference->read_seconds, 0, "search", run->points.cloud.work_seconds);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_relax(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    relax_run run = {.info = {0}};
    sap_cli_exit result = sap_cli_moved_check(cli);
    if (result == SAP_EXIT_OK) result = read_points(cli, &run);
    if (result == SAP_EXIT_OK) result = relax(cli, &run);
    if (result == SAP_EXIT_OK) result = sap_cli_moved_write(cli, added(&run) == 0, &run.points);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld points, %lld of them added, relaxed in %.3g s", (long long)run.points.count,
                     (long long)added(&run), run.points.cloud.work_seconds);
    sap_cli_moved_free(&run.points);
    return result;
}
