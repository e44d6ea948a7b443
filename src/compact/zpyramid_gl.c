// Histopyramids in Z order, on OpenGL: a level is drawn beside the others and copied to them, since a pass must not read
// the texture that it writes.
#include "base/assert.h"
#include "compact/zpyramid.h"
#include "device/gl.h"
#include <stdio.h>

extern const char sap_glsl_zpyramid[];

enum { LIST_WIDTH = 4096 };

static GLenum format_of(const sap_gl_zpyramid* p) { return p->options.bytes ? GL_RGBA8 : GL_RGBA32F; }

void sap_zpyramid_free_gl(sap_gl_zpyramid* p) {
    sap_gl_call call;
    if (sap_gl_begin(&call, p->device) == SAP_OK) {
        sap_gl_texture_free(&call, p->levels);
        sap_gl_texture_free(&call, p->work);
        sap_gl_texture_free(&call, p->list);
        if (p->arrays) call.f->DeleteVertexArrays(1, &p->arrays);
    }
    (void)sap_gl_end(&call, SAP_OK);
}

sap_status sap_zpyramid_create_gl(sap_gl_zpyramid* p) {
    sap_gl_call call;
    const int32_t side = p->options.side;
    const sap_gl* gl = sap_gl_of(p->device);
    if (gl->version < 30 || !gl->float_targets)
        return sap_fail(p->device, SAP_ERROR_UNSUPPORTED,
                        "pyramids in Z order need OpenGL ES 3.0 (WebGL 2) and textures of floats that can be written");
    if (sap_gl_begin(&call, p->device) == SAP_OK) {
        p->levels = sap_gl_texture(&call, format_of(p), side, side / 2, NULL, "a histopyramid");
        p->work = sap_gl_texture(&call, format_of(p), side / 2, side / 2, NULL, "a level of a histopyramid");
        if (call.status == SAP_OK) call.f->GenVertexArrays(1, &p->arrays);
    }
    const sap_status status = sap_gl_end(&call, SAP_OK);
    if (status != SAP_OK) sap_zpyramid_free_gl(p);
    return status;
}

static GLuint program_of(sap_gl_call* call, const sap_gl_zpyramid* p, int number) {
    char defines[192];
    const sap_gl_zpyramid_options* o = &p->options;
    const int length =
        snprintf(defines, sizeof defines,
                 "%s#define SAP_PASS %d\n#define SAP_VEC4 %d\n#define SAP_BYTES %d\n#define SAP_BRANCHES %d\n#define "
                 "SAP_GATHER %d\n",
                 number && o->in_vertices ? SAP_GLSL_DRAWN : "", number, o->vec4, o->bytes, number && o->branches,
                 number ? (int)o->gather : 0);
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    const GLuint program = sap_gl_program(call, sap_glsl_zpyramid, defines);
    sap_gl_set_int(call, program, "side", o->side);
    return program;
}

static void reduce(sap_gl_call* call, sap_gl_zpyramid* p, GLuint base) {
    const GLuint program = program_of(call, p, 0);
    for (int32_t width = p->options.side / 2; width >= 1 && call->status == SAP_OK; width /= 2) {
        const sap_gl_pass pass = {.program = program,
                                  .input = {{"base", base, 0}, {"levels", p->levels, 0}},
                                  .target = {p->work},
                                  .rectangle = {0, 0, width, width},
                                  .name = "reducing a histopyramid"};
        sap_gl_set_int(call, program, "own_width", width);
        sap_gl_draw(call, &pass);
        if (call->status != SAP_OK) break;
        call->f->ActiveTexture(GL_TEXTURE0);
        call->f->BindTexture(GL_TEXTURE_2D, p->levels);
        call->f->CopyTexSubImage2D(GL_TEXTURE_2D, 0, p->options.side - 2 * width, 0, 0, 0, width, width);
        sap_gl_check_pass(call, "copying a level of a histopyramid");
    }
    p->filled = call->status == SAP_OK;
}

static int64_t read_total(sap_gl_call* call, const sap_gl_zpyramid* p) {
    union {
        float floats[4];
        unsigned char bytes[4];
    } top = {{0, 0, 0, 0}};
    sap_gl_read(call, p->levels, format_of(p), 0, (int32_t[4]){p->options.side - 2, 0, 1, 1}, &top);
    if (!p->options.bytes) return (int64_t)top.floats[3];
    return top.bytes[0] + 256 * (int64_t)top.bytes[1] + 65536 * (int64_t)top.bytes[2] +
           16777216 * (int64_t)top.bytes[3];
}

sap_status sap_zpyramid_total_gl(sap_gl_zpyramid* p, int64_t* total) {
    sap_gl_call call;
    int64_t read = 0;
    if (sap_gl_begin(&call, p->device) == SAP_OK) read = read_total(&call, p);
    const sap_status status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK) *total = read;
    return status;
}

// ---- The list

static void take_list(sap_gl_call* call, sap_gl_zpyramid* p, int64_t outputs, sap_gl_list* list) {
    const int32_t width = call->gl->most_texture < LIST_WIDTH ? call->gl->most_texture : LIST_WIDTH;
    const int32_t height = outputs > width ? (int32_t)((outputs + width - 1) / width) : 1;
    if (p->list_size[1] < height) {
        const GLuint texture = sap_gl_texture(call, GL_RGBA32F, width, height, NULL, "a list");
        if (!texture) return;
        sap_gl_texture_free(call, p->list);
        p->list = texture;
        p->list_size[0] = width;
        p->list_size[1] = height;
    }
    list->texture = p->list;
    list->width = p->list_size[0];
    list->height = p->list_size[1];
}

static void draw_list(sap_gl_call* call, const sap_gl_zpyramid* p, GLuint base, GLuint payload, const sap_gl_list* list,
                      int64_t outputs) {
    const int32_t rows = (int32_t)((outputs + list->width - 1) / list->width);
    sap_gl_pass pass = {.program = program_of(call, p, 1),
                        .input = {{"base", base, 0}, {"levels", p->levels, 0}},
                        .target = {list->texture},
                        .rectangle = {0, 0, list->width, rows},
                        .name = "listing the outputs of a histopyramid"};
    if (p->options.gather == SAP_GL_GATHER_TEXEL) pass.input[2] = (sap_gl_input){"payload", payload, 0};
    if (p->options.gather == SAP_GL_GATHER_POSITION) sap_gl_set_int(call, pass.program, "slice", p->options.slice);
    sap_gl_set_uint(call, pass.program, "list_width", (uint32_t)list->width);
    sap_gl_set_uint(call, pass.program, "list_height", (uint32_t)rows);
    sap_gl_set_uint(call, pass.program, "list_room", (uint32_t)outputs);
    if (!p->options.in_vertices) {
        sap_gl_draw(call, &pass);
        return;
    }
    if (call->status != SAP_OK || !sap_gl_attach(call, &pass)) return;
    sap_gl_use(call, &pass);
    call->f->BindVertexArray(p->arrays);
    call->f->Viewport(0, 0, list->width, rows);
    call->f->DrawArrays(GL_POINTS, 0, (GLsizei)outputs);
    sap_gl_check_pass(call, pass.name);
}

sap_status sap_zpyramid_compact_gl(sap_gl_zpyramid* p, uint32_t base, uint32_t payload, sap_gl_list* list,
                                   int64_t* total) {
    sap_gl_call call;
    int64_t read = -1;
    sap_gl_list made = list ? *list : (sap_gl_list){0, 0, 0, 0};
    if (sap_gl_begin(&call, p->device) == SAP_OK) {
        p->filled = false;
        reduce(&call, p, base);
        const bool own = list && (!list->texture || list->texture == p->list);
        if (total || (own && !list->expected)) read = read_total(&call, p);
        int64_t outputs = made.expected && (read < 0 || read > made.expected) ? made.expected : read;
        if (own && call.status == SAP_OK) take_list(&call, p, outputs, &made);
        const int64_t room = (int64_t)made.width * made.height;
        if (outputs < 0 || outputs > room) outputs = room;
        if (list && outputs && call.status == SAP_OK) draw_list(&call, p, base, payload, &made, outputs);
    }
    const sap_status status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK && list) *list = made;
    if (status == SAP_OK && total) *total = read;
    return status;
}
