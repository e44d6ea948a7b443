// Calls of several threads, on the machine as it is and beside two processes that never rest: how many times as long they
// take. On two processors each neighbour takes half of one, so 2 is what is left.
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEIGHBOURS = 2, SIDE = 128, MOST_CALLS = 200 };
static const double PASS_SECONDS = 0.1; // several turns of the kernel's scheduler

typedef struct busy_scene {
    sap_device* device;
    bench_work work;
    sap_tree *tree, *sliding;
    sap_volume volume;
    sap_isosurface* surface;
    sap_mesh_tree* mesh_tree;
    sap_ray* rays;
    sap_hit* hits;
    uint8_t* keep;
    float* kept;
} busy_scene;

// ---- The neighbours

// Whether they are to work; at other times they look for it a thousand times a second.
static int* open_neighbours(pid_t neighbours[NEIGHBOURS]) {
    int* work = mmap(NULL, sizeof *work, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t parent = getpid();
    if (work == MAP_FAILED) return NULL;
    for (int i = 0; i < NEIGHBOURS; i++) {
        neighbours[i] = fork();
        if (neighbours[i] != 0) continue;
        while (getppid() == parent && __atomic_load_n(work, __ATOMIC_RELAXED) >= 0)
            if (!__atomic_load_n(work, __ATOMIC_RELAXED)) usleep(1000);
        _exit(0);
    }
    return work;
}

static void set_neighbours(int* work, int value) {
    __atomic_store_n(work, value, __ATOMIC_RELAXED);
    usleep(5000); // until they have noticed
}

static void close_neighbours(int* work, const pid_t neighbours[NEIGHBOURS]) {
    set_neighbours(work, -1);
    for (int i = 0; i < NEIGHBOURS; i++)
        if (neighbours[i] > 0) waitpid(neighbours[i], NULL, 0);
    munmap(work, sizeof *work);
}

// ---- The calls

static void compact_call(busy_scene* s) {
    int64_t count = 0;
    bench_check(sap_compact(s->device, s->work.points, 3 * s->work.count, sizeof(float), s->keep, s->kept, &count),
                "sap_compact");
}

static void rebuild_call(busy_scene* s) {
    bench_check(sap_tree_rebuild(s->tree, bench_points(&s->work)), "sap_tree_rebuild");
}

static void sliding_call(busy_scene* s) {
    bench_check(sap_tree_rebuild(s->sliding, bench_points(&s->work)), "sap_tree_rebuild");
}

static void nearest_call(busy_scene* s) {
    const sap_search search = {.k = 1};
    bench_check(sap_nearest(s->tree, bench_queries(&s->work), &search, s->work.ids, s->work.distance2), "sap_nearest");
}

static void radius_call(busy_scene* s) {
    bench_check(sap_radius_count(s->tree, bench_queries(&s->work), s->work.radius, s->work.counts), "sap_radius_count");
}

static void surface_call(busy_scene* s) {
    sap_isosurface_free(s->surface);
    s->surface = NULL;
    bench_check(sap_isosurface_extract(s->device, s->volume, NULL, &s->surface), "sap_isosurface_extract");
}

static void mesh_call(busy_scene* s) {
    bench_check(sap_mesh_tree_rebuild(s->mesh_tree, s->surface->mesh), "sap_mesh_tree_rebuild");
}

static void trace_call(busy_scene* s) {
    bench_check(sap_trace(s->mesh_tree, s->rays, s->work.query_count, s->hits), "sap_trace");
}

// ---- The scene: points, and a sphere with rays that begin within it

static float* make_sphere(void) {
    float* values = bench_memory((size_t)SIDE * SIDE * SIDE, sizeof *values);
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE * SIDE; i++) {
        const double middle = 0.5 * SIDE - 0.25, x = (double)(i % SIDE) - middle,
                     y = (double)(i / SIDE % SIDE) - middle, z = (double)(i / SIDE / SIDE) - middle;
        values[i] = (float)(0.4 * SIDE - sqrt(x * x + y * y + z * z));
    }
    return values;
}

static void open_scene(busy_scene* s, const bench_run* run) {
    const int64_t count = run->options->quick ? 200000 : 1000000;
    const sap_tree_options sliding = {.split = SAP_SPLIT_SLIDING_MIDPOINT};
    bench_random random = {9};
    *s = (busy_scene){.device = bench_device(run->options->threads, SAP_SIMD_AUTO, NULL)};
    if (!s->device) bench_check(SAP_ERROR_NO_DEVICE, "opening a device");
    bench_work_open(&s->work, bench_uniform(count, 3, 1), count, bench_uniform(count, 3, 2), count, 3, false);
    bench_check(sap_tree_build(s->device, bench_points(&s->work), NULL, &s->tree), "sap_tree_build");
    bench_check(sap_tree_build(s->device, bench_points(&s->work), &sliding, &s->sliding), "sap_tree_build");
    s->volume = (sap_volume){.values = make_sphere(), .size = {SIDE, SIDE, SIDE}};
    surface_call(s);
    bench_check(sap_mesh_tree_build(s->device, s->surface->mesh, NULL, &s->mesh_tree), "sap_mesh_tree_build");
    s->rays = bench_memory((size_t)count, sizeof *s->rays);
    s->hits = bench_memory((size_t)count, sizeof *s->hits);
    s->keep = bench_memory((size_t)(3 * count), 1);
    s->kept = bench_memory((size_t)(3 * count), sizeof *s->kept);
    for (int64_t i = 0; i < 3 * count; i++) s->keep[i] = (uint8_t)(bench_random_next(&random) >> 63);
    for (int64_t i = 0; i < count; i++) {
        s->rays[i] = (sap_ray){.t_max = INFINITY};
        for (int a = 0; a < 3; a++) {
            s->rays[i].origin[a] = (0.4f + 0.2f * bench_random_float(&random)) * (float)SIDE;
            s->rays[i].direction[a] = bench_random_float(&random) - 0.5f;
        }
    }
}

static void close_scene(busy_scene* s) {
    sap_mesh_tree_free(s->mesh_tree);
    sap_isosurface_free(s->surface);
    sap_tree_free(s->sliding);
    sap_tree_free(s->tree);
    bench_work_close(&s->work);
    sap_device_close(s->device);
    free((void*)(uintptr_t)s->volume.values);
    free(s->rays);
    free(s->hits);
    free(s->keep);
    free(s->kept);
}

// ---- The rows

typedef struct busy_side {
    busy_scene* scene;
    void (*call)(busy_scene* scene);
    int* neighbours;
    int value, calls; // what the neighbours do; calls a pass
} busy_side;

static double timed_pass(void* state) {
    const busy_side* s = state;
    set_neighbours(s->neighbours, s->value);
    const double start = bench_seconds();
    for (int i = 0; i < s->calls; i++) s->call(s->scene);
    const double seconds = bench_seconds() - start;
    set_neighbours(s->neighbours, 0);
    return seconds / s->calls;
}

static void busy_row(bench_run* run, busy_scene* scene, int* neighbours, const char* key, const char* work,
                     void (*call)(busy_scene* scene)) {
    if (!bench_wanted(run, key)) return;
    busy_side states[2] = {{scene, call, neighbours, 0, 1}, {scene, call, neighbours, 1, 1}};
    bench_side sides[2] = {{.timed = timed_pass, .state = &states[0]}, {.timed = timed_pass, .state = &states[1]}};
    const double once = timed_pass(&states[0]), calls = PASS_SECONDS / once;
    states[0].calls = states[1].calls = calls > MOST_CALLS ? MOST_CALLS : calls > 1 ? (int)calls : 1;
    bench_take_turns(sides, 2, run->options);
    const double idle = bench_median(&sides[0]), busy = bench_median(&sides[1]);
    char text[96];
    snprintf(text, sizeof text, "%s, busy over idle", work);
    const bench_row row = {.key = key, .work = text, .unit = BENCH_NUMBER, .subject = busy / idle, .target = 2.5};
    bench_report_samples(run->report, key, "idle", &sides[0]);
    bench_report_samples(run->report, key, "busy", &sides[1]);
    bench_report_row(run->report, &row);
}

void bench_busy_group(bench_run* run) {
    static const struct {
        const char *key, *work;
        void (*call)(busy_scene* scene);
    } rows[] = {{"busy-compact", "compaction of 3M floats", compact_call},
                {"busy-rebuild", "rebuild 1M 3-D", rebuild_call},
                {"busy-sliding", "rebuild 1M 3-D, sliding midpoints", sliding_call},
                {"busy-nearest", "uniform 1M x 1M, 1-NN", nearest_call},
                {"busy-radius", "uniform 1M x 1M, counts", radius_call},
                {"busy-surface", "isosurface of a 128^3 sphere", surface_call},
                {"busy-mesh", "rebuild over its triangles", mesh_call},
                {"busy-trace", "1M rays from within it", trace_call}};
    if (!bench_wanted(run, "busy")) return;
    pid_t processes[NEIGHBOURS];
    int* neighbours = open_neighbours(processes);
    if (!neighbours) {
        bench_report_note(run->report, "busy neighbours: skipped, no memory to share with them");
        return;
    }
    busy_scene scene;
    open_scene(&scene, run);
    bench_report_note(run->report, "%d threads, beside %d processes that never rest", run->options->threads,
                      NEIGHBOURS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        busy_row(run, &scene, neighbours, rows[i].key, rows[i].work, rows[i].call);
    close_scene(&scene);
    close_neighbours(neighbours, processes);
}
