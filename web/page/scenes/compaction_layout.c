// Where things stand in the picture of the scene Compaction, and what stands at a place.
#include "compaction.h"
#include <math.h>

compaction_layout_plan compaction_placed;

// Where the levels stand at a scale, from the corner of the first on: each a square with half the side of the one below,
// but never too small to see; in rows as wide as the first, or as six of the smallest. What they take in all.
static compaction_box place_levels(float scale, float ratio, compaction_box* level) {
    const float gap = 7 * ratio, label = 20 * ratio;
    const float wide = fmaxf(0.5f * scale * (float)compaction_scene.width, 6 * (compaction_placed.thin + gap));
    float x = 0, y = 0, row = 0;
    for (int32_t i = 1; i <= compaction_scene.levels; i++) {
        const float side = fmaxf(scale * (float)(compaction_scene.width >> i), compaction_placed.thin);
        if (x > 0 && (i == 2 || x + side > wide)) {
            y += row + label;
            x = row = 0;
        }
        if (level) level[i] = (compaction_box){x, y, side, side};
        x += side + gap;
        row = fmaxf(row, side);
    }
    return (compaction_box){0, 0, wide, y + row};
}

// Whether slices, levels and list fit at a scale: the list to the right, or below.
static bool fits(float scale, float width, float height, float ratio, bool below) {
    const float margin = 16 * ratio, gap = 18 * ratio, title = 24 * ratio, foot = 20 * ratio;
    const float base = scale * (float)compaction_scene.width;
    const compaction_box levels = place_levels(scale, ratio, NULL);
    float wide = base + gap + levels.width + 2 * margin;
    float high = fmaxf(base, levels.height) + title + foot + 2 * margin;
    if (below)
        high += 0.3f * base + title;
    else
        wide += gap + 0.5f * base;
    return wide <= width && high <= height;
}

// The largest scale that fits. Step by step, for levels in fewer rows may be lower though they are larger.
static float fitting(float width, float height, float ratio, bool below) {
    float scale = 64 * ratio;
    while (scale > 0.05f && !fits(scale, width, height, ratio, below)) scale *= 0.99f;
    return scale;
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
    compaction_placed.scale = below ? under : beside;
    if (compaction_placed.scale > 4) compaction_placed.scale = floorf(compaction_placed.scale);
    float base = compaction_placed.scale * (float)c->width;
    compaction_placed.slices = (compaction_box){margin, margin + title, base, base};
    const compaction_box levels = place_levels(compaction_placed.scale, r, compaction_placed.level);
    for (int32_t i = 1; i <= c->levels; i++) {
        compaction_placed.level[i].x += margin + base + gap;
        compaction_placed.level[i].y += margin + title;
    }
    float right = margin + base + gap + levels.width, tall = fmaxf(base, levels.height);
    compaction_placed.list =
        below ? (compaction_box){margin, margin + 2 * title + tall + foot, right - margin, 0.3f * base}
              : (compaction_box){right + gap, margin + title, (float)width - margin - right - gap, tall};
    // In the middle of what room there is; a list below may go on to the edge.
    float spare_x = below ? 0.5f * ((float)width - margin - right) : 0;
    float spare_y =
        0.5f * ((float)height - margin - compaction_placed.list.height - compaction_placed.list.y - (below ? 0 : foot));
    compaction_box* all[COMPACTION_LEVELS + 2];
    int count = 0;
    all[count++] = &compaction_placed.slices;
    for (int32_t i = 1; i <= c->levels; i++) all[count++] = &compaction_placed.level[i];
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

static compaction_box square_of(int32_t level) {
    return level ? compaction_placed.level[level] : compaction_placed.slices;
}

// What is at a place of the canvas (compaction_found).
PAGE_EXPORT double* compaction_at(double x, double y) {
    static double found[COMPACTION_FOUND_FIELDS];
    const compaction* c = &compaction_scene;
    found[COMPACTION_FOUND_LEVEL] = COMPACTION_LEVEL_NOTHING;
    float u = (float)x, v = (float)y;
    if (is_in(compaction_placed.list, u, v)) {
        int32_t column = (int32_t)((u - compaction_placed.list.x) / compaction_placed.list_scale);
        double key = floor((double)((v - compaction_placed.list.y) / compaction_placed.list_scale)) *
                         compaction_placed.list_columns +
                     column;
        if (column < compaction_placed.list_columns && key < (double)c->listed) {
            found[COMPACTION_FOUND_LEVEL] = COMPACTION_LEVEL_LIST;
            found[COMPACTION_FOUND_NODE] = key;
        }
    }
    for (int32_t i = 0; i <= c->levels; i++) {
        const compaction_box b = square_of(i);
        if (!is_in(b, u, v)) continue;
        const float nodes = (float)(c->width >> i);
        const int64_t node = compaction_node((int32_t)fminf((u - b.x) / b.width * nodes, nodes - 1),
                                             (int32_t)fminf((v - b.y) / b.height * nodes, nodes - 1));
        if (node >= compaction_nodes(i)) continue; // below the last slice
        found[COMPACTION_FOUND_LEVEL] = i;
        found[COMPACTION_FOUND_NODE] = (double)node;
    }
    return found;
}

// Where a node stands in its level's picture; of level 0 a cell; of COMPACTION_LEVEL_LIST an entry.
compaction_box compaction_place(int32_t level, int64_t node) {
    if (level == COMPACTION_LEVEL_LIST) {
        float s = compaction_placed.list_scale;
        return (compaction_box){compaction_placed.list.x + s * (float)(node % compaction_placed.list_columns),
                                compaction_placed.list.y + s * (float)(node / compaction_placed.list_columns), s, s};
    }
    const compaction_box b = square_of(level);
    const float s = b.width / (float)(compaction_scene.width >> level);
    return (compaction_box){b.x + s * (float)compaction_column(node), b.y + s * (float)compaction_row(node), s, s};
}

// As much of the list's room as so many outputs take.
compaction_box compaction_list_box(int64_t outputs) {
    int64_t rows = (outputs + compaction_placed.list_columns - 1) / compaction_placed.list_columns;
    compaction_box b = compaction_placed.list;
    b.height = fminf(b.height, fmaxf(1, (float)rows) * compaction_placed.list_scale);
    b.width = (float)compaction_placed.list_columns * compaction_placed.list_scale;
    return b;
}
