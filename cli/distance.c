// sapwood distance: points with how far they are from others or from a mesh.
#include "cloud.h"
#include "mesh_tree.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct distance_run {
    sap_cli_cloud cloud;         // QUERIES, of which no tree is made unless --both is given
    sap_cli_reference reference; // a cloud, or
    sap_cli_mesh_tree mesh;      // a mesh
    float* near_mesh;            // QUERIES from the origin of the mesh
    double* distances;
    sap_comparison found; // without --both only `forth`
    double read_seconds;
} distance_run;

static bool is_mesh(sap_cli* cli) {
    const char* path = cli->options->operands[0];
    return sap_cli_is_mesh_tree(path) || (!sap_cli_is_tree(cli, path) && sap_cli_is_mesh(cli, path));
}

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->radius == 0) return sap_cli_usage(cli, "--radius must be above 0");
    const sap_cli_exit result = sap_cli_check_inputs(cli);
    return result == SAP_EXIT_OK ? sap_cli_cloud_check_outputs(cli, &output, 1) : result;
}

// Options that are for one of the two kinds of REFERENCE.
static sap_cli_exit check_kind(sap_cli* cli, bool mesh) {
    static const char* const of_points[] = {"both",      "split",  "query-radius",   "axis",
                                            "leaf-size", "period", "drop-nonfinite", "member"};
    static const char* const of_meshes[] = {"signed", "origin"};
    const char* path = cli->options->operands[0];
    return mesh ? sap_cli_refuse_given(cli, of_points, sizeof of_points / sizeof *of_points, path, "a mesh")
                : sap_cli_refuse_given(cli, of_meshes, sizeof of_meshes / sizeof *of_meshes, path, "no mesh");
}

// What the writer of clouds looks at.
static void take_queries(distance_run* run, const sap_cli_points* queries) {
    run->cloud.reference.points = *queries;
    run->cloud.reference.info.source_count = queries->count;
    run->cloud.reference.info.dims = queries->dims;
    run->cloud.reference.info.real_bits = queries->real_bits;
}

static sap_cli_exit open_points(sap_cli* cli, distance_run* run) {
    sap_cli_points queries = {0};
    const sap_cli_options* o = cli->options;
    const sap_cli_exit result = sap_cli_inputs_open(cli, o->operands[0], o->operands[1], &run->reference, &queries);
    take_queries(run, &queries);
    run->read_seconds = run->reference.read_seconds;
    return result;
}

static sap_cli_exit open_mesh(sap_cli* cli, distance_run* run) {
    const char* path = cli->options->operands[1];
    sap_cli_points queries = {0};
    const double start = sap_cli_seconds();
    sap_cli_exit result = sap_cli_mesh_tree_read(cli, cli->options->operands[0], &run->mesh);
    if (result == SAP_EXIT_OK) result = sap_cli_points_read(cli, path, cli->options->precision, &queries);
    if (result == SAP_EXIT_OK) sap_cli_queries_look(cli, path, &queries);
    take_queries(run, &queries);
    run->read_seconds = sap_cli_seconds() - start;
    if (result != SAP_EXIT_OK) return result;
    if (queries.dims != 3 && queries.count)
        return sap_cli_error(cli, "%s: has %d columns; points near a mesh have 3; --query-columns chooses them", path,
                             (int)queries.dims);
    run->near_mesh = sap_cli_allocate(cli, queries.count, 3 * sizeof *run->near_mesh);
    if (!run->near_mesh) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < 3 * queries.count; i++)
        run->near_mesh[i] = (float)(sap_cli_number_at(&queries, i) - run->mesh.origin[i % 3]);
    return sap_cli_mesh_tree_ready(cli, cli->options->operands[0], &run->mesh);
}

static sap_status measure(const distance_run* run, const sap_distance_options* options, sap_comparison* found) {
    const sap_cli_points* queries = &run->cloud.reference.points;
    const sap_tree *to = run->reference.tree, *from = run->cloud.reference.tree;
    if (run->mesh.tree)
        return sap_cloud_distance_mesh(run->mesh.tree, (sap_points){run->near_mesh, queries->count, 3, 0}, options,
                                       run->distances, &found->forth);
    if (from) return sap_cloud_compare(from, to, options, run->distances, NULL, found);
    return queries->real_bits == 64
               ? sap_cloud_distance_f64(to, sap_cli_f64(queries), options, run->distances, &found->forth)
               : sap_cloud_distance(to, sap_cli_f32(queries), options, run->distances, &found->forth);
}

// Says why a call failed, and of which file: the library's sentence says so where it is about REFERENCE.
static sap_cli_exit failed(sap_cli* cli, sap_status status) {
    const bool is_reference = !strncmp(cli->reason, "tree", strlen("tree"));
    return sap_cli_failed(cli, status, cli->options->operands[!is_reference]);
}

static sap_cli_exit find(sap_cli* cli, distance_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_reference* asking = &run->cloud.reference;
    const sap_distance_options options = {
        .radius = o->radius > 0 ? o->radius : 0, .quantile = o->quantile, .is_signed = o->is_signed};
    run->distances = sap_cli_allocate(cli, asking->points.count, sizeof(double));
    if (!run->distances) return SAP_EXIT_FAILED;
    if (o->both) {
        const sap_cli_exit result =
            sap_cli_tree_build_beside(cli, &asking->points, o->operands[1], run->reference.tree, &asking->tree);
        if (result != SAP_EXIT_OK) return result;
    }
    sap_cli_stage_begin(cli, "measuring");
    const sap_status status = measure(run, &options, &run->found);
    run->cloud.work_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : failed(cli, status);
}

// A number that is made of distances: null where there are none.
static void report_real(sap_json* json, const char* key, double value, bool found) {
    sap_json_real(json, key, found ? value : (double)NAN, 64);
}

static void report_info(const sap_cli_options* o, sap_json* json, const sap_distance_info* info) {
    const bool found = info->count > 0;
    sap_json_int(json, "counted", info->count);
    report_real(json, "mean", info->mean, found);
    report_real(json, "root_mean_square", sqrt(info->mean_square), found);
    if (o->is_signed) report_real(json, "bias", info->bias, found);
    if (sap_cli_given(o, "quantile")) report_real(json, "quantile", info->quantile, found);
    report_real(json, "greatest", info->greatest, found);
    sap_json_int(json, "farthest", info->farthest);
}

static void report(sap_cli* cli, distance_run* run) {
    const sap_cli_options* o = cli->options;
    sap_json json = {0};
    sap_cli_cloud_report_begin(cli, &run->cloud, &json);
    sap_json_text(&json, "reference", o->operands[0]);
    if (run->mesh.tree) sap_cli_origin_json(&json, cli, run->mesh.origin);
    report_info(o, &json, &run->found.forth);
    if (o->both) {
        const bool found = run->found.forth.count > 0 && run->found.back.count > 0;
        sap_json_open(&json, "back", '{');
        report_info(o, &json, &run->found.back);
        sap_json_close(&json, '}');
        report_real(&json, "hausdorff", run->found.hausdorff, found);
        report_real(&json, "chamfer", run->found.chamfer, found);
        report_real(&json, "chamfer_square", run->found.chamfer_square, found);
    }
    run->cloud.reference.read_seconds = run->read_seconds;
    run->cloud.reference.build_seconds = run->mesh.tree ? run->mesh.build_seconds : run->reference.build_seconds;
    sap_cli_cloud_report_end(cli, &run->cloud, &json);
}

static void tell(sap_cli* cli, const distance_run* run) {
    const sap_distance_info* info = &run->found.forth;
    const long long counted = info->count, all = run->cloud.reference.points.count;
    if (!counted) {
        sap_cli_note(cli, "none of %lld points has a distance", all);
        return;
    }
    if (cli->options->both && run->found.back.count)
        sap_cli_note(cli, "Hausdorff distance %.6g, chamfer distance %.6g", run->found.hausdorff, run->found.chamfer);
    sap_cli_note(cli, "%lld of %lld points have a distance: mean %.6g, greatest %.6g, found in %.3g s", counted, all,
                 info->mean, info->greatest, run->cloud.work_seconds);
}

static void free_run(distance_run* run) {
    free(run->distances);
    free(run->near_mesh);
    sap_cli_mesh_tree_close(&run->mesh);
    sap_cli_reference_close(&run->reference);
    sap_cli_cloud_close(&run->cloud);
}

sap_cli_exit sap_cli_distance(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    distance_run run = {.distances = NULL};
    sap_cli_exit result = check_usage(cli);
    const bool mesh = result == SAP_EXIT_OK && is_mesh(cli);
    if (result == SAP_EXIT_OK) result = check_kind(cli, mesh);
    if (result == SAP_EXIT_OK) result = mesh ? open_mesh(cli, &run) : open_points(cli, &run);
    if (result == SAP_EXIT_OK) result = find(cli, &run);
    if (result == SAP_EXIT_OK) {
        const sap_cli_column column = {{"distance"}, "f8", run.distances, 1};
        const sap_cli_points* points = &run.cloud.reference.points;
        result = sap_cli_cloud_write(cli, points, &column, 1, sap_cli_all_rows(points));
    }
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && o->output && strcmp(o->output, "-") != 0) tell(cli, &run);
    free_run(&run);
    return result;
}
