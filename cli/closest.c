// sapwood closest: the point of a mesh that is nearest to each query.
#include "mesh_tree.h"
#include "records.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// An answer as it is written: the place in floats, or in doubles if the mesh has an origin.
typedef struct near_point {
    float place[3], distance;
    int32_t triangle;
} near_point;
typedef struct near_point_f64 {
    double place[3];
    float distance;
    int32_t triangle;
} near_point_f64;

// The run of the verb. All zero can be freed.
typedef struct closest_run {
    sap_cli_mesh_tree mesh;
    sap_cli_points rows;
    float* queries; // from the origin of the mesh
    sap_closest* found;
    uint8_t* inside; // with --inside
    void* answers;   // near_point or near_point_f64
    int64_t count, inside_count;
    double read_seconds, search_seconds;
} closest_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    sap_cli_exit result = sap_cli_check_distinct(cli, &output, 1);
    if (result != SAP_EXIT_OK) return result;
    if (!strcmp(o->operands[0], "-") && !strcmp(o->operands[1], "-"))
        return sap_cli_usage(cli, "only one of MESH and QUERIES can be standard input");
    result = sap_cli_check_records(cli, o->output, "nearest points");
    return result == SAP_EXIT_OK ? sap_cli_check_writable(cli, &output, 1) : result;
}

static sap_cli_exit read_queries(sap_cli* cli, closest_run* run) {
    const char* path = cli->options->operands[1];
    const sap_cli_exit result =
        sap_cli_points_read(cli, path, sap_cli_is_shifted(run->mesh.origin) ? 64 : 32, &run->rows);
    if (result != SAP_EXIT_OK) return result;
    run->count = run->rows.count;
    if (run->rows.dims != 3 && run->count)
        return sap_cli_error(cli, "%s: has %d columns; points near a mesh have 3; --columns chooses them", path,
                             (int)run->rows.dims);
    sap_cli_queries_look(cli, path, &run->rows);
    run->queries = sap_cli_allocate(cli, run->count, 3 * sizeof *run->queries);
    run->found = sap_cli_allocate(cli, run->count, sizeof *run->found);
    run->inside = sap_cli_allocate(cli, run->count, sizeof *run->inside);
    run->answers = sap_cli_allocate(cli, run->count, sizeof(near_point_f64));
    if (!run->queries || !run->found || !run->inside || !run->answers) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < 3 * run->count; i++)
        run->queries[i] = (float)(sap_cli_number_at(&run->rows, i) - run->mesh.origin[i % 3]);
    return SAP_EXIT_OK;
}

static sap_cli_exit search(sap_cli* cli, closest_run* run) {
    const sap_cli_exit ready = sap_cli_mesh_tree_ready(cli, cli->options->operands[0], &run->mesh);
    if (ready != SAP_EXIT_OK) return ready;
    const sap_points queries = {run->queries, run->count, 3, 0};
    memset(run->inside, 0, (size_t)run->count);
    sap_cli_stage_begin(cli, "searching");
    sap_status status = sap_closest_point(run->mesh.tree, queries, run->found);
    if (status == SAP_OK && cli->options->inside) status = sap_inside(run->mesh.tree, queries, run->inside);
    run->search_seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    for (int64_t i = 0; i < run->count; i++) run->inside_count += run->inside[i];
    return SAP_EXIT_OK;
}

// Makes rows of the answers. Distances from inside are negative.
static void fill_answers(closest_run* run) {
    near_point* narrow = run->answers;
    near_point_f64* wide = run->answers;
    const bool shifted = sap_cli_is_shifted(run->mesh.origin);
    for (int64_t i = 0; i < run->count; i++) {
        const sap_closest* found = &run->found[i];
        const float distance = sqrtf(found->distance2), sign = run->inside[i] ? -1 : 1;
        if (shifted) {
            wide[i] = (near_point_f64){.distance = sign * distance, .triangle = found->triangle};
            for (int a = 0; a < 3; a++) wide[i].place[a] = (double)found->point[a] + run->mesh.origin[a];
        } else {
            narrow[i] = (near_point){.distance = sign * distance, .triangle = found->triangle};
            memcpy(narrow[i].place, found->point, sizeof narrow[i].place);
        }
    }
}

static sap_cli_exit write_answers(sap_cli* cli, closest_run* run) {
    static const sap_cli_field narrow[] = {
        {"x", "f4"}, {"y", "f4"}, {"z", "f4"}, {"distance", "f4"}, {"triangle", "i4"}};
    static const sap_cli_field wide[] = {{"x", "f8"}, {"y", "f8"}, {"z", "f8"}, {"distance", "f4"}, {"triangle", "i4"}};
    const sap_cli_records records = {run->answers, run->count, sap_cli_is_shifted(run->mesh.origin) ? wide : narrow, 5};
    fill_answers(run);
    return sap_cli_write_records(cli, cli->options->output, &records);
}

static void report(sap_cli* cli, const closest_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "closest");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "triangles", run->mesh.triangles);
    sap_cli_origin_json(&json, cli, run->mesh.origin);
    sap_json_int(&json, "queries", run->count);
    sap_cli_not_finite_json(&json, &run->rows);
    if (cli->options->inside) sap_json_int(&json, "inside", run->inside_count);
    sap_json_effort(&json, cli, run->read_seconds, run->mesh.build_seconds, "search", run->search_seconds);
    sap_json_close(&json, '}');
}

static void free_run(closest_run* run) {
    free(run->answers);
    free(run->inside);
    free(run->found);
    free(run->queries);
    sap_cli_points_free(&run->rows);
    sap_cli_mesh_tree_close(&run->mesh);
}

sap_cli_exit sap_cli_closest(sap_cli* cli) {
    closest_run run = {0};
    sap_cli_exit result = check_usage(cli);
    const double start = sap_cli_seconds();
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_tree_read(cli, cli->options->operands[0], &run.mesh);
    if (result == SAP_EXIT_OK) result = read_queries(cli, &run);
    run.read_seconds = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) result = search(cli, &run);
    if (result == SAP_EXIT_OK) result = write_answers(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->output && strcmp(cli->options->output, "-") != 0)
        sap_cli_note(cli, "the nearest points of %lld triangles to %lld queries, searched in %.3g s",
                     (long long)run.mesh.triangles, (long long)run.count, run.search_seconds);
    free_run(&run);
    return result;
}
