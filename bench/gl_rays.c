// Rays in fragment shaders: from the pixels of a camera, and from where these end to a light, beside one thread of the
// CPU. Every hit is compared with the CPU's. *View*: the same picture drawn by sap_gl_view, first hits and one light.
//
//   sapwood_gl_rays_bench [--size N] [MESH…]        meshes in PLY, OBJ or STL; none: a bumpy torus of 259,200 triangles
#include "expect.h"
#include <math.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 7, TORUS = 360 };

typedef struct work {
    const char* name;
    int32_t side; // pixels of the picture
    int64_t count;
    sap_device *gl, *cpu;
    sap_mesh_tree *tree, *copy; // on the CPU, on OpenGL
    const sap_mesh_file* file;
    sap_ray* rays;
    sap_hit *hits, *expected;
    uint8_t *dark, *expected_dark;
} work;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void* take(size_t count, size_t size) {
    void* memory = calloc(count + 1, size);
    if (!memory) exit(1);
    return memory;
}

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* times) {
    qsort(times, TIMES, sizeof *times, by_size);
    return times[TIMES / 2];
}

static sap_camera camera_of(const work* w) {
    sap_camera camera = {.fov = 35};
    expect(sap_camera_frame(w->tree, w->side, w->side, &camera), "a camera");
    return camera;
}

static void cross(const double a[3], const double b[3], double to[3]) {
    for (int i = 0; i < 3; i++) to[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void make_unit(double a[3]) {
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int i = 0; i < 3; i++) a[i] /= length;
}

static void aim(const work* w) {
    const sap_camera camera = camera_of(w);
    double forward[3], right[3], up[3], half = tan((double)camera.fov * 0.5 * 0.017453292519943295);
    for (int i = 0; i < 3; i++) {
        forward[i] = (double)camera.at[i] - (double)camera.eye[i];
        up[i] = (double)camera.up[i];
    }
    make_unit(forward);
    cross(forward, up, right);
    make_unit(right);
    cross(right, forward, up);
    for (int64_t p = 0; p < w->count; p++) {
        const double x = (2 * ((double)(p % w->side) + 0.5) / w->side - 1) * half;
        const double y = (1 - 2 * ((double)(p / w->side) + 0.5) / w->side) * half;
        w->rays[p] = (sap_ray){.t_max = INFINITY};
        for (int i = 0; i < 3; i++) {
            w->rays[p].origin[i] = camera.eye[i];
            w->rays[p].direction[i] = (float)(forward[i] + x * right[i] + y * up[i]);
        }
    }
}

// From where the rays have ended towards a light above.
static void aim_at_light(const work* w) {
    sap_mesh_tree_info info;
    expect(sap_mesh_tree_describe(w->tree, &info), "the box");
    for (int64_t p = 0; p < w->count; p++) {
        sap_ray* ray = &w->rays[p];
        const float t = w->expected[p].t * 0.9999f;
        if (w->expected[p].triangle < 0) {
            ray->t_max = -1;
            continue;
        }
        for (int i = 0; i < 3; i++) {
            const float light = info.upper[i] + (info.upper[i] - info.lower[i]) * (i == 1 ? 1.0f : 0.3f);
            ray->origin[i] += ray->direction[i] * t;
            ray->direction[i] = light - ray->origin[i];
        }
        ray->t_max = 1;
    }
}

static void report(const work* w, const char* what, const double seconds[2], int64_t rays, int64_t wrong) {
    printf("%-16s %-8s OpenGL %8.2f Mrays/s   one CPU thread %8.2f Mrays/s   ratio %.2f   wrong: %lld\n", w->name, what,
           (double)rays / seconds[0] * 1e-6, (double)rays / seconds[1] * 1e-6, seconds[1] / seconds[0],
           (long long)wrong);
    fflush(stdout);
}

static void trace(const work* w, bool shadows) {
    double times[2][TIMES];
    for (int device = 0; device < 2; device++) {
        const sap_mesh_tree* tree = device ? w->tree : w->copy;
        for (int i = 0; i < TIMES; i++) {
            const double begun = now();
            if (shadows)
                expect(sap_occluded(tree, w->rays, w->count, device ? w->expected_dark : w->dark), "shadows");
            else
                expect(sap_trace(tree, w->rays, w->count, device ? w->expected : w->hits), "rays");
            times[device][i] = now() - begun;
        }
    }
    int64_t wrong = 0, rays = 0;
    for (int64_t p = 0; p < w->count; p++) {
        wrong +=
            shadows ? w->dark[p] != w->expected_dark[p] : memcmp(&w->hits[p], &w->expected[p], sizeof *w->hits) != 0;
        rays += !(w->rays[p].t_max < 0);
    }
    report(w, shadows ? "shadow" : "primary", (double[2]){median(times[0]), median(times[1])}, rays, wrong);
}

static void draw(const work* w) {
    double times[TIMES];
    sap_gl_view* view = NULL;
    sap_gl_view_info info;
    const sap_gl_view_options options = {.picture = {.width = w->side, .height = w->side, .samples = 1, .bounces = -1},
                                         .plain = true};
    expect(sap_gl_view_create(w->copy, w->file, &view), "a view");
    for (int i = 0; i < TIMES; i++) {
        const double begun = now();
        expect(sap_gl_view_begin(view, &options), "a picture");
        for (bool done = false; !done;) expect(sap_gl_view_step(view, 1024, &done), "a step");
        expect(sap_device_wait(w->gl), "waiting");
        times[i] = now() - begun;
    }
    expect(sap_gl_view_describe(view, &info), "the picture");
    printf("%-16s view     %.1f ms a picture of %d x %d, %lld rays\n", w->name, median(times) * 1e3, (int)w->side,
           (int)w->side, (long long)info.rays);
    sap_gl_view_free(view);
}

static void run(work* w) {
    double begun;
    expect(sap_mesh_tree_build(w->cpu, w->file->mesh, NULL, &w->tree), "a tree");
    begun = now();
    expect(sap_mesh_tree_copy(w->tree, w->gl, &w->copy), "a copy");
    expect(sap_device_wait(w->gl), "waiting");
    printf("%-16s %lld triangles, to textures in %.1f ms\n", w->name, (long long)w->file->mesh.triangle_count,
           (now() - begun) * 1e3);
    aim(w);
    trace(w, false);
    aim_at_light(w);
    trace(w, true);
    draw(w);
    sap_mesh_tree_free(w->copy);
    sap_mesh_tree_free(w->tree);
}

static sap_mesh_file make_torus(void) {
    float* v = take((size_t)TORUS * TORUS * 3, sizeof *v);
    int32_t* t = take((size_t)TORUS * TORUS * 6, sizeof *t);
    for (int i = 0; i < TORUS; i++)
        for (int j = 0; j < TORUS; j++) {
            const double turn = 6.283185307179586 / TORUS, a = i * turn, b = j * turn;
            const double tube = 14 + 1.5 * sin(9 * a) * cos(7 * b), ring = 30 + tube * cos(b);
            const int at = i * TORUS + j, side = (i + 1) % TORUS * TORUS + j, up = i * TORUS + (j + 1) % TORUS;
            const int both = (i + 1) % TORUS * TORUS + (j + 1) % TORUS;
            v[3 * at] = (float)(ring * cos(a));
            v[3 * at + 1] = (float)(tube * sin(b));
            v[3 * at + 2] = (float)(ring * sin(a));
            memcpy(t + 6 * at, (int32_t[]){at, side, both, at, both, up}, 6 * sizeof *t);
        }
    return (sap_mesh_file){.mesh = {v, (int64_t)TORUS * TORUS, t, (int64_t)2 * TORUS * TORUS}};
}

int main(int argc, char** argv) {
    work w = {.side = 1024};
    int first = 1;
    if (argc > 2 && !strcmp(argv[1], "--size")) {
        w.side = atoi(argv[2]); // NOLINT(cert-err34-c): checked below
        first = 3;
    }
    if (w.side < 1 || w.side > 8192) return 2;
    w.count = (int64_t)w.side * w.side;
    w.rays = take((size_t)w.count, sizeof *w.rays);
    w.hits = take((size_t)w.count, sizeof *w.hits);
    w.expected = take((size_t)w.count, sizeof *w.expected);
    w.dark = take((size_t)w.count, 1);
    w.expected_dark = take((size_t)w.count, 1);
    const sap_device_options cpu = {.processor = SAP_CPU, .threads = 1, .log = say};
    expect(sap_device_open(&cpu, &w.cpu), "the CPU");
    expect(sap_device_open(&(sap_device_options){.processor = SAP_GL, .log = say}, &w.gl), "OpenGL");
    sap_device_info info;
    expect(sap_device_describe(w.gl, &info), "the device");
    printf("OpenGL ES on %s\n", info.name);
    if (first == argc) {
        const sap_mesh_file torus = make_torus();
        w.name = "torus";
        w.file = &torus;
        run(&w);
        free((void*)(uintptr_t)torus.mesh.vertices);
        free((void*)(uintptr_t)torus.mesh.triangles);
    }
    for (int i = first; i < argc; i++) {
        sap_mesh_file* file = NULL;
        const char* slash = strrchr(argv[i], '/');
        expect(sap_mesh_read(w.cpu, argv[i], SAP_FORMAT_AUTO, NULL, &file), argv[i]);
        w.name = slash ? slash + 1 : argv[i];
        w.file = file;
        run(&w);
        sap_mesh_file_free(file);
    }
    sap_device_close(w.gl);
    sap_device_close(w.cpu);
    free(w.rays);
    free(w.hits);
    free(w.expected);
    free(w.dark);
    free(w.expected_dark);
    return 0;
}
