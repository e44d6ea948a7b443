// The check of the scene Compaction: the same list by sap_compact, from the samples, without a context. Its items are the
// cells in Z order, as places in the base.
#include "compaction.h"
#include <stdlib.h>
#include <string.h>

static uint8_t crosses(const compaction* c, int64_t cell) {
    int64_t x = compaction_column(cell), y = compaction_row(cell), side = c->side;
    int64_t at[3] = {x % side, y % side, y / side * c->columns + x / side};
    int inside = 0;
    if (at[0] + 1 >= side || at[1] + 1 >= side || at[2] + 1 >= side) return 0;
    for (int64_t i = 0; i < 8; i++) {
        int64_t sample = at[0] + (i & 1) + side * (at[1] + (i >> 1 & 1) + side * (at[2] + (i >> 2)));
        inside += c->values[sample] >= c->level;
    }
    return inside > 0 && inside < 8;
}

// The cells of the list, as places, to[listed].
static void read_list(const compaction* c, int64_t listed, int32_t* to) {
    int32_t rows = (int32_t)((listed + c->list.width - 1) / c->list.width);
    float* read = malloc(16 * (size_t)rows * (size_t)c->list.width);
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, c->list.texture, 0);
    if (read) glReadPixels(0, 0, c->list.width, rows, GL_RGBA, GL_FLOAT, read);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    for (int64_t i = 0; i < listed; i++) {
        const bool whole = read && read[4 * i] + read[4 * i + 1] * (float)c->width == read[4 * i + 2];
        to[i] = whole ? (int32_t)read[4 * i + 2] : -1;
    }
    free(read);
}

// Compares the list and the total with the CPU's. Answer: compaction_checked; NULL on failure.
PAGE_EXPORT double* compaction_check(void) {
    static double answer[COMPACTION_CHECKED_FIELDS];
    compaction* c = &compaction_scene;
    int64_t cells = compaction_nodes(0), kept = 0, wrong = 0, total = (int64_t)compaction_total();
    uint8_t* keep = malloc((size_t)cells);
    int32_t* numbers = malloc(2 * sizeof *numbers * (size_t)cells);
    bool done = false;
    int64_t listed = c->listed < cells ? c->listed : cells;
    if (keep && numbers && total >= 0) {
        for (int64_t i = 0; i < cells; i++) {
            keep[i] = crosses(c, i);
            numbers[i] = compaction_column(i) + compaction_row(i) * c->width;
        }
        done = sap_compact(page_cpu(), numbers, cells, sizeof *numbers, keep, numbers, &kept) == SAP_OK;
        read_list(c, listed, numbers + cells);
        for (int64_t i = 0; i < listed; i++) wrong += i >= kept || numbers[i] != numbers[cells + i];
    }
    free(keep);
    free(numbers);
    answer[COMPACTION_CHECKED_LISTED] = (double)listed;
    answer[COMPACTION_CHECKED_WRONG] = (double)wrong;
    answer[COMPACTION_CHECKED_KEPT] = (double)kept;
    answer[COMPACTION_CHECKED_TOTAL] = (double)total;
    return done ? answer : NULL;
}
