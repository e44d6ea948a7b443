// The picture of the scene Compaction: the slices, the levels of the pyramid, the list, and a key's way from one to the
// other.
#include "compact/zpyramid.h"
#include "compaction.h"
#include <math.h>

extern const char sap_glsl_compaction[];

// ---- Drawing

enum { SLICES, LEVEL, LIST, LINE, PROGRAMS };

static GLuint programs[PROGRAMS];
static int canvas_height;

void compaction_draw_stop(void) {
    for (int i = 0; i < PROGRAMS; i++) {
        glDeleteProgram(programs[i]);
        programs[i] = 0;
    }
}

// The program of a pass, its colours set; 0 on failure.
static GLuint use(int which) {
    static const char* const defines[PROGRAMS] = {"#define SAP_PASS 1\n", "#define SAP_PASS 2\n",
                                                  "#define SAP_PASS 3\n", "#define SAP_PASS 4\n"};
    if (!programs[which]) programs[which] = page_program(NULL, sap_glsl_compaction, defines[which]);
    GLuint program = programs[which];
    if (!program) return 0;
    glUseProgram(program);
    const float* paper = page_colors[PAGE_COLOR_PAPER];
    const float* ink = page_colors[PAGE_COLOR_INK];
    glUniform3fv(page_uniform(program, "paper"), 1, paper);
    glUniform3fv(page_uniform(program, "ink"), 1, ink);
    glUniform1f(page_uniform(program, "dark"), paper[1] < ink[1] ? 1 : 0);
    glUniform2i(page_uniform(program, "slices"), compaction_scene.side, compaction_scene.columns);
    return program;
}

// Draws the current program over a compaction_box; `scale` pixels are a cell.
static void fill(GLuint program, compaction_box b, float scale) {
    int32_t left = (int32_t)floorf(b.x), top = (int32_t)floorf(b.y);
    int32_t right = (int32_t)ceilf(b.x + b.width), bottom = (int32_t)ceilf(b.y + b.height);
    glUniform4f(page_uniform(program, "panel"), b.x, (float)canvas_height - b.y, scale, 0);
    page_rectangle(program, (int32_t[4]){left, canvas_height - bottom, right - left, bottom - top});
}

static void draw_slices(int shown) {
    GLuint program = use(SLICES);
    if (!program) return;
    page_texture(program, "volume", 0, GL_TEXTURE_3D, compaction_scene.volume);
    page_texture(program, "base", 1, 0, compaction_scene.base);
    glUniform1f(page_uniform(program, "level"), compaction_scene.level);
    glUniform1i(page_uniform(program, "shown"), shown);
    fill(program, compaction_placed.slices, compaction_placed.scale);
}

// The pyramid of the current program; `level` of it is meant.
static void use_nodes(GLuint program, int32_t level) {
    const compaction* c = &compaction_scene;
    page_texture(program, "nodes", 0, 0, c->pyramid->levels);
    glUniform3i(page_uniform(program, "place"), c->width, c->width >> level, c->form == COMPACTION_FORM_BYTES);
}

static void draw_level(int32_t level) {
    GLuint program = use(LEVEL);
    if (!program) return;
    compaction_box b = compaction_placed.level[level];
    use_nodes(program, level);
    glUniform3fv(page_uniform(program, "accent"), 1, page_colors[PAGE_COLOR_ACCENT]);
    fill(program, b, b.width / (float)(compaction_scene.width >> level));
}

static void draw_list(void) {
    const compaction* c = &compaction_scene;
    GLuint program = use(LIST);
    if (!program || !c->list.texture) return;
    use_nodes(program, c->levels);
    page_texture(program, "list", 1, 0, c->list.texture);
    int64_t outputs = c->total >= 0 && c->total < c->listed ? c->total : c->listed;
    glUniform3i(page_uniform(program, "room"), c->list.width, (int)outputs, compaction_placed.list_columns);
    fill(program, compaction_list_box(outputs), compaction_placed.list_scale);
}

static void draw_line(const float color[3], float width, bool frame, float x0, float y0, float x1, float y1) {
    GLuint program = use(LINE);
    if (!program) return;
    float around = width + 1, high = (float)canvas_height;
    glUniform4f(page_uniform(program, "ends"), x0, high - y0, x1, high - y1);
    glUniform4f(page_uniform(program, "paint"), color[0], color[1], color[2], width);
    glUniform1f(page_uniform(program, "is_frame"), frame ? 1 : 0);
    fill(program,
         (compaction_box){fminf(x0, x1) - around, fminf(y0, y1) - around, fabsf(x1 - x0) + 2 * around,
                          fabsf(y1 - y0) + 2 * around},
         1);
}

// Wide and high enough to be seen.
static compaction_box at_least(compaction_box b) {
    float least = 5 * compaction_placed.ratio;
    float wider = fmaxf(0, least - b.width), higher = fmaxf(0, least - b.height);
    return (compaction_box){b.x - 0.5f * wider, b.y - 0.5f * higher, b.width + wider, b.height + higher};
}

static compaction_box frame_of(int32_t level, int64_t node) { return at_least(compaction_place(level, node)); }

// About the four whose sum a node is.
static compaction_box children_of(int32_t level, int64_t node) {
    compaction_box first = compaction_place(level - 1, 4 * node);
    first.width *= 2;
    first.height *= 2;
    return at_least(first);
}

static void draw_frame(const float color[3], float width, compaction_box b) {
    draw_line(color, width, true, b.x, b.y, b.x + b.width, b.y + b.height);
}

// A key's way through so many levels from the top, and to the cell if all of them are passed. Every line has an edge in
// the colour of the paper, to be seen on any ground.
static void draw_way(int64_t key, int32_t passed) {
    const float* const colors[2] = {page_colors[PAGE_COLOR_PAPER], page_colors[PAGE_COLOR_INK]};
    compaction_step steps[COMPACTION_LEVELS];
    compaction_walk(key, steps);
    int32_t top = compaction_scene.levels, last = passed > top ? 0 : top - passed + 1;
    for (int edge = 0; edge < 2; edge++) {
        float width = (edge ? 1.5f : 4.5f) * compaction_placed.ratio;
        compaction_box before = frame_of(COMPACTION_LEVEL_LIST, key);
        draw_frame(colors[edge], width, before);
        for (int32_t level = top; level >= last; level--) {
            compaction_box at = frame_of(level, steps[level].node);
            draw_line(colors[edge], width, false, before.x + 0.5f * before.width, before.y + 0.5f * before.height,
                      at.x + 0.5f * at.width, at.y + 0.5f * at.height);
            draw_frame(colors[edge], width, at);
            before = at;
        }
    }
}

static void draw_empty(compaction_box b) {
    float faint[3];
    for (int k = 0; k < 3; k++)
        faint[k] = 0.8f * page_colors[PAGE_COLOR_PAPER][k] + 0.2f * page_colors[PAGE_COLOR_INK][k];
    draw_frame(faint, compaction_placed.ratio, b);
}

// Draws the picture for a canvas so high, with so many levels: -1 only the samples that are inside, 0 the cells that
// are kept, too; with the list or without; with `way` levels of a key's way from the top, unless the key is negative.
// What is pointed at is framed: a node of a level, an entry of the list or nothing (compaction_level).
PAGE_EXPORT void compaction_frame(int height, int levels, int listed, double key, int way, int level, double node) {
    const compaction* c = &compaction_scene;
    canvas_height = height;
    compaction_place_list();
    glBindVertexArray(0); // not the library's
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisable(GL_BLEND);
    glClearColor(page_colors[PAGE_COLOR_PAPER][0], page_colors[PAGE_COLOR_PAPER][1], page_colors[PAGE_COLOR_PAPER][2],
                 1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (!c->pyramid) return;
    draw_slices(levels >= 0);
    for (int32_t i = 1; i <= c->levels && i <= levels; i++) draw_level(i);
    if (listed) draw_list();
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    for (int32_t i = levels < 0 ? 1 : levels + 1; i <= c->levels; i++) draw_empty(compaction_placed.level[i]);
    if (!listed) draw_empty(compaction_list_box(c->listed));
    if (key >= 0 && c->sums[0]) draw_way((int64_t)key, way);
    if (level == COMPACTION_LEVEL_LIST || (level >= 0 && level <= levels))
        for (int edge = 0; edge < 2; edge++) {
            const float* color = page_colors[edge ? PAGE_COLOR_ACCENT : PAGE_COLOR_PAPER];
            const float width = (edge ? 2.0f : 5.0f) * compaction_placed.ratio;
            draw_frame(color, width, frame_of(level, (int64_t)node));
            if (level > 0) draw_frame(color, width, children_of(level, (int64_t)node));
        }
    glDisable(GL_BLEND);
}
