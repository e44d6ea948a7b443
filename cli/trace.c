// sapwood trace: where rays first meet a mesh.
#include "file.h"
#include "input.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct trace_run {
    sap_mesh_file* file;
    sap_mesh_tree* tree;
    sap_point_set* rows;
    sap_ray* rays;
    sap_hit* hits;
    int64_t count, found, triangles;
    double read_seconds, build_seconds, trace_seconds;
} trace_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    sap_cli_exit result = sap_cli_check_distinct(cli, &(sap_cli_output){"-o", o->output}, 1);
    if (result != SAP_EXIT_OK) return result;
    if (!strcmp(o->operands[0], "-") && !strcmp(o->operands[1], "-"))
        return sap_cli_usage(cli, "only one of MESH and RAYS can be standard input");
    sap_format format = sap_cli_format_of(cli, o->output);
    if (format != SAP_FORMAT_NPY && format != SAP_FORMAT_CSV && format != SAP_FORMAT_XYZ)
        return sap_cli_usage(cli, "%s: hits are written as .npy, .csv or .xyz; give one of these, or --format",
                             o->output);
    return SAP_EXIT_OK;
}

static sap_cli_exit read_rays(sap_cli* cli, trace_run* run) {
    const char* path = cli->options->operands[1];
    sap_status status = sap_points_read(cli->device, path, SAP_FORMAT_AUTO, 32, &run->rows);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    int32_t columns = run->rows->dims;
    run->count = run->rows->count;
    if (columns != 6 && columns != 8 && run->count)
        return sap_cli_error(cli,
                             "%s: has %d columns; rays have 6 (origin, direction) or 8 (origin, t_min, direction, "
                             "t_max)",
                             path, (int)columns);
    run->rays = sap_cli_allocate(cli, run->count, sizeof *run->rays);
    run->hits = sap_cli_allocate(cli, run->count, sizeof *run->hits);
    if (!run->rays || !run->hits) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < run->count; i++) {
        const float* row = run->rows->coords + i * columns;
        const float* direction = row + (columns == 6 ? 3 : 4);
        sap_ray* ray = &run->rays[i];
        memcpy(ray->origin, row, sizeof ray->origin);
        memcpy(ray->direction, direction, sizeof ray->direction);
        ray->t_min = columns == 6 ? 0 : row[3];
        ray->t_max = columns == 6 ? INFINITY : row[7];
    }
    return SAP_EXIT_OK;
}

// Loads the saved tree, or reads the mesh.
static sap_cli_exit read_mesh(sap_cli* cli, trace_run* run) {
    static const char* const of_building[] = {"quality", "input-format"};
    const char* path = cli->options->operands[0];
    if (!sap_cli_is_mesh_tree(path)) return sap_cli_mesh_read(cli, path, &run->file);
    sap_cli_exit result = sap_cli_refuse_given(cli, of_building, 2, path, "a tree built already");
    if (result != SAP_EXIT_OK) return result;
    sap_cli_stage_begin(cli, "loading");
    sap_status status = sap_mesh_tree_load(cli->device, path, &run->tree);
    sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_tree_failed(cli, status, path);
}

static sap_cli_exit trace(sap_cli* cli, trace_run* run) {
    sap_mesh_tree_info info;
    if (!run->tree) {
        sap_cli_exit result =
            sap_cli_mesh_tree_build(cli, run->file->mesh, cli->options->operands[0], &run->tree, &run->build_seconds);
        if (result != SAP_EXIT_OK) return result;
    }
    sap_status status = sap_mesh_tree_describe(run->tree, &info);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    run->triangles = info.triangles;
    sap_cli_stage_begin(cli, "tracing");
    status = sap_trace(run->tree, run->rays, run->count, run->hits);
    run->trace_seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    for (int64_t i = 0; i < run->count; i++) run->found += run->hits[i].triangle >= 0;
    return SAP_EXIT_OK;
}

// ---- Writing.

// NumPy's structured arrays have the layout of sap_hit.
static void put_npy(FILE* stream, const trace_run* run) {
    char header[192];
    uint16_t one = 1;
    char order = *(unsigned char*)&one ? '<' : '>';
    int length = snprintf(header, sizeof header,
                          "{'descr': [('t', '%cf4'), ('u', '%cf4'), ('v', '%cf4'), ('triangle', '%ci4')], "
                          "'fortran_order': False, 'shape': (%lld,), }",
                          order, order, order, order, (long long)run->count);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; // the numbers begin at a multiple of 64
    const unsigned char start[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    fwrite(start, 1, sizeof start, stream);
    fprintf(stream, "%-*s\n", padded - 1, header);
    fwrite(run->hits, sizeof *run->hits, (size_t)run->count, stream);
}

static void put_text(FILE* stream, const trace_run* run, char between) {
    for (int64_t i = 0; i < run->count && !ferror(stream); i++) {
        const sap_hit* hit = &run->hits[i];
        fprintf(stream, "%s%c", sap_cli_real((double)hit->t, 32).text, between);
        fprintf(stream, "%s%c", sap_cli_real((double)hit->u, 32).text, between);
        fprintf(stream, "%s%c%d\n", sap_cli_real((double)hit->v, 32).text, between, (int)hit->triangle);
    }
}

static sap_cli_exit write_hits(sap_cli* cli, const trace_run* run) {
    const char* path = cli->options->output;
    sap_format format = sap_cli_format_of(cli, path);
    sap_cli_file file;
    if (!path && cli->options->json) return SAP_EXIT_OK;
    sap_cli_exit result = sap_cli_file_open(cli, path ? path : "-", &file);
    if (result != SAP_EXIT_OK) return result;
    if (format == SAP_FORMAT_NPY)
        put_npy(file.stream, run);
    else if (format == SAP_FORMAT_CSV)
        fputs("t,u,v,triangle\n", file.stream);
    if (format != SAP_FORMAT_NPY) put_text(file.stream, run, format == SAP_FORMAT_CSV ? ',' : ' ');
    return sap_cli_file_close(cli, &file);
}

static void report(sap_cli* cli, const trace_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "trace");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "triangles", run->triangles);
    sap_json_int(&json, "rays", run->count);
    sap_json_int(&json, "found", run->found);
    sap_json_effort(&json, cli, run->read_seconds, run->build_seconds, "trace", run->trace_seconds);
    sap_json_close(&json, '}');
}

static void free_run(trace_run* run) {
    free(run->hits);
    free(run->rays);
    sap_point_set_free(run->rows);
    sap_mesh_tree_free(run->tree);
    sap_mesh_file_free(run->file);
}

sap_cli_exit sap_cli_trace(sap_cli* cli) {
    trace_run run = {0};
    sap_cli_exit result = check_usage(cli);
    double start = sap_cli_seconds();
    if (result == SAP_EXIT_OK) result = read_mesh(cli, &run);
    if (result == SAP_EXIT_OK) result = read_rays(cli, &run);
    run.read_seconds = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) result = trace(cli, &run);
    if (result == SAP_EXIT_OK) result = write_hits(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->output && strcmp(cli->options->output, "-") != 0)
        sap_cli_note(cli, "%lld of %lld rays hit one of %lld triangles, traced in %.3g s", (long long)run.found,
                     (long long)run.count, (long long)run.triangles, run.trace_seconds);
    free_run(&run);
    return result;
}
