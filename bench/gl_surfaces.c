// Surfaces of volumes on OpenGL ES: from a texture to buffers or textures, to a picture and to host memory, beside the
// CPU's. The mesh is compared with the CPU's, index by index.
//
//   sapwood_gl_surfaces_bench [--size WxH] [--frames N] [--sphere] [SIDE…]
#include "device/gl.h"
#include "expect.h"
#include "gl_times.h"
#include <math.h>
#include <sapwood/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 64 };

typedef struct settings {
    int32_t width, height, frames;
    bool sphere; // and no gyroid
} settings;

static void report(const char* what, int64_t side, double* times, int count) {
    printf("%-52s %4lld^3 samples %10.3f ms\n", what, (long long)side, median(times, count));
    fflush(stdout);
}

// A sphere, or, with `waves`, many sheets.
static float* make_volume(int64_t side, bool waves) {
    float* values = malloc((size_t)(side * side * side) * sizeof *values);
    if (!values) exit(1);
    const float half = 0.5f * (float)(side - 1), step = 50.0f / (float)side;
    for (int64_t z = 0, i = 0; z < side; z++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < side; x++, i++) {
                const float a = (float)x - half, b = (float)y - half, c = (float)z - half;
                values[i] = waves ? sinf(step * a) * cosf(step * b) + sinf(step * b) * cosf(step * c) +
                                        sinf(step * c) * cosf(step * a)
                                  : 0.4f * (float)side - sqrtf(a * a + b * b + c * c);
            }
    return values;
}

// A framebuffer with depths in the device's own context.
typedef struct target {
    GLuint framebuffer, color, depth;
} target;

static target make_target(sap_device* gl, const settings* s) {
    sap_gl_call call;
    target made = {0, 0, 0};
    if (sap_gl_begin(&call, gl) == SAP_OK) {
        made.color = sap_gl_texture(&call, GL_RGBA8, s->width, s->height, NULL, "a picture");
        made.depth = sap_gl_texture(&call, GL_DEPTH_COMPONENT24, s->width, s->height, NULL, "depths");
        call.f->GenFramebuffers(1, &made.framebuffer);
        call.f->BindFramebuffer(GL_FRAMEBUFFER, made.framebuffer);
        call.f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, made.color, 0);
        call.f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, made.depth, 0);
    }
    expect(sap_gl_end(&call, SAP_OK), "a framebuffer");
    return made;
}

static void free_target(sap_device* gl, target* t) {
    sap_gl_call call;
    if (sap_gl_begin(&call, gl) == SAP_OK) {
        call.f->DeleteFramebuffers(1, &t->framebuffer);
        sap_gl_texture_free(&call, t->color);
        sap_gl_texture_free(&call, t->depth);
    }
    expect(sap_gl_end(&call, SAP_OK), "a framebuffer");
}

static void clear(sap_device* gl, const target* t) {
    sap_gl_call call;
    if (sap_gl_begin(&call, gl) == SAP_OK) {
        call.f->BindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
        call.f->ClearBufferfv(GL_COLOR, 0, (float[4]){0, 0, 0, 0});
        call.f->ClearBufferfv(GL_DEPTH, 0, (float[1]){1});
    }
    expect(sap_gl_end(&call, SAP_OK), "clearing");
}

// Along z, the whole lattice in the picture.
static sap_gl_surface_look look_at(int64_t side) {
    sap_gl_surface_look look = {.ambient = 0.25f};
    look.matrix[0] = look.matrix[5] = 2.0f / (float)(side - 1);
    look.matrix[10] = -2.0f / (float)side;
    look.matrix[12] = look.matrix[13] = -1;
    look.matrix[14] = look.matrix[15] = 1;
    return look;
}

static void check(const sap_isosurface* a, const sap_isosurface* b, const char* what) {
    if (a->mesh.vertex_count == b->mesh.vertex_count && a->mesh.triangle_count == b->mesh.triangle_count &&
        !memcmp(a->mesh.triangles, b->mesh.triangles, (size_t)a->mesh.triangle_count * 12))
        return;
    printf("WRONG: %s: the mesh differs from the CPU's\n", what);
    exit(1);
}

static void kept(const settings* s, sap_device* gl, int64_t side, const float* values, const sap_isosurface* truth,
                 bool textures, bool named) {
    char what[64];
    const char* how = textures ? "textures" : "buffers";
    double loaded[MOST_FRAMES], extracted[MOST_FRAMES], drawn[MOST_FRAMES], both[MOST_FRAMES], read[MOST_FRAMES];
    const int32_t edge = (int32_t)side, whole[4] = {0, 0, s->width, s->height};
    sap_gl_surface_options options = {.size = {edge, edge, edge}, .textures = textures};
    if (named) options.vertices = truth->mesh.vertex_count, options.triangles = truth->mesh.triangle_count;
    sap_gl_surface* surface = NULL;
    sap_isosurface* back = NULL;
    const sap_gl_surface_look look = look_at(side);
    target t = make_target(gl, s);
    expect(sap_gl_surface_create(gl, &options, &surface), "room for a surface");
    for (int i = -2; i < s->frames; i++) {
        const int at = i < 0 ? 0 : i;
        double begun = now();
        expect(sap_gl_surface_load(surface, values), "loading");
        expect(sap_device_wait(gl), "loading");
        loaded[at] = now() - begun;
        begun = now();
        expect(sap_gl_surface_extract(surface, 0, 0), "extracting");
        expect(sap_device_wait(gl), "extracting");
        extracted[at] = now() - begun;
        clear(gl, &t);
        expect(sap_device_wait(gl), "clearing");
        begun = now();
        expect(sap_gl_surface_draw(surface, &look, t.framebuffer, whole), "drawing");
        expect(sap_device_wait(gl), "drawing");
        drawn[at] = now() - begun;
        begun = now();
        clear(gl, &t);
        expect(sap_gl_surface_extract(surface, 0, 0), "extracting");
        expect(sap_gl_surface_draw(surface, &look, t.framebuffer, whole), "drawing");
        expect(sap_device_wait(gl), "drawing");
        both[at] = now() - begun;
        sap_isosurface_free(back);
        begun = now();
        expect(sap_gl_surface_read(surface, &back), "reading");
        read[at] = now() - begun;
        if (i < 0) check(back, truth, how);
    }
    if (!named) {
        snprintf(what, sizeof what, "%s: volume to a texture", how);
        report(what, side, loaded, s->frames);
    }
    const char* room = named ? "room named" : "waits once";
    snprintf(what, sizeof what, "%s, %s: extracted", how, room);
    report(what, side, extracted, s->frames);
    snprintf(what, sizeof what, "%s, %s: drawn", how, room);
    report(what, side, drawn, s->frames);
    snprintf(what, sizeof what, "%s, %s: texture to picture", how, room);
    report(what, side, both, s->frames);
    snprintf(what, sizeof what, "%s, %s: read to host memory", how, room);
    report(what, side, read, s->frames);
    sap_isosurface_free(back);
    sap_gl_surface_free(surface);
    free_target(gl, &t);
}

static sap_isosurface* in_host_memory(const settings* s, sap_device* device, const char* what, int64_t side,
                                      const float* values) {
    double times[MOST_FRAMES];
    sap_isosurface* surface = NULL;
    const sap_volume volume = {.values = values, .size = {side, side, side}};
    for (int i = -1; i < s->frames; i++) {
        sap_isosurface_free(surface);
        const double begun = now();
        expect(sap_isosurface_extract(device, volume, NULL, &surface), "extracting");
        if (i >= 0) times[i] = now() - begun;
    }
    report(what, side, times, s->frames);
    return surface;
}

static void one_volume(const settings* s, sap_device* gl, int64_t side, bool waves) {
    sap_device *one = NULL, *all = NULL;
    float* values = make_volume(side, waves);
    expect(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &one), "opening the CPU");
    expect(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &all), "opening the CPU");
    sap_isosurface* truth = in_host_memory(s, one, "CPU, one thread", side, values);
    printf("%s: %lld vertices, %lld triangles\n", waves ? "gyroid" : "sphere", (long long)truth->mesh.vertex_count,
           (long long)truth->mesh.triangle_count);
    sap_isosurface_free(in_host_memory(s, all, "CPU, all threads", side, values));
    sap_isosurface* here = in_host_memory(s, gl, "OpenGL, host memory to host memory", side, values);
    check(here, truth, "host memory to host memory");
    for (int i = 0; i < 4; i++) kept(s, gl, side, values, truth, i > 1, i % 2 == 1);
    sap_isosurface_free(here);
    sap_isosurface_free(truth);
    sap_device_close(one);
    sap_device_close(all);
    free(values);
}

int main(int argc, char** argv) {
    settings s = {1900, 1200, 9, false};
    int64_t sides[8] = {256};
    int known = 1, given = 0;
    for (int i = 1; i < argc; i++) {
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--size") && sscanf(value, "%dx%d", &s.width, &s.height) == 2)
            i++;
        else if (!strcmp(argv[i], "--frames"))
            s.frames = atoi(value), i++;
        else if (!strcmp(argv[i], "--sphere"))
            s.sphere = true;
        else if (given < 8)
            sides[given++] = atoll(argv[i]);
    }
    if (given) known = given;
    if (s.frames < 1 || s.frames > MOST_FRAMES) s.frames = 9;
    sap_device* gl = NULL;
    sap_device_info info;
    expect(sap_device_open(&(sap_device_options){.processor = SAP_GL, .log = say}, &gl), "opening OpenGL ES");
    expect(sap_device_describe(gl, &info), "describing");
    printf("%s, pictures of %dx%d, medians of %d, %d CPU threads\n", info.name, (int)s.width, (int)s.height,
           (int)s.frames, (int)info.threads);
    for (int i = 0; i < known; i++)
        for (int waves = 0; waves < (s.sphere ? 1 : 2); waves++) one_volume(&s, gl, sides[i], waves == 1);
    sap_device_close(gl);
    return 0;
}
