// sapwood subdivide: a smoother mesh with more triangles.
#include "file.h"
#include "input.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct subdivide_run {
    sap_mesh_file* coarse;
    sap_mesh_file fine; // borrows the materials of the coarse one
    sap_subdivision* subdivision;
    int32_t* creases;
    int64_t crease_count;
    float *vertices, *normals, *colors;
    int32_t* material_ids;
    int32_t levels;
    sap_format format;
    double read, refine, write; // seconds
} subdivide_run;

static sap_cli_exit check_usage(sap_cli* cli, subdivide_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    const sap_cli_exit result = sap_cli_check_distinct(cli, &output, 1);
    if (result != SAP_EXIT_OK) return result;
    run->levels = sap_cli_given(o, "levels") ? o->levels : 1;
    run->format = o->format ? o->format : sap_format_of(o->output);
    if (!strcmp(o->output, "-") && !run->format) run->format = SAP_FORMAT_PLY;
    if (run->format == SAP_FORMAT_PLY || sap_cli_holds_meshes_only(run->format))
        return sap_cli_check_writable(cli, &output, 1);
    return sap_cli_usage(cli, "%s: unknown suffix of a mesh; use .ply, .obj, .stl, .off, or --format", o->output);
}

// ---- Creases

// A side of a triangle.
typedef struct side {
    int32_t low, high, triangle;
} side;

static int by_vertices(const void* left, const void* right) {
    const side *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->triangle < b->triangle ? -1 : 1;
}

// The normal of a triangle, of any length.
static void normal_of(const sap_mesh* mesh, int32_t triangle, double normal[3]) {
    const int32_t* corners = mesh->triangles + 3 * (int64_t)triangle;
    const float *a = mesh->vertices + 3 * (int64_t)corners[0], *b = mesh->vertices + 3 * (int64_t)corners[1],
                *c = mesh->vertices + 3 * (int64_t)corners[2];
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = (double)b[i] - (double)a[i];
        v[i] = (double)c[i] - (double)a[i];
    }
    for (int i = 0; i < 3; i++) normal[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
}

// The angle between two triangles, in degrees: 0 where they lie in one plane; 0 too where one has no area.
static double angle_between(const sap_mesh* mesh, int32_t a, int32_t b) {
    double m[3], n[3], dot = 0, cross = 0;
    normal_of(mesh, a, m);
    normal_of(mesh, b, n);
    for (int i = 0; i < 3; i++) {
        const double part = m[(i + 1) % 3] * n[(i + 2) % 3] - m[(i + 2) % 3] * n[(i + 1) % 3];
        dot += m[i] * n[i];
        cross += part * part;
    }
    return atan2(sqrt(cross), dot) * 180 / 3.14159265358979323846;
}

static sap_cli_exit find_creases(sap_cli* cli, subdivide_run* run) {
    const sap_mesh* mesh = &run->coarse->mesh;
    const int64_t count = 3 * mesh->triangle_count;
    if (!sap_cli_given(cli->options, "creases")) return SAP_EXIT_OK;
    side* sides = sap_cli_allocate(cli, count, sizeof *sides);
    run->creases = sap_cli_allocate(cli, count, 2 * sizeof *run->creases);
    if (!sides || !run->creases) {
        free(sides);
        return SAP_EXIT_FAILED;
    }
    for (int64_t i = 0; i < count; i++) {
        const int32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
        sides[i] = (side){a < b ? a : b, a < b ? b : a, (int32_t)(i / 3)};
    }
    if (count) qsort(sides, (size_t)count, sizeof *sides, by_vertices);
    for (int64_t i = 1; i < count; i++) {
        const side *a = &sides[i - 1], *b = &sides[i];
        if (a->low != b->low || a->high != b->high) continue;
        if (!(angle_between(mesh, a->triangle, b->triangle) > cli->options->creases)) continue;
        run->creases[2 * run->crease_count] = a->low;
        run->creases[2 * run->crease_count++ + 1] = a->high;
    }
    free(sides);
    return SAP_EXIT_OK;
}

// ---- The refined mesh

static sap_cli_exit allocate(sap_cli* cli, subdivide_run* run) {
    const int64_t vertices = run->subdivision->vertex_count, triangles = run->subdivision->triangle_count;
    run->vertices = sap_cli_allocate(cli, vertices, 3 * sizeof *run->vertices);
    run->normals = sap_cli_allocate(cli, vertices, 3 * sizeof *run->normals);
    run->colors = sap_cli_allocate(cli, run->coarse->colors ? vertices : 0, 3 * sizeof *run->colors);
    run->material_ids = sap_cli_allocate(cli, run->coarse->material_ids ? triangles : 0, sizeof *run->material_ids);
    return run->vertices && run->normals && run->colors && run->material_ids ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

static void fill(subdivide_run* run) {
    const sap_mesh_file* coarse = run->coarse;
    const sap_subdivision* s = run->subdivision;
    run->fine = *coarse;
    run->fine.mesh = (sap_mesh){run->vertices, s->vertex_count, s->triangles, s->triangle_count};
    run->fine.normals = run->normals;
    if (coarse->colors) run->fine.colors = run->colors;
    if (!coarse->material_ids) return;
    for (int64_t t = 0; t < s->triangle_count; t++) run->material_ids[t] = coarse->material_ids[t >> 2 * run->levels];
    run->fine.material_ids = run->material_ids;
}

static sap_cli_exit refine(sap_cli* cli, subdivide_run* run) {
    const sap_cli_options* o = cli->options;
    const sap_mesh_file* coarse = run->coarse;
    const sap_subdivision_options options = {.creases = run->creases,
                                             .crease_count = run->crease_count,
                                             .border = o->keep_tips ? SAP_BORDER_CORNERS : SAP_BORDER_SMOOTH,
                                             .limit = o->to_limit};
    sap_cli_stage_begin(cli, "subdividing");
    sap_status status = sap_subdivision_create(cli->device, coarse->mesh.triangles, coarse->mesh.triangle_count,
                                               coarse->mesh.vertex_count, run->levels, &options, &run->subdivision);
    sap_cli_exit result = status == SAP_OK ? allocate(cli, run) : SAP_EXIT_OK;
    if (status == SAP_OK && result == SAP_EXIT_OK)
        status = sap_mesh_subdivide(run->subdivision, coarse->mesh.vertices, run->vertices, run->normals);
    if (status == SAP_OK && result == SAP_EXIT_OK && coarse->colors)
        status = sap_mesh_subdivide(run->subdivision, coarse->colors, run->colors, NULL);
    run->refine = sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, o->operands[0]);
    if (result == SAP_EXIT_OK) fill(run);
    return result;
}

static sap_cli_exit write_mesh(sap_cli* cli, subdivide_run* run) {
    const char* path = cli->options->output;
    if (sap_cli_flush(cli) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "writing");
    const sap_status status = sap_mesh_write(cli->device, path, run->format, &run->fine, NULL);
    run->write = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}

// ---- What is said of it

static void report(const sap_cli* cli, const subdivide_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "subdivide");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "levels", run->levels);
    sap_json_int(&json, "creases", run->crease_count);
    sap_json_int(&json, "vertices", run->fine.mesh.vertex_count);
    sap_json_int(&json, "triangles", run->fine.mesh.triangle_count);
    sap_cli_origin_json(&json, cli, run->fine.origin);
    sap_json_processor(&json, cli);
    sap_json_open(&json, "seconds", '{');
    sap_json_real(&json, "read", run->read, 32);
    sap_json_real(&json, "subdivide", run->refine, 32);
    sap_json_real(&json, "write", run->write, 32);
    sap_json_close(&json, '}');
    sap_json_close(&json, '}');
}

static void note(sap_cli* cli, const subdivide_run* run) {
    const char* path = cli->options->output;
    if (run->creases) sap_cli_note(cli, "%lld edges are creases", (long long)run->crease_count);
    sap_cli_note(cli, "%lld triangles became %lld, with %lld vertices, in %.3g s%s%s",
                 (long long)run->coarse->mesh.triangle_count, (long long)run->fine.mesh.triangle_count,
                 (long long)run->fine.mesh.vertex_count, run->refine, strcmp(path, "-") ? ": " : "",
                 strcmp(path, "-") ? path : "");
}

static void free_run(subdivide_run* run) {
    free(run->creases);
    free(run->vertices);
    free(run->normals);
    free(run->colors);
    free(run->material_ids);
    sap_subdivision_free(run->subdivision);
    sap_mesh_file_free(run->coarse);
}

sap_cli_exit sap_cli_subdivide(sap_cli* cli) {
    subdivide_run run = {0};
    sap_cli_exit result = check_usage(cli, &run);
    const double start = sap_cli_seconds();
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_read(cli, cli->options->operands[0], &run.coarse);
    run.read = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK && !run.coarse->mesh.triangle_count)
        result = sap_cli_error(cli, "%s: has no triangles to subdivide", cli->options->operands[0]);
    if (result == SAP_EXIT_OK) result = find_creases(cli, &run);
    if (result == SAP_EXIT_OK) result = refine(cli, &run);
    if (result == SAP_EXIT_OK) result = write_mesh(cli, &run);
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK) note(cli, &run);
    free_run(&run);
    return result;
}
