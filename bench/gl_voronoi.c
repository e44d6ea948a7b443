// Voronoi pictures in a fragment shader: the time of a frame, with and without its way to host memory, beside the
// CPU's, and frames of points that move and whose tree is built anew each time. Every pixel that was drawn is compared
// with the CPU's. Then trees of both kinds side by side: frames, and lists of the points within a radius.
//
//   sapwood_gl_bench [--size WxH] [--leaf N] [--frames N] [--csv FILE] [COUNT…]
#include "expect.h"
#include "gl_times.h"
#include <math.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// After each frame that is timed a page may draw one of another program, so that the two take turns: Module.beside.
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
EM_JS(void, draw_beside, (void), {
    if (Module.beside) Module.beside();
})
#else
static void draw_beside(void) {}
#endif

enum { MOST_FRAMES = 64, WHOLE = 1 << 30 };

typedef struct settings {
    int32_t width, height, leaf_size, frames;
    FILE* csv;
} settings;

typedef struct devices {
    sap_device *gl, *cpu, *cuda; // cuda: NULL where there is no GPU
} devices;

static void report(const settings* s, const char* what, int64_t points, double ms, int64_t wrong) {
    printf("%-44s %9lld points %10.2f ms %8.1f frames/s", what, (long long)points, ms, 1e3 / ms);
    if (wrong >= 0) printf("  wrong pixels: %lld", (long long)wrong);
    printf("\n");
    fflush(stdout);
    if (s->csv)
        fprintf(s->csv, "%s,%lld,%d,%d,%.4f,%lld\n", what, (long long)points, (int)s->width, (int)s->height, ms,
                (long long)wrong);
}

static float* scatter(int64_t count) {
    float* points = malloc((size_t)count * 2 * sizeof *points);
    if (!points) exit(1);
    uint32_t state = 12345;
    for (int64_t i = 0; i < 2 * count; i++) {
        state = state * 1664525u + 1013904223u;
        points[i] = (float)(state >> 8) * 0x1p-24f;
    }
    return points;
}

static void move(float* points, int64_t count, int step) {
    float by = step % 2 ? 1e-4f : -1e-4f;
    for (int64_t i = 0; i < 2 * count; i++) points[i] += i % 4 < 2 ? by : -by;
}

// A picture's answers in host memory.
typedef struct answers {
    int32_t* ids;
    float* distance2;
} answers;

static answers make_answers(const settings* s) {
    size_t pixels = (size_t)s->width * (size_t)s->height;
    answers made = {malloc(pixels * sizeof *made.ids), malloc(pixels * sizeof *made.distance2)};
    if (!made.ids || !made.distance2) exit(1);
    return made;
}

static void free_answers(answers* a) {
    free(a->ids);
    free(a->distance2);
}

// Pixels whose site is another, and farther by more than rounding.
static int64_t wrong_pixels(const settings* s, const answers* got, const answers* truth) {
    int64_t wrong = 0;
    for (size_t i = 0; i < (size_t)s->width * (size_t)s->height; i++)
        wrong += got->ids[i] != truth->ids[i] && got->distance2[i] > truth->distance2[i] * (1 + 4 * 0x1p-23f);
    return wrong;
}

// Draws a whole picture, until every pixel is done.
static void draw(sap_gl_frame* frame, const sap_grid* grid) {
    bool done = false;
    expect(sap_gl_frame_begin(frame, *grid), "beginning");
    while (!done) expect(sap_gl_frame_step(frame, WHOLE, &done), "drawing");
}

// The wrong pixels of what was drawn last.
static int64_t wrong_drawn(const settings* s, const sap_gl_frame* frame, const answers* truth) {
    answers drawn = make_answers(s);
    expect(sap_gl_frame_read(frame, (int32_t[4]){0, 0, s->width, s->height}, drawn.ids, drawn.distance2), "reading");
    int64_t wrong = wrong_pixels(s, &drawn, truth);
    free_answers(&drawn);
    return wrong;
}

static void pictures(const settings* s, const devices* d, const sap_grid* grid, const float* points, int64_t count) {
    double frames[MOST_FRAMES], here[MOST_FRAMES], on_cpu[3], begun;
    answers got = make_answers(s), truth = make_answers(s);
    sap_tree *tree = NULL, *copy = NULL;
    sap_gl_frame* frame = NULL;
    sap_search search = {.k = 1};
    sap_points cloud = {points, count, 2, 0};
    expect(sap_tree_build(d->cpu, cloud, &(sap_tree_options){.leaf_size = s->leaf_size}, &tree), "building");
    begun = now();
    expect(sap_tree_copy(tree, d->gl, &copy), "copying");
    report(s, "a tree copied to textures", count, now() - begun, -1);
    sap_tree_free(tree);
    expect(sap_tree_build(d->cpu, cloud, NULL, &tree), "building");
    for (int i = -1; i < 3; i++) {
        begun = now();
        expect(sap_nearest_grid(tree, *grid, &search, truth.ids, truth.distance2), "searching");
        if (i >= 0) on_cpu[i] = now() - begun;
    }
    expect(sap_gl_frame_create(copy, s->width, s->height, &search, &frame), "making a frame");
    for (int i = -2; i < s->frames; i++) {
        begun = now();
        draw(frame, grid);
        if (i < 0) continue;
        frames[i] = now() - begun;
        draw_beside();
    }
    report(s, "a frame, its answers in a texture", count, median(frames, s->frames), wrong_drawn(s, frame, &truth));
    sap_gl_frame_free(frame);
    for (int i = -1; i < s->frames; i++) {
        begun = now();
        expect(sap_nearest_grid(copy, *grid, &search, got.ids, got.distance2), "searching");
        if (i >= 0) here[i] = now() - begun;
    }
    report(s, "a frame, its answers in host memory", count, median(here, s->frames), wrong_pixels(s, &got, &truth));
    report(s, "the same on the CPU", count, median(on_cpu, 3), -1);
    sap_tree_free(copy);
    sap_tree_free(tree);
    free_answers(&got);
    free_answers(&truth);
}

static void moving(const settings* s, const devices* d, const sap_grid* grid, float* points, int64_t count) {
    double rebuild[MOST_FRAMES], update[MOST_FRAMES], whole[MOST_FRAMES];
    sap_tree *tree = NULL, *copy = NULL;
    sap_gl_frame* frame = NULL;
    sap_device* builder = d->cuda ? d->cuda : d->cpu;
    sap_points cloud = {points, count, 2, 0};
    expect(sap_tree_build(builder, cloud, &(sap_tree_options){.leaf_size = s->leaf_size}, &tree), "building");
    expect(sap_tree_copy(tree, d->gl, &copy), "copying");
    expect(sap_gl_frame_create(copy, s->width, s->height, &(sap_search){.k = 1}, &frame), "making a frame");
    for (int i = -2; i < s->frames; i++) {
        move(points, count, i);
        double begun = now();
        expect(sap_tree_rebuild(tree, cloud), "rebuilding");
        double built = now();
        expect(sap_gl_tree_update(copy, tree), "updating");
        double updated = now();
        draw(frame, grid);
        if (i < 0) continue;
        rebuild[i] = built - begun;
        update[i] = updated - built;
        whole[i] = now() - begun;
    }
    answers truth = make_answers(s);
    expect(sap_nearest_grid(tree, *grid, &(sap_search){.k = 1}, truth.ids, truth.distance2), "searching");
    const char* by = d->cuda ? "moved: built by CUDA from host memory" : "moved: built by the CPU";
    report(s, by, count, median(rebuild, s->frames), -1);
    report(s, "moved: to textures", count, median(update, s->frames), -1);
    report(s, "moved: built, to textures, drawn", count, median(whole, s->frames), wrong_drawn(s, frame, &truth));
    free_answers(&truth);
    sap_gl_frame_free(frame);
    sap_tree_free(copy);
    sap_tree_free(tree);
}

// Rows of about ten points each around the first points, whose rows are compared with the CPU's.
static void rows(const settings* s, const char* kind, const sap_tree* tree, const sap_tree* copy, sap_points cloud) {
    double here[MOST_FRAMES], on_cpu[MOST_FRAMES], radius = sqrt(10 / 3.14159265 / (double)cloud.count);
    sap_points around = {cloud.coords, cloud.count < 100000 ? cloud.count : 100000, 2, 0};
    int64_t wrong = 0;
    char what[64];
    for (int i = -1; i < s->frames; i++) {
        sap_neighbors *found = NULL, *truth = NULL;
        double begun = now();
        expect(sap_radius(copy, around, radius, &found), "listing");
        double listed = now();
        expect(sap_radius(tree, around, radius, &truth), "listing");
        if (i >= 0) here[i] = listed - begun, on_cpu[i] = now() - listed;
        for (int64_t row = 0; row < around.count; row++) {
            const int64_t from = truth->offsets[row], count = truth->offsets[row + 1] - from;
            wrong += found->offsets[row] != from || found->offsets[row + 1] != from + count ||
                     memcmp(found->ids + from, truth->ids + from, (size_t)count * sizeof *truth->ids);
        }
        sap_neighbors_free(found);
        sap_neighbors_free(truth);
    }
    snprintf(what, sizeof what, "%s: %lld rows within a radius", kind, (long long)around.count);
    report(s, what, cloud.count, median(here, s->frames), wrong);
    snprintf(what, sizeof what, "%s: the same on the CPU", kind);
    report(s, what, cloud.count, median(on_cpu, s->frames), -1);
}

static void kinds(const settings* s, const devices* d, const sap_grid* grid, const float* points, int64_t count) {
    static const char* const names[] = {"median", "sliding midpoint"};
    sap_points cloud = {points, count, 2, 0};
    for (int kind = 0; kind < 2; kind++) {
        double frames[MOST_FRAMES], copied[MOST_FRAMES];
        answers truth = make_answers(s);
        sap_tree *tree = NULL, *copy = NULL;
        sap_gl_frame* frame = NULL;
        char what[64];
        const sap_tree_options options = {.split = (sap_split)kind, .leaf_size = s->leaf_size};
        expect(sap_tree_build(d->cpu, cloud, &options, &tree), "building");
        expect(sap_nearest_grid(tree, *grid, &(sap_search){.k = 1}, truth.ids, truth.distance2), "searching");
        expect(sap_tree_copy(tree, d->gl, &copy), "copying");
        expect(sap_gl_frame_create(copy, s->width, s->height, &(sap_search){.k = 1}, &frame), "making a frame");
        for (int i = -2; i < s->frames; i++) {
            double begun = now();
            expect(sap_gl_tree_update(copy, tree), "updating");
            double updated = now();
            draw(frame, grid);
            if (i >= 0) copied[i] = updated - begun, frames[i] = now() - updated;
        }
        snprintf(what, sizeof what, "%s: to textures", names[kind]);
        report(s, what, count, median(copied, s->frames), -1);
        snprintf(what, sizeof what, "%s: a frame, in a texture", names[kind]);
        report(s, what, count, median(frames, s->frames), wrong_drawn(s, frame, &truth));
        rows(s, names[kind], tree, copy, cloud);
        sap_gl_frame_free(frame);
        sap_tree_free(copy);
        sap_tree_free(tree);
        free_answers(&truth);
    }
}

int main(int argc, char** argv) {
    settings s = {1900, 1200, 8, 9, NULL};
    int64_t counts[8] = {10000, 100000, 1000000};
    int known = 3, given = 0;
    for (int i = 1; i < argc; i++) {
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--size") && sscanf(value, "%dx%d", &s.width, &s.height) == 2)
            i++;
        else if (!strcmp(argv[i], "--leaf"))
            s.leaf_size = atoi(value), i++;
        else if (!strcmp(argv[i], "--frames"))
            s.frames = atoi(value), i++;
        else if (!strcmp(argv[i], "--csv"))
            s.csv = fopen(value, "w"), i++;
        else if (given < 8)
            counts[given++] = atoll(argv[i]);
    }
    if (given) known = given;
    if (s.frames < 1 || s.frames > MOST_FRAMES) s.frames = 9;
    devices d = {NULL, NULL, NULL};
    sap_device_info info;
    expect(sap_device_open(&(sap_device_options){.processor = SAP_GL, .log = say}, &d.gl), "opening OpenGL ES");
    expect(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .log = say}, &d.cpu), "opening the CPU");
    if (sap_device_open(&(sap_device_options){.processor = SAP_CUDA}, &d.cuda) != SAP_OK) d.cuda = NULL;
    expect(sap_device_describe(d.gl, &info), "describing");
    printf("%s, %dx%d, leaves of %d, %d CPU threads\n", info.name, (int)s.width, (int)s.height, (int)s.leaf_size,
           (int)info.threads);
    sap_grid grid = {s.width, s.height, {0}, {0}, {0}};
    grid.right[0] = 1.0 / s.width;
    grid.down[1] = 1.0 / s.height;
    for (int i = 0; i < known; i++) {
        float* points = scatter(counts[i]);
        pictures(&s, &d, &grid, points, counts[i]);
        moving(&s, &d, &grid, points, counts[i]);
        kinds(&s, &d, &grid, points, counts[i]);
        free(points);
    }
    if (s.csv) fclose(s.csv);
    sap_device_close(d.cuda);
    sap_device_close(d.cpu);
    sap_device_close(d.gl);
    return 0;
}
