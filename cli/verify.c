// sapwood verify: the full check of a saved tree.
#include "input.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static sap_cli_exit unsound(sap_cli* cli, const char* path, sap_status status) {
    sap_cli_exit result = sap_cli_tree_failed(cli, status, path);
    if (status != SAP_ERROR_FORMAT && status != SAP_ERROR_RANGE) return result;
    if (cli->options->json) {
        sap_json json = {0};
        sap_json_open(&json, NULL, '{');
        sap_json_text(&json, "verb", "verify");
        sap_json_text(&json, "file", path);
        sap_json_bool(&json, "sound", false);
        sap_json_text(&json, "error", *cli->reason ? cli->reason : sap_status_string(status));
        sap_json_processor(&json, cli);
        sap_json_close(&json, '}');
    }
    return SAP_EXIT_UNSOUND;
}

sap_cli_exit sap_cli_verify(sap_cli* cli) {
    const char* path = cli->options->operands[0];
    sap_tree* tree = NULL;
    sap_tree_info info;
    if (sap_cli_is_pipe(path)) return sap_cli_tree_from_pipe(cli);
    sap_cli_stage_begin(cli, "verifying");
    sap_status status = sap_tree_load(cli->device, path, &tree);
    if (status == SAP_OK) status = sap_tree_verify(tree);
    sap_cli_stage_end(cli);
    if (status != SAP_OK) {
        sap_tree_free(tree);
        return unsound(cli, path, status);
    }
    sap_tree_describe(tree, &info);
    if (cli->options->json) {
        sap_json json = {0};
        sap_json_open(&json, NULL, '{');
        sap_json_text(&json, "verb", "verify");
        sap_json_text(&json, "file", path);
        sap_json_bool(&json, "sound", true);
        sap_json_int(&json, "points", info.count);
        sap_json_int(&json, "depth", info.depth);
        sap_json_processor(&json, cli);
        sap_json_close(&json, '}');
    } else {
        sap_cli_show(stdout, path);
        printf(": sound, %lld points, depth %d\n", (long long)info.count, (int)info.depth);
    }
    sap_tree_free(tree);
    return SAP_EXIT_OK;
}
