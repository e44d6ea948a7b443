// Fields of the calls of the scene Compaction (../fields.h); volume_fields.h has those of its jobs.
#ifndef SAPWOOD_PAGE_COMPACTION_FIELDS_H
#define SAPWOOD_PAGE_COMPACTION_FIELDS_H

// compaction_make: what the pyramid's texels hold.
enum compaction_form {
    COMPACTION_FORM_PLAIN, // a sum, as a float
    COMPACTION_FORM_VEC4,  // running sums of the four below, as floats
    COMPACTION_FORM_BYTES  // a sum, as four bytes
};

// compaction_layout: of slices, levels 1 … and list each.
enum compaction_area {
    COMPACTION_AREA_X, // left
    COMPACTION_AREA_Y, // top
    COMPACTION_AREA_WIDTH,
    COMPACTION_AREA_HEIGHT,
    COMPACTION_AREA_FIELDS
};

// compaction_at: what is at a place of the canvas: a node of a level (0: a cell), an entry of the list, or nothing.
enum compaction_found { COMPACTION_FOUND_LEVEL, COMPACTION_FOUND_NODE, COMPACTION_FOUND_FIELDS };
// What stands for the level where there is none.
enum compaction_level { COMPACTION_LEVEL_LIST = -1, COMPACTION_LEVEL_NOTHING = -2 };

// compaction_way: of each level from the top to 1; behind these the cell.
enum compaction_way {
    COMPACTION_WAY_NODE,
    COMPACTION_WAY_KEY,     // what is left of it
    COMPACTION_WAY_CHILD_0, // the sums of the node's children
    COMPACTION_WAY_CHILD_1,
    COMPACTION_WAY_CHILD_2,
    COMPACTION_WAY_CHILD_3,
    COMPACTION_WAY_FIELDS
};

// compaction_texel: where the GPU has a node's sum, or a cell: which texture (a name of OpenGL), the column in which the
// level's square begins there, and the texel of the square.
enum compaction_texel {
    COMPACTION_TEXEL_TEXTURE,
    COMPACTION_TEXEL_FIRST,
    COMPACTION_TEXEL_COLUMN,
    COMPACTION_TEXEL_ROW,
    COMPACTION_TEXEL_FIELDS
};

// compaction_check.
enum compaction_checked {
    COMPACTION_CHECKED_LISTED,
    COMPACTION_CHECKED_WRONG, // of those
    COMPACTION_CHECKED_KEPT,  // the CPU's total
    COMPACTION_CHECKED_TOTAL, // the GPU's
    COMPACTION_CHECKED_FIELDS
};

#endif
