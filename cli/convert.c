// sapwood convert: points or a mesh from one format to another.
#include "cloud.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static sap_cli_exit write_points(sap_cli* cli, const sap_cli_points* points) {
    return sap_cli_cloud_write(cli, points, NULL, 0, sap_cli_all_rows(points));
}

static sap_cli_exit write_mesh(sap_cli* cli, const char* path, sap_format format, const sap_mesh_file* mesh) {
    if (sap_cli_flush(cli) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "writing");
    sap_status status = sap_mesh_write(cli->device, path ? path : "-", format, mesh, NULL);
    sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}

static void open_report(const sap_cli* cli, sap_json* json, const char* path) {
    sap_json_open(json, NULL, '{');
    sap_json_text(json, "verb", "convert");
    sap_json_text(json, "input", cli->options->operands[0]);
    sap_json_text(json, "output", path);
}

static void report_points(sap_cli* cli, const sap_cli_points* points, const char* path) {
    sap_json json = {0};
    if (path && strcmp(path, "-") != 0) sap_cli_note(cli, "%lld points: %s", (long long)points->count, path);
    if (!cli->options->json) return;
    open_report(cli, &json, path);
    sap_json_int(&json, "points", points->count);
    sap_json_int(&json, "dims", points->dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(points->real_bits));
    sap_json_close(&json, '}');
}

static void report_mesh(sap_cli* cli, const sap_mesh_file* mesh, const char* path) {
    sap_json json = {0};
    if (path && strcmp(path, "-") != 0)
        sap_cli_note(cli, "%lld vertices, %lld triangles: %s", (long long)mesh->mesh.vertex_count,
                     (long long)mesh->mesh.triangle_count, path);
    if (!cli->options->json) return;
    open_report(cli, &json, path);
    sap_json_int(&json, "vertices", mesh->mesh.vertex_count);
    sap_json_int(&json, "triangles", mesh->mesh.triangle_count);
    sap_json_int(&json, "materials", mesh->material_count);
    sap_cli_origin_json(&json, cli, mesh->origin);
    sap_json_close(&json, '}');
}

static sap_cli_exit convert_points(sap_cli* cli, const char* path) {
    sap_cli_points points = {0};
    sap_cli_exit result = sap_cli_points_read(cli, cli->options->operands[0], cli->options->precision, &points);
    if (result == SAP_EXIT_OK) result = sap_cli_points_drop(cli, cli->options->operands[0], &points);
    if (result == SAP_EXIT_OK) result = write_points(cli, &points);
    if (result == SAP_EXIT_OK) report_points(cli, &points, path);
    sap_cli_points_free(&points);
    return result;
}

// Of a mesh the vertices are points, where the format holds no meshes.
static sap_cli_exit convert_mesh(sap_cli* cli, const char* path) {
    sap_format format = sap_cli_format_of(cli, path);
    sap_mesh_file* mesh = NULL;
    sap_cli_exit result = sap_cli_mesh_read(cli, cli->options->operands[0], &mesh);
    if (result != SAP_EXIT_OK) return result;
    if (format == SAP_FORMAT_PLY || sap_cli_holds_meshes_only(format)) {
        result = write_mesh(cli, path, format, mesh);
        if (result == SAP_EXIT_OK) report_mesh(cli, mesh, path);
    } else {
        sap_cli_points vertices = {0};
        result = sap_cli_vertices(cli, mesh, &vertices);
        if (result == SAP_EXIT_OK) result = write_points(cli, &vertices);
        if (result == SAP_EXIT_OK) report_points(cli, &vertices, path);
        sap_cli_points_free(&vertices);
    }
    sap_mesh_file_free(mesh);
    return result;
}

sap_cli_exit sap_cli_convert(sap_cli* cli) {
    const sap_cli_options* options = cli->options;
    const char *path = options->output, *input = options->operands[0];
    sap_cli_exit result = sap_cli_check_outputs(cli, &(sap_cli_output){"-o", path}, 1);
    if (result != SAP_EXIT_OK) return result;
    if (!path && options->json) return sap_cli_usage(cli, "--json needs -o FILE too");
    sap_format format = sap_cli_format_of(cli, path);
    bool to_mesh = sap_cli_holds_meshes_only(format);
    if (sap_cli_is_tree(cli, input)) return convert_points(cli, path); // which says what is wrong
    bool from_mesh = sap_cli_is_mesh(cli, input);
    bool only_mesh = sap_cli_holds_meshes_only(options->input_format) ||
                     sap_cli_holds_meshes_only(sap_format_of(input)) ||
                     sap_cli_holds_meshes_only(sap_cli_mesh_seen(cli, input));
    if (sap_cli_given(options, "precision") && (to_mesh || only_mesh))
        return sap_cli_usage(cli, "--precision is for points; the vertices of meshes are float32");
    if ((options->columns || options->member) && (to_mesh || only_mesh))
        return sap_cli_usage(cli, "--%s is for points, not for meshes", options->columns ? "columns" : "member");
    // A PLY gives points of any precision to formats of points.
    bool as_mesh = to_mesh || only_mesh || (from_mesh && format == SAP_FORMAT_PLY);
    if (as_mesh && options->drop_nonfinite) return sap_cli_usage(cli, "--drop-nonfinite is for points, not for meshes");
    if (!as_mesh && sap_cli_given(options, "origin"))
        return sap_cli_usage(cli, "--origin is for meshes, not for points");
    return as_mesh ? convert_mesh(cli, path) : convert_points(cli, path);
}
