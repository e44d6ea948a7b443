// The tree over triangles that a verb searches.
#include "mesh_tree.h"

#include <string.h>

sap_cli_exit sap_cli_mesh_tree_read(sap_cli* cli, const char* path, sap_cli_mesh_tree* mesh) {
    static const char* const of_building[] = {"quality", "cost", "reach", "input-format"};
    if (!sap_cli_is_mesh_tree(path)) {
        const sap_cli_exit result = sap_cli_mesh_read(cli, path, &mesh->file);
        if (result == SAP_EXIT_OK) memcpy(mesh->origin, mesh->file->origin, sizeof mesh->origin);
        return result;
    }
    const sap_cli_exit result = sap_cli_refuse_given(cli, of_building, 4, path, "a tree built already");
    if (result != SAP_EXIT_OK) return result;
    if (cli->options->find_origin)
        return sap_cli_usage(
            cli, "%s is a saved tree, which does not keep its origin; give --origin X,Y,Z, as build said", path);
    memcpy(mesh->origin, cli->options->origin, sizeof mesh->origin);
    sap_cli_stage_begin(cli, "loading");
    const sap_status status = sap_mesh_tree_load(cli->device, path, NULL, &mesh->tree);
    sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_tree_failed(cli, status, path);
}

sap_cli_exit sap_cli_mesh_tree_ready(sap_cli* cli, const char* path, sap_cli_mesh_tree* mesh) {
    sap_mesh_tree_info info;
    if (!mesh->tree) {
        const sap_cli_exit result =
            sap_cli_mesh_tree_build(cli, mesh->file->mesh, path, &mesh->tree, &mesh->build_seconds);
        if (result != SAP_EXIT_OK) return result;
    }
    const sap_status status = sap_mesh_tree_describe(mesh->tree, &info);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    mesh->triangles = info.triangles;
    return SAP_EXIT_OK;
}

void sap_cli_mesh_tree_close(sap_cli_mesh_tree* mesh) {
    sap_mesh_tree_free(mesh->tree);
    sap_mesh_file_free(mesh->file);
}
