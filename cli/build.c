// sapwood build: points, or the triangles of a mesh, to a saved tree.
#include "input.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void report(sap_cli* cli, const sap_cli_reference* tree, double save_seconds) {
    const sap_tree_info* info = &tree->info;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "build");
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "points", info->count);
    sap_json_int(&json, "duplicates", info->duplicates);
    sap_cli_not_finite_json(&json, &tree->points);
    sap_json_int(&json, "dims", info->dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(info->real_bits));
    sap_json_text(&json, "split", sap_cli_split_name(info->options.split));
    if (info->options.split == SAP_SPLIT_VVH) sap_json_real(&json, "query_radius", info->options.query_radius, 64);
    sap_json_text(&json, "axis", sap_cli_axis_name(info->options.axis));
    sap_json_int(&json, "leaf_size", info->options.leaf_size);
    sap_cli_period_json(&json, info);
    sap_json_int(&json, "depth", info->depth);
    sap_json_int(&json, "bytes", (int64_t)info->bytes);
    sap_json_effort(&json, cli, tree->read_seconds, tree->build_seconds, "save", save_seconds);
    sap_json_close(&json, '}');
}

// ---- Over triangles

static void report_triangles(sap_cli* cli, const sap_mesh_tree_info* info, const double origin[3], double read,
                             double build, double save) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "build");
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "triangles", info->triangles);
    sap_cli_origin_json(&json, cli, origin);
    sap_json_text(&json, "quality", info->options.quality == SAP_QUALITY_HIGH ? "high" : "fast");
    sap_json_int(&json, "depth", info->depth);
    sap_json_int(&json, "bytes", (int64_t)info->bytes);
    sap_json_effort(&json, cli, read, build, "save", save);
    sap_json_close(&json, '}');
}

static sap_cli_exit build_over_triangles(sap_cli* cli, const char* path) {
    static const char* const of_points[] = {"precision",       "split",   "query-radius", "axis",           "leaf-size",
                                            "drop-duplicates", "columns", "member",       "drop-nonfinite", "period"};
    const char* output = cli->options->output;
    sap_mesh_file* mesh = NULL;
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info info;
    double start = sap_cli_seconds(), read = 0, build = 0;
    sap_cli_exit result =
        sap_cli_refuse_given(cli, of_points, sizeof of_points / sizeof *of_points, path, "taken as a mesh");
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_read(cli, path, &mesh);
    read = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_tree_build(cli, mesh->mesh, path, &tree, &build);
    if (result == SAP_EXIT_OK) {
        sap_cli_stage_begin(cli, "saving");
        sap_status status = sap_mesh_tree_save(tree, output);
        double save = sap_cli_stage_end(cli);
        if (status == SAP_OK) status = sap_mesh_tree_describe(tree, &info);
        if (status != SAP_OK) {
            result = sap_cli_failed(cli, status, output);
        } else {
            if (cli->options->json) report_triangles(cli, &info, mesh->origin, read, build, save);
            sap_cli_note(cli, "%lld triangles in a tree of depth %d, built in %.3g s: %s", (long long)info.triangles,
                         (int)info.depth, build, strcmp(output, "-") ? output : "standard output");
            if (sap_cli_is_shifted(mesh->origin))
                sap_cli_note(cli, "the tree does not keep its origin: search it with --origin %.15g,%.15g,%.15g",
                             mesh->origin[0], mesh->origin[1], mesh->origin[2]);
        }
    }
    sap_mesh_tree_free(tree);
    sap_mesh_file_free(mesh);
    return result;
}

// ---- The verb

sap_cli_exit sap_cli_build(sap_cli* cli) {
    const sap_cli_options* options = cli->options;
    const char* points = options->operands[0];
    sap_cli_reference tree;
    bool to_stdout = !strcmp(options->output, "-");
    const sap_cli_output output = {"-o", options->output};
    sap_cli_exit result = sap_cli_check_distinct(cli, &output, 1);
    if (result != SAP_EXIT_OK) return result;
    if (to_stdout && isatty(STDOUT_FILENO))
        return sap_cli_usage(cli,
                             "a saved tree is binary and cannot go to a terminal; give -o FILE, or -o - and a pipe");
    if (sap_format_of(options->output) != SAP_FORMAT_AUTO)
        return sap_cli_usage(cli, "-o %s: that suffix is of another format; end the name of a saved tree with .sap",
                             options->output);
    if (sap_cli_is_tree(cli, points)) return sap_cli_usage(cli, "%s is a saved tree already; give points", points);
    result = sap_cli_check_writable(cli, &output, 1);
    if (result != SAP_EXIT_OK) return result;
    if (options->triangles) return build_over_triangles(cli, points);
    static const char* const of_triangles[] = {"quality", "cost", "reach", "origin"};
    for (int i = 0; i < 4; i++)
        if (sap_cli_given(options, of_triangles[i]))
            return sap_cli_usage(cli, "--%s applies to trees over triangles; give --triangles too", of_triangles[i]);
    result = sap_cli_reference_open(cli, points, &tree);
    if (result != SAP_EXIT_OK) return result;
    sap_cli_stage_begin(cli, "saving");
    sap_status status = sap_tree_save(tree.tree, options->output);
    double seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) {
        result = sap_cli_failed(cli, status, options->output);
    } else {
        if (options->json) report(cli, &tree, seconds);
        sap_cli_note(cli, "%lld points in a tree of depth %d, built in %.3g s: %s", (long long)tree.info.count,
                     (int)tree.info.depth, tree.build_seconds, to_stdout ? "standard output" : options->output);
        if (tree.info.duplicates) sap_cli_note(cli, "%lld duplicates dropped", (long long)tree.info.duplicates);
    }
    sap_cli_reference_close(&tree);
    return result;
}
