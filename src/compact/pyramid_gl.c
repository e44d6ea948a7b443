// Histopyramids in textures of integers: the vec4 form and the plain one, and the order of the passes for all forms.
#include "compact/pyramid_gl.h"
#include "base/assert.h"
#include <stdio.h>

extern const char sap_glsl_histopyramid[];

// Levels above the separate ones share a texture.
static bool is_high(int32_t level) { return level > SAP_PYRAMID_SEPARATE; }
static int texture_of(int32_t level) { return is_high(level) ? SAP_PYRAMID_SEPARATE : level - 1; }
static int32_t shift_of(const sap_gl_pyramid* p, int32_t level) { return p->shift[texture_of(level)]; }
static int32_t rows_of(const sap_gl_pyramid* p, int32_t level) {
    return (int32_t)((p->nodes[level] - 1) >> shift_of(p, level)) + 1;
}

// Whether the base serves as the lowest level.
static bool is_base(const sap_gl_pyramid* p, int32_t level) {
    return level == 1 && p->options.form == SAP_GL_VEC4 && p->options.cells == SAP_GL_CELLS_UINT4;
}

// ---- Textures

// The narrowest numbers that hold a level's sums.
static GLenum format_of(const sap_gl_pyramid* p, int32_t level) {
    static const GLenum formats[2][3] = {{GL_RGBA8UI, GL_RGBA16UI, GL_RGBA32UI}, {GL_R8UI, GL_R16UI, GL_R32UI}};
    uint64_t bound = (uint64_t)p->options.most << (2 * level);
    if (is_high(level)) bound = UINT32_MAX;
    return formats[p->options.form == SAP_GL_PLAIN][bound <= 255 ? 0 : bound <= 65535 ? 1 : 2];
}

// A texture is about as wide as high.
static void make_level(sap_gl_call* call, sap_gl_pyramid* p, int32_t level) {
    if (is_base(p, level)) return;
    int32_t* shift = &p->shift[texture_of(level)];
    while ((UINT64_C(1) << (2 * *shift)) < p->nodes[level]) ++*shift;
    p->texture[texture_of(level)] =
        sap_gl_texture(call, format_of(p, level), 1 << *shift, rows_of(p, level), NULL, "a histopyramid");
}

// The high levels stand below one another from the top on. Each has as many rows as a full level of its depth takes, so
// that shaders can compute where it begins.
static void make_high_levels(sap_gl_call* call, sap_gl_pyramid* p) {
    const int32_t lowest = SAP_PYRAMID_SEPARATE + 1, depth = p->levels - lowest;
    SAP_ASSERT(depth >= 0 && p->levels <= SAP_PYRAMID_LEVELS && p->nodes[p->levels] == 1);
    int32_t row = 0;
    p->shift[SAP_PYRAMID_SEPARATE] = depth;
    for (int32_t i = 0; i <= depth; i++) {
        int64_t rows = (INT64_C(1) << (2 * i)) >> depth;
        p->row[p->levels - i] = row;
        row += i == depth ? rows_of(p, lowest) : rows ? (int32_t)rows : 1;
    }
    GLenum format = format_of(p, lowest);
    p->texture[SAP_PYRAMID_SEPARATE] = sap_gl_texture(call, format, 1 << depth, row, NULL, "a histopyramid");
    p->work = sap_gl_texture(call, format, 1 << depth, rows_of(p, lowest), NULL, "a level of a histopyramid");
}

void sap_pyramid_free_textures(sap_gl_call* call, sap_gl_pyramid* p) {
    for (int i = 0; i < 4; i++) sap_gl_texture_free(call, p->texture[i]);
    sap_gl_texture_free(call, p->work);
    sap_gl_texture_free(call, p->list);
}

static void check_base(sap_gl_call* call, const sap_gl_pyramid* p) {
    int32_t most = call->gl->most_texture;
    if (p->options.width > most || p->options.height > most)
        sap_gl_fail(call, SAP_ERROR_RANGE, "options: a base of %d x %d texels; GL_MAX_TEXTURE_SIZE here is %d",
                    (int)p->options.width, (int)p->options.height, (int)most);
}

sap_status sap_pyramid_create_gl(sap_gl_pyramid* p) {
    sap_gl_call call;
    if (sap_gl_begin(&call, p->device) == SAP_OK) {
        check_base(&call, p);
        if (p->options.form == SAP_GL_FLOAT) {
            sap_pyramid_make_100(&call, p);
        } else {
            for (int32_t level = 1; level <= SAP_PYRAMID_SEPARATE; level++) make_level(&call, p, level);
            make_high_levels(&call, p);
        }
        if (call.status != SAP_OK) sap_pyramid_free_textures(&call, p);
    }
    return sap_gl_end(&call, SAP_OK);
}

void sap_pyramid_free_gl(sap_gl_pyramid* p) {
    sap_gl_call call;
    if (sap_gl_begin(&call, p->device) == SAP_OK) sap_pyramid_free_textures(&call, p);
    (void)sap_gl_end(&call, SAP_OK);
}

// ---- Levels

void sap_pyramid_define(const sap_gl_pyramid* p, char* defines, size_t room) {
    const int length = snprintf(defines, room, "#define SAP_CELLS %d\n#define SAP_VEC4 %d\n", (int)p->options.cells,
                                p->options.form == SAP_GL_VEC4);
    SAP_ASSERT(length > 0 && (size_t)length < room);
    (void)length;
}

static GLuint program_of(sap_gl_call* call, const sap_gl_pyramid* p, int pass) {
    char defines[160], common[80];
    sap_pyramid_define(p, common, sizeof common);
    snprintf(defines, sizeof defines, "#define SAP_PASS %d\n%s", pass, common);
    return sap_gl_program(call, sap_glsl_histopyramid, defines);
}

static void set_cells(sap_gl_call* call, const sap_gl_pyramid* p, GLuint program) {
    sap_gl_set_int(call, program, "base_width", p->options.width);
    sap_gl_set_uint(call, program, "cells", p->nodes[0]);
    sap_gl_set_uint(call, program, "most", p->options.most);
}

void sap_pyramid_uniforms(sap_gl_call* call, const sap_gl_pyramid* p, GLuint program) {
    set_cells(call, p, program);
    sap_gl_set_ints(call, program, "shifts", 4, p->shift);
    sap_gl_set_int(call, program, "high_depth", p->levels - SAP_PYRAMID_SEPARATE - 1);
    sap_gl_set_int(call, program, "high_row", p->row[SAP_PYRAMID_SEPARATE + 1]);
}

void sap_pyramid_inputs(const sap_gl_pyramid* p, GLuint base, sap_gl_input input[SAP_PYRAMID_INPUTS]) {
    static const char* const names[4] = {"level_1", "level_2", "level_3", "level_4"};
    input[0] = (sap_gl_input){"base", base, 0};
    for (int i = 0; i < 4; i++) input[i + 1] = (sap_gl_input){names[i], p->texture[i], 0};
}

// A pass must not read the texture that it writes: high levels are drawn elsewhere. The pass has left them in the
// framebuffer.
static void copy_level(sap_gl_call* call, const sap_gl_pyramid* p, int32_t level) {
    if (call->status != SAP_OK) return;
    call->f->ActiveTexture(GL_TEXTURE0);
    call->f->BindTexture(GL_TEXTURE_2D, p->texture[SAP_PYRAMID_SEPARATE]);
    call->f->CopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, p->row[level], 0, 0, 1 << shift_of(p, level), rows_of(p, level));
    sap_gl_check_pass(call, "copying a level of a histopyramid");
}

static void reduce_to(sap_gl_call* call, const sap_gl_pyramid* p, int32_t level, GLuint base) {
    SAP_ASSERT(level >= 1 && level <= p->levels);
    bool from_cells = level == 1 || is_base(p, level - 1);
    GLuint program = program_of(call, p, level == 1 ? 0 : from_cells ? 1 : 2);
    sap_gl_pass pass = {.program = program,
                        .target = {is_high(level) ? p->work : p->texture[texture_of(level)]},
                        .rectangle = {0, 0, 1 << shift_of(p, level), rows_of(p, level)},
                        .name = "reducing a histopyramid"};
    if (from_cells) {
        pass.input[0] = (sap_gl_input){"base", base, 0};
        set_cells(call, p, program);
    } else {
        pass.input[0] = (sap_gl_input){"below", p->texture[texture_of(level - 1)], 0};
        sap_gl_set_int(call, program, "below_shift", shift_of(p, level - 1));
        sap_gl_set_uint(call, program, "below_nodes", p->nodes[level - 1]);
        sap_gl_set_int(call, program, "below_row", p->row[level - 1]);
    }
    sap_gl_set_int(call, program, "own_shift", shift_of(p, level));
    sap_gl_draw(call, &pass);
    if (is_high(level)) copy_level(call, p, level);
}

void sap_pyramid_reduce(sap_gl_call* call, sap_gl_pyramid* p, GLuint base) {
    for (int32_t level = is_base(p, 1) ? 2 : 1; level <= p->levels; level++) reduce_to(call, p, level, base);
    p->filled = call->status == SAP_OK;
}

int64_t sap_pyramid_read_total(sap_gl_call* call, sap_gl_pyramid* p) {
    if (p->options.form == SAP_GL_FLOAT) return sap_pyramid_read_total_100(call, p);
    uint32_t sums[4] = {0, 0, 0, 0};
    sap_gl_read(call, p->texture[SAP_PYRAMID_SEPARATE], GL_RGBA32UI, 0, (int32_t[4]){0, 0, 1, 1}, sums);
    return sums[p->options.form == SAP_GL_VEC4 ? 3 : 0];
}

sap_status sap_pyramid_total_gl(sap_gl_pyramid* p, int64_t* total) {
    sap_gl_call call;
    int64_t read = 0;
    if (sap_gl_begin(&call, p->device) == SAP_OK) read = sap_pyramid_read_total(&call, p);
    sap_status status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK) *total = read;
    return status;
}

// The sums of a level, some rows at a time; of the level that the base is, by its cells.
static void read_sums(sap_gl_call* call, sap_gl_pyramid* p, int32_t level, uint32_t* texels, uint32_t* sums) {
    int channel = p->options.form == SAP_GL_VEC4 ? 3 : 0;
    bool above = is_base(p, level); // its sums are the differences of what the level above runs up to
    int32_t from = above ? level + 1 : level, shift = shift_of(p, from);
    SAP_ASSERT(from <= p->levels && 1 << shift <= SAP_PYRAMID_READ);
    uint32_t nodes = p->nodes[from], at_once = (uint32_t)SAP_PYRAMID_READ >> shift << shift;
    for (uint32_t first = 0; first < nodes && call->status == SAP_OK; first += at_once) {
        uint32_t count = nodes - first < at_once ? nodes - first : at_once;
        int32_t row = p->row[from] + (int32_t)(first >> shift), rows = (int32_t)((count - 1) >> shift) + 1;
        sap_gl_read(call, p->texture[texture_of(from)], GL_RGBA32UI, 0, (int32_t[4]){0, row, 1 << shift, rows}, texels);
        for (uint32_t i = 0; i < count && call->status == SAP_OK; i++) {
            const uint32_t* node = texels + 4 * (size_t)i;
            if (!above) sums[first + i] = node[channel];
            for (uint32_t c = 0; above && c < 4 && 4 * (first + i) + c < p->nodes[level]; c++)
                sums[4 * (first + i) + c] = node[c] - (c ? node[c - 1] : 0);
        }
    }
}

sap_status sap_pyramid_sums_gl(sap_gl_pyramid* p, int32_t level, uint32_t* sums) {
    sap_gl_call call;
    sap_scratch texels = {NULL, 0};
    if (!sap_scratch_take(p->device, (size_t)16 * SAP_PYRAMID_READ, &texels))
        return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory to read a level");
    if (sap_gl_begin(&call, p->device) == SAP_OK) {
        if (p->options.form == SAP_GL_FLOAT)
            sap_pyramid_sums_100(&call, p, level, (uint32_t*)(void*)texels.memory, sums);
        else
            read_sums(&call, p, level, (uint32_t*)(void*)texels.memory, sums);
    }
    sap_status status = sap_gl_end(&call, SAP_OK);
    sap_scratch_give(p->device, &texels);
    return status;
}

// ---- The list

// The pyramid's own texture for so many outputs, empty.
static void take_list(sap_gl_call* call, sap_gl_pyramid* p, int64_t outputs, sap_gl_list* list) {
    bool is_float = p->options.form == SAP_GL_FLOAT;
    int64_t most = call->gl->most_texture, width = most < SAP_PYRAMID_LIST_WIDTH ? most : SAP_PYRAMID_LIST_WIDTH;
    int64_t height = outputs > width ? (outputs + width - 1) / width : 1;
    if (height > call->gl->most_texture) {
        sap_gl_fail(call, SAP_ERROR_RANGE, "a list of %lld outputs needs %lld rows; GL_MAX_TEXTURE_SIZE here is %d",
                    (long long)outputs, (long long)height, (int)call->gl->most_texture);
        return;
    }
    if (p->list_size[1] < height) {
        GLenum format = p->options.most > 1 ? GL_RG32UI : GL_R32UI;
        if (is_float) format = p->bytes ? GL_RGBA8 : GL_RGBA32F;
        GLuint texture = sap_gl_texture(call, format, (int32_t)width, (int32_t)height, NULL, "a list");
        if (!texture) return;
        sap_gl_texture_free(call, p->list);
        p->list = texture;
        p->list_size[0] = (int32_t)width;
        p->list_size[1] = (int32_t)height;
    }
    SAP_ASSERT((int64_t)p->list_size[0] * p->list_size[1] >= outputs);
    list->texture = p->list;
    list->width = p->list_size[0];
    list->height = p->list_size[1];
}

static void clear_list(sap_gl_call* call, const sap_gl_pyramid* p) {
    static const GLuint none[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    static const GLenum buffer = GL_COLOR_ATTACHMENT0;
    if (call->status != SAP_OK) return;
    if (p->options.form == SAP_GL_FLOAT) {
        sap_pyramid_clear_100(call, p);
        return;
    }
    call->f->BindFramebuffer(GL_FRAMEBUFFER, call->gl->framebuffer);
    for (GLenum i = 0; i < (GLenum)call->gl->most_targets; i++)
        call->f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + i, GL_TEXTURE_2D, i ? 0 : p->list, 0);
    call->f->DrawBuffers(1, &buffer);
    call->f->ClearBufferuiv(GL_COLOR, 0, none);
    sap_gl_check_pass(call, "clearing a list");
}

static void draw_list(sap_gl_call* call, const sap_gl_pyramid* p, GLuint base, const sap_gl_list* list, int32_t rows,
                      uint32_t room) {
    GLuint program = program_of(call, p, 3);
    sap_gl_pass pass = {.program = program,
                        .target = {list->texture},
                        .rectangle = {0, 0, list->width, rows},
                        .name = "listing the outputs of a histopyramid"};
    sap_pyramid_inputs(p, base, pass.input);
    sap_pyramid_uniforms(call, p, program);
    sap_gl_set_uint(call, program, "list_width", (uint32_t)list->width);
    sap_gl_set_uint(call, program, "list_room", room);
    sap_gl_draw(call, &pass);
}

// `total` is negative if it has not been read.
static void make_list(sap_gl_call* call, sap_gl_pyramid* p, GLuint base, sap_gl_list* list, int64_t total) {
    bool own = !list->texture || list->texture == p->list; // as an earlier call has filled it in
    int64_t outputs = total;
    if (list->expected && (outputs < 0 || outputs > list->expected)) outputs = list->expected;
    if (own) take_list(call, p, outputs, list);
    if (call->status != SAP_OK) return;
    if (own) clear_list(call, p);
    int64_t room = (int64_t)list->width * list->height;
    if (outputs < 0 || outputs > room) outputs = room;
    if (outputs > UINT32_MAX) outputs = UINT32_MAX;
    int32_t rows = (int32_t)((outputs + list->width - 1) / list->width);
    SAP_ASSERT(rows >= 0 && rows <= list->height);
    if (!rows) return;
    if (p->options.form == SAP_GL_FLOAT)
        sap_pyramid_list_100(call, p, base, list, rows, (uint32_t)outputs);
    else
        draw_list(call, p, base, list, rows, (uint32_t)outputs);
}

sap_status sap_pyramid_compact_gl(sap_gl_pyramid* p, uint32_t base, sap_gl_list* list, int64_t* total) {
    sap_gl_call call;
    int64_t read = -1;
    sap_gl_list made = list ? *list : (sap_gl_list){0, 0, 0, 0};
    if (sap_gl_begin(&call, p->device) == SAP_OK) {
        p->filled = false;
        if (p->options.form == SAP_GL_FLOAT)
            sap_pyramid_reduce_100(&call, p, base);
        else
            sap_pyramid_reduce(&call, p, base);
        bool own = list && (!list->texture || list->texture == p->list);
        if (total || (own && !list->expected)) read = sap_pyramid_read_total(&call, p);
        if (list && call.status == SAP_OK) make_list(&call, p, base, &made, read);
    }
    sap_status status = sap_gl_end(&call, SAP_OK);
    if (status == SAP_OK && list) *list = made;
    if (status == SAP_OK && total) *total = read;
    return status;
}
