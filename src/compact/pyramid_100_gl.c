// Histopyramids in GLSL ES 1.00: each level is drawn into a texture of its own, and copied from there to the one that
// holds all levels, since a pass must not read the texture that it writes.
#include "base/assert.h"
#include "compact/pyramid_gl.h"
#include <math.h>
#include <stdio.h>

extern const char sap_glsl_histopyramid_100[];

enum { LEVELS = 0, WORK = 1, TOTAL = 2 }; // of sap_gl_pyramid.texture

static int32_t rows_of(const sap_gl_pyramid* p, int32_t level) {
    return (int32_t)((p->nodes[level] - 1) >> p->shift[0]) + 1;
}

static GLenum format_of(const sap_gl_pyramid* p) { return p->bytes ? GL_RGBA8 : GL_RGBA32F; }

// Takes levels of a single node away, but for the lowest of them: only integers need a fixed number of levels.
static void drop_needless_levels(sap_gl_pyramid* p) {
    while (p->levels > 1 && p->nodes[p->levels - 1] == 1) p->levels--;
}

void sap_pyramid_make_100(sap_gl_call* call, sap_gl_pyramid* p) {
    if (call->status != SAP_OK) return;
    p->bytes = !call->gl->float_targets;
    drop_needless_levels(p);
    int32_t rows = 0;
    while ((UINT64_C(1) << (2 * p->shift[0])) < p->nodes[1]) p->shift[0]++;
    for (int32_t level = p->levels; level >= 1; level--) {
        p->row[level] = rows;
        rows += rows_of(p, level);
    }
    int32_t width = 1 << p->shift[0];
    SAP_ASSERT(p->levels >= 1 && p->nodes[p->levels] == 1);
    p->texture[LEVELS] = sap_gl_texture(call, format_of(p), width, rows, NULL, "a histopyramid");
    p->texture[WORK] = sap_gl_texture(call, format_of(p), width, rows_of(p, 1), NULL, "a level of a histopyramid");
    p->texture[TOTAL] = sap_gl_texture(call, GL_RGBA8, 1, 1, NULL, "the total of a histopyramid");
}

static GLuint program_of(sap_gl_call* call, const sap_gl_pyramid* p, int pass, int32_t width, int32_t height) {
    char defines[160];
    const int length = snprintf(defines, sizeof defines,
                                SAP_GLSL_100 "#define SAP_PASS %d\n#define SAP_CELLS %d\n#define SAP_BYTES %d\n", pass,
                                (int)p->options.cells, p->bytes);
    SAP_ASSERT(length > 0 && length < (int)sizeof defines);
    (void)length;
    GLuint program = sap_gl_program(call, sap_glsl_histopyramid_100, defines);
    float base_size[2] = {(float)p->options.width, (float)p->options.height};
    float levels_size[2] = {(float)(1 << p->shift[0]), (float)(p->row[1] + rows_of(p, 1))};
    float pass_size[2] = {(float)width, (float)height};
    sap_gl_set_floats(call, program, "pass_size", 2, pass_size);
    sap_gl_set_floats(call, program, "base_size", 2, base_size);
    sap_gl_set_floats(call, program, "levels_size", 2, levels_size);
    sap_gl_set_float(call, program, "cells", (float)p->nodes[0]);
    sap_gl_set_float(call, program, "most", (float)p->options.most);
    return program;
}

// The pass leaves the work texture in the framebuffer, from which the level is copied.
static void copy_level(sap_gl_call* call, const sap_gl_pyramid* p, int32_t level) {
    if (call->status != SAP_OK) return;
    call->f->ActiveTexture(GL_TEXTURE0);
    call->f->BindTexture(GL_TEXTURE_2D, p->texture[LEVELS]);
    call->f->CopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, p->row[level], 0, 0, 1 << p->shift[0], rows_of(p, level));
    sap_gl_check_pass(call, "copying a level of a histopyramid");
}

void sap_pyramid_reduce_100(sap_gl_call* call, sap_gl_pyramid* p, GLuint base) {
    for (int32_t level = 1; level <= p->levels; level++) {
        GLuint program = program_of(call, p, level > 1, 1 << p->shift[0], rows_of(p, level));
        if (level > 1) {
            sap_gl_set_float(call, program, "below_row", (float)p->row[level - 1]);
            sap_gl_set_float(call, program, "below_nodes", (float)p->nodes[level - 1]);
        }
        sap_gl_pass pass = {.program = program,
                            .target = {p->texture[WORK]},
                            .rectangle = {0, 0, 1 << p->shift[0], rows_of(p, level)},
                            .input = {{"base", base, 0}, {"levels", p->texture[LEVELS], 0}},
                            .name = "reducing a histopyramid in GLSL ES 1.00"};
        sap_gl_draw(call, &pass);
        copy_level(call, p, level);
    }
    p->filled = call->status == SAP_OK;
}

void sap_pyramid_list_100(sap_gl_call* call, sap_gl_pyramid* p, GLuint base, const sap_gl_list* list, int32_t rows,
                          uint32_t room) {
    GLuint program = program_of(call, p, 2, list->width, rows);
    sap_gl_set_float(call, program, "top_size", ldexpf(1.0f, 2 * p->levels));
    sap_gl_set_float(call, program, "list_width", (float)list->width);
    sap_gl_set_float(call, program, "list_room", (float)room);
    sap_gl_pass pass = {.program = program,
                        .target = {list->texture},
                        .rectangle = {0, 0, list->width, rows},
                        .input = {{"base", base, 0}, {"levels", p->texture[LEVELS], 0}},
                        .name = "listing the outputs of a histopyramid in GLSL ES 1.00"};
    sap_gl_draw(call, &pass);
}

void sap_pyramid_clear_100(sap_gl_call* call, const sap_gl_pyramid* p) {
    sap_gl_pass pass = {.program = program_of(call, p, 4, p->list_size[0], p->list_size[1]),
                        .target = {p->list},
                        .rectangle = {0, 0, p->list_size[0], p->list_size[1]},
                        .name = "clearing a list"};
    sap_gl_draw(call, &pass);
}

int64_t sap_pyramid_read_total_100(sap_gl_call* call, sap_gl_pyramid* p) {
    unsigned char bytes[4] = {0, 0, 0, 0};
    sap_gl_pass pass = {.program = program_of(call, p, 3, 1, 1),
                        .target = {p->texture[TOTAL]},
                        .rectangle = {0, 0, 1, 1},
                        .input = {{"levels", p->texture[LEVELS], 0}},
                        .name = "packing the total of a histopyramid"};
    sap_gl_draw(call, &pass);
    sap_gl_read(call, p->texture[TOTAL], GL_RGBA8, 0, (int32_t[4]){0, 0, 1, 1}, bytes);
    return bytes[0] + 256 * (int64_t)bytes[1] + 65536 * (int64_t)bytes[2] + 16777216 * (int64_t)bytes[3];
}

void sap_pyramid_sums_100(sap_gl_call* call, sap_gl_pyramid* p, int32_t level, uint32_t* texels, uint32_t* sums) {
    int32_t shift = p->shift[0];
    SAP_ASSERT(level >= 1 && level <= p->levels && 1 << shift <= SAP_PYRAMID_READ);
    uint32_t at_once = (uint32_t)SAP_PYRAMID_READ >> shift << shift, nodes = p->nodes[level];
    for (uint32_t first = 0; first < nodes && call->status == SAP_OK; first += at_once) {
        uint32_t count = nodes - first < at_once ? nodes - first : at_once;
        int32_t row = p->row[level] + (int32_t)(first >> shift), rows = (int32_t)((count - 1) >> shift) + 1;
        sap_gl_read(call, p->texture[LEVELS], format_of(p), 0, (int32_t[4]){0, row, 1 << shift, rows}, texels);
        const unsigned char* bytes = (const unsigned char*)texels;
        const float* floats = (const float*)(const void*)texels;
        for (uint32_t i = 0; i < count && call->status == SAP_OK; i++)
            sums[first + i] = p->bytes ? bytes[4 * i] + 256u * bytes[4 * i + 1] + 65536u * bytes[4 * i + 2]
                                       : (uint32_t)floats[4 * i + 3];
    }
}
