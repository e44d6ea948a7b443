// The step of histopyramids as C reads it: a pyramid of plain loops, walked down by key and up again by cell.
#include "math/dialect.h"

#include "compact/histopyramid.h"
#include "test.h"
#include <stdlib.h>

enum { MOST_CELLS = 5000, MOST_LEVELS = 8 };

typedef struct model {
    uint32_t* sums[MOST_LEVELS]; // of each level, four places more than there are nodes
    int levels;                  // above the cells
} model;

static uint32_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)state * below >> 32);
}

static model make(uint32_t cells, uint32_t most) {
    model made = {.levels = 0};
    uint32_t nodes = cells;
    made.sums[0] = calloc(cells + 4, sizeof **made.sums);
    for (uint32_t i = 0; i < cells; i++) made.sums[0][i] = draw(3) ? 0 : draw(most + 1);
    while (nodes > 1) {
        uint32_t above = (nodes + 3) / 4;
        const uint32_t* below = made.sums[made.levels];
        uint32_t* sums = made.sums[++made.levels] = calloc(above + 4, sizeof *sums);
        for (uint32_t i = 0; i < nodes; i++) sums[i / 4] += below[i];
        nodes = above;
    }
    return made;
}

// The running sums of the children of a level's node.
static const uint32_t* ends(const model* m, int level, uint32_t node, uint32_t three[3]) {
    const uint32_t* sums = m->sums[level - 1] + 4 * (size_t)node;
    three[0] = sums[0];
    three[1] = three[0] + sums[1];
    three[2] = three[1] + sums[2];
    return three;
}

static void check(uint32_t cells, uint32_t most) {
    model m = make(cells, most);
    uint32_t three[3], wrong = 0, key = 0;
    for (uint32_t cell = 0; cell < cells; cell++) {
        uint32_t first = 0;
        for (int level = 1; level <= m.levels; level++) {
            const uint32_t* e = ends(&m, level, cell >> (2 * level), three);
            first += sap_key_ahead(cell >> (2 * (level - 1)), e[0], e[1], e[2]);
        }
        wrong += first != key;
        for (uint32_t output = 0; output < m.sums[0][cell]; output++, key++) {
            sap_key found = {0, key};
            for (int level = m.levels; level > 0; level--) {
                const uint32_t* e = ends(&m, level, found.node, three);
                found = sap_key_down(found, e[0], e[1], e[2]);
            }
            wrong += found.node != cell || found.rest != output;
        }
    }
    NOTE("%u cells, up to %u outputs", (unsigned)cells, (unsigned)most);
    CHECK_EQUAL(key, m.sums[m.levels][0]);
    CHECK_EQUAL(wrong, 0);
    for (int level = 0; level <= m.levels; level++) free(m.sums[level]);
}

TEST(keys_find_their_cells) {
    static const uint32_t cells[] = {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4095, 4096, MOST_CELLS};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        check(cells[i], 1);
        check(cells[i], 5);
    }
}

TEST_MAIN()
