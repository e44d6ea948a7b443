// The scene Compaction: the cells of a volume through which its surface runs, as a list made by a histopyramid as it was
// published: squares, reduced two by two. Cells, and nodes of a level, are numbered in Z order, so that node n is the sum
// of nodes 4 n … 4 n + 3 below it.
#ifndef SAPWOOD_PAGE_COMPACTION_H
#define SAPWOOD_PAGE_COMPACTION_H

#include "../page.h"
#include "compaction_fields.h"

enum { COMPACTION_LEVELS = 12 }; // with the cells: a base of 2048 x 2048

typedef struct compaction {
    int32_t side, columns;       // samples on a side of the volume; slices in a row of the base
    int32_t width, height;       // cells on a side of the base, a square; its rows that slices take
    int32_t levels;              // above the cells
    float level;                 // that the last run had
    float* values;               // [side^3]
    GLuint volume, base, target; // textures, and the framebuffer of the base
    enum compaction_form form;
    sap_gl_zpyramid* pyramid;
    sap_gl_list list;
    int64_t total;  // -1: nobody has asked yet
    int64_t listed; // outputs that the list was drawn for
    // What has been read back of the last run, row by row, NULL if nothing: of level 0 1 for each cell that is kept.
    uint32_t* sums[COMPACTION_LEVELS];
} compaction;

extern compaction compaction_scene;

// How many cells are kept; asks the GPU if nobody has yet. -1 on failure.
double compaction_total(void);
// The number of nodes of a level that have cells of slices below them; of level 0 the cells.
int64_t compaction_nodes(int32_t level);
// A node's sum, of what has been read; 0 beyond the last node.
uint32_t compaction_sum(int32_t level, int64_t node);
// Where a node stands in its level's square, and which one stands at a place.
int32_t compaction_column(int64_t node);
int32_t compaction_row(int64_t node);
int64_t compaction_node(int32_t column, int32_t row);
// What a key meets on its way down: at level L the node and what is left of the key. Level 0 is the cell.
typedef struct compaction_step {
    int64_t node, rest;
} compaction_step;
void compaction_walk(int64_t key, compaction_step steps[COMPACTION_LEVELS]);

// ---- Where things stand, in pixels of the canvas, y down

typedef struct compaction_box {
    float x, y, width, height;
} compaction_box;

typedef struct compaction_layout_plan {
    compaction_box slices, level[COMPACTION_LEVELS], list; // the level's own number counts
    float scale;                                           // pixels to a cell of the base
    float list_scale;                                      // and of the list
    int32_t list_columns;
    float ratio; // pixels of the canvas to a pixel of the page
    float thin;  // the least side of a level
} compaction_layout_plan;

extern compaction_layout_plan compaction_placed;
// Chooses the list's scale for what is listed now.
void compaction_place_list(void);
// Where a node stands in its level's picture; of level 0 a cell; of COMPACTION_LEVEL_LIST an entry.
compaction_box compaction_place(int32_t level, int64_t node);
// As much of the list's room as so many outputs take.
compaction_box compaction_list_box(int64_t outputs);

// Frees the programs of the pictures.
void compaction_draw_stop(void);

#endif
