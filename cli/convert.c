// sapwood convert: points from one format to another.
#include "input.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static sap_cli_exit write_points(sap_cli* cli, const char* path, const sap_cli_points* points) {
    sap_table table = {.values = points->coords,
                       .rows = points->count,
                       .columns = points->dims,
                       .number = points->real_bits == 64 ? SAP_FLOAT64 : SAP_FLOAT32};
    return sap_cli_write(cli, path, &table, NULL);
}

static void report(sap_cli* cli, const sap_cli_points* points, const char* path) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "convert");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", path);
    sap_json_int(&json, "points", points->count);
    sap_json_int(&json, "dims", points->dims);
    sap_json_text(&json, "precision", sap_cli_precision_name(points->real_bits));
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_convert(sap_cli* cli) {
    const sap_cli_options* options = cli->options;
    const char* path = options->output;
    sap_cli_points points = {0};
    sap_cli_exit result = sap_cli_check_outputs(cli, &(sap_cli_output){"-o", path}, 1);
    if (result != SAP_EXIT_OK) return result;
    if (!path && options->json) return sap_cli_usage(cli, "--json needs -o FILE beside it");
    result = sap_cli_points_read(cli, options->operands[0], options->precision, &points);
    if (result == SAP_EXIT_OK) result = write_points(cli, path, &points);
    if (result == SAP_EXIT_OK && options->json) report(cli, &points, path);
    if (result == SAP_EXIT_OK && path && strcmp(path, "-"))
        sap_cli_note(cli, "%lld points: %s", (long long)points.count, path);
    sap_cli_points_free(&points);
    return result;
}
