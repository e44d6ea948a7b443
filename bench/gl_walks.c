// The ways of the nearest-neighbour search in shaders, beside each other: a bit mask or a stack, fragment or compute
// shaders, exact trees or four bytes a node, GLSL ES 3.00 or 1.00, where the stack is emulated. Every pixel begins at
// the root; answers stay in textures. Frames of all ways take turns; medians. Exact ids are compared with the CPU's,
// those of four bytes a node with one another. Then the steps after which the published search gave up, on circles.
//
//   sapwood_gl_walks_bench [--size WxH] [--leaf N] [--frames N] [--only exact|bytes|circles] [COUNT…]
#include "expect.h"
#include "gl_times.h"
#include "nearest/grid/rgba8_gl.h"
#include "nearest/grid/walk_gl.h"
#include <float.h>
#include <math.h>
#include <sapwood/sapwood.h>
#include <string.h>

enum { MOST_FRAMES = 64, WHOLE = 1 << 30, PUBLISHED_STEPS = 500 };

typedef struct settings {
    int32_t width, height, leaf_size, frames;
    const char* only;
    sap_device *gl, *cpu;
    sap_grid grid;
} settings;

static void* room(size_t count, size_t bytes) {
    void* memory = malloc(count * bytes + 1);
    if (!memory) exit(1);
    return memory;
}

static size_t pixels_of(const settings* s) { return (size_t)s->width * (size_t)s->height; }

static float* scatter(int64_t count, bool circle) {
    float* points = room((size_t)count * 2, sizeof *points);
    uint32_t state = 12345;
    for (int64_t i = 0; i < 2 * count; i++) {
        const double turn = 6.283185307179586 * (double)(i / 2) / (double)count;
        state = state * 1664525u + 1013904223u;
        points[i] = circle ? (float)(0.5 + 0.45 * (i % 2 ? sin(turn) : cos(turn))) : (float)(state >> 8) * 0x1p-24f;
    }
    return points;
}

static int64_t different(const settings* s, const int32_t* a, const int32_t* b) {
    int64_t count = 0;
    for (size_t i = 0; i < pixels_of(s); i++) count += a[i] != b[i];
    return count;
}

// ---- One way to search, and how long it takes.

typedef struct way {
    const char* name;
    bool is_exact, computes;
    sap_walk walk;
    bool integers, cycle; // four bytes a node
    double first, times[MOST_FRAMES];
} way;

static void report(const settings* s, const way* w, double best, int64_t points, int64_t wrong) {
    double times[MOST_FRAMES];
    memcpy(times, w->times, sizeof times);
    const double ms = median(times, s->frames);
    printf("%9lld points  %-52s %10.2f ms %6.2f x  first %9.1f ms  other ids: %lld\n", (long long)points, w->name, ms,
           ms / best, w->first, (long long)wrong);
    fflush(stdout);
}

// Reports ways of one tree; times are compared with the first one's.
static void report_all(const settings* s, const way* ways, int count, int64_t points, const int64_t* wrong) {
    double times[MOST_FRAMES];
    memcpy(times, ways[0].times, sizeof times);
    const double best = median(times, s->frames);
    for (int i = 0; i < count; i++) report(s, &ways[i], best, points, wrong[i]);
}

// A frame over an exact tree; ids NULL: they stay where they are.
static double draw_exact(const settings* s, const way* w, const sap_tree* tree, const float* queries, int32_t* ids) {
    sap_gl_call call;
    sap_gl_frame frame;
    const int32_t size[2] = {s->width, s->height}, whole[4] = {0, 0, s->width, s->height};
    sap_gl* gl = sap_gl_of(s->gl);
    const int32_t images = gl->most_images;
    if (!w->computes) gl->most_images = 0; // as where there are no compute shaders
    memset(&frame, 0, sizeof frame);
    sap_gl_begin(&call, s->gl);
    sap_gl_walk_create(&call, tree, size, 1, FLT_MAX, w->walk, &frame);
    sap_gl_walk_begin_queries(&call, &frame, queries);
    if (call.status == SAP_OK) call.f->Finish();
    const double begun = now();
    do sap_gl_walk_pass(&call, &frame, WHOLE);
    while (call.status == SAP_OK && sap_gl_walk_any_left(&call, &frame));
    const double took = now() - begun;
    if (ids) {
        uint32_t* texels = room(pixels_of(s), 16);
        sap_gl_read(&call, frame.state[frame.current][0], GL_RGBA32UI, 0, whole, texels);
        for (size_t i = 0; i < pixels_of(s); i++) ids[i] = (int32_t)texels[4 * i + 2];
        free(texels);
    }
    sap_gl_walk_free(&call, &frame);
    gl->most_images = images;
    expect(sap_gl_end(&call, SAP_OK), w->name);
    return took;
}

// A frame over four bytes a node, a tile after the other.
static double draw_bytes(const settings* s, const way* w, const sap_rgba8_tree* form) {
    sap_gl_call call;
    sap_gl_rgba8 with;
    const sap_rgba8_search search = {.walk = w->walk, .integers = w->integers, .cycle = w->cycle};
    sap_gl_begin(&call, s->gl);
    sap_gl_rgba8_create(&call, form, &search, &with);
    if (call.status == SAP_OK) call.f->Finish();
    const double begun = now();
    for (int32_t y = 0; y < s->height; y += SAP_GL_RGBA8_TILE)
        for (int32_t x = 0; x < s->width; x += SAP_GL_RGBA8_TILE) {
            int32_t tile[4] = {x, y, s->width - x, s->height - y};
            for (int i = 2; i < 4; i++)
                if (tile[i] > SAP_GL_RGBA8_TILE) tile[i] = SAP_GL_RGBA8_TILE;
            sap_gl_rgba8_draw(&call, &with, &s->grid, tile, false);
        }
    if (call.status == SAP_OK) call.f->Finish();
    const double took = now() - begun;
    sap_gl_rgba8_free(&call, &with);
    expect(sap_gl_end(&call, SAP_OK), w->name);
    return took;
}

static float* make_queries(const settings* s) {
    float* queries = room(pixels_of(s) * 4, sizeof *queries);
    for (size_t i = 0; i < pixels_of(s) * 4; i++) {
        const size_t x = i / 4 % (size_t)s->width, y = i / 4 / (size_t)s->width;
        const float column = (float)(((double)x + 0.5) * s->grid.right[0]);
        queries[i] = i % 4 == 0 ? column : i % 4 == 1 ? (float)(((double)y + 0.5) * s->grid.down[1]) : 0;
    }
    return queries;
}

static void exact_ways(const settings* s, const float* points, int64_t count) {
    way ways[] = {{.name = "exact, bit mask, fragment shader", .walk = SAP_WALK_STACKLESS},
                  {.name = "exact, stack, fragment shader", .walk = SAP_WALK_STACK},
                  {.name = "exact, bit mask, compute shader", .computes = true, .walk = SAP_WALK_STACKLESS},
                  {.name = "exact, stack, compute shader", .computes = true, .walk = SAP_WALK_STACK}};
    enum { WAYS = sizeof ways / sizeof *ways };
    int64_t wrong[WAYS];
    sap_tree *tree = NULL, *copy = NULL;
    float* queries = make_queries(s);
    int32_t *truth = room(pixels_of(s), 4), *ids = room(pixels_of(s), 4);
    const sap_tree_options options = {.leaf_size = s->leaf_size};
    expect(sap_tree_build(s->cpu, (sap_points){points, count, 2, 0}, &options, &tree), "building");
    expect(sap_tree_copy(tree, s->gl, &copy), "copying");
    expect(sap_nearest_grid(tree, s->grid, &(sap_search){.k = 1}, truth, NULL), "searching");
    const int ways_here = sap_gl_of(s->gl)->most_images > 0 ? WAYS : 2;
    for (int w = 0; w < ways_here; w++) {
        ways[w].first = draw_exact(s, &ways[w], copy, queries, ids);
        wrong[w] = different(s, ids, truth);
    }
    for (int i = 0; i < s->frames; i++)
        for (int w = 0; w < ways_here; w++) ways[w].times[i] = draw_exact(s, &ways[w], copy, queries, NULL);
    report_all(s, ways, ways_here, count, wrong);
    sap_tree_free(copy);
    sap_tree_free(tree);
    free(queries);
    free(truth);
    free(ids);
}

static sap_rgba8_tree* make_form(const settings* s, const float* points, int64_t count, int32_t dims, sap_axis axis) {
    sap_tree* tree = NULL;
    sap_rgba8_tree* form = NULL;
    const sap_tree_options options = {.leaf_size = 1, .axis = axis};
    expect(sap_tree_build(s->cpu, (sap_points){points, count, dims, 0}, &options, &tree), "building");
    expect(sap_rgba8_tree_build(tree, (double[3]){0, 0, 0}, 1, &form), "making the form of four bytes a node");
    sap_tree_free(tree);
    return form;
}

// Ways of one form; other ids than the first one's are counted.
static void ways_of_form(const settings* s, const sap_rgba8_tree* form, way* ways, int count, int64_t points) {
    int64_t wrong[8];
    int32_t *truth = room(pixels_of(s), 4), *ids = room(pixels_of(s), 4);
    for (int w = 0; w < count; w++) {
        const sap_rgba8_search search = {.walk = ways[w].walk, .integers = ways[w].integers, .cycle = ways[w].cycle};
        ways[w].first = draw_bytes(s, &ways[w], form);
        expect(sap_gl_nearest_rgba8(s->gl, form, s->grid, &search, w ? ids : truth, NULL), "searching");
        wrong[w] = w ? different(s, ids, truth) : 0;
    }
    for (int i = 0; i < s->frames; i++)
        for (int w = 0; w < count; w++) ways[w].times[i] = draw_bytes(s, &ways[w], form);
    report_all(s, ways, count, points, wrong);
    free(truth);
    free(ids);
}

static void ways_in_bytes(const settings* s, const float* points, int64_t count) {
    way ways[] = {{.name = "four bytes, bit mask, GLSL ES 1.00 (as published)", .walk = SAP_WALK_STACKLESS},
                  {.name = "four bytes, emulated stack, GLSL ES 1.00", .walk = SAP_WALK_STACK},
                  {.name = "four bytes, bit mask, GLSL ES 3.00", .walk = SAP_WALK_STACKLESS, .integers = true},
                  {.name = "four bytes, stack, GLSL ES 3.00", .walk = SAP_WALK_STACK, .integers = true}};
    way cycling[] = {{.name = "four bytes, axes cycle, read, ES 3.00", .walk = SAP_WALK_STACKLESS, .integers = true},
                     {.name = "four bytes, axes computed, ES 3.00", .integers = true, .cycle = true},
                     {.name = "four bytes, axes cycle, read, ES 1.00", .walk = SAP_WALK_STACKLESS},
                     {.name = "four bytes, axes computed, ES 1.00", .cycle = true}};
    way in_space[] = {{.name = "four bytes in 3-D, bit mask, ES 3.00", .walk = SAP_WALK_STACKLESS, .integers = true},
                      {.name = "four bytes in 3-D, stack, ES 3.00", .walk = SAP_WALK_STACK, .integers = true},
                      {.name = "four bytes in 3-D, bit mask, ES 1.00", .walk = SAP_WALK_STACKLESS},
                      {.name = "four bytes in 3-D, emulated stack, ES 1.00", .walk = SAP_WALK_STACK}};
    sap_rgba8_tree* form = make_form(s, points, count, 2, SAP_AXIS_WIDEST);
    ways_of_form(s, form, ways, 4, count);
    sap_rgba8_tree_free(form);
    form = make_form(s, points, count, 2, SAP_AXIS_CYCLE);
    ways_of_form(s, form, cycling, 4, count);
    sap_rgba8_tree_free(form);
    // Two thirds of the points, in space: the picture is the slice through one side of the cube.
    form = make_form(s, points, count / 3 * 2, 3, SAP_AXIS_WIDEST);
    ways_of_form(s, form, in_space, 4, count / 3 * 2);
    sap_rgba8_tree_free(form);
}

// How many pixels get a farther site if a search ends after as many steps as the published one. The truth is the CPU's,
// over the rounded sites: some drivers end shaders before they have found it.
static void circle(const settings* s, int64_t count) {
    float *points = scatter(count, true), *near2 = room(pixels_of(s), sizeof *near2);
    sap_rgba8_tree* form = make_form(s, points, count, 2, SAP_AXIS_WIDEST);
    sap_tree* rounded = NULL;
    int32_t *ids = room(pixels_of(s), 4), *nearest = room(pixels_of(s), 4);
    int64_t wrong = 0, by_a_pixel = 0;
    double worst = 0;
    const sap_rgba8_search capped = {.most_steps = PUBLISHED_STEPS};
    expect(sap_gl_nearest_rgba8(s->gl, form, s->grid, &capped, ids, NULL), "searching");
    for (int64_t i = 0; i < 2 * count; i++)
        points[i] = (float)(floor((double)points[i] * form->scale + 0.5) / form->scale);
    expect(sap_tree_build(s->cpu, (sap_points){points, count, 2, 0}, NULL, &rounded), "building");
    expect(sap_nearest_grid(rounded, s->grid, &(sap_search){.k = 1}, nearest, near2), "searching");
    for (size_t i = 0; i < pixels_of(s); i++) {
        const double x = ((double)(i % (size_t)s->width) + 0.5) * s->grid.right[0];
        const double y = ((double)(i / (size_t)s->width) + 0.5) * s->grid.down[1];
        const float* site = points + 2 * (ids[i] < 0 ? 0 : ids[i]);
        const double farther = hypot((double)site[0] - x, (double)site[1] - y) - sqrt((double)near2[i]);
        wrong += ids[i] < 0 || farther > 1e-6;
        by_a_pixel += ids[i] < 0 || farther > s->grid.right[0];
        if (farther > worst) worst = farther;
    }
    const double percent = 100.0 / (double)pixels_of(s);
    printf("%9lld points on a circle, %d steps a pixel: %.1f %% of the pixels wrong, %.1f %% by more than a pixel, the "
           "worst by %.1f\n",
           (long long)count, PUBLISHED_STEPS, percent * (double)wrong, percent * (double)by_a_pixel,
           worst / s->grid.right[0]);
    fflush(stdout);
    free(points);
    free(near2);
    free(ids);
    free(nearest);
    sap_tree_free(rounded);
    sap_rgba8_tree_free(form);
}

static bool wanted(const settings* s, const char* part) { return !s->only || !strcmp(s->only, part); }

int main(int argc, char** argv) {
    settings s = {.width = 950, .height = 600, .leaf_size = 8, .frames = 7};
    static const int64_t circles[] = {2000, 20000, 100000};
    int64_t counts[8] = {10000, 100000};
    int known = 2, given = 0;
    for (int i = 1; i < argc; i++) {
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--size") && sscanf(value, "%dx%d", &s.width, &s.height) == 2)
            i++;
        else if (!strcmp(argv[i], "--leaf"))
            s.leaf_size = atoi(value), i++;
        else if (!strcmp(argv[i], "--frames"))
            s.frames = atoi(value), i++;
        else if (!strcmp(argv[i], "--only"))
            s.only = value, i++;
        else if (given < 8)
            counts[given++] = atoll(argv[i]);
    }
    if (given) known = given;
    for (int i = 0; i < known; i++)
        if (counts[i] < 3) counts[i] = 3;
    if (s.frames < 1 || s.frames > MOST_FRAMES) s.frames = 7;
    sap_device_info info;
    expect(sap_device_open(&(sap_device_options){.processor = SAP_GL, .log = say}, &s.gl), "opening OpenGL ES");
    expect(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .log = say}, &s.cpu), "opening the CPU");
    expect(sap_device_describe(s.gl, &info), "describing");
    s.grid = (sap_grid){.width = s.width, .height = s.height};
    s.grid.right[0] = 1.0 / s.width;
    s.grid.down[1] = 1.0 / s.height;
    printf("%s, %dx%d, leaves of %d where not of one, medians of %d\n", info.name, (int)s.width, (int)s.height,
           (int)s.leaf_size, (int)s.frames);
    for (int i = 0; i < known; i++) {
        float* points = scatter(counts[i], false);
        if (wanted(&s, "exact")) exact_ways(&s, points, counts[i]);
        if (wanted(&s, "bytes")) ways_in_bytes(&s, points, counts[i]);
        free(points);
    }
    for (size_t i = 0; wanted(&s, "circles") && i < sizeof circles / sizeof *circles; i++) circle(&s, circles[i]);
    sap_device_close(s.cpu);
    sap_device_close(s.gl);
    return 0;
}
