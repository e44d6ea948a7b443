// Loading a saved tree beside building it again: checked, as files from elsewhere should be, and trusted.
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct load_state {
    sap_device* device;
    sap_points points;
    sap_mesh mesh; // without triangles: trees over points
    sap_quality quality;
    sap_load_options how;
    char path[1024];
} load_state;

static void build_pass(void* state) {
    const load_state* s = state;
    sap_tree* tree = NULL;
    sap_mesh_tree* mesh_tree = NULL;
    if (s->mesh.triangle_count)
        bench_check(
            sap_mesh_tree_build(s->device, s->mesh, &(sap_mesh_tree_options){.quality = s->quality}, &mesh_tree),
            "sap_mesh_tree_build");
    else
        bench_check(sap_tree_build(s->device, s->points, NULL, &tree), "sap_tree_build");
    sap_tree_free(tree);
    sap_mesh_tree_free(mesh_tree);
}

static void load_pass(void* state) {
    const load_state* s = state;
    sap_tree* tree = NULL;
    sap_mesh_tree* mesh_tree = NULL;
    if (s->mesh.triangle_count)
        bench_check(sap_mesh_tree_load(s->device, s->path, &s->how, &mesh_tree), "sap_mesh_tree_load");
    else
        bench_check(sap_tree_load(s->device, s->path, &s->how, &tree), "sap_tree_load");
    sap_tree_free(tree);
    sap_mesh_tree_free(mesh_tree);
}

static void save(const load_state* s) {
    sap_tree* tree = NULL;
    sap_mesh_tree* mesh_tree = NULL;
    if (s->mesh.triangle_count) {
        bench_check(
            sap_mesh_tree_build(s->device, s->mesh, &(sap_mesh_tree_options){.quality = s->quality}, &mesh_tree),
            "sap_mesh_tree_build");
        bench_check(sap_mesh_tree_save(mesh_tree, s->path), "sap_mesh_tree_save");
    } else {
        bench_check(sap_tree_build(s->device, s->points, NULL, &tree), "sap_tree_build");
        bench_check(sap_tree_save(tree, s->path), "sap_tree_save");
    }
    sap_tree_free(tree);
    sap_mesh_tree_free(mesh_tree);
}

static void load_rows(bench_run* run, const load_state* given, const char* name, const char* text) {
    load_state checked = *given;
    snprintf(checked.path, sizeof checked.path, "%s/load.sap", run->options->out);
    save(&checked);
    load_state trusted = checked;
    trusted.how.trust = true;
    bench_side sides[3] = {{.pass = load_pass, .state = &checked},
                           {.pass = load_pass, .state = &trusted},
                           {.pass = build_pass, .state = &checked}};
    static const char* const who[3] = {"load", "trust", "build"};
    bench_take_turns(sides, 3, run->options);
    for (int i = 0; i < 2; i++) {
        char key[64], work[96];
        snprintf(key, sizeof key, "load-%s%s", name, i ? "-trust" : "");
        snprintf(work, sizeof work, "%s %s", i ? "load and trust" : "load and check", text);
        const bench_row row = {.key = key,
                               .work = work,
                               .versus = "building",
                               .unit = BENCH_SECONDS,
                               .subject = bench_median(&sides[i]),
                               .rival = bench_median(&sides[2]),
                               .target = i ? 20 : 10.0 / 3};
        bench_report_row(run->report, &row);
        bench_report_samples(run->report, key, who[i], &sides[i]);
        if (!i) bench_report_samples(run->report, key, who[2], &sides[2]);
    }
    remove(checked.path);
}

// A gyroid of one period in side^3 samples, as a mesh of about 2.3 side^2 vertices and twice as many triangles.
static sap_isosurface* make_surface(sap_device* device, int side) {
    float* values = bench_memory((size_t)side * (size_t)side * (size_t)side, sizeof *values);
    const double step = 6.283185307179586 / side;
    for (int64_t i = 0; i < (int64_t)side * side * side; i++) {
        const double x = step * (double)(i % side), y = step * (double)(i / side % side),
                     z = step * (double)(i / side / side);
        values[i] = (float)(sin(x) * cos(y) + sin(y) * cos(z) + sin(z) * cos(x));
    }
    sap_isosurface* surface = NULL;
    bench_check(
        sap_isosurface_extract(device, (sap_volume){.values = values, .size = {side, side, side}}, NULL, &surface),
        "sap_isosurface_extract");
    free(values);
    return surface;
}

static void point_rows(bench_run* run, load_state* s, const char* name, int64_t count) {
    char key[32], text[48];
    snprintf(key, sizeof key, "load-points-%s", name);
    if (!bench_wanted(run, key) || (run->options->quick && count > 1000000)) return;
    float* points = bench_uniform(count, 3, 1);
    s->points = (sap_points){.coords = points, .count = count, .dims = 3};
    s->mesh = (sap_mesh){NULL, 0, NULL, 0};
    snprintf(text, sizeof text, "a tree over %s points", name);
    load_rows(run, s, key + 5, text);
    free(points);
}

static void mesh_rows(bench_run* run, load_state* s, const char* name, int side) {
    char key[32], text[64];
    snprintf(key, sizeof key, "load-mesh-%s", name);
    if (!bench_wanted(run, key) || (run->options->quick && side > 200)) return;
    sap_isosurface* surface = make_surface(s->device, side);
    s->mesh = surface->mesh;
    for (int fast = 0; fast < 2; fast++) {
        s->quality = fast ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH;
        char row[40];
        snprintf(row, sizeof row, "mesh-%s-%s", name, fast ? "fast" : "high");
        snprintf(text, sizeof text, "a %s tree over %s triangles", fast ? "fast" : "high", name);
        load_rows(run, s, row, text);
    }
    sap_isosurface_free(surface);
}

void bench_load_group(bench_run* run) {
    if (!bench_wanted(run, "load")) return;
    load_state s = {.device = bench_device(1, SAP_SIMD_AUTO, NULL)};
    if (!s.device) bench_check(SAP_ERROR_NO_DEVICE, "opening a device");
    point_rows(run, &s, "10k", 10000);
    point_rows(run, &s, "100k", 100000);
    point_rows(run, &s, "1m", 1000000);
    point_rows(run, &s, "10m", 10000000);
    mesh_rows(run, &s, "10k", 48);
    mesh_rows(run, &s, "100k", 148);
    mesh_rows(run, &s, "1m", 466);
    sap_device_close(s.device);
}
