// Points that are read, and written again with columns beside them.
#include "cloud.h"
#include "file.h"
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

// The set that is written, whose memory is one block.
typedef struct table {
    sap_point_set set;
    sap_field* fields;
    unsigned char* memory;
    size_t used;
} table;

size_t sap_cli_field_bytes(sap_field_type type) {
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return bytes[type];
}

static sap_field_type type_of(const char* type) {
    const bool wide = type[1] == '8';
    return type[0] == 'u' ? SAP_FIELD_U8 : type[0] == 'i' ? SAP_FIELD_I32 : wide ? SAP_FIELD_F64 : SAP_FIELD_F32;
}

static bool is_replaced(const char* name, const sap_cli_column* columns, int count) {
    for (int c = 0; c < count; c++)
        for (int i = 0; i < columns[c].width; i++)
            if (!strcmp(columns[c].names[i], name)) return true;
    return false;
}

// Copies the numbers of the rows: those of row i begin at first + i * stride.
static void* take_rows(table* t, const void* first, size_t bytes, size_t stride, sap_cli_rows rows) {
    unsigned char* to = t->memory + t->used;
    for (int64_t i = 0; i < rows.count; i++) {
        const int64_t row = rows.ids ? rows.ids[i] : i;
        memcpy(to + (size_t)i * bytes, (const unsigned char*)first + (size_t)row * stride, bytes);
    }
    t->used += ((size_t)rows.count * bytes + 15) / 16 * 16;
    return to;
}

static void add_field(table* t, const char* name, sap_field_type type, const void* first, size_t stride,
                      sap_cli_rows rows) {
    t->fields[t->set.field_count++] =
        (sap_field){name, type, take_rows(t, first, sap_cli_field_bytes(type), stride, rows)};
}

// How many bytes a row takes, and how many fields it has at most.
static size_t measure(const sap_cli_points* points, const sap_cli_column* columns, int count, int* fields) {
    size_t bytes = (size_t)points->dims * (size_t)points->real_bits / 8;
    *fields = points->field_count;
    for (int32_t f = 0; f < points->field_count; f++) bytes += sap_cli_field_bytes(points->fields[f].type);
    for (int c = 0; c < count; c++) {
        bytes += (size_t)columns[c].width * sap_cli_field_bytes(type_of(columns[c].type));
        *fields += columns[c].width;
    }
    return bytes;
}

static sap_cli_exit lay_out(sap_cli* cli, const sap_cli_points* points, const sap_cli_column* columns, int count,
                            sap_cli_rows rows, table* t) {
    int fields;
    const size_t row = measure(points, columns, count, &fields);
    t->fields = sap_cli_allocate(cli, fields + 1, sizeof *t->fields);
    t->memory = sap_cli_allocate(cli, rows.count + 16 * ((int64_t)fields + 1), row > 16 ? row : 16); // and what aligns
    if (!t->fields || !t->memory) return SAP_EXIT_FAILED;
    const size_t point = (size_t)points->dims * (size_t)points->real_bits / 8;
    const void* coords = take_rows(t, points->coords, point, point, rows);
    t->set.count = rows.count;
    t->set.dims = points->dims;
    t->set.real_bits = points->real_bits;
    if (points->real_bits == 64)
        t->set.coords_f64 = coords;
    else
        t->set.coords = coords;
    t->set.fields = t->fields;
    const sap_cli_rows of_fields = points->kept ? (sap_cli_rows){points->kept, points->count} : rows;
    for (int32_t f = 0; f < points->field_count; f++) {
        const sap_field* field = &points->fields[f];
        if (!is_replaced(field->name, columns, count))
            add_field(t, field->name, field->type, field->values, sap_cli_field_bytes(field->type), of_fields);
    }
    for (int c = 0; c < count; c++)
        for (int i = 0; i < columns[c].width; i++) {
            const sap_field_type type = type_of(columns[c].type);
            const unsigned char* first =
                (const unsigned char*)columns[c].values + (size_t)i * sap_cli_field_bytes(type);
            add_field(t, columns[c].names[i], type, first, (size_t)columns[c].width * sap_cli_field_bytes(type), rows);
        }
    if (points->set) {
        t->set.las = points->set->las;
        t->set.las_size = points->set->las_size;
    }
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_set_write(sap_cli* cli, const char* path, const sap_point_set* set) {
    const sap_format format = sap_cli_format_of(cli, path);
    const char* place;
    if (sap_cli_flush(cli) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    if (sap_cli_together_add(cli, path, &place) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "writing");
    const sap_status status = sap_points_write(cli->device, place ? place : "-", format, set, NULL);
    sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_together_failed(cli, status, path, place);
}

sap_cli_exit sap_cli_cloud_write_to(sap_cli* cli, const char* path, const sap_cli_points* points,
                                    const sap_cli_column* columns, int count, sap_cli_rows rows) {
    table t = {.used = 0};
    sap_cli_exit result = lay_out(cli, points, columns, count, rows, &t);
    if (result == SAP_EXIT_OK) result = sap_cli_set_write(cli, path, &t.set);
    free(t.memory);
    free(t.fields);
    return result;
}

sap_cli_exit sap_cli_cloud_write(sap_cli* cli, const sap_cli_points* points, const sap_cli_column* columns, int count,
                                 sap_cli_rows rows) {
    if (!cli->options->output && cli->options->json) return SAP_EXIT_OK;
    return sap_cli_cloud_write_to(cli, cli->options->output, points, columns, count, rows);
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
