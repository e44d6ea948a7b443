// Surfaces in textures, by fragment shaders: one pass counts, two histopyramids list the edges that have vertices and
// the triangles of the cells, and a pass over each list makes these. surface.glsl has the passes.
#include "base/assert.h"
#include "compact/pyramid_gl.h"
#include "surface/resident_gl.h"
#include <stdio.h>
#include <string.h>

extern const char sap_glsl_surface[];

enum { COUNT, VERTICES, TRIANGLES };

static GLuint program_of(sap_gl_call* call, const sap_gl_surface* s, int number) {
    char defines[160], of_pyramid[80] = "";
    if (number == TRIANGLES) sap_pyramid_define(s->pyramid[SAP_SURFACE_VERTICES], of_pyramid, sizeof of_pyramid);
    const int length =
        snprintf(defines, sizeof defines, "%s#define SAP_PASS %d\n%s", sap_resident_sampler(s), number, of_pyramid);
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    const GLuint program = sap_gl_program(call, sap_glsl_surface, defines);
    sap_resident_uniforms(call, s, program);
    return program;
}

sap_status sap_passes_create(sap_gl_surface* s) {
    sap_gl_call call;
    int32_t* size = s->counts_size;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        static const char what[] = "the counts of a volume's cells";
        if (sap_gl_array_size(&call, (s->samples + 3) / 4, what, &size[0], &size[1]))
            for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++)
                s->counts[kind] = sap_gl_texture(&call, GL_RGBA8UI, size[0], size[1], NULL, what);
        if (call.status == SAP_OK) call.f->GenVertexArrays(1, &s->arrays); // without any
    }
    sap_status status = sap_gl_end(&call, SAP_OK);
    for (int kind = 0; kind < SAP_SURFACE_KINDS && status == SAP_OK; kind++) {
        const sap_gl_pyramid_options options = {.cells = SAP_GL_CELLS_UINT4,
                                                .width = size[0],
                                                .height = size[1],
                                                .count = s->samples,
                                                .most = kind == SAP_SURFACE_VERTICES ? 3 : 5};
        status = sap_gl_pyramid_create(s->device, &options, &s->pyramid[kind]);
        s->list[kind].expected = sap_resident_named(s, kind);
    }
    return status;
}

void sap_passes_free(sap_gl_call* call, sap_gl_surface* s) {
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) sap_gl_texture_free(call, s->counts[kind]);
    for (int i = 0; i < 3; i++) sap_gl_texture_free(call, s->texture[i]);
    if (s->arrays && !call->gl->lost) call->f->DeleteVertexArrays(1, &s->arrays);
}

// ---- Extraction

static void count(sap_gl_call* call, const sap_gl_surface* s, GLuint volume) {
    const int32_t* size = s->counts_size;
    const sap_gl_pass pass = {.program = program_of(call, s, COUNT),
                              .input = {{"volume", volume, GL_TEXTURE_3D}, {"words", s->cases, 0}},
                              .target = {s->counts[SAP_SURFACE_VERTICES], s->counts[SAP_SURFACE_TRIANGLES]},
                              .rectangle = {0, 0, size[0], size[1]},
                              .name = "counting vertices and triangles"};
    sap_gl_set_int(call, pass.program, "counts_shift", size[0] > 1 ? sap_trailing_zeros((uint32_t)size[0]) : 0);
    sap_gl_set_uint(call, pass.program, "samples", (uint32_t)s->samples);
    sap_gl_draw(call, &pass);
}

// How many vertices or triangles the list has room for, and so the textures.
static int64_t listed(const sap_gl_surface* s, int kind) {
    const int64_t named = sap_resident_named(s, kind), total = s->total[kind];
    return named && (total < 0 || total > named) ? named : total;
}

// The textures for what a pass writes, with as many rows as it needs.
static void make_textures(sap_gl_call* call, sap_gl_surface* s, int kind, int32_t rows) {
    const int first = kind == SAP_SURFACE_VERTICES ? 0 : 2, end = kind == SAP_SURFACE_VERTICES ? 2 : 3;
    for (int i = first; i < end && call->status == SAP_OK; i++) {
        if (s->rows[i] >= rows) continue;
        sap_gl_texture_free(call, s->texture[i]);
        s->rows[i] = 0;
        s->texture[i] = sap_gl_texture(call, GL_RGBA32UI, s->list[kind].width, rows, NULL, "a surface");
        if (s->texture[i]) s->rows[i] = rows;
    }
}

static void make(sap_gl_call* call, sap_gl_surface* s, GLuint volume, int kind) {
    const sap_gl_list* list = &s->list[kind];
    const bool vertices = kind == SAP_SURFACE_VERTICES;
    const int64_t rows = (listed(s, kind) + list->width - 1) / list->width;
    make_textures(call, s, kind, rows ? (int32_t)rows : 1);
    if (call->status != SAP_OK || !rows) return;
    sap_gl_pass pass = {
        .program = program_of(call, s, vertices ? VERTICES : TRIANGLES),
        .input = {{"volume", volume, GL_TEXTURE_3D}, {"words", s->cases, 0}, {"list", list->texture, 0}},
        .target = {s->texture[vertices ? 0 : 2], vertices ? s->texture[1] : 0},
        .rectangle = {0, 0, list->width, (int32_t)rows},
        .name = vertices ? "making vertices" : "making triangles"};
    if (!vertices) {
        const sap_gl_pyramid* pyramid = s->pyramid[SAP_SURFACE_VERTICES];
        sap_pyramid_uniforms(call, pyramid, pass.program);
        sap_pyramid_inputs(pyramid, s->counts[SAP_SURFACE_VERTICES], pass.input + 3);
    }
    sap_gl_draw(call, &pass);
}

static sap_status list(sap_gl_surface* s, int kind) {
    const bool waits = !sap_resident_named(s, kind);
    return sap_gl_compact(s->pyramid[kind], s->counts[kind], &s->list[kind], waits ? &s->total[kind] : NULL);
}

sap_status sap_passes_extract(sap_gl_surface* s, GLuint volume, const double part[2]) {
    sap_gl_call call;
    sap_status status = sap_resident_report(s->device, part, 0);
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, s->device) == SAP_OK) count(&call, s, volume);
    status = sap_gl_end(&call, SAP_OK);
    for (int kind = 0; kind < SAP_SURFACE_KINDS && status == SAP_OK; kind++) {
        status = sap_resident_report(s->device, part, 0.25 * (1 + kind));
        if (status == SAP_OK) status = list(s, kind);
    }
    if (status == SAP_OK) status = sap_resident_report(s->device, part, 0.75);
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, s->device) == SAP_OK)
        for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) make(&call, s, volume, kind);
    return sap_gl_end(&call, SAP_OK);
}

void sap_passes_count(sap_gl_call* call, sap_gl_surface* s) {
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) {
        const int64_t total = sap_pyramid_read_total(call, s->pyramid[kind]);
        if (call->status == SAP_OK) s->total[kind] = total;
    }
}

void sap_passes_draw(sap_gl_call* call, const sap_gl_surface* s, GLuint program) {
    const int64_t corners = 3 * listed(s, SAP_SURFACE_TRIANGLES);
    sap_gl_input sums[2][SAP_PYRAMID_INPUTS];
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++)
        sap_pyramid_inputs(s->pyramid[kind], s->counts[kind], sums[kind]);
    sap_gl_pass pass = {.program = program,
                        .input = {{"positions", s->texture[0], 0},
                                  {"normals", s->texture[1], 0},
                                  {"corners", s->texture[2], 0},
                                  {"vertex_sums", sums[0][SAP_PYRAMID_INPUTS - 1].texture, 0},
                                  {"triangle_sums", sums[1][SAP_PYRAMID_INPUTS - 1].texture, 0}}};
    const int64_t named = sap_resident_named(s, SAP_SURFACE_VERTICES);
    sap_gl_set_int(call, program, "vertex_width", s->list[SAP_SURFACE_VERTICES].width);
    sap_gl_set_int(call, program, "triangle_width", s->list[SAP_SURFACE_TRIANGLES].width);
    sap_gl_set_uint(call, program, "room", named ? (uint32_t)named : UINT32_MAX);
    sap_gl_use(call, &pass);
    if (corners) call->f->DrawArrays(GL_TRIANGLES, 0, (GLsizei)corners);
}

// ---- Reading

// A triangle that has lost a corner is none.
static void drop_cut(const sap_gl_surface* s, int32_t* triangles, int64_t count) {
    const int64_t room = sap_resident_named(s, SAP_SURFACE_VERTICES);
    for (int64_t i = 0; i < count && room; i++) {
        int32_t* t = triangles + 3 * i;
        if (t[0] >= room || t[1] >= room || t[2] >= room) memset(t, 0, 3 * sizeof *t);
    }
}

void sap_passes_read(sap_gl_call* call, const sap_gl_surface* s, int kind, uint32_t* texels, sap_isosurface* to) {
    const bool vertices = kind == SAP_SURFACE_VERTICES;
    const int64_t width = s->list[kind].width, count = vertices ? to->mesh.vertex_count : to->mesh.triangle_count;
    uint32_t* const arrays[3] = {(uint32_t*)(uintptr_t)to->mesh.vertices, (uint32_t*)(uintptr_t)to->normals,
                                 (uint32_t*)(uintptr_t)to->mesh.triangles};
    for (int64_t first = 0; first < count; first += width * SAP_PASSES_ROWS) {
        const int64_t some = count - first < width * SAP_PASSES_ROWS ? count - first : width * SAP_PASSES_ROWS;
        const int32_t rectangle[4] = {0, (int32_t)(first / width), (int32_t)width,
                                      (int32_t)((some + width - 1) / width)};
        for (int i = vertices ? 0 : 2; i < (vertices ? 2 : 3); i++) {
            sap_gl_read(call, s->texture[i], GL_RGBA32UI, 0, rectangle, texels);
            if (call->status != SAP_OK) return;
            for (int64_t j = 0; j < some; j++) memcpy(arrays[i] + 3 * (first + j), texels + 4 * j, 3 * sizeof *texels);
        }
    }
    if (!vertices) drop_cut(s, (int32_t*)arrays[2], count);
}
