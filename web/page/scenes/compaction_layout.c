// Where things stand in the picture of the scene Compaction, and what stands at a place.
#include "compaction.h"
#include <math.h>

compaction_layout_plan compaction_placed;

// How wide the levels are together at a scale: each a quarter of the one below, but never too thin to see.
static float levels_width(float scale, float ratio, compaction_box* level) {
    float at = 0, wide = scale * (float)compaction_scene.width;
    for (int32_t i = 1; i <= compaction_scene.info.levels; i++) {
        wide = fmaxf(0.25f * wide, compaction_placed.thin);
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
void compaction_place_list(void) {
    static const float steps[] = {3, 2, 1.5f, 1, 0.75f, 0.5f, 0.375f, 0.25f, 0.125f};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        float scale = compaction_placed.scale * steps[i];
        compaction_placed.list_scale = scale;
        compaction_placed.list_columns = (int32_t)fmaxf(1, floorf(compaction_placed.list.width / scale));
        float room = floorf(compaction_placed.list.height / scale) * (float)compaction_placed.list_columns;
        if (room >= (float)compaction_scene.listed && scale <= 16 * compaction_placed.ratio) break;
    }
}

// Plans the picture for a canvas. Returns for JavaScript the compaction_area of slices, of levels 1 … and of the list.
PAGE_EXPORT float* compaction_layout(int width, int height, double ratio) {
    static float numbers[COMPACTION_AREA_FIELDS * (COMPACTION_LEVELS + 2)];
    const compaction* c = &compaction_scene;
    const float r = (float)ratio, margin = 16 * r, gap = 18 * r, title = 24 * r, foot = 20 * r;
    compaction_placed.thin = fminf(13 * r, fmaxf(9 * r, 0.02f * (float)width));
    float beside = fitting((float)width, (float)height, r, false),
          under = fitting((float)width, (float)height, r, true);
    bool below = under > beside;
    compaction_placed.ratio = r;
    compaction_placed.scale = fmaxf(below ? under : beside, 0.05f);
    if (compaction_placed.scale > 4) compaction_placed.scale = floorf(compaction_placed.scale);
    float base = compaction_placed.scale * (float)c->width, tall = compaction_placed.scale * (float)c->height;
    compaction_placed.slices = (compaction_box){margin, margin + title, base, tall};
    float levels = levels_width(compaction_placed.scale, r, compaction_placed.level), left = margin + base + gap;
    for (int32_t i = 1; i <= c->info.levels; i++) {
        compaction_placed.level[i].x += left;
        compaction_placed.level[i].y = margin + title;
        compaction_placed.level[i].height = tall;
    }
    float right = left + levels;
    compaction_placed.list =
        below ? (compaction_box){margin, margin + 2 * title + tall + foot, right - margin, 0.3f * tall}
              : (compaction_box){right + gap, margin + title, (float)width - margin - right - gap, tall};
    // In the middle of what room there is; a list below may go on to the edge.
    float spare_x = below ? 0.5f * ((float)width - margin - right) : 0;
    float spare_y =
        0.5f * ((float)height - margin - compaction_placed.list.height - compaction_placed.list.y - (below ? 0 : foot));
    compaction_box* all[COMPACTION_LEVELS + 2];
    int count = 0;
    all[count++] = &compaction_placed.slices;
    for (int32_t i = 1; i <= c->info.levels; i++) all[count++] = &compaction_placed.level[i];
    all[count++] = &compaction_placed.list;
    for (int i = 0; i < count; i++) {
        all[i]->x = floorf(all[i]->x + fmaxf(0, spare_x));
        all[i]->y = floorf(all[i]->y + fmaxf(0, spare_y));
        float* area = numbers + COMPACTION_AREA_FIELDS * i;
        area[COMPACTION_AREA_X] = all[i]->x;
        area[COMPACTION_AREA_Y] = all[i]->y;
        area[COMPACTION_AREA_WIDTH] = all[i]->width;
        area[COMPACTION_AREA_HEIGHT] = all[i]->height;
    }
    if (below) compaction_placed.list.height = fmaxf((float)height - margin - compaction_placed.list.y, 4 * r);
    compaction_place_list();
    return numbers;
}

static bool is_in(compaction_box b, float x, float y) {
    return x >= b.x && y >= b.y && x < b.x + b.width && y < b.y + b.height;
}

// What is at a place of the canvas (compaction_found).
PAGE_EXPORT double* compaction_at(double x, double y) {
    static double found[COMPACTION_FOUND_FIELDS];
    const compaction* c = &compaction_scene;
    found[COMPACTION_FOUND_LEVEL] = COMPACTION_LEVEL_NOTHING;
    float u = (float)x, v = (float)y;
    if (is_in(compaction_placed.slices, u, v)) {
        int32_t column = (int32_t)((u - compaction_placed.slices.x) / compaction_placed.scale),
                row = (int32_t)((v - compaction_placed.slices.y) / compaction_placed.scale);
        if (column < c->width && row < c->height) {
            found[COMPACTION_FOUND_LEVEL] = 0;
            found[COMPACTION_FOUND_NODE] = row * (double)c->width + column;
        }
    } else if (is_in(compaction_placed.list, u, v)) {
        int32_t column = (int32_t)((u - compaction_placed.list.x) / compaction_placed.list_scale);
        double key = floor((double)((v - compaction_placed.list.y) / compaction_placed.list_scale)) *
                         compaction_placed.list_columns +
                     column;
        if (column < compaction_placed.list_columns && key < (double)c->listed) {
            found[COMPACTION_FOUND_LEVEL] = COMPACTION_LEVEL_LIST;
            found[COMPACTION_FOUND_NODE] = key;
        }
    }
    for (int32_t i = 1; i <= c->info.levels; i++) {
        compaction_box b = compaction_placed.level[i];
        int32_t row = (int32_t)((v - b.y) / compaction_placed.scale);
        if (!is_in(b, u, v) || row >= c->height) continue;
        double cell = row * (double)c->width + floor((double)((u - b.x) / b.width * (float)c->width));
        found[COMPACTION_FOUND_LEVEL] = i;
        found[COMPACTION_FOUND_NODE] = floor(ldexp(cell, -2 * i));
    }
    return found;
}

// Where a node stands in its level's picture; of level 0 a cell; of COMPACTION_LEVEL_LIST an entry.
compaction_box compaction_place(int32_t level, int64_t node) {
    const compaction* c = &compaction_scene;
    if (level == COMPACTION_LEVEL_LIST) {
        float s = compaction_placed.list_scale;
        return (compaction_box){compaction_placed.list.x + s * (float)(node % compaction_placed.list_columns),
                                compaction_placed.list.y + s * (float)(node / compaction_placed.list_columns), s, s};
    }
    compaction_box b = level ? compaction_placed.level[level] : compaction_placed.slices;
    int64_t first = node << (2 * level), size = INT64_C(1) << (2 * level), width = c->width;
    int64_t row = first / width, rows = size > width ? size / width : 1;
    if (row + rows > c->height) rows = c->height - row;
    compaction_box place = {b.x, b.y + compaction_placed.scale * (float)row, b.width,
                            compaction_placed.scale * (float)rows};
    if (size < width) {
        place.x += b.width * (float)(first % width) / (float)width;
        place.width = b.width * (float)size / (float)width;
    }
    return place;
}

// As much of the list's room as so many outputs take.
compaction_box compaction_list_box(int64_t outputs) {
    int64_t rows = (outputs + compaction_placed.list_columns - 1) / compaction_placed.list_columns;
    compaction_box b = compaction_placed.list;
    b.height = fminf(b.height, fmaxf(1, (float)rows) * compaction_placed.list_scale);
    b.width = (float)compaction_placed.list_columns * compaction_placed.list_scale;
    return b;
}
