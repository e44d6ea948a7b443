// sapwood relax: points spread evenly over the surface that they sample, and more of them if asked for.
#include "cloud.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct relax_run {
    sap_cli_cloud cloud;
    double origin[3]; // of doubles, which move as floats: the middle of their bounds
    float *given, *moved;
    void* written; // in the precision of the file
    int64_t count;
    sap_relax_info info;
} relax_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->radius == 0 || isinf(o->radius)) return sap_cli_usage(cli, "--radius must be above 0 and finite");
    return sap_cli_cloud_check(cli, &output, 1);
}

static sap_cli_exit read_points(sap_cli* cli, relax_run* run) {
    const char* path = cli->options->operands[0];
    sap_cli_points* points = &run->cloud.reference.points;
    sap_cli_stage_begin(cli, "reading");
    sap_cli_exit result = sap_cli_points_read(cli, path, cli->options->precision, points);
    run->cloud.reference.read_seconds = sap_cli_stage_end(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_points_drop(cli, path, points);
    if (result != SAP_EXIT_OK) return result;
    if (points->dims != 3)
        return sap_cli_error(cli, "%s: has %d columns; points that relax have 3; --columns chooses them", path,
                             (int)points->dims);
    if (points->real_bits == 64 && points->count) {
        double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
        sap_cli_points_bounds(points, lower, upper);
        for (int a = 0; a < 3; a++) run->origin[a] = lower[a] / 2 + upper[a] / 2;
    }
    if (cli->options->more > 8 * points->count)
        return sap_cli_usage(cli, "--more can be 8 times the points at most, which are %lld", (long long)points->count);
    run->count = points->count + cli->options->more;
    run->given = sap_cli_allocate(cli, points->count, 3 * sizeof *run->given);
    run->moved = sap_cli_allocate(cli, run->count, 3 * sizeof *run->moved);
    run->written = sap_cli_allocate(cli, run->count, 3 * sizeof(double));
    if (!run->given || !run->moved || !run->written) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < 3 * points->count; i++)
        run->given[i] = (float)(sap_cli_number_at(points, i) - run->origin[i % 3]);
    return SAP_EXIT_OK;
}

static sap_cli_exit relax(sap_cli* cli, relax_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_points* points = &run->cloud.reference.points;
    sap_relax_options options = {.k = sap_cli_given(o, "neighbors") ? o->k : 0,
                                 .radius = o->radius > 0 ? o->radius : 0,
                                 .steps = o->steps ? o->steps : 20,
                                 .more = o->more,
                                 .is_free = o->is_free};
    sap_cli_stage_begin(cli, "relaxing");
    const sap_status status = sap_cloud_relax(cli->device, (sap_points){run->given, points->count, 3, 0}, &options,
                                              run->moved, NULL, &run->info);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, o->operands[0]);
    for (int64_t i = 0; i < 3 * run->count; i++)
        if (points->real_bits == 64)
            ((double*)run->written)[i] = (double)run->moved[i] + run->origin[i % 3];
        else
            ((float*)run->written)[i] = run->moved[i];
    return SAP_EXIT_OK;
}

// Points that are added have nothing beside their coordinates, so that no field has values for all then.
static sap_cli_exit write_points(sap_cli* cli, const relax_run* run) {
    const sap_cli_points* points = &run->cloud.reference.points;
    const bool keeps = run->count == points->count;
    const sap_cli_points moved = {.coords = run->written,
                                  .count = run->count,
                                  .dims = 3,
                                  .real_bits = points->real_bits,
                                  .set = points->set,
                                  .fields = points->fields,
                                  .field_count = keeps ? points->field_count : 0,
                                  .kept = keeps ? points->kept : NULL};
    return sap_cli_cloud_write(cli, &moved, NULL, 0, sap_cli_all_rows(&moved));
}

static void report(sap_cli* cli, const relax_run* run) {
    const sap_cli_points* points = &run->cloud.reference.points;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "relax");
    sap_json_int(&json, "points", points->count);
    sap_json_text(&json, "precision", sap_cli_precision_name(points->real_bits));
    sap_cli_not_finite_json(&json, points);
    sap_json_int(&json, "added", run->count - points->count);
    sap_json_int(&json, "steps", run->info.steps);
    sap_json_real(&json, "movement", run->info.movement, 64);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_effort(&json, cli, run->cloud.reference.read_seconds, 0, "search", run->cloud.work_seconds);
    sap_json_close(&json, '}');
}

static void free_run(relax_run* run) {
    free(run->given);
    free(run->moved);
    free(run->written);
    sap_cli_cloud_close(&run->cloud);
}

sap_cli_exit sap_cli_relax(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    relax_run run = {.given = NULL};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = read_points(cli, &run);
    if (result == SAP_EXIT_OK) result = relax(cli, &run);
    if (result == SAP_EXIT_OK) result = write_points(cli, &run);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld points, %lld of them added, relaxed in %.3g s", (long long)run.count,
                     (long long)(run.count - run.cloud.reference.points.count), run.cloud.work_seconds);
    free_run(&run);
    return result;
}
