// The picture of the scene Compaction: the slices, the levels of the pyramid, each in place of its cells, the list, and
// a key's way from one to the other.
#include "compaction.h"
#include <math.h>

extern const char sap_glsl_compaction[];

// ---- Where things stand, in pixels of the canvas, y down

typedef struct box {
    float x, y, width, height;
} box;

typedef struct layout {
    box slices, level[COMPACTION_LEVELS], list; // the level's own number counts
    float scale;                                // pixels to a cell of the base
    float list_scale;                           // and of the list
    int32_t list_columns;
    float ratio; // pixels of the canvas to a pixel of the page
} layout;

static layout placed;

// How wide the levels are together at a scale: each a quarter of the one below, but never too thin to see.
static float levels_width(float scale, float ratio, box* level) {
    float at = 0, wide = scale * (float)compaction_scene.width;
    for (int32_t i = 1; i <= compaction_scene.info.levels; i++) {
        wide = fmaxf(0.25f * wide, 13 * ratio);
        if (level) {
            level[i].x = at;
            level[i].width = wide;
        }
        at += wide + 3 * ratio;
    }
    return at - 3 * ratio;
}

// The largest scale at which slices, levels and list fit: the list to the right, or below.
static float fitting(float width, float height, float ratio, bool below) {
    const float margin = 16 * ratio, gap = 18 * ratio, title = 24 * ratio, foot = 20 * ratio;
    float least = 0, most = 64 * ratio;
    for (int i = 0; i < 40; i++) {
        float scale = 0.5f * (least + most);
        float base = scale * (float)compaction_scene.width, tall = scale * (float)compaction_scene.height;
        float wide = base + gap + levels_width(scale, ratio, NULL) + 2 * margin;
        float high = tall + title + foot + 2 * margin;
        if (below)
            high += 0.3f * tall + title;
        else
            wide += gap + 0.5f * base;
        if (wide <= width && high <= height)
            least = scale;
        else
            most = scale;
    }
    return least;
}

// How many cells a row of the list has, and how large they are: up to three times as large as those of the slices, as
// far as there is room.
static void place_list(void) {
    static const float steps[] = {3, 2, 1.5f, 1, 0.75f, 0.5f, 0.375f, 0.25f, 0.125f};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        float scale = placed.scale * steps[i];
        placed.list_scale = scale;
        placed.list_columns = (int32_t)fmaxf(1, floorf(placed.list.width / scale));
        float room = floorf(placed.list.height / scale) * (float)placed.list_columns;
        if (room >= (float)compaction_scene.listed && scale <= 16 * placed.ratio) break;
    }
}

// Plans the picture for a canvas. Returns floats for JavaScript: of slices, levels 1 … and list each left, top, width
// and height.
PAGE_EXPORT float* compaction_layout(int width, int height, double ratio) {
    static float numbers[4 * (COMPACTION_LEVELS + 2)];
    const compaction* c = &compaction_scene;
    const float r = (float)ratio, margin = 16 * r, gap = 18 * r, title = 24 * r, foot = 20 * r;
    float beside = fitting((float)width, (float)height, r, false),
          under = fitting((float)width, (float)height, r, true);
    bool below = under > beside;
    placed.ratio = r;
    placed.scale = fmaxf(below ? under : beside, 0.05f);
    if (placed.scale > 4) placed.scale = floorf(placed.scale);
    float base = placed.scale * (float)c->width, tall = placed.scale * (float)c->height;
    placed.slices = (box){margin, margin + title, base, tall};
    float levels = levels_width(placed.scale, r, placed.level), left = margin + base + gap;
    for (int32_t i = 1; i <= c->info.levels; i++) {
        placed.level[i].x += left;
        placed.level[i].y = margin + title;
        placed.level[i].height = tall;
    }
    float right = left + levels;
    placed.list = below ? (box){margin, margin + 2 * title + tall + foot, right - margin, 0.3f * tall}
                        : (box){right + gap, margin + title, (float)width - margin - right - gap, tall};
    // In the middle of what room there is; a list below may go on to the edge.
    float spare_x = below ? 0.5f * ((float)width - margin - right) : 0;
    float spare_y = 0.5f * ((float)height - margin - placed.list.height - placed.list.y - (below ? 0 : foot));
    box* all[COMPACTION_LEVELS + 2];
    int count = 0;
    all[count++] = &placed.slices;
    for (int32_t i = 1; i <= c->info.levels; i++) all[count++] = &placed.level[i];
    all[count++] = &placed.list;
    for (int i = 0; i < count; i++) {
        all[i]->x = floorf(all[i]->x + fmaxf(0, spare_x));
        all[i]->y = floorf(all[i]->y + fmaxf(0, spare_y));
        numbers[4 * i] = all[i]->x;
        numbers[4 * i + 1] = all[i]->y;
        numbers[4 * i + 2] = all[i]->width;
        numbers[4 * i + 3] = all[i]->height;
    }
    if (below) placed.list.height = fmaxf((float)height - margin - placed.list.y, 4 * r);
    place_list();
    return numbers;
}

static bool is_in(box b, float x, float y) { return x >= b.x && y >= b.y && x < b.x + b.width && y < b.y + b.height; }

// What is at a place of the canvas: level (0: a cell; -1: the list; -2: nothing) and number.
PAGE_EXPORT double* compaction_at(double x, double y) {
    static double found[2];
    const compaction* c = &compaction_scene;
    found[0] = -2;
    float u = (float)x, v = (float)y;
    if (is_in(placed.slices, u, v)) {
        int32_t column = (int32_t)((u - placed.slices.x) / placed.scale),
                row = (int32_t)((v - placed.slices.y) / placed.scale);
        if (column < c->width && row < c->height) {
            found[0] = 0;
            found[1] = row * (double)c->width + column;
        }
    } else if (is_in(placed.list, u, v)) {
        int32_t column = (int32_t)((u - placed.list.x) / placed.list_scale);
        double key = floor((double)((v - placed.list.y) / placed.list_scale)) * placed.list_columns + column;
        if (column < placed.list_columns && key < (double)c->listed) {
            found[0] = -1;
            found[1] = key;
        }
    }
    for (int32_t i = 1; i <= c->info.levels; i++) {
        box b = placed.level[i];
        int32_t row = (int32_t)((v - b.y) / placed.scale);
        if (!is_in(b, u, v) || row >= c->height) continue;
        double cell = row * (double)c->width + floor((double)((u - b.x) / b.width * (float)c->width));
        found[0] = i;
        found[1] = floor(ldexp(cell, -2 * i));
    }
    return found;
}

// Where a node stands in its level's picture; of level 0 a cell; of -1 an entry of the list.
static box place_of(int32_t level, int64_t node) {
    const compaction* c = &compaction_scene;
    if (level < 0) {
        float s = placed.list_scale;
        return (box){placed.list.x + s * (float)(node % placed.list_columns),
                     placed.list.y + s * (float)(node / placed.list_columns), s, s};
    }
    box b = level ? placed.level[level] : placed.slices;
    int64_t first = node << (2 * level), size = INT64_C(1) << (2 * level), width = c->width;
    int64_t row = first / width, rows = size > width ? size / width : 1;
    if (row + rows > c->height) rows = c->height - row;
    box place = {b.x, b.y + placed.scale * (float)row, b.width, placed.scale * (float)rows};
    if (size < width) {
        place.x += b.width * (float)(first % width) / (float)width;
        place.width = b.width * (float)size / (float)width;
    }
    return place;
}

// ---- Drawing

enum { PROGRAMS = 9 };

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
    static const char* const defines[PROGRAMS] = {
        "#define SAP_PASS 1\n",
        "#define SAP_PASS 2\n#define SAP_SUMS 0\n",
        "#define SAP_PASS 2\n#define SAP_SUMS 1\n",
        "#define SAP_PASS 2\n#define SAP_SUMS 2\n",
        "#define SAP_PASS 2\n#define SAP_SUMS 3\n",
        "#define SAP_PASS 3\n#define SAP_LIST 0\n",
        "#define SAP_PASS 3\n#define SAP_LIST 1\n",
        "#define SAP_PASS 3\n#define SAP_LIST 2\n",
        "#define SAP_PASS 4\n",
    };
    if (!programs[which]) programs[which] = page_program(NULL, sap_glsl_compaction, defines[which]);
    GLuint program = programs[which];
    if (!program) return 0;
    glUseProgram(program);
    const float* paper = page_colors[0];
    const float* ink = page_colors[1];
    glUniform3fv(page_uniform(program, "paper"), 1, paper);
    glUniform3fv(page_uniform(program, "ink"), 1, ink);
    glUniform1f(page_uniform(program, "dark"), paper[1] < ink[1] ? 1 : 0);
    glUniform2i(page_uniform(program, "slices"), compaction_scene.side, compaction_scene.columns);
    return program;
}

// Draws the current program over a box; `scale` pixels are a cell.
static void fill(GLuint program, box b, float scale) {
    int32_t left = (int32_t)floorf(b.x), top = (int32_t)floorf(b.y);
    int32_t right = (int32_t)ceilf(b.x + b.width), bottom = (int32_t)ceilf(b.y + b.height);
    glUniform4f(page_uniform(program, "panel"), b.x, (float)canvas_height - b.y, scale, 0);
    page_rectangle(program, (int32_t[4]){left, canvas_height - bottom, right - left, bottom - top});
}

static void draw_slices(int shown) {
    GLuint program = use(0);
    if (!program) return;
    page_texture(program, "volume", 0, GL_TEXTURE_3D, compaction_scene.volume);
    page_texture(program, "base", 1, 0, compaction_scene.base);
    glUniform1f(page_uniform(program, "level"), compaction_scene.level);
    glUniform1i(page_uniform(program, "shown"), shown);
    fill(program, placed.slices, placed.scale);
}

static void draw_level(int32_t level) {
    const compaction* c = &compaction_scene;
    bool real = c->form == SAP_GL_FLOAT;
    int texture = real ? 0 : level < 4 ? level - 1 : 3;
    GLuint program = use(real ? (c->info.bytes ? 4 : 3) : c->form == SAP_GL_VEC4 ? 1 : 2);
    if (!program) return;
    box b = placed.level[level];
    page_texture(program, "nodes", 0, 0, c->info.texture[texture]);
    glUniform4i(page_uniform(program, "place"), level, c->info.first_row[level], c->info.width[texture],
                c->width * c->height);
    glUniform2f(page_uniform(program, "across"), (float)c->width / b.width, (float)c->width);
    glUniform3fv(page_uniform(program, "accent"), 1, page_colors[3]);
    fill(program, b, placed.scale);
}

// As much of the list's room as so many outputs take.
static box list_box(int64_t outputs) {
    int64_t rows = (outputs + placed.list_columns - 1) / placed.list_columns;
    box b = placed.list;
    b.height = fminf(b.height, fmaxf(1, (float)rows) * placed.list_scale);
    b.width = (float)placed.list_columns * placed.list_scale;
    return b;
}

static void draw_list(void) {
    const compaction* c = &compaction_scene;
    bool real = c->form == SAP_GL_FLOAT;
    GLuint program = use(real ? (c->info.bytes ? 7 : 6) : 5);
    if (!program || !c->list.texture) return;
    page_texture(program, "list", 0, 0, c->list.texture);
    int64_t outputs = c->total >= 0 && c->total < c->listed ? c->total : c->listed;
    glUniform4i(page_uniform(program, "room"), c->list.width, (int)outputs, placed.list_columns, c->width);
    fill(program, list_box(outputs), placed.list_scale);
}

static void draw_line(const float color[3], float width, bool frame, float x0, float y0, float x1, float y1) {
    GLuint program = use(8);
    if (!program) return;
    float around = width + 1, high = (float)canvas_height;
    glUniform4f(page_uniform(program, "ends"), x0, high - y0, x1, high - y1);
    glUniform4f(page_uniform(program, "paint"), color[0], color[1], color[2], width);
    glUniform1f(page_uniform(program, "is_frame"), frame ? 1 : 0);
    fill(
        program,
        (box){fminf(x0, x1) - around, fminf(y0, y1) - around, fabsf(x1 - x0) + 2 * around, fabsf(y1 - y0) + 2 * around},
        1);
}

// A frame about a node, that is not smaller than a few pixels.
static box frame_of(int32_t level, int64_t node) {
    box b = place_of(level, node);
    float least = 5 * placed.ratio;
    float wider = fmaxf(0, least - b.width), higher = fmaxf(0, least - b.height);
    return (box){b.x - 0.5f * wider, b.y - 0.5f * higher, b.width + wider, b.height + higher};
}

static void draw_frame(const float color[3], float width, box b) {
    draw_line(color, width, true, b.x, b.y, b.x + b.width, b.y + b.height);
}

// A key's way through so many levels from the top, and to the cell if all of them are passed. Every line has an edge in
// the colour of the paper, to be seen on any ground.
static void draw_way(int64_t key, int32_t passed) {
    const float* const colors[2] = {page_colors[0], page_colors[1]};
    compaction_step steps[COMPACTION_LEVELS];
    compaction_walk(key, steps);
    int32_t top = compaction_scene.info.levels, last = passed > top ? 0 : top - passed + 1;
    for (int edge = 0; edge < 2; edge++) {
        float width = (edge ? 1.5f : 4.5f) * placed.ratio;
        box before = frame_of(-1, key);
        draw_frame(colors[edge], width, before);
        for (int32_t level = top; level >= last; level--) {
            box at = frame_of(level, steps[level].node);
            draw_line(colors[edge], width, false, before.x + 0.5f * before.width, before.y + 0.5f * before.height,
                      at.x + 0.5f * at.width, at.y + 0.5f * at.height);
            draw_frame(colors[edge], width, at);
            before = at;
        }
    }
}

static void draw_empty(box b) {
    float faint[3];
    for (int k = 0; k < 3; k++) faint[k] = 0.8f * page_colors[0][k] + 0.2f * page_colors[1][k];
    draw_frame(faint, placed.ratio, b);
}

// Draws the picture for a canvas so high, with so many levels: -1 only the samples that are inside, 0 the cells that
// are kept, too; with the list or without; with `way` levels of a key's way from the top, unless the key is negative.
// What is pointed at is framed: a node of a level, an entry of the list (level -1) or nothing (-2).
PAGE_EXPORT void compaction_frame(int height, int levels, int listed, double key, int way, int level, double node) {
    const compaction* c = &compaction_scene;
    canvas_height = height;
    place_list();
    glBindVertexArray(0); // not the library's
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisable(GL_BLEND);
    glClearColor(page_colors[0][0], page_colors[0][1], page_colors[0][2], 1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (!c->pyramid) return;
    draw_slices(levels >= 0);
    for (int32_t i = 1; i <= c->info.levels && i <= levels; i++) draw_level(i);
    if (listed) draw_list();
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    for (int32_t i = levels < 0 ? 1 : levels + 1; i <= c->info.levels; i++) draw_empty(placed.level[i]);
    if (!listed) draw_empty(list_box(c->listed));
    if (key >= 0 && c->flags) draw_way((int64_t)key, way);
    if (level == -1 || (level >= 0 && level <= levels))
        for (int edge = 0; edge < 2; edge++)
            draw_frame(page_colors[edge ? 3 : 0], (edge ? 2.0f : 5.0f) * placed.ratio, frame_of(level, (int64_t)node));
    glDisable(GL_BLEND);
}
