// sapwood trace: where rays meet a mesh.
#include "all_hits.h"
#include "mesh_tree.h"
#include "records.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct trace_run {
    sap_cli_mesh_tree mesh;
    sap_cli_points rows;
    int64_t invalid, first_invalid; // rays that can hit nothing
    sap_ray* rays;
    sap_hit* hits;        // the first of each ray
    uint8_t* occluded;    // --occluded: whether each ray hits something
    sap_cli_all_hits all; // --all
    int64_t count, found; // rays, and those that hit something
    double read_seconds, trace_seconds;
} trace_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    sap_cli_exit result = sap_cli_check_distinct(cli, &output, 1);
    if (result != SAP_EXIT_OK) return result;
    if (!strcmp(o->operands[0], "-") && !strcmp(o->operands[1], "-"))
        return sap_cli_usage(cli, "only one of MESH and RAYS can be standard input");
    if (o->all && o->occluded) return sap_cli_usage(cli, "--all lists hits and --occluded does not; give one of them");
    if (o->hits && !o->all) return sap_cli_usage(cli, "--hits is for --all; give that too");
    result = sap_cli_check_records(cli, o->output, "hits");
    return result == SAP_EXIT_OK ? sap_cli_check_writable(cli, &output, 1) : result;
}

static double number_at(const sap_cli_points* rows, int64_t i) {
    return rows->real_bits == 64 ? ((const double*)rows->coords)[i] : (double)((const float*)rows->coords)[i];
}

// A row of 6 or 8 numbers; its origin is relative to that of the mesh.
static sap_ray make_ray(const trace_run* run, int64_t row) {
    const sap_cli_points* rows = &run->rows;
    const int64_t first = row * rows->dims, direction = first + (rows->dims == 6 ? 3 : 4);
    sap_ray ray = {.t_min = 0, .t_max = INFINITY};
    for (int a = 0; a < 3; a++) {
        ray.origin[a] = (float)(number_at(rows, first + a) - run->mesh.origin[a]);
        ray.direction[a] = (float)number_at(rows, direction + a);
    }
    if (rows->dims == 6) return ray;
    ray.t_min = (float)number_at(rows, first + 3);
    ray.t_max = (float)number_at(rows, first + 7);
    return ray;
}

// Whether a ray can hit something, wherever the mesh is: it is finite, but for its end, and has a direction.
static bool is_valid(const sap_ray* ray) {
    bool finite = isfinite(ray->t_min) && !isnan(ray->t_max), directed = false;
    for (int a = 0; a < 3; a++) {
        finite = finite && isfinite(ray->origin[a]) && isfinite(ray->direction[a]);
        directed = directed || ray->direction[a] != 0;
    }
    return finite && directed;
}

static void look_at_rays(sap_cli* cli, trace_run* run) {
    const char* path = cli->options->operands[1];
    for (int64_t i = 0; i < run->count; i++)
        if (!is_valid(&run->rays[i]) && !run->invalid++) run->first_invalid = i;
    if (run->invalid)
        sap_cli_note(cli,
                     "%s: %lld of %lld rays are not finite or have no direction, and hit nothing; the first is row "
                     "%lld, counted from 0",
                     strcmp(path, "-") ? path : "standard input", (long long)run->invalid, (long long)run->count,
                     (long long)run->first_invalid);
}

static sap_cli_exit read_rays(sap_cli* cli, trace_run* run) {
    const char* path = cli->options->operands[1];
    cli->hushed = true; // columns are those of rays
    sap_cli_exit result = sap_cli_points_read(cli, path, sap_cli_is_shifted(run->mesh.origin) ? 64 : 32, &run->rows);
    cli->hushed = false;
    if (result != SAP_EXIT_OK) return result;
    int32_t columns = run->rows.dims;
    run->count = run->rows.count;
    if (columns != 6 && columns != 8 && run->count)
        return sap_cli_error(cli,
                             "%s: has %d columns; rays have 6 (origin, direction) or 8 (origin, t_min, direction, "
                             "t_max); --columns chooses them",
                             path, (int)columns);
    run->rays = sap_cli_allocate(cli, run->count, sizeof *run->rays);
    if (!run->rays) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < run->count; i++) run->rays[i] = make_ray(run, i);
    look_at_rays(cli, run);
    return SAP_EXIT_OK;
}

// ---- Tracing

static sap_cli_exit trace_first(sap_cli* cli, trace_run* run) {
    run->hits = sap_cli_allocate(cli, run->count, sizeof *run->hits);
    if (!run->hits) return SAP_EXIT_FAILED;
    const sap_status status = sap_trace(run->mesh.tree, run->rays, run->count, run->hits);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    for (int64_t i = 0; i < run->count; i++) run->found += run->hits[i].triangle >= 0;
    return SAP_EXIT_OK;
}

static sap_cli_exit trace_all(sap_cli* cli, trace_run* run) {
    const sap_cli_exit result =
        sap_cli_all_hits_find(cli, run->mesh.tree, run->rays, run->count, run->mesh.triangles, &run->all);
    for (int64_t i = 0; i < run->all.count; i++) run->found += !i || run->all.rows[i].ray != run->all.rows[i - 1].ray;
    return result;
}

static sap_cli_exit trace_occluded(sap_cli* cli, trace_run* run) {
    run->occluded = sap_cli_allocate(cli, run->count, sizeof *run->occluded);
    if (!run->occluded) return SAP_EXIT_FAILED;
    const sap_status status = sap_occluded(run->mesh.tree, run->rays, run->count, run->occluded);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    for (int64_t i = 0; i < run->count; i++) run->found += run->occluded[i];
    return SAP_EXIT_OK;
}

static sap_cli_exit trace(sap_cli* cli, trace_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_exit ready = sap_cli_mesh_tree_ready(cli, o->operands[0], &run->mesh);
    if (ready != SAP_EXIT_OK) return ready;
    sap_cli_stage_begin(cli, "tracing");
    const sap_cli_exit result = o->all        ? trace_all(cli, run)
                                : o->occluded ? trace_occluded(cli, run)
                                              : trace_first(cli, run);
    run->trace_seconds = sap_cli_stage_end(cli);
    return result;
}

// ---- Writing

static sap_cli_exit write_answers(sap_cli* cli, const trace_run* run) {
    static const sap_cli_field fields[] = {{"ray", "i8"}, {"t", "f4"}, {"u", "f4"}, {"v", "f4"}, {"triangle", "i4"}};
    static const sap_cli_field occluded[] = {{"occluded", "u1"}};
    const sap_cli_options* o = cli->options;
    const sap_cli_records first = {run->hits, run->count, fields + 1, 4},
                          all = {run->all.rows, run->all.count, fields, 5},
                          bits = {run->occluded, run->count, occluded, 1};
    return sap_cli_write_records(cli, o->output, o->all ? &all : o->occluded ? &bits : &first);
}

static void report(sap_cli* cli, const trace_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "trace");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "triangles", run->mesh.triangles);
    sap_cli_origin_json(&json, cli, run->mesh.origin);
    sap_json_int(&json, "rays", run->count);
    sap_json_int(&json, "invalid", run->invalid);
    if (run->invalid) sap_json_int(&json, "first_invalid", run->first_invalid);
    sap_json_int(&json, "found", run->found);
    if (cli->options->all) sap_json_int(&json, "hits", run->all.count);
    sap_json_effort(&json, cli, run->read_seconds, run->mesh.build_seconds, "trace", run->trace_seconds);
    sap_json_close(&json, '}');
}

static void note(sap_cli* cli, const trace_run* run) {
    const char* output = cli->options->output;
    if (!output || !strcmp(output, "-")) return;
    if (cli->options->all)
        sap_cli_note(cli, "%lld of %lld rays have %lld hits on %lld triangles, traced in %.3g s", (long long)run->found,
                     (long long)run->count, (long long)run->all.count, (long long)run->mesh.triangles,
                     run->trace_seconds);
    else
        sap_cli_note(cli, "%lld of %lld rays hit one of %lld triangles, traced in %.3g s", (long long)run->found,
                     (long long)run->count, (long long)run->mesh.triangles, run->trace_seconds);
}

static void free_run(trace_run* run) {
    sap_cli_all_hits_free(&run->all);
    free(run->occluded);
    free(run->hits);
    free(run->rays);
    sap_cli_points_free(&run->rows);
    sap_cli_mesh_tree_close(&run->mesh);
}

sap_cli_exit sap_cli_trace(sap_cli* cli) {
    trace_run run = {0};
    sap_cli_exit result = check_usage(cli);
    const double start = sap_cli_seconds();
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_tree_read(cli, cli->options->operands[0], &run.mesh);
    if (result == SAP_EXIT_OK) result = read_rays(cli, &run);
    run.read_seconds = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) result = trace(cli, &run);
    if (result == SAP_EXIT_OK) result = write_answers(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK) note(cli, &run);
    free_run(&run);
    return result;
}
