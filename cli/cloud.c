// Points that are read, and written again with columns beside them.
#include "cloud.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sap_cli_exit sap_cli_cloud_check_outputs(sap_cli* cli, const sap_cli_output* outputs, int count) {
    const sap_cli_options* o = cli->options;
    if (o->format && o->json && !o->output) return sap_cli_usage(cli, "--format is for what -o writes; name a file");
    return sap_cli_check_outputs(cli, outputs, count);
}

sap_cli_exit sap_cli_cloud_check(sap_cli* cli, const sap_cli_output* outputs, int count) {
    const char* path = cli->options->operands[0];
    if (sap_cli_is_tree(cli, path))
        return sap_cli_usage(cli, "%s: is a saved tree; give the points that it was built from", path);
    return sap_cli_cloud_check_outputs(cli, outputs, count);
}

sap_cli_exit sap_cli_cloud_open(sap_cli* cli, sap_cli_cloud* cloud) {
    return sap_cli_reference_open(cli, cli->options->operands[0], &cloud->reference);
}

void sap_cli_cloud_close(sap_cli_cloud* cloud) { sap_cli_reference_close(&cloud->reference); }

static size_t bytes_of(const char* type) { return (size_t)(type[1] - '0'); }

// Where the numbers of a field lie: those of row i begin at first + i * stride.
typedef struct source {
    const unsigned char* first;
    size_t stride, bytes;
} source;

typedef struct table {
    sap_cli_field fields[SAP_MAX_DIMS + SAP_CLI_MOST_COLUMNS];
    source sources[SAP_MAX_DIMS + SAP_CLI_MOST_COLUMNS];
    char axes[SAP_MAX_DIMS][8];
    int count;
    size_t row_bytes;
} table;

static void add_field(table* t, const char* name, const char* type, const void* first, size_t stride) {
    t->fields[t->count] = (sap_cli_field){name, type};
    t->sources[t->count++] = (source){first, stride, bytes_of(type)};
    t->row_bytes += bytes_of(type);
}

static void lay_out(const sap_cli_points* points, const sap_cli_column* columns, int count, table* t) {
    const char* real = points->real_bits == 64 ? "f8" : "f4";
    const size_t bytes = bytes_of(real);
    for (int32_t a = 0; a < points->dims; a++) {
        snprintf(t->axes[a], sizeof t->axes[a], a < 3 ? "%c" : "c%d", a < 3 ? "xyz"[a] : (int)a);
        add_field(t, t->axes[a], real, (const unsigned char*)points->coords + (size_t)a * bytes,
                  (size_t)points->dims * bytes);
    }
    for (int c = 0; c < count; c++) {
        const size_t width = bytes_of(columns[c].type);
        for (int i = 0; i < columns[c].width; i++)
            add_field(t, columns[c].names[i], columns[c].type,
                      (const unsigned char*)columns[c].values + (size_t)i * width, (size_t)columns[c].width * width);
    }
}

sap_cli_exit sap_cli_cloud_write(sap_cli* cli, const sap_cli_cloud* cloud, const sap_cli_column* columns, int count,
                                 const uint8_t* keep) {
    const sap_cli_points* points = &cloud->reference.points;
    table t = {.count = 0};
    int64_t rows = 0;
    if (!cli->options->output && cli->options->json) return SAP_EXIT_OK;
    lay_out(points, columns, count, &t);
    for (int64_t i = 0; i < points->count; i++) rows += !keep || keep[i];
    unsigned char *packed = sap_cli_allocate(cli, rows, t.row_bytes), *at = packed;
    if (!packed) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < points->count; i++) {
        if (keep && !keep[i]) continue;
        for (int f = 0; f < t.count; f++) {
            memcpy(at, t.sources[f].first + (size_t)i * t.sources[f].stride, t.sources[f].bytes);
            at += t.sources[f].bytes;
        }
    }
    const sap_cli_records records = {packed, rows, t.fields, t.count};
    const sap_cli_exit result = sap_cli_write_records(cli, cli->options->output, &records);
    free(packed);
    return result;
}

void sap_cli_cloud_report_begin(sap_cli* cli, const sap_cli_cloud* cloud, sap_json* json) {
    const sap_cli_reference* reference = &cloud->reference;
    sap_json_open(json, NULL, '{');
    sap_json_text(json, "verb", sap_cli_verb_table[cli->options->verb].name);
    sap_json_int(json, "points", reference->info.source_count);
    sap_json_int(json, "dims", reference->info.dims);
    sap_json_text(json, "precision", sap_cli_precision_name(reference->info.real_bits));
    sap_cli_not_finite_json(json, &reference->points);
}

void sap_cli_cloud_report_end(sap_cli* cli, const sap_cli_cloud* cloud, sap_json* json) {
    const sap_cli_reference* reference = &cloud->reference;
    sap_json_text(json, "output", cli->options->output);
    sap_json_effort(json, cli, reference->read_seconds, reference->build_seconds, "search", cloud->work_seconds);
    sap_json_close(json, '}');
}
