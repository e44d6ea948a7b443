// Surfaces that stay on an OpenGL device: the volume, and what both ways to extract one have in common.
#include "surface/resident_gl.h"
#include "base/assert.h"
#include "base/team.h"
#include "compact/pyramid_gl.h"
#include "surface/surface.h"
#include <math.h>
#include <string.h>

extern const char sap_glsl_surface_show[];

enum { CASE_WORDS = 512 };

static const double whole[2] = {0, 1};

sap_status sap_resident_report(const sap_device* device, const double part[2], double done) {
    if (sap_progress_report(device, part[0] + (part[1] - part[0]) * done)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

void sap_resident_uniforms(sap_gl_call* call, const sap_gl_surface* s, GLuint program) {
    const sap_lattice* lattice = &s->lattice;
    sap_gl_set_ints(call, program, "sides", 3, lattice->sides);
    sap_gl_set_float(call, program, "level", lattice->level);
    sap_gl_set_floats(call, program, "origin", 3, lattice->origin);
    sap_gl_set_floats(call, program, "spacing", 3, lattice->spacing);
    sap_gl_set_floats(call, program, "slopes", 3, lattice->slopes);
    sap_gl_set_float(call, program, "facing", lattice->facing);
    sap_gl_set_int(call, program, "low_inside", s->options.low_inside);
}

const char* sap_resident_sampler(const sap_gl_surface* s) {
    static const char* const samplers[] = {"#define SAP_SAMPLER sampler3D\n", "#define SAP_SAMPLER usampler3D\n",
                                           "#define SAP_SAMPLER isampler3D\n", "#define SAP_SAMPLER usampler3D\n"};
    return samplers[s->options.type];
}

// ---- Its life

sap_status sap_resident_create_gl(sap_gl_surface* s) {
    sap_gl_call call;
    uint32_t words[CASE_WORDS];
    const sap_gl* gl = sap_gl_of(s->device);
    const int* sides = s->lattice.sides;
    if (!gl->most_3d)
        return sap_fail(s->device, SAP_ERROR_UNSUPPORTED, "volume: OpenGL ES 2.0 (WebGL 1) has no textures of volumes");
    for (int i = 0; i < 3; i++)
        if (sides[i] > gl->most_3d)
            return sap_fail(s->device, SAP_ERROR_RANGE,
                            "volume.size[%d]: %d samples; GL_MAX_3D_TEXTURE_SIZE here is %d", i, sides[i],
                            (int)gl->most_3d);
    s->samples = (int64_t)sides[0] * sides[1] * sides[2];
    s->in_buffers = !s->options.textures && sap_gl_has_buffers(gl) && sap_words_fit(s);
    for (uint32_t i = 0; i < CASE_WORDS; i++) words[i] = sap_cube_word(i);
    if (sap_gl_begin(&call, s->device) == SAP_OK)
        s->cases = sap_gl_texture(&call, GL_R32UI, CASE_WORDS, 1, words, "the table of cases");
    sap_status status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK) status = sap_resident_in_buffers(s) ? sap_words_create(s) : sap_passes_create(s);
    if (status != SAP_OK) sap_resident_free_gl(s);
    return status;
}

void sap_resident_free_gl(sap_gl_surface* s) {
    sap_gl_call call;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        sap_gl_texture_free(&call, s->loaded);
        sap_gl_texture_free(&call, s->cases);
        if (sap_resident_in_buffers(s))
            sap_words_free(&call, s);
        else
            sap_passes_free(&call, s);
    }
    (void)sap_gl_end(&call, SAP_OK);
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) sap_gl_pyramid_free(s->pyramid[kind]);
}

// ---- The volume

// Whether some of many values are not finite or too large.
typedef struct finding {
    const float* values;
    int bad;
} finding;

static bool is_sample(float value) { return fabsf(value) <= 0x1p126f; }

static void find_bad(void* context, int64_t from, int64_t to, int32_t worker) {
    finding* f = context;
    bool good = true;
    (void)worker;
    for (int64_t i = from; i < to; i++) good &= is_sample(f->values[i]);
    if (!good) __atomic_store_n(&f->bad, 1, __ATOMIC_RELAXED);
}

static sap_status check_values(const sap_gl_surface* s, const float* values) {
    finding f = {values, 0};
    sap_team_loop(s->device->options.threads, s->samples, 1 << 18, find_bad, &f);
    if (!f.bad) return SAP_OK;
    const int* sides = s->lattice.sides;
    const sap_surface_job job = {.voxels = {values, sides[0], (int64_t)sides[0] * sides[1], SAP_VOXEL_F32},
                                 .lattice = s->lattice};
    int64_t first = 0;
    while (is_sample(values[first])) first++;
    return sap_surface_not_finite(s->device, &job, first);
}

// How the values of each type of volume stand in a texture.
static const struct {
    GLenum internal, format, type;
    int64_t bytes;
} formats[] = {{GL_R32F, GL_RED, GL_FLOAT, 4},
               {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1},
               {GL_R16I, GL_RED_INTEGER, GL_SHORT, 2},
               {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2}};

static void make_volume(sap_gl_call* call, sap_gl_surface* s) {
    const sap_gl_calls* f = call->f;
    const int* sides = s->lattice.sides;
    f->GenTextures(1, &s->loaded);
    f->BindTexture(GL_TEXTURE_3D, s->loaded);
    f->TexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    f->TexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    f->TexStorage3D(GL_TEXTURE_3D, 1, formats[s->options.type].internal, sides[0], sides[1], sides[2]);
    sap_gl_check(call, "the texture of a volume");
}

// What threads copy to the memory from which a texture is written.
typedef struct copying {
    const unsigned char* from;
    unsigned char* to;
    int64_t bytes;
} copying;

enum { PIECE = 1 << 18 };

static void copy_pieces(void* context, int64_t from, int64_t to, int32_t worker) {
    const copying* c = context;
    const int64_t end = to * PIECE < c->bytes ? to * PIECE : c->bytes;
    (void)worker;
    memcpy(c->to + from * PIECE, c->from + from * PIECE, (size_t)(end - from * PIECE));
}

// Some slices at a time, by way of memory that is mapped, where there is any: so the driver need not copy them first.
static void write_volume(sap_gl_call* call, const sap_gl_surface* s, const unsigned char* values) {
    const int* sides = s->lattice.sides;
    const int64_t slice = (int64_t)sides[0] * sides[1] * formats[s->options.type].bytes;
    const int64_t most = SAP_GL_LANDED / slice > 1 ? SAP_GL_LANDED / slice : 1;
    for (int64_t z = 0; z < sides[2] && call->status == SAP_OK; z += most) {
        const int64_t slices = sides[2] - z < most ? sides[2] - z : most;
        copying c = {values + z * slice, NULL, slices * slice};
        if (sap_gl_has_buffers(call->gl)) c.to = sap_gl_start(call, c.bytes);
        if (call->status != SAP_OK) return;
        if (c.to) sap_team_loop(s->device->options.threads, (c.bytes + PIECE - 1) / PIECE, 1, copy_pieces, &c);
        call->f->TexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, (GLint)z, sides[0], sides[1], (GLsizei)slices,
                               formats[s->options.type].format, formats[s->options.type].type, c.to ? NULL : c.from);
        if (c.to) sap_gl_started(call);
        sap_gl_check_pass(call, "writing a volume");
    }
}

sap_status sap_resident_load_gl(sap_gl_surface* s, const void* values) {
    sap_gl_call call;
    sap_status status = s->options.type == SAP_VOXEL_F32 ? check_values(s, values) : SAP_OK;
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        call.f->ActiveTexture(GL_TEXTURE0);
        if (s->loaded)
            call.f->BindTexture(GL_TEXTURE_3D, s->loaded);
        else
            make_volume(&call, s);
        write_volume(&call, s, values);
        if (!sap_gl_check(&call, "writing a volume")) {
            sap_gl_texture_free(&call, s->loaded);
            s->loaded = 0;
        }
    }
    return sap_gl_end(&call, SAP_OK);
}

// ---- The surface

sap_status sap_resident_extract_part(sap_gl_surface* s, uint32_t volume, float level, const double part[2]) {
    s->filled = false;
    s->lattice.level = level;
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++) s->total[kind] = -1;
    const sap_status status =
        sap_resident_in_buffers(s) ? sap_words_extract(s, volume, part) : sap_passes_extract(s, volume, part);
    s->filled = status == SAP_OK;
    return status;
}

sap_status sap_resident_extract_gl(sap_gl_surface* s, uint32_t volume, float level) {
    const sap_status status = sap_resident_extract_part(s, volume, level, whole);
    if (status != SAP_OK) return status;
    const sap_status told = sap_resident_report(s->device, whole, 1);
    s->filled = told == SAP_OK;
    return told;
}

sap_status sap_resident_count_gl(sap_gl_surface* s) {
    sap_gl_call call;
    if (s->total[0] >= 0 && s->total[1] >= 0) return SAP_OK;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        if (sap_resident_in_buffers(s))
            sap_words_count(&call, s);
        else
            sap_passes_count(&call, s);
    }
    return sap_gl_end(&call, SAP_OK);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

sap_status sap_resident_read_part(sap_gl_surface* s, sap_isosurface** read, const double part[2]) {
    int64_t count[SAP_SURFACE_KINDS];
    sap_isosurface* made = NULL;
    sap_scratch scratch = {NULL, 0};
    sap_status status = sap_resident_count_gl(s);
    for (int kind = 0; kind < SAP_SURFACE_KINDS; kind++)
        count[kind] = sap_resident_named(s, kind) ? least(sap_resident_named(s, kind), s->total[kind]) : s->total[kind];
    if (status == SAP_OK) status = sap_surface_reserve(s->device, count[0], count[1], &made);
    if (status == SAP_OK && !sap_resident_in_buffers(s) &&
        !sap_scratch_take(s->device, (size_t)16 * SAP_PASSES_ROWS * SAP_PYRAMID_LIST_WIDTH, &scratch))
        status = sap_fail(s->device, SAP_ERROR_MEMORY, "no memory to read a surface");
    for (int kind = 0; kind < SAP_SURFACE_KINDS && status == SAP_OK; kind++) {
        sap_gl_call call;
        status = sap_resident_report(s->device, part, 0.5 * kind);
        if (status != SAP_OK || !count[kind]) continue;
        if (sap_gl_begin(&call, s->device) == SAP_OK) {
            if (sap_resident_in_buffers(s))
                sap_words_read(&call, s, kind, made);
            else
                sap_passes_read(&call, s, kind, (uint32_t*)(void*)scratch.memory, made);
        }
        status = sap_gl_end(&call, SAP_OK);
    }
    sap_scratch_give(s->device, &scratch);
    if (status == SAP_OK) status = sap_resident_report(s->device, part, 1);
    if (status == SAP_OK)
        *read = made;
    else
        sap_isosurface_free(made);
    return status;
}

sap_status sap_resident_read_gl(sap_gl_surface* s, sap_isosurface** read) {
    return sap_resident_read_part(s, read, whole);
}

// ---- Drawing

static void set_look(sap_gl_call* call, const sap_gl_surface_look* look, GLuint program) {
    const float *l = look->light, *c = look->color;
    const float white[3] = {1, 1, 1}, along[3] = {0, 0, 1};
    const double length = sqrt((double)l[0] * l[0] + (double)l[1] * l[1] + (double)l[2] * l[2]);
    float light[3];
    for (int i = 0; i < 3; i++) light[i] = length > 0 ? (float)(l[i] / length) : along[i];
    for (int i = 0; i < 4; i++) {
        const char name[] = {'c', 'o', 'l', 'u', 'm', 'n', '_', (char)('0' + i), 0};
        sap_gl_set_floats(call, program, name, 4, look->matrix + 4 * (ptrdiff_t)i);
    }
    sap_gl_set_floats(call, program, "light", 3, light);
    sap_gl_set_floats(call, program, "color", 3, c[0] == 0 && c[1] == 0 && c[2] == 0 ? white : c);
    sap_gl_set_float(call, program, "ambient", look->ambient);
}

sap_status sap_resident_draw_gl(const sap_gl_surface* s, const sap_gl_surface_look* look, uint32_t framebuffer,
                                const int32_t rectangle[4]) {
    sap_gl_call call;
    if (sap_gl_begin(&call, s->device) == SAP_OK) {
        const sap_gl_calls* f = call.f;
        const GLuint program = sap_gl_program(&call, sap_glsl_surface_show,
                                              sap_resident_in_buffers(s) ? SAP_GLSL_DRAWN "#define SAP_TEXTURES 0\n"
                                                                         : SAP_GLSL_DRAWN "#define SAP_TEXTURES 1\n");
        f->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        if (f->CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE &&
            sap_gl_check(&call, "drawing a surface"))
            sap_gl_fail(&call, SAP_ERROR_UNSUPPORTED, "framebuffer: OpenGL cannot draw to it");
        if (call.status == SAP_OK) {
            set_look(&call, look, program);
            f->Viewport(rectangle[0], rectangle[1], rectangle[2], rectangle[3]);
            f->Enable(GL_DEPTH_TEST);
            f->BindVertexArray(s->arrays);
            if (sap_resident_in_buffers(s))
                sap_words_draw(&call, s);
            else
                sap_passes_draw(&call, s, program);
            f->Disable(GL_DEPTH_TEST);
            sap_gl_check(&call, "drawing a surface");
        }
    }
    return sap_gl_end(&call, SAP_OK);
}
