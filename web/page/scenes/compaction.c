#include "compaction.h"
#include <stdlib.h>
#include <string.h>

extern const char sap_glsl_compaction[];

compaction compaction_scene;

static GLuint base_program;

// ---- The volume

static void forget(void) {
    compaction* c = &compaction_scene;
    free(c->flags);
    c->flags = NULL;
    for (int i = 0; i < COMPACTION_LEVELS; i++) {
        free(c->sums[i]);
        c->sums[i] = NULL;
    }
}

static void free_base(void) {
    compaction* c = &compaction_scene;
    const GLuint textures[2] = {c->volume, c->base};
    glDeleteTextures(2, textures);
    glDeleteFramebuffers(1, &c->target);
    c->volume = c->base = c->target = 0;
}

static void make_base(void) {
    compaction* c = &compaction_scene;
    glGenTextures(1, &c->volume);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_3D, c->volume);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_R32F, c->side, c->side, c->side);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, c->side, c->side, c->side, GL_RED, GL_FLOAT, c->values);
    glGenTextures(1, &c->base);
    glBindTexture(GL_TEXTURE_2D, c->base);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_R8, c->width, c->height);
    glGenFramebuffers(1, &c->target);
    glBindFramebuffer(GL_FRAMEBUFFER, c->target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, c->base, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

// Takes over samples (malloc's) of a volume and puts them into the context. The slices stand in rows, as many as make
// the base as high as wide or half as high.
PAGE_EXPORT sap_status compaction_volume(float* values, int side) {
    compaction* c = &compaction_scene;
    free_base();
    forget();
    free(c->values);
    c->values = values;
    c->side = side;
    c->columns = 1;
    while (c->columns * c->columns < side) c->columns *= 2;
    c->width = c->columns * side;
    c->height = side / c->columns * side;
    c->total = -1;
    make_base();
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    return c->width <= most ? SAP_OK
                            : page_fail(SAP_ERROR_RANGE, "The slices are %d cells wide, and textures here %d at most.",
                                        (int)c->width, (int)most);
}

// ---- The pyramid

PAGE_EXPORT sap_status compaction_make(int form) {
    compaction* c = &compaction_scene;
    sap_gl_pyramid_options options = {
        .form = (sap_gl_form)form, .cells = SAP_GL_CELLS_BYTE, .width = c->width, .height = c->height};
    sap_gl_pyramid_free(c->pyramid);
    c->pyramid = NULL;
    forget();
    c->form = options.form;
    c->list = (sap_gl_list){.texture = 0};
    sap_status status = sap_gl_pyramid_create(page_gl(), &options, &c->pyramid);
    return status == SAP_OK ? sap_gl_pyramid_describe(c->pyramid, &c->info) : status;
}

// Marks some rows of cells: those through which the surface at a level runs. All rows must have the same level before
// they are listed.
PAGE_EXPORT sap_status compaction_mark(double level, int first_row, int rows) {
    compaction* c = &compaction_scene;
    c->level = (float)level;
    forget();
    if (!base_program) base_program = page_program(NULL, sap_glsl_compaction, "#define SAP_PASS 0\n");
    if (!base_program) return SAP_ERROR_UNSUPPORTED;
    if (rows > c->height - first_row) rows = c->height - first_row;
    glBindVertexArray(0); // not the library's
    glBindFramebuffer(GL_FRAMEBUFFER, c->target);
    glDisable(GL_BLEND);
    page_texture(base_program, "volume", 0, GL_TEXTURE_3D, c->volume);
    glUniform2i(page_uniform(base_program, "slices"), c->side, c->columns);
    glUniform1f(page_uniform(base_program, "level"), c->level);
    page_rectangle(base_program, (int32_t[4]){0, first_row, c->width, rows});
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return SAP_OK;
}

// Lists the cells that are marked. `expected` 0: the total is read, which waits for the GPU; else at most so many are
// listed, and nothing waits.
PAGE_EXPORT sap_status compaction_run(double expected) {
    compaction* c = &compaction_scene;
    c->total = -1;
    forget();
    c->list.expected = (int64_t)expected;
    sap_status status = sap_gl_compact(c->pyramid, c->base, &c->list, expected > 0 ? NULL : &c->total);
    c->listed = c->total >= 0 ? c->total : (int64_t)expected;
    return status;
}

// How many cells are kept; asks the GPU if nobody has yet. -1 on failure.
PAGE_EXPORT double compaction_total(void) {
    compaction* c = &compaction_scene;
    if (c->total < 0 && c->pyramid && sap_gl_pyramid_total(c->pyramid, &c->total) == SAP_OK && c->total < c->listed)
        c->listed = c->total;
    return (double)c->total;
}

int64_t compaction_nodes(int32_t level) {
    int64_t nodes = (int64_t)compaction_scene.width * compaction_scene.height;
    for (int32_t i = 0; i < level; i++) nodes = (nodes + 3) / 4;
    return nodes;
}

// ---- What is read back, to show numbers

// Reads the base: a byte a cell, 1 where it is kept. NULL: there is no memory.
static uint8_t* read_flags(void) {
    compaction* c = &compaction_scene;
    size_t cells = (size_t)c->width * (size_t)c->height;
    uint8_t* texels = malloc(4 * cells);
    if (!texels) return NULL;
    glBindFramebuffer(GL_FRAMEBUFFER, c->target);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, c->width, c->height, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    for (size_t i = 0; i < cells; i++) texels[i] = texels[4 * i] > 127;
    return texels;
}

static sap_status no_memory(void) {
    return page_fail(SAP_ERROR_MEMORY, "There is no memory for the pyramid's numbers.");
}

PAGE_EXPORT sap_status compaction_read(void) {
    compaction* c = &compaction_scene;
    if (!c->pyramid) return page_fail(SAP_ERROR_ARGUMENT, "There is no pyramid yet.");
    if (c->flags) return SAP_OK;
    sap_status status = compaction_total() < 0 ? SAP_ERROR_DEVICE_LOST : SAP_OK; // which the log has told
    for (int32_t level = 1; level <= c->info.levels && status == SAP_OK; level++) {
        c->sums[level] = malloc((size_t)compaction_nodes(level) * sizeof **c->sums);
        status = c->sums[level] ? sap_gl_pyramid_sums(c->pyramid, level, c->sums[level]) : no_memory();
    }
    if (status == SAP_OK && !(c->flags = read_flags())) status = no_memory();
    if (status != SAP_OK) forget();
    return status;
}

uint32_t compaction_sum(int32_t level, int64_t node) {
    const compaction* c = &compaction_scene;
    if (!c->flags || node < 0 || node >= compaction_nodes(level)) return 0;
    return level ? c->sums[level][node] : c->flags[node];
}

void compaction_walk(int64_t key, compaction_step steps[COMPACTION_LEVELS]) {
    int32_t level = compaction_scene.info.levels;
    steps[level] = (compaction_step){0, key};
    for (; level > 0; level--) {
        compaction_step at = {4 * steps[level].node, steps[level].rest};
        for (int child = 0; child < 3 && at.rest >= compaction_sum(level - 1, at.node); child++)
            at.rest -= compaction_sum(level - 1, at.node++);
        steps[level - 1] = at;
    }
}

// For JavaScript: a key's compaction_way at each level from the top to 1; behind these the cell.
PAGE_EXPORT double* compaction_way(double key) {
    static double numbers[COMPACTION_WAY_FIELDS * COMPACTION_LEVELS + 1];
    compaction_step steps[COMPACTION_LEVELS];
    double* to = numbers;
    compaction_walk((int64_t)key, steps);
    for (int32_t level = compaction_scene.info.levels; level > 0; level--, to += COMPACTION_WAY_FIELDS) {
        to[COMPACTION_WAY_NODE] = (double)steps[level].node;
        to[COMPACTION_WAY_KEY] = (double)steps[level].rest;
        for (int child = 0; child < 4; child++)
            to[COMPACTION_WAY_CHILD_0 + child] = compaction_sum(level - 1, 4 * steps[level].node + child);
    }
    *to = (double)steps[0].node;
    return numbers;
}

// For JavaScript: the texel of a node of a level from 1 on (compaction_texel).
PAGE_EXPORT double* compaction_texel(int level, double node) {
    static double texel[COMPACTION_TEXEL_FIELDS];
    const compaction* c = &compaction_scene;
    const int which = c->form == SAP_GL_FLOAT ? 0 : level < 4 ? level - 1 : 3;
    const int64_t width = c->info.width[which];
    texel[COMPACTION_TEXEL_TEXTURE] = c->info.texture[which];
    texel[COMPACTION_TEXEL_COLUMN] = (double)((int64_t)node % width);
    texel[COMPACTION_TEXEL_ROW] = (double)(c->info.first_row[level] + (int64_t)node / width);
    return texel;
}

// How many cells ahead of a node are kept: the first key that leads to it.
PAGE_EXPORT double compaction_ahead(int level, double node) {
    double ahead = 0;
    for (int64_t at = (int64_t)node; level < compaction_scene.info.levels; level++, at /= 4)
        for (int64_t sibling = at / 4 * 4; sibling < at; sibling++) ahead += compaction_sum(level, sibling);
    return ahead;
}

PAGE_EXPORT double compaction_sum_of(int level, double node) { return compaction_sum(level, (int64_t)node); }
PAGE_EXPORT int compaction_levels(void) { return compaction_scene.info.levels; }
PAGE_EXPORT int compaction_width(void) { return compaction_scene.width; }
PAGE_EXPORT int compaction_height(void) { return compaction_scene.height; }
PAGE_EXPORT int compaction_columns(void) { return compaction_scene.columns; }

// ---- The end

static void leave(void) {
    compaction* c = &compaction_scene;
    sap_gl_pyramid_free(c->pyramid);
    c->pyramid = NULL;
    free_base();
    glDeleteProgram(base_program);
    base_program = 0;
    compaction_draw_stop();
    forget();
}

PAGE_EXPORT void compaction_stop(void) {
    leave();
    free(compaction_scene.values);
    memset(&compaction_scene, 0, sizeof compaction_scene);
}

// After the context was lost: names mean nothing any more, but the samples remain.
PAGE_EXPORT void compaction_lost(void) { leave(); }

// In a new context, with the samples there were.
PAGE_EXPORT sap_status compaction_restore(void) {
    if (!compaction_scene.values) return SAP_OK;
    make_base();
    return SAP_OK;
}
