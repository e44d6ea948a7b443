// sapwood_pyramids_bench: lists of the cells that are kept, by histopyramids on OpenGL ES and by the CPU, and surfaces
// of volumes on both. See run.sh.
#include "bench.h"
#include "compact/pyramid_gl.h"
#include "sapwood/surface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: run.sh pyramids [--quick] [--only KEYS] [--reps N] [--out FOLDER]\n"
    "  --quick         fewer cells and three passes: a look, not a record\n"
    "  --only KEYS     only rows whose keys begin with one of KEYS (comma-separated): keep-1, keep-50,\n"
    "                  surface ...\n"
    "  --reps N        passes a side after the warm-up, default 7\n"
    "  --out FOLDER    where CSV files go, default build/bench/pyramids\n";

enum { BESIDE_VEC4, BESIDE_PLAIN, BESIDE_CPU };

typedef struct cells_run {
    const bench_options* options;
    bench_report* report;
    sap_device *gl, *cpu;
    int32_t side;
    int64_t cells, kept;
    uint8_t* keep;
    uint32_t *numbers, *list; // what the CPU keeps of, and keeps
} cells_run;

// One way to make the list on OpenGL.
typedef struct way {
    const cells_run* run;
    sap_gl_pyramid* pyramid;
    GLuint base;
    sap_gl_list list;
} way;

static void* plenty(int64_t count, size_t bytes) { return bench_memory((size_t)count, bytes); }

static void end_call(sap_gl_call* call, const char* what) { bench_check(sap_gl_end(call, SAP_OK), what); }

static way make_way(const cells_run* run, sap_gl_form form, sap_gl_cells cells) {
    way made = {.run = run};
    sap_gl_call call;
    bool four = cells == SAP_GL_CELLS_UINT4;
    sap_gl_pyramid_options options = {
        .form = form, .cells = cells, .width = four ? run->side / 4 : run->side, .height = run->side, .most = 1};
    bench_check(sap_gl_pyramid_create(run->gl, &options, &made.pyramid), "a histopyramid");
    if (sap_gl_begin(&call, run->gl) == SAP_OK) {
        made.base = sap_gl_texture(&call, four ? GL_RGBA8UI : GL_R8UI, options.width, options.height, NULL, "cells");
        call.f->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, options.width, options.height,
                              four ? GL_RGBA_INTEGER : GL_RED_INTEGER, GL_UNSIGNED_BYTE, run->keep);
    }
    end_call(&call, "cells");
    return made;
}

static void free_way(way* w) {
    sap_gl_call call;
    sap_gl_pyramid_free(w->pyramid);
    if (sap_gl_begin(&call, w->run->gl) == SAP_OK) sap_gl_texture_free(&call, w->base);
    end_call(&call, "cells");
}

// From the cells to the list, the total read on the way.
static void list_on_gl(void* state) {
    way* w = state;
    int64_t total = 0;
    w->list = (sap_gl_list){.texture = 0};
    bench_check(sap_gl_compact(w->pyramid, w->base, &w->list, &total), "a list");
    bench_check(sap_device_wait(w->run->gl), "a list");
    if (total != w->run->kept) bench_report_wrong(w->run->report, "keep", "a total of %lld", (long long)total);
}

static void list_on_cpu(void* state) {
    cells_run* run = state;
    bench_check(sap_compact(run->cpu, run->numbers, run->cells, sizeof *run->numbers, run->keep, run->list, &run->kept),
                "a list on the CPU");
}

// Every number of a list against the CPU's.
static void check_list(const cells_run* run, const way* w, const char* key) {
    uint32_t* texels = plenty((int64_t)w->list.width * w->list.height * 4, sizeof *texels);
    sap_gl_call call;
    int64_t wrong = 0;
    if (sap_gl_begin(&call, run->gl) == SAP_OK)
        sap_gl_read(&call, w->list.texture, GL_R32UI, 0, (int32_t[4]){0, 0, w->list.width, w->list.height}, texels);
    end_call(&call, "reading a list");
    for (int64_t i = 0; i < run->kept; i++) wrong += texels[4 * i] != run->list[i];
    if (wrong) bench_report_wrong(run->report, key, "%lld numbers", (long long)wrong);
    free(texels);
}

static bool wanted(const bench_options* options, const char* key) {
    const bench_run group = {.options = options};
    return bench_wanted(&group, key);
}

static void keep_row(cells_run* run, int percent) {
    char key[48], work[96];
    bench_random random = {7};
    snprintf(key, sizeof key, "keep-%d", percent);
    if (!wanted(run->options, key)) return;
    snprintf(work, sizeof work, "2^%d cells, %d %% kept", run->options->quick ? 20 : 24, percent);
    for (int64_t i = 0; i < run->cells; i++) run->keep[i] = bench_random_unit(&random) * 100 < percent;
    list_on_cpu(run);
    way ways[4] = {make_way(run, SAP_GL_VEC4, SAP_GL_CELLS_UINT4), make_way(run, SAP_GL_PLAIN, SAP_GL_CELLS_UINT),
                   make_way(run, SAP_GL_VEC4, SAP_GL_CELLS_UINT), make_way(run, SAP_GL_PLAIN, SAP_GL_CELLS_UINT4)};
    bench_side sides[5] = {{.pass = list_on_gl, .state = &ways[0]},
                           {.pass = list_on_gl, .state = &ways[1]},
                           {.pass = list_on_gl, .state = &ways[2]},
                           {.pass = list_on_gl, .state = &ways[3]},
                           {.pass = list_on_cpu, .state = run}};
    bench_take_turns(sides, 5, run->options);
    bench_row row = {.key = key,
                     .work = work,
                     .unit = BENCH_SECONDS,
                     .subject = bench_median(&sides[0]),
                     .rival = bench_median(&sides[1]),
                     .target = run->options->quick ? 0 : 1.5,
                     .others = {bench_median(&sides[2]), bench_median(&sides[3]), bench_median(&sides[4])}};
    bench_report_row(run->report, &row);
    static const char* const who[5] = {"vec4, four", "plain, one", "vec4, one", "plain, four", "sap_compact"};
    for (int i = 0; i < 5; i++) bench_report_samples(run->report, key, who[i], &sides[i]);
    for (int i = 0; i < 4; i++) {
        check_list(run, &ways[i], key);
        free_way(&ways[i]);
    }
}

// ---- Surfaces

typedef struct surface_run {
    sap_device* device;
    sap_volume volume;
    sap_isosurface* surface;
} surface_run;

static void extract(void* state) {
    surface_run* run = state;
    sap_isosurface_free(run->surface);
    run->surface = NULL;
    bench_check(sap_isosurface_extract(run->device, run->volume, NULL, &run->surface), "a surface");
}

static void surface_row(const cells_run* cells) {
    int64_t side = cells->options->quick ? 64 : 256, samples = side * side * side;
    float* values = plenty(samples, sizeof *values);
    for (int64_t i = 0; i < samples; i++) {
        float half = 0.5f * (float)(side - 1), x = (float)(i % side) - half, y = (float)(i / side % side) - half;
        float z = (float)(i / side / side) - half;
        values[i] = 0.4f * (float)side - sqrtf(x * x + y * y + z * z);
    }
    sap_volume volume = {.values = values, .size = {side, side, side}};
    surface_run runs[2] = {{cells->gl, volume, NULL}, {cells->cpu, volume, NULL}};
    bench_side sides[2] = {{.pass = extract, .state = &runs[0]}, {.pass = extract, .state = &runs[1]}};
    bench_take_turns(sides, 2, cells->options);
    char work[96];
    snprintf(work, sizeof work, "marching cubes, sphere in %lld^3 samples", (long long)side);
    bench_row row = {.key = "surface",
                     .work = work,
                     .versus = "CPU",
                     .unit = BENCH_SECONDS,
                     .subject = bench_median(&sides[0]),
                     .rival = bench_median(&sides[1])};
    bench_report_row(cells->report, &row);
    const sap_mesh *a = &runs[0].surface->mesh, *b = &runs[1].surface->mesh;
    if (a->vertex_count != b->vertex_count || a->triangle_count != b->triangle_count ||
        memcmp(a->triangles, b->triangles, (size_t)a->triangle_count * 12) != 0)
        bench_report_wrong(cells->report, "surface", "the mesh differs from the CPU's");
    for (int i = 0; i < 2; i++) sap_isosurface_free(runs[i].surface);
    free(values);
}

int main(int argc, char** argv) {
    static const int percents[] = {1, 2, 5, 10, 25, 50, 100};
    bench_options options = {
        .threads = 2,
        .out = ".",
        .rival = "plain, a cell a texel",
        .others = {
            [BESIDE_VEC4] = "vec4, 1 a texel", [BESIDE_PLAIN] = "plain, 4 a texel", [BESIDE_CPU] = "sap_compact"}};
    bench_read_options(&options, argc, argv, USAGE);
    cells_run run = {.options = &options, .side = options.quick ? 1024 : 4096};
    sap_device_info info;
    if (sap_device_open(&(sap_device_options){.processor = SAP_GL}, &run.gl) != SAP_OK) {
        printf("no OpenGL ES 3.0 on this machine: nothing to measure\n");
        return 0;
    }
    run.cpu = bench_device(1, SAP_SIMD_AUTO, NULL);
    bench_check(sap_device_describe(run.gl, &info), "the context");
    bench_print_machine();
    printf(
        "OpenGL ES on %s\n"
        "Medians of %d passes after a warm-up, sides in turn. A pass goes from the texture of cells to the list in a\n"
        "texture, and reads the total on the way; Sapwood's column is the vec4 form over four cells a texel, the\n"
        "rival the plain form as published. sap_compact keeps numbers of 32 bits, on one thread.\n%s\n",
        info.name, options.reps, options.quick ? "QUICK: fewer cells; no verdicts.\n" : "");
    run.report = bench_report_open(&options);
    run.cells = (int64_t)run.side * run.side;
    run.keep = plenty(run.cells, 1);
    run.numbers = plenty(run.cells, sizeof *run.numbers);
    run.list = plenty(run.cells, sizeof *run.list);
    for (int64_t i = 0; i < run.cells; i++) run.numbers[i] = (uint32_t)i;
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) keep_row(&run, percents[i]);
    if (wanted(&options, "surface")) surface_row(&run);
    free(run.keep);
    free(run.numbers);
    free(run.list);
    sap_device_close(run.gl);
    sap_device_close(run.cpu);
    return bench_report_close(run.report) > 0 ? 1 : 0;
}
