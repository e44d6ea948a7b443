// Compaction in shaders of OpenGL ES: the published pyramid in Z order in every form that it has, the library's in the
// order of rows, and, where CUDA is, sap_compact on the GPU over the same flags; each with the total read back, with a
// number expected, and with neither. All lists have the same number of cells; the tests compare them cell by cell.
//
//   sapwood_gl_compact_bench [--side N] [--frames N] [PERCENT…]
#include "device/gl.h"
#include "expect.h"
#include "gl_times.h"
#include <sapwood/gl.h>
#include <sapwood/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(SAP_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif

enum { MOST_FRAMES = 64 };

typedef struct settings {
    int32_t side, frames;
} settings;

typedef struct scene {
    const settings* settings;
    sap_device* gl;
    GLuint flags, four, payload; // a flag a texel; four; what is gathered
    uint8_t* keep;
    int64_t cells, kept;
} scene;

// How a caller learns how many there are: it reads the total; it expects a number; it takes whatever its texture holds.
typedef enum waiting { READS, EXPECTS, NEITHER, WAITINGS } waiting;

typedef sap_status (*lister)(void* pyramid, const scene* s, sap_gl_list* list, int64_t* total);

static sap_status list_z(void* pyramid, const scene* s, sap_gl_list* list, int64_t* total) {
    return sap_gl_zpyramid_compact(pyramid, s->flags, s->payload, list, total);
}
static sap_status list_rows(void* pyramid, const scene* s, sap_gl_list* list, int64_t* total) {
    return sap_gl_compact(pyramid, s->flags, list, total);
}
static sap_status list_rows_of_four(void* pyramid, const scene* s, sap_gl_list* list, int64_t* total) {
    return sap_gl_compact(pyramid, s->four, list, total);
}

static void run(const scene* s, const char* what, lister lists, void* pyramid, GLenum format) {
    double times[WAITINGS][MOST_FRAMES], submitted[WAITINGS][MOST_FRAMES];
    const int32_t width = 4096, height = (int32_t)((s->kept * 5 / 4 + width - 1) / width) + 1;
    sap_gl_call call;
    GLuint texture = 0;
    if (sap_gl_begin(&call, s->gl) == SAP_OK) texture = sap_gl_texture(&call, format, width, height, NULL, "a list");
    expect(sap_gl_end(&call, SAP_OK), "a list");
    for (int i = -2; i < s->settings->frames; i++)
        for (int w = 0; w < WAITINGS; w++) {
            int64_t total = s->kept;
            sap_gl_list list = {texture, width, height, w == EXPECTS ? s->kept * 9 / 8 : 0};
            const double begun = now();
            expect(lists(pyramid, s, &list, w == READS ? &total : NULL), "listing");
            const double returned = now();
            expect(sap_device_wait(s->gl), "listing");
            if (i >= 0) times[w][i] = now() - begun, submitted[w][i] = returned - begun;
            if (total != s->kept) printf("WRONG: %s: %lld\n", what, (long long)total);
        }
    printf("%-44s", what);
    for (int w = 0; w < WAITINGS; w++)
        printf("  %8.3f (%.3f)", median(times[w], s->settings->frames), median(submitted[w], s->settings->frames));
    printf("\n");
    fflush(stdout);
    if (sap_gl_begin(&call, s->gl) == SAP_OK) sap_gl_texture_free(&call, texture);
    expect(sap_gl_end(&call, SAP_OK), "a list");
}

static void run_z(const scene* s, const char* what, sap_gl_zpyramid_options options) {
    sap_gl_zpyramid* pyramid = NULL;
    options.side = s->settings->side;
    expect(sap_gl_zpyramid_create(s->gl, &options, &pyramid), "a pyramid");
    run(s, what, list_z, pyramid, GL_RGBA32F);
    sap_gl_zpyramid_free(pyramid);
}

static void run_rows(const scene* s, const char* what, sap_gl_form form, bool four) {
    sap_gl_pyramid* pyramid = NULL;
    const sap_gl_pyramid_options options = {.form = form,
                                            .cells = form == SAP_GL_FLOAT ? SAP_GL_CELLS_BYTE
                                                     : four               ? SAP_GL_CELLS_UINT4
                                                                          : SAP_GL_CELLS_BYTE,
                                            .width = four ? s->settings->side / 4 : s->settings->side,
                                            .height = s->settings->side,
                                            .count = form == SAP_GL_FLOAT ? s->cells - 1 : 0};
    expect(sap_gl_pyramid_create(s->gl, &options, &pyramid), "a pyramid");
    run(s, what, four ? list_rows_of_four : list_rows, pyramid, form == SAP_GL_FLOAT ? GL_RGBA32F : GL_R32UI);
    sap_gl_pyramid_free(pyramid);
}

// On CUDA the flags, the cells and the list lie on the GPU; the count comes back.
static void run_cuda(const scene* s) {
#if defined(SAP_HAVE_CUDA)
    double times[MOST_FRAMES];
    sap_device* cuda = NULL;
    void *keep = NULL, *numbers = NULL, *list = NULL;
    uint32_t* from = malloc((size_t)s->cells * sizeof *from);
    int64_t kept = 0;
    if (!from || sap_device_open(&(sap_device_options){.processor = SAP_CUDA}, &cuda) != SAP_OK) {
        free(from);
        return;
    }
    for (int64_t i = 0; i < s->cells; i++) from[i] = (uint32_t)i;
    const size_t bytes = (size_t)s->cells * sizeof *from;
    if (cudaMalloc(&keep, (size_t)s->cells) == cudaSuccess && cudaMalloc(&numbers, bytes) == cudaSuccess &&
        cudaMalloc(&list, bytes) == cudaSuccess &&
        cudaMemcpy(keep, s->keep, (size_t)s->cells, cudaMemcpyHostToDevice) == cudaSuccess &&
        cudaMemcpy(numbers, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess) {
        for (int i = -2; i < s->settings->frames; i++) {
            const double begun = now();
            expect(sap_compact(cuda, numbers, s->cells, sizeof *from, keep, list, &kept), "compacting");
            if (i >= 0) times[i] = now() - begun;
        }
        printf("%-44s  %8.3f\n", "CUDA: sap_compact, 32 bits a cell", median(times, s->settings->frames));
        if (kept != s->kept) printf("WRONG: CUDA keeps %lld\n", (long long)kept);
    }
    cudaFree(keep);
    cudaFree(numbers);
    cudaFree(list);
    free(from);
    sap_device_close(cuda);
#else
    (void)s;
#endif
}

static scene make_scene(const settings* set, sap_device* gl, int percent) {
    scene s = {.settings = set, .gl = gl, .cells = (int64_t)set->side * set->side};
    uint32_t state = 7;
    sap_gl_call call;
    s.keep = malloc((size_t)s.cells);
    if (!s.keep) exit(1);
    for (int64_t i = 0; i < s.cells; i++) {
        state = state * 1664525u + 1013904223u;
        s.keep[i] = (state >> 8) % 100 < (uint32_t)percent ? 255 : 0;
        s.kept += s.keep[i] != 0;
    }
    if (s.keep[s.cells - 1]) s.keep[s.cells - 1] = 0, s.kept--; // floats count to one below 2^24
    if (sap_gl_begin(&call, gl) == SAP_OK) {
        s.flags = sap_gl_texture(&call, GL_R8, set->side, set->side, s.keep, "flags");
        s.four = sap_gl_texture(&call, GL_RGBA8UI, set->side / 4, set->side, NULL, "flags");
        s.payload = sap_gl_texture(&call, GL_RGBA32F, set->side, set->side, NULL, "a payload");
        if (call.status == SAP_OK) {
            call.f->BindTexture(GL_TEXTURE_2D, s.four);
            call.f->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, set->side / 4, set->side, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE,
                                  s.keep);
        }
    }
    expect(sap_gl_end(&call, SAP_OK), "cells");
    return s;
}

static void free_scene(scene* s) {
    sap_gl_call call;
    if (sap_gl_begin(&call, s->gl) == SAP_OK) {
        sap_gl_texture_free(&call, s->flags);
        sap_gl_texture_free(&call, s->four);
        sap_gl_texture_free(&call, s->payload);
    }
    expect(sap_gl_end(&call, SAP_OK), "cells");
    free(s->keep);
}

static void one_share(const settings* set, sap_device* gl, int percent) {
    scene s = make_scene(set, gl, percent);
    printf("%lld cells, %d %% kept; ms until all is drawn (until the call returns): total read, number expected, "
           "neither\n",
           (long long)s.cells, percent);
    run_z(&s, "Z order: floats", (sap_gl_zpyramid_options){0});
    run_z(&s, "Z order: floats, branches", (sap_gl_zpyramid_options){.branches = true});
    run_z(&s, "Z order: floats, vertex shader", (sap_gl_zpyramid_options){.in_vertices = true});
    run_z(&s, "Z order: bytes", (sap_gl_zpyramid_options){.bytes = true});
    run_z(&s, "Z order: bytes, branches", (sap_gl_zpyramid_options){.bytes = true, .branches = true});
    run_z(&s, "Z order: vec4", (sap_gl_zpyramid_options){.vec4 = true});
    run_z(&s, "Z order: vec4, branches", (sap_gl_zpyramid_options){.vec4 = true, .branches = true});
    run_z(&s, "Z order: vec4, vertex shader", (sap_gl_zpyramid_options){.vec4 = true, .in_vertices = true});
    run_z(&s, "Z order: vec4, texels gathered", (sap_gl_zpyramid_options){.vec4 = true, .gather = SAP_GL_GATHER_TEXEL});
    run_z(&s, "Z order: vec4, positions in slices",
          (sap_gl_zpyramid_options){.vec4 = true, .gather = SAP_GL_GATHER_POSITION, .slice = set->side / 16});
    run_rows(&s, "rows: vec4, integers", SAP_GL_VEC4, false);
    run_rows(&s, "rows: plain, integers", SAP_GL_PLAIN, false);
    run_rows(&s, "rows: vec4, floats, GLSL ES 1.00", SAP_GL_FLOAT, false);
    run_rows(&s, "rows: vec4, integers, 4 cells a texel", SAP_GL_VEC4, true);
    run_cuda(&s);
    free_scene(&s);
}

int main(int argc, char** argv) {
    settings s = {4096, 9};
    int percents[8] = {2, 25}, known = 2, given = 0;
    for (int i = 1; i < argc; i++) {
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--side"))
            s.side = atoi(value), i++;
        else if (!strcmp(argv[i], "--frames"))
            s.frames = atoi(value), i++;
        else if (given < 8)
            percents[given++] = atoi(argv[i]);
    }
    if (given) known = given;
    if (s.frames < 1 || s.frames > MOST_FRAMES) s.frames = 9;
    sap_device* gl = NULL;
    sap_device_info info;
    expect(sap_device_open(&(sap_device_options){.processor = SAP_GL, .log = say}, &gl), "opening OpenGL ES");
    expect(sap_device_describe(gl, &info), "describing");
    printf("%s, medians of %d, the ways to wait in turn\n", info.name, (int)s.frames);
    for (int i = 0; i < known; i++) one_share(&s, gl, percents[i]);
    sap_device_close(gl);
    return 0;
}
