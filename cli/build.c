// sapwood build: points to a saved tree.
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
    sap_json_int(&json, "dims", info->dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(info->real_bits));
    sap_json_text(&json, "split", sap_cli_split_name(info->options.split));
    sap_json_text(&json, "axis", sap_cli_axis_name(info->options.axis));
    sap_json_int(&json, "leaf_size", info->options.leaf_size);
    sap_json_int(&json, "depth", info->depth);
    sap_json_int(&json, "bytes", (int64_t)info->bytes);
    sap_json_processor(&json, cli);
    sap_json_open(&json, "seconds", '{');
    sap_json_real(&json, "read", tree->read_seconds, 32);
    sap_json_real(&json, "build", tree->build_seconds, 32);
    sap_json_real(&json, "save", save_seconds, 32);
    sap_json_close(&json, '}');
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_build(sap_cli* cli) {
    const sap_cli_options* options = cli->options;
    const char* points = options->operands[0];
    sap_cli_reference tree;
    bool to_stdout = !strcmp(options->output, "-");
    sap_cli_exit result = sap_cli_check_distinct(cli, &(sap_cli_output){"-o", options->output}, 1);
    if (result != SAP_EXIT_OK) return result;
    if (to_stdout && isatty(STDOUT_FILENO))
        return sap_cli_usage(cli, "a tree is no text for a terminal; give -o a file's name, or a pipe to '-'");
    if (sap_cli_is_tree(cli, points)) return sap_cli_usage(cli, "%s is a saved tree already; give points", points);
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
