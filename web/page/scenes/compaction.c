#include "compaction.h"
#include "compact/zpyramid.h"
#include <stdlib.h>
#include <string.h>

extern const char sap_glsl_compaction[];

compaction compaction_scene;

static GLuint base_program;

// ---- The volume

static void forget(void) {
    compaction* c = &compaction_scene;
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
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_R8, c->width, c->width); // 0 where there are no slices
    glGenFramebuffers(1, &c->target);
    glBindFramebuffer(GL_FRAMEBUFFER, c->target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, c->base, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

// Takes over samples (malloc's) of a volume and puts them into the context. The slices stand in rows, and fill the square
// of the base or the upper half of it.
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
    c->levels = 0;
    while (1 << c->levels < c->width) c->levels++;
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
    c->form = (enum compaction_form)form;
    const sap_gl_zpyramid_options options = {
        .side = c->width, .vec4 = c->form == COMPACTION_FORM_VEC4, .bytes = c->form == COMPACTION_FORM_BYTES};
    sap_gl_zpyramid_free(c->pyramid);
    c->pyramid = NULL;
    forget();
    c->list = (sap_gl_list){.texture = 0};
    return sap_gl_zpyramid_create(page_gl(), &options, &c->pyramid);
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
    sap_status status = sap_gl_zpyramid_compact(c->pyramid, c->base, 0, &c->list, expected > 0 ? NULL : &c->total);
    c->listed = c->total >= 0 ? c->total : (int64_t)expected;
    return status;
}

// How many cells are kept; asks the GPU if nobody has yet. -1 on failure.
PAGE_EXPORT double compaction_total(void) {
    compaction* c = &compaction_scene;
    if (c->total < 0 && c->pyramid && sap_gl_zpyramid_total(c->pyramid, &c->total) == SAP_OK && c->total < c->listed)
        c->listed = c->total;
    return (double)c->total;
}

int64_t compaction_nodes(int32_t level) {
    int64_t nodes = (int64_t)compaction_scene.width * compaction_scene.height;
    for (int32_t i = 0; i < level; i++) nodes = (nodes + 3) / 4;
    return nodes;
}

int32_t compaction_column(int64_t node) {
    int32_t column = 0;
    for (int bit = 0; node >> (2 * bit); bit++) column |= (int32_t)(node >> (2 * bit) & 1) << bit;
    return column;
}

int32_t compaction_row(int64_t node) { return compaction_column(node >> 1); }

int64_t compaction_node(int32_t column, int32_t row) {
    int64_t node = 0;
    for (int bit = 0; (column | row) >> bit; bit++)
        node |= (int64_t)((column >> bit & 1) | (row >> bit & 1) << 1) << (2 * bit);
    return node;
}

// The first column of a level in the texture of all of them.
static int32_t first_column(int32_t level) { return compaction_scene.width - 2 * (compaction_scene.width >> level); }

// ---- What is read back, to show numbers

// Reads a level, or the base, row by row. NULL: there is no memory.
static uint32_t* read_level(int32_t level) {
    const compaction* c = &compaction_scene;
    const int32_t side = c->width >> level;
    const size_t nodes = (size_t)side * (size_t)side;
    const bool floats = level && c->form != COMPACTION_FORM_BYTES;
    uint32_t* texels = calloc(nodes, floats ? 16 : 4); // 0 where a lost context answers nothing
    GLuint framebuffer = 0;
    if (!texels) return NULL;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, level ? c->pyramid->levels : c->base,
                           0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(level ? first_column(level) : 0, 0, side, side, GL_RGBA, floats ? GL_FLOAT : GL_UNSIGNED_BYTE, texels);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    for (size_t i = 0; i < nodes; i++) {
        float real = 0;
        if (floats) memcpy(&real, texels + 4 * i + 3, sizeof real);
        texels[i] = floats ? (uint32_t)real : level ? texels[i] : (texels[i] & 255) > 127; // bytes: the lowest first
    }
    return texels;
}

PAGE_EXPORT sap_status compaction_read(void) {
    compaction* c = &compaction_scene;
    if (!c->pyramid) return page_fail(SAP_ERROR_ARGUMENT, "There is no pyramid yet.");
    if (c->sums[0]) return SAP_OK;
    if (compaction_total() < 0) return SAP_ERROR_DEVICE_LOST; // which the log has told
    for (int32_t level = c->levels; level >= 0; level--)
        if (!(c->sums[level] = read_level(level))) {
            forget();
            return page_fail(SAP_ERROR_MEMORY, "There is no memory for the pyramid's numbers.");
        }
    return SAP_OK;
}

uint32_t compaction_sum(int32_t level, int64_t node) {
    const compaction* c = &compaction_scene;
    if (!c->sums[0] || node < 0 || node >= compaction_nodes(level)) return 0;
    return c->sums[level][compaction_row(node) * (c->width >> level) + compaction_column(node)];
}

void compaction_walk(int64_t key, compaction_step steps[COMPACTION_LEVELS]) {
    int32_t level = compaction_scene.levels;
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
    for (int32_t level = compaction_scene.levels; level > 0; level--, to += COMPACTION_WAY_FIELDS) {
        to[COMPACTION_WAY_NODE] = (double)steps[level].node;
        to[COMPACTION_WAY_KEY] = (double)steps[level].rest;
        for (int child = 0; child < 4; child++)
            to[COMPACTION_WAY_CHILD_0 + child] = compaction_sum(level - 1, 4 * steps[level].node + child);
    }
    *to = (double)steps[0].node;
    return numbers;
}

// For JavaScript: the texel of a node, or of a cell (compaction_texel).
PAGE_EXPORT double* compaction_texel(int level, double node) {
    static double texel[COMPACTION_TEXEL_FIELDS];
    const compaction* c = &compaction_scene;
    texel[COMPACTION_TEXEL_TEXTURE] = level ? c->pyramid->levels : c->base;
    texel[COMPACTION_TEXEL_FIRST] = level ? first_column(level) : 0;
    texel[COMPACTION_TEXEL_COLUMN] = compaction_column((int64_t)node);
    texel[COMPACTION_TEXEL_ROW] = compaction_row((int64_t)node);
    return texel;
}

// How many cells ahead of a node are kept: the first key that leads to it.
PAGE_EXPORT double compaction_ahead(int level, double node) {
    double ahead = 0;
    for (int64_t at = (int64_t)node; level < compaction_scene.levels; level++, at /= 4)
        for (int64_t sibling = at / 4 * 4; sibling < at; sibling++) ahead += compaction_sum(level, sibling);
    return ahead;
}

PAGE_EXPORT double compaction_sum_of(int level, double node) { return compaction_sum(level, (int64_t)node); }
PAGE_EXPORT int compaction_levels(void) { return compaction_scene.levels; }
PAGE_EXPORT int compaction_width(void) { return compaction_scene.width; }
PAGE_EXPORT int compaction_height(void) { return compaction_scene.height; }
PAGE_EXPORT int compaction_columns(void) { return compaction_scene.columns; }

// ---- The end

static void leave(void) {
    compaction* c = &compaction_scene;
    sap_gl_zpyramid_free(c->pyramid);
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
