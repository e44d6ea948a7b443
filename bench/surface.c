// Surfaces of volumes: a sphere in 256 x 256 x 256 samples, and a body that is surface everywhere.
#include "bench.h"

#include <math.h>
#include <stdlib.h>

typedef struct surface_state {
    sap_device* device;
    sap_volume volume;
    sap_isosurface* surface; // of the last pass
} surface_state;

static void extract_pass(void* state) {
    surface_state* s = state;
    sap_isosurface_free(s->surface);
    s->surface = NULL;
    bench_check(sap_isosurface_extract(s->device, s->volume, NULL, &s->surface), "sap_isosurface_extract");
}

// How far inside a sphere of 0.4 sides each sample lies; or, a gyroid of eight periods.
static float* make_volume(int side, bool gyroid) {
    float* values = bench_memory((size_t)side * (size_t)side * (size_t)side, sizeof *values);
    const double period = 8 * 6.283185307179586 / side;
    for (int64_t i = 0; i < (int64_t)side * side * side; i++) {
        double x = (double)(i % side), y = (double)(i / side % side), z = (double)(i / side / side);
        double middle = 0.5 * side - 0.25;
        if (gyroid)
            values[i] = (float)(sin(period * x) * cos(period * y) + sin(period * y) * cos(period * z) +
                                sin(period * z) * cos(period * x));
        else
            values[i] = (float)(0.4 * side - sqrt((x - middle) * (x - middle) + (y - middle) * (y - middle) +
                                                  (z - middle) * (z - middle)));
    }
    return values;
}

static void surface_rows(bench_run* run, bool gyroid) {
    const int side = run->options->quick ? 128 : 256;
    const double samples = (double)side * side * side;
    float* values = make_volume(side, gyroid);
    surface_state states[2] = {{.volume = {.values = values, .size = {side, side, side}}}};
    states[1] = states[0];
    bench_side sides[2] = {{.pass = extract_pass, .state = &states[0]}, {.pass = extract_pass, .state = &states[1]}};
    bench_options options = *run->options;
    options.cpu_time = false; // threads save time, not processor time
    for (int i = 0; i < 2; i++) {
        states[i].device = bench_device(i ? run->options->threads : 1, SAP_SIMD_AUTO, NULL);
        if (!states[i].device) bench_check(SAP_ERROR_NO_DEVICE, "opening a device");
    }
    bench_take_turns(sides, 2, &options);
    bench_row rows[2] = {
        {.key = gyroid ? "surface-gyroid" : "surface-sphere",
         .work = gyroid ? "isosurface of a 256^3 gyroid, voxels" : "isosurface of a 256^3 sphere, voxels",
         .unit = BENCH_LEAST_RATE,
         .target = gyroid ? 0 : 250},
        {.key = gyroid ? "surface-gyroid-threads" : "surface-sphere-threads",
         .work = gyroid ? "threads over one, the same gyroid" : "threads over one, the same sphere",
         .unit = BENCH_RATE,
         .versus = "one thread",
         .rival = bench_median(&sides[0]),
         .target = run->options->threads == 2 && !gyroid ? 1.8 : 0}};
    for (int i = 0; i < 2; i++) {
        rows[i].operations = samples;
        rows[i].subject = bench_median(&sides[i]);
        rows[i].floor = i ? 0 : 4 * samples / run->rates.memory_bytes;
        bench_report_samples(run->report, rows[i].key, i ? "threads" : "one", &sides[i]);
        bench_report_row(run->report, &rows[i]);
    }
    bench_report_note(run->report, "%s: %lld vertices, %lld triangles", gyroid ? "gyroid" : "sphere",
                      (long long)states[0].surface->mesh.vertex_count,
                      (long long)states[0].surface->mesh.triangle_count);
    for (int i = 0; i < 2; i++) {
        sap_isosurface_free(states[i].surface);
        sap_device_close(states[i].device);
    }
    free(values);
}

void bench_surface_group(bench_run* run) {
    if (bench_wanted(run, "surface-sphere")) surface_rows(run, false);
    if (bench_wanted(run, "surface-gyroid")) surface_rows(run, true);
}
