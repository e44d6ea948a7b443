// A histopyramid in textures, for shaders that look for keys or for the first key of a cell. GLSL ES 3.00 alone; needs
// compact/histopyramid.h. src/compact/pyramid_gl.h says what is in which texture.
//
// SAP_CELLS: 0 counts in red, unsigned; 1 the same in red, green, blue, alpha; 2 floats; 3 bytes as fractions.
// SAP_VEC4: 1 the vec4 form, 0 the plain one.

#if SAP_CELLS < 2
uniform usampler2D base;
#else
uniform sampler2D base;
#endif
uniform int base_width;
uniform uint cells; // number of cells
uniform uint most;  // largest count of a cell

// The place of an item in rows of `width`, both below 2^30: a division of floats, whose rounding is corrected.
ivec2 sap_row_place(uint item, int width) {
    int row = int(float(item) / float(width));
    int column = int(item) - row * width;
    int wrong = column < 0 ? -1 : column >= width ? 1 : 0;
    return ivec2(column - wrong * width, row + wrong);
}

uint sap_cell_count(ivec2 place) {
#if SAP_CELLS == 0
    return min(texelFetch(base, place, 0).x, most);
#elif SAP_CELLS == 2
    float count = texelFetch(base, place, 0).x;
    // From 2^23 on, adding a half would round to even.
    if (count >= 8388608.0) return min(uint(min(count, 16777216.0)), most);
    return count >= 0.5 ? min(uint(count + 0.5), most) : 0u;
#elif SAP_CELLS == 3
    return min(uint(texelFetch(base, place, 0).x * 255.0 + 0.5), most);
#else
    return 0u;
#endif
}

// The counts of the cells 4 group ... 4 group + 3.
uvec4 sap_cell_counts(uint group) {
    uint first = 4u * group;
    uvec4 counts = uvec4(0u);
    if (first >= cells) return counts;
#if SAP_CELLS == 1
    counts = min(texelFetch(base, sap_row_place(group, base_width), 0), uvec4(most));
#else
    ivec2 place = sap_row_place(first, base_width);
    for (int i = 0; i < 4; i++) {
        if (first + uint(i) < cells) counts[i] = sap_cell_count(place);
        place = place.x + 1 < base_width ? ivec2(place.x + 1, place.y) : ivec2(0, place.y + 1);
    }
#endif
    uint left = cells - first;
    return uvec4(counts.x, left > 1u ? counts.y : 0u, left > 2u ? counts.z : 0u, left > 3u ? counts.w : 0u);
}

uvec4 sap_running(uvec4 counts) {
    uint two = counts.x + counts.y;
    uint three = two + counts.z;
    return uvec4(counts.x, two, three, three + counts.w);
}

ivec2 sap_node_place(uint node, int shift) {
    return ivec2(int(node & ((1u << uint(shift)) - 1u)), int(node >> uint(shift)));
}

#ifdef SAP_LEVELS
uniform usampler2D level_1; // unused where it is the base: vec4 form, four cells a texel
uniform usampler2D level_2;
uniform usampler2D level_3;
uniform usampler2D level_4; // and all above in one texture: the top first, and each level begins a row
uniform ivec4 shifts;       // their widths' logarithms
uniform int high_depth;     // of level 4 below the top
uniform int high_row;       // where level 4 begins

// How many rows the level at a depth below the top takes.
int sap_high_rows(int depth) { return max(1, (1 << (2 * depth)) >> shifts.w); }

uvec4 sap_high_node(uint node, int row) {
    return texelFetch(level_4, sap_node_place(node, shifts.w) + ivec2(0, row), 0);
}

uint sap_pyramid_total() {
    uvec4 sums = texelFetch(level_4, ivec2(0, 0), 0);
#if SAP_VEC4
    return sums.w;
#else
    return sums.x;
#endif
}

// The running sums of a node's children, for one of each of the levels; a high one by its depth and first row.
#if SAP_VEC4
uvec4 sap_high_ends(uint node, int depth, int row) { return sap_high_node(node, row); }
uvec4 sap_ends_3(uint node) { return texelFetch(level_3, sap_node_place(node, shifts.z), 0); }
uvec4 sap_ends_2(uint node) { return texelFetch(level_2, sap_node_place(node, shifts.y), 0); }
#if SAP_CELLS == 1
uvec4 sap_ends_1(uint node) { return sap_running(sap_cell_counts(node)); }
#else
uvec4 sap_ends_1(uint node) { return texelFetch(level_1, sap_node_place(node, shifts.x), 0); }
#endif
#else
// The fourth child is what remains: it need not be read.
#define SAP_THREE(level, shift)                                                                                        \
    sap_running(uvec4(texelFetch(level, sap_node_place(4u * node, shift), 0).x,                                        \
                      texelFetch(level, sap_node_place(4u * node + 1u, shift), 0).x,                                   \
                      texelFetch(level, sap_node_place(4u * node + 2u, shift), 0).x, 0u))
uvec4 sap_high_ends(uint node, int depth, int row) {
    if (depth == high_depth) return SAP_THREE(level_3, shifts.z);
    int below = row + sap_high_rows(depth);
    return sap_running(uvec4(sap_high_node(4u * node, below).x, sap_high_node(4u * node + 1u, below).x,
                             sap_high_node(4u * node + 2u, below).x, 0u));
}
uvec4 sap_ends_3(uint node) { return SAP_THREE(level_2, shifts.y); }
uvec4 sap_ends_2(uint node) { return SAP_THREE(level_1, shifts.x); }
uvec4 sap_ends_1(uint node) { return sap_running(sap_cell_counts(node)); }
#endif

// The cell in which a key below the total falls, and which of its outputs it is.
sap_key sap_pyramid_find(uint number) {
    sap_key key;
    key.node = 0u;
    key.rest = number;
    int row = 0;
    for (int depth = 0; depth <= high_depth; depth++) {
        uvec4 ends = sap_high_ends(key.node, depth, row);
        key = sap_key_down(key, ends.x, ends.y, ends.z);
        row += sap_high_rows(depth);
    }
    uvec4 ends = sap_ends_3(key.node);
    key = sap_key_down(key, ends.x, ends.y, ends.z);
    ends = sap_ends_2(key.node);
    key = sap_key_down(key, ends.x, ends.y, ends.z);
    ends = sap_ends_1(key.node);
    return sap_key_down(key, ends.x, ends.y, ends.z);
}

// The first key of a cell: how many outputs the cells ahead of it have.
uint sap_pyramid_first_key(uint cell) {
    uvec4 ends = sap_ends_1(cell >> 2);
    uint key = sap_key_ahead(cell, ends.x, ends.y, ends.z);
    ends = sap_ends_2(cell >> 4);
    key += sap_key_ahead(cell >> 2, ends.x, ends.y, ends.z);
    ends = sap_ends_3(cell >> 6);
    key += sap_key_ahead(cell >> 4, ends.x, ends.y, ends.z);
    uint node = cell >> 6;
    int row = high_row;
    for (int depth = high_depth; depth >= 0; depth--) {
        ends = sap_high_ends(node >> 2, depth, row);
        key += sap_key_ahead(node, ends.x, ends.y, ends.z);
        node = node >> 2;
        row -= depth > 0 ? sap_high_rows(depth - 1) : 0;
    }
    return key;
}
#endif
