// Reading meshes.
#include "input.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Whether the first lines of a file are the header of a PLY with faces. A pipe is not looked into: its bytes can be
// read only once.
static bool is_ply_with_faces(const char* path) {
    enum { MOST_LINES = 10000 };
    char line[256];
    bool faces = false;
    struct stat status;
    FILE* file = !stat(path, &status) && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    for (int i = 0; file && i < MOST_LINES && fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\r\n")] = 0;
        if (i == 0 ? strcmp(line, "ply") != 0 : !strcmp(line, "end_header")) break;
        long long count = 0;
        faces |= sscanf(line, "element face %lld", &count) == 1 && count > 0;
    }
    if (file) fclose(file);
    return faces;
}

bool sap_cli_is_mesh(const sap_cli* cli, const char* path) {
    sap_format format = cli->options->input_format;
    if (sap_cli_given(cli->options, "precision")) return sap_cli_holds_meshes_only(format);
    if (format == SAP_FORMAT_AUTO && sap_cli_holds_meshes_only(sap_format_of(path))) return true;
    if (format == SAP_FORMAT_AUTO || format == SAP_FORMAT_PLY) return is_ply_with_faces(path);
    return sap_cli_holds_meshes_only(format);
}

sap_cli_exit sap_cli_mesh_read(sap_cli* cli, const char* path, sap_mesh_file** mesh) {
    if (sap_cli_is_tree(cli, path)) return sap_cli_usage(cli, "%s is a saved tree; a mesh is needed here", path);
    sap_cli_stage_begin(cli, "reading");
    sap_status status = sap_mesh_read(cli->device, path, cli->options->input_format, NULL, mesh);
    double seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    sap_cli_detail(cli, "%s: %lld vertices, %lld triangles, read in %.3g s", path,
                   (long long)(*mesh)->mesh.vertex_count, (long long)(*mesh)->mesh.triangle_count, seconds);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_mesh_tree_build(sap_cli* cli, sap_mesh mesh, const char* path, sap_mesh_tree** tree,
                                     double* seconds) {
    sap_mesh_tree_options options = {.quality = cli->options->quality};
    sap_cli_stage_begin(cli, "building");
    sap_status status =
        *tree ? sap_mesh_tree_rebuild(*tree, mesh) : sap_mesh_tree_build(cli->device, mesh, &options, tree);
    *seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}
