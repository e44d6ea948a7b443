// sapwood verify: the full check of a saved tree.
#include "input.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

// What is said of a sound tree.
typedef struct found {
    const char* what; // its entries
    int64_t count;
    int32_t depth;
} found;

static sap_status check(sap_cli* cli, const char* path, found* f) {
    sap_tree* tree = NULL;
    sap_tree_info info;
    sap_status status = sap_tree_load(cli->device, path, NULL, &tree);
    if (status == SAP_OK) status = sap_tree_verify(tree);
    if (status == SAP_OK) status = sap_tree_describe(tree, &info);
    if (status == SAP_OK) *f = (found){"points", info.count, info.depth};
    sap_tree_free(tree);
    return status;
}

static sap_status check_mesh_tree(sap_cli* cli, const char* path, found* f) {
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info info;
    sap_status status = sap_mesh_tree_load(cli->device, path, NULL, &tree);
    if (status == SAP_OK) status = sap_mesh_tree_verify(tree);
    if (status == SAP_OK) status = sap_mesh_tree_describe(tree, &info);
    if (status == SAP_OK) *f = (found){"triangles", info.triangles, info.depth};
    sap_mesh_tree_free(tree);
    return status;
}

static void report(sap_cli* cli, const char* path, const found* f, const char* error) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "verify");
    sap_json_text(&json, "file", path);
    sap_json_bool(&json, "sound", !error);
    if (error) {
        sap_json_text(&json, "error", error);
    } else {
        sap_json_int(&json, f->what, f->count);
        sap_json_int(&json, "depth", f->depth);
    }
    sap_json_processor(&json, cli);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_verify(sap_cli* cli) {
    const char* path = cli->options->operands[0];
    found f = {0};
    if (sap_cli_is_pipe(path)) return sap_cli_tree_from_pipe(cli);
    bool over_triangles = sap_cli_is_mesh_tree(path);
    sap_cli_stage_begin(cli, "verifying");
    sap_status status = over_triangles ? check_mesh_tree(cli, path, &f) : check(cli, path, &f);
    sap_cli_stage_end(cli);
    if (status != SAP_OK) {
        sap_cli_exit result = sap_cli_tree_failed(cli, status, path);
        if (status != SAP_ERROR_FORMAT && status != SAP_ERROR_RANGE) return result;
        if (cli->options->json) report(cli, path, &f, *cli->reason ? cli->reason : sap_status_string(status));
        return SAP_EXIT_UNSOUND;
    }
    if (cli->options->json) {
        report(cli, path, &f, NULL);
    } else {
        sap_cli_show(stdout, path);
        printf(": sound, %lld %s, depth %d\n", (long long)f.count, f.what, (int)f.depth);
    }
    return SAP_EXIT_OK;
}
