// Surfaces in buffers, by compute shaders: bits of samples, counts of words, sums of these, and then all vertices and
// triangles at once, each where it belongs. words.glsl has the passes.
#include "base/assert.h"
#include "base/team.h"
#include "surface/resident_gl.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

extern const char sap_glsl_words[];

enum {
    WORD = 32,
    BLOCK = SAP_GL_GROUP,
    PARTS = 8, // of a word, each for an invocation
    COMMAND_BYTES = 32,
    COUNTS_AT = 20, // in it
    DRAW_INDIRECT_BUFFER = 0x8F3F,
    DRAW_INDIRECT_BUFFER_BINDING = 0x8F43,
    vertex_bytes = 6 * sizeof(float),
    triangle_bytes = 3 * sizeof(uint32_t)
};

static int64_t row_words(const sap_gl_surface* s) { return (s->lattice.sides[0] + WORD - 1) / WORD; }
static int64_t all_words(const sap_gl_surface* s) { return row_words(s) * s->lattice.sides[1] * s->lattice.sides[2]; }
static int64_t all_blocks(const sap_gl_surface* s) { return (all_words(s) + BLOCK - 1) / BLOCK; }

bool sap_words_fit(const sap_gl_surface* s) {
    return all_words(s) * 2 * (int64_t)sizeof(uint32_t) <= sap_gl_of(s->device)->most_buffer;
}

static void make_arrays(sap_gl_call* call, sap_gl_surface* s) {
    const sap_gl_calls* f = call->f;
    if (call->status != SAP_OK) return;
    if (!s->arrays) f->GenVertexArrays(1, &s->arrays);
    f->BindVertexArray(s->arrays);
    f->BindBuffer(GL_ARRAY_BUFFER, s->made[SAP_SURFACE_VERTICES]);
    for (GLuint i = 0; i < 2; i++) {
        f->EnableVertexAttribArray(i);
        f->VertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, (GLsizei)vertex_bytes, (const void*)(i * sizeof(float[3])));
    }
    f->BindBuffer(GL_ELEMENT_ARRAY_BUFFER, s->made[SAP_SURFACE_TRIANGLES]);
    f->BindVertexArray(0);
    sap_gl_check_pass(call, "the arrays of a surface");
}

// Room for so many vertices and triangles; where the caller named no number, a little more than there are, so that a
// surface that grows slowly finds it.
static void make_room(sap_gl_call* call, sap_gl_surface* s) {
    static const char* const what[] = {"the vertices of a surface", "the triangles of a surface"};
    static const int64_t bytes[] = {vertex_bytes, triangle_bytes};
    bool grows = !s->arrays;
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) {
        const int64_t named = sap_resident_named(s, kind), wanted = named ? named : s->total[kind];
        const int64_t most = call->gl->most_buffer / bytes[kind];
        if (s->made[kind] && s->room[kind] >= wanted) continue;
        int64_t room = named ? named : wanted + wanted / 8 + 1;
        if (room > most && wanted <= most) room = most;
        sap_gl_buffer_free(call, s->made[kind]);
        s->made[kind] = sap_gl_buffer(call, room * bytes[kind], what[kind]);
        s->room[kind] = s->made[kind] ? room : 0;
        grows = true;
    }
    if (grows) make_arrays(call, s);
}

static bool waits(const sap_gl_surface* s) { return !s->options.vertices || !s->options.triangles; }

sap_status sap_words_create(sap_gl_surface* s) {
    sap_gl_call call;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        s->words = sap_gl_buffer(&call, all_words(s) * 2 * (int64_t)sizeof(uint32_t), "the bits of a volume");
        s->blocks =
            sap_gl_buffer(&call, all_blocks(s) * 2 * (int64_t)sizeof(uint32_t), "the counts of a volume's cells");
        s->command = sap_gl_buffer(&call, COMMAND_BYTES, "how a surface is drawn");
        if (!waits(s)) make_room(&call, s);
    }
    return sap_gl_end(&call, SAP_OK);
}

void sap_words_free(sap_gl_call* call, sap_gl_surface* s) {
    sap_gl_buffer_free(call, s->words);
    sap_gl_buffer_free(call, s->blocks);
    sap_gl_buffer_free(call, s->command);
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) sap_gl_buffer_free(call, s->made[kind]);
    if (s->arrays && !call->gl->lost) call->f->DeleteVertexArrays(1, &s->arrays);
}

// ---- Extraction

static void run(sap_gl_call* call, const sap_gl_surface* s, int number, GLuint volume, int64_t groups) {
    char defines[96];
    const int length =
        snprintf(defines, sizeof defines, SAP_GLSL_BUFFERS "%s#define SAP_PASS %d\n", sap_resident_sampler(s), number);
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    sap_gl_dispatch dispatch = {.program = sap_gl_program(call, sap_glsl_words, defines),
                                .input = {{"volume", volume, GL_TEXTURE_3D}, {"cases", s->cases, 0}},
                                .buffer = {s->words, s->blocks, s->command},
                                .groups = groups,
                                .name = "extracting a surface"};
    if (number == 3) memcpy(dispatch.buffer + 2, s->made, sizeof s->made);
    if (call->status != SAP_OK) return;
    sap_resident_uniforms(call, s, dispatch.program);
    sap_gl_set_uint(call, dispatch.program, "row_words", (uint32_t)row_words(s));
    sap_gl_set_uint(call, dispatch.program, "all_words", (uint32_t)all_words(s));
    sap_gl_set_uint(call, dispatch.program, "all_blocks", (uint32_t)all_blocks(s));
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) {
        const int64_t named = sap_resident_named(s, kind);
        sap_gl_set_uint(call, dispatch.program, kind ? "triangle_room" : "vertex_room",
                        named ? (uint32_t)named : UINT32_MAX);
    }
    sap_gl_compute(call, &dispatch);
}

void sap_words_count(sap_gl_call* call, sap_gl_surface* s) {
    uint32_t counts[SAP_SURFACE_KINDS] = {0, 0};
    sap_gl_buffer_read(call, s->command, COUNTS_AT, sizeof counts, counts);
    for (int kind = 0; kind < SAP_SURFACE_KINDS && call->status == SAP_OK; kind++) s->total[kind] = counts[kind];
}

sap_status sap_words_extract(sap_gl_surface* s, GLuint volume, const double part[2]) {
    const int64_t blocks = all_blocks(s);
    sap_gl_call call;
    sap_status status = sap_resident_report(s->device, part, 0);
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        run(&call, s, 0, volume, blocks);
        run(&call, s, 1, volume, blocks);
        run(&call, s, 2, volume, 1);
        if (waits(s)) sap_words_count(&call, s);
    }
    status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK) status = sap_resident_report(s->device, part, 0.5);
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        make_room(&call, s);
        run(&call, s, 3, volume, (all_words(s) * PARTS + BLOCK - 1) / BLOCK);
    }
    return sap_gl_end(&call, SAP_OK);
}

void sap_words_draw(sap_gl_call* call, const sap_gl_surface* s) {
    const sap_gl_calls* f = call->f;
    GLint bound = 0;
    if (!call->gl->own_context) f->GetIntegerv(DRAW_INDIRECT_BUFFER_BINDING, &bound);
    f->BindBuffer(DRAW_INDIRECT_BUFFER, s->command);
    f->DrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, NULL);
    f->BindBuffer(DRAW_INDIRECT_BUFFER, (GLuint)bound);
}

// ---- Reading

// Vertices as they lie in the buffer, and the arrays for their halves.
typedef struct parting {
    const float* vertices;
    float* halves[2];
} parting;

static void take_apart(void* context, int64_t from, int64_t to, int32_t worker) {
    const parting* p = context;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        for (int half = 0; half < 2; half++)
            memcpy(p->halves[half] + 3 * i, p->vertices + 6 * i + 3 * (ptrdiff_t)half, 3 * sizeof(float));
}

void sap_words_read(sap_gl_call* call, const sap_gl_surface* s, int kind, sap_isosurface* to) {
    const sap_mesh* mesh = &to->mesh;
    const bool triangles = kind == SAP_SURFACE_TRIANGLES;
    const int64_t count = triangles ? mesh->triangle_count : mesh->vertex_count;
    const int64_t bytes = count * (triangles ? triangle_bytes : vertex_bytes);
    const void* at = sap_gl_buffer_land(call, s->made[kind], 0, bytes);
    if (!at) return;
    if (triangles) {
        memcpy((void*)(uintptr_t)mesh->triangles, at, (size_t)bytes);
    } else {
        parting p = {at, {(float*)(uintptr_t)mesh->vertices, (float*)(uintptr_t)to->normals}};
        sap_team_loop(s->device->options.threads, count, 1 << 16, take_apart, &p);
    }
    sap_gl_buffer_landed(call);
}
