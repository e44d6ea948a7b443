// The picture's colours, and what lies over it: the planes of the tree, the sites, the one that is pointed at.
#include "scenes/voronoi.h"
#include <math.h>
#include <string.h>

extern const char sap_glsl_voronoi_paint[], sap_glsl_voronoi_marks_vertex[], sap_glsl_voronoi_marks[];
extern const char sap_glsl_voronoi_tree_vertex[], sap_glsl_voronoi_tree[];

static struct {
    GLuint paint, marks, tree, sites, lines;
    int sent; // the version of the sites that the buffer holds
} drawn;

static void set_view(GLuint program) {
    glUniform2f(page_uniform(program, "size"), (float)voronoi.width, (float)voronoi.height);
    glUniform2f(page_uniform(program, "origin"), (float)voronoi.origin[0], (float)voronoi.origin[1]);
    glUniform1f(page_uniform(program, "step_size"), (float)voronoi.step);
}

static double spacing_of(void) {
    return sqrt(voronoi.field[0] * voronoi.field[1] / (double)(voronoi.count > 0 ? voronoi.count : 1));
}

// How many nodes walks look at, about: the least (end 0) and the most (1) that colours of the work tell apart.
PAGE_EXPORT double voronoi_work(int end) {
    double levels = log2(fmax(2, (double)voronoi.count / VORONOI_LEAF)) + 1;
    return levels * (end ? 6 : 0.6);
}

static void set_colors(GLuint program) {
    glUniform3fv(page_uniform(program, "paper"), 1, page_colors[PAGE_COLOR_PAPER]);
    glUniform3fv(page_uniform(program, "ink"), 1, page_colors[PAGE_COLOR_INK]);
    glUniform3fv(page_uniform(program, "accent"), 1, page_colors[PAGE_COLOR_ACCENT]);
}

static sap_status draw_cells(const int32_t r[4]) {
    if (!drawn.paint) drawn.paint = page_program(NULL, sap_glsl_voronoi_paint, "");
    if (!drawn.paint) return SAP_ERROR_UNSUPPORTED;
    const GLuint program = drawn.paint;
    float chosen[VORONOI_CHOSEN];
    for (int i = 0; i < VORONOI_CHOSEN; i++) chosen[i] = i < voronoi.chosen_count ? (float)voronoi.chosen[i] : -1;
    if (page_gl_version() == 1) {
        page_texture(program, "ids", 0, 0, voronoi.answers[0]);
        page_texture(program, "distances", 1, 0, voronoi.answers[1]);
        glUniform1f(page_uniform(program, "unit"), (float)(1 / voronoi.form.scale));
    } else {
        page_texture(program, "answers", 0, 0, voronoi.answers[0]);
    }
    set_view(program);
    set_colors(program);
    glUniform2f(page_uniform(program, "work"), (float)log2(voronoi_work(0)), (float)log2(voronoi_work(1)));
    glUniform1f(page_uniform(program, "spacing"), (float)spacing_of());
    glUniform2f(page_uniform(program, "field"), (float)(1 / voronoi.field[0]), (float)(1 / voronoi.field[1]));
    glUniform1i(page_uniform(program, "view"), voronoi.view);
    glUniform1fv(page_uniform(program, "chosen"), VORONOI_CHOSEN, chosen);
    glUniform1f(page_uniform(program, "dimmed"), voronoi.chosen_count > 1 ? 0.14f : 0);
    // The rectangle's neighbours change their edges with it.
    const int32_t left = r[0] > 0 ? r[0] - 1 : 0, top = r[1] > 0 ? r[1] - 1 : 0;
    const int32_t right = r[0] + r[2], bottom = r[1] + r[3];
    glEnable(GL_SCISSOR_TEST);
    glScissor(left, voronoi.height - bottom, right - left, bottom - top);
    page_rectangle(program, (int32_t[4]){0, 0, voronoi.width, voronoi.height});
    glDisable(GL_SCISSOR_TEST);
    return SAP_OK;
}

static sap_status draw_tree(void) {
    sap_gl_tree_textures textures;
    sap_status status = sap_gl_tree_describe(voronoi.tree, &textures);
    if (status != SAP_OK) return status;
    const int levels = voronoi.levels < textures.depth ? voronoi.levels : textures.depth;
    if (!drawn.tree) drawn.tree = page_program(sap_glsl_voronoi_tree_vertex, sap_glsl_voronoi_tree, "");
    if (!drawn.tree) return SAP_ERROR_UNSUPPORTED;
    if (levels < 1) return SAP_OK;
    page_texture(drawn.tree, "tree_nodes", 0, 0, textures.nodes);
    set_view(drawn.tree);
    int shift = 31 - __builtin_clz((uint32_t)textures.widths[0]);
    glUniform4i(page_uniform(drawn.tree, "tree_shifts"), shift, 0, 0, 0);
    glUniform1i(page_uniform(drawn.tree, "tree_depth"), textures.depth);
    glUniform1f(page_uniform(drawn.tree, "thickness"), (float)(3.6 * voronoi.ratio));
    const bool on_cells = voronoi.view == VORONOI_VIEW_CELLS || voronoi.view == VORONOI_VIEW_WORK;
    const float white[3] = {1, 0.98f, 0.94f};
    glUniform3fv(page_uniform(drawn.tree, "paint"), 1, on_cells ? white : page_colors[PAGE_COLOR_ACCENT]);
    glBindVertexArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 6 * ((1 << levels) - 1));
    return SAP_OK;
}

static void begin_marks(float diameter, const float paint[3], float alpha, const float rim[3], float width) {
    glUseProgram(drawn.marks);
    set_view(drawn.marks);
    glUniform1f(page_uniform(drawn.marks, "diameter"), diameter);
    glUniform1f(page_uniform(drawn.marks, "width"), width);
    glUniform4f(page_uniform(drawn.marks, "paint"), paint[0], paint[1], paint[2], alpha);
    glUniform4f(page_uniform(drawn.marks, "rim"), rim[0], rim[1], rim[2], alpha > 0 ? 1 : 0);
}

static void draw_buffer(GLuint buffer, GLenum what, int count) {
    page_vertices(buffer, 2);
    glDrawArrays(what, 0, count);
    glDisableVertexAttribArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static void draw_sites(void) {
    const double cell = spacing_of() / voronoi.step; // pixels from site to site
    const double diameter = fmin(7, cell * 0.2 / voronoi.ratio) * voronoi.ratio;
    if (!voronoi.dots || diameter < 1.2 || !voronoi.count) return;
    if (!drawn.sites) glGenBuffers(1, &drawn.sites);
    if (drawn.sent != voronoi.version) {
        glBindBuffer(GL_ARRAY_BUFFER, drawn.sites);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(voronoi.count * 8), voronoi.sites, GL_STREAM_DRAW);
        drawn.sent = voronoi.version;
    }
    const bool on_cells = voronoi.view == VORONOI_VIEW_CELLS || voronoi.view == VORONOI_VIEW_WORK;
    const float light[3] = {1, 0.98f, 0.94f};
    const float* paint = on_cells ? light : page_colors[PAGE_COLOR_INK];
    begin_marks((float)diameter + 1, paint, on_cells ? 0.85f : 0.9f, paint, 0);
    draw_buffer(drawn.sites, GL_POINTS, (int)voronoi.count);
}

// From the pointer to each of the chosen sites a line, as two triangles, and a ring about it.
static void draw_chosen(void) {
    float corners[VORONOI_CHOSEN * 12], rings[VORONOI_CHOSEN * 2];
    const int count = voronoi.chosen_count;
    if (!count) return;
    for (int i = 0; i < count; i++) {
        const float* site = voronoi.sites + 2 * voronoi.chosen[i];
        double from[2] = {voronoi.pointer[0], voronoi.pointer[1]}, to[2] = {(double)site[0], (double)site[1]};
        double along[2] = {to[0] - from[0], to[1] - from[1]}, length = hypot(along[0], along[1]);
        double half = (i ? 0.75 : 1.25) * voronoi.ratio * voronoi.step / (length > 0 ? length : 1);
        const double aside[2] = {-along[1] * half, along[0] * half};
        static const int ends[6] = {0, 0, 1, 1, 0, 1}, sides[6] = {-1, 1, -1, -1, 1, 1};
        for (int v = 0; v < 6; v++)
            for (int a = 0; a < 2; a++)
                corners[12 * i + 2 * v + a] = (float)((ends[v] ? to[a] : from[a]) + sides[v] * aside[a]);
        memcpy(rings + 2 * i, site, 8);
    }
    if (!drawn.lines) glGenBuffers(1, &drawn.lines);
    glBindBuffer(GL_ARRAY_BUFFER, drawn.lines);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(48 * (size_t)count), corners, GL_STREAM_DRAW);
    begin_marks(0, page_colors[PAGE_COLOR_INK], 0.75f, page_colors[PAGE_COLOR_INK], 0);
    draw_buffer(drawn.lines, GL_TRIANGLES, 6 * count);
    glBindBuffer(GL_ARRAY_BUFFER, drawn.lines);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(8 * (size_t)count), rings, GL_STREAM_DRAW);
    const float ratio = (float)voronoi.ratio;
    begin_marks(11 * ratio, page_colors[PAGE_COLOR_PAPER], 1, page_colors[PAGE_COLOR_INK], 2 * ratio);
    draw_buffer(drawn.lines, GL_POINTS, count);
    begin_marks(15 * ratio, page_colors[PAGE_COLOR_ACCENT], 1, page_colors[PAGE_COLOR_INK], 2 * ratio);
    draw_buffer(drawn.lines, GL_POINTS, 1);
}

sap_status voronoi_draw(const int32_t rectangle[4], bool marks) {
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    sap_status status = draw_cells(rectangle);
    if (status != SAP_OK || !marks) return status;
    if (!drawn.marks) drawn.marks = page_program(sap_glsl_voronoi_marks_vertex, sap_glsl_voronoi_marks, "");
    if (!drawn.marks) return SAP_ERROR_UNSUPPORTED;
    glViewport(0, 0, voronoi.width, voronoi.height);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
    draw_sites();
    if (voronoi.levels > 0 && !voronoi.compact) status = draw_tree();
    draw_chosen();
    glDisable(GL_BLEND);
    return status;
}

void voronoi_draw_stop(void) {
    glDeleteProgram(drawn.paint);
    glDeleteProgram(drawn.marks);
    glDeleteProgram(drawn.tree);
    glDeleteBuffers(1, &drawn.sites);
    glDeleteBuffers(1, &drawn.lines);
    memset(&drawn, 0, sizeof drawn);
}
