// The passes of a histopyramid in GLSL ES 1.00, for WebGL 1: no integers, no texelFetch, loops of constant length.
// SAP_PASS: 0 a level from the cells; 1 a level from the one below; 2 the list; 3 the total as bytes.
//
// All levels lie in one texture, one below the other from the top on, each beginning a row. Where floats can be
// written a texel is the running sums of its four children (the vec4 form); where only bytes can, it is one sum
// in three bytes, and the form is the plain one. Numbers are whole and below 2^24, and all divisions are by powers
// of two, hence exact, except for a cell's row in the base, which is corrected.
uniform sampler2D base;
uniform sampler2D levels;
uniform vec2 base_size;
uniform vec2 levels_size; // the width is a power of two
uniform float cells;      // number of cells, 1 at least
uniform float most;       // largest count of a cell
uniform vec2 pass_size;   // of the rectangle that is drawn

vec4 bytes_of(float whole) {
    float high = floor(whole / 256.0), higher = floor(high / 256.0);
    return vec4(whole - high * 256.0, high - higher * 256.0, higher - floor(higher / 256.0) * 256.0,
                floor(higher / 256.0)) /
           255.0;
}

// Bytes are read as fractions, which need not be exact: they are rounded.
float whole_of(vec4 bytes) { return dot(floor(bytes * 255.0 + 0.5), vec4(1.0, 256.0, 65536.0, 16777216.0)); }

// The column and row of an item, in rows of a width.
vec2 place_of(float item, float width) {
    float row = floor(item / width);
    float column = item - row * width;
    float wrong = column < 0.0 ? -1.0 : column >= width ? 1.0 : 0.0;
    return vec2(column - wrong * width, row + wrong);
}

float cell_count(float cell) {
    if (cell >= cells) return 0.0;
    float value = texture2D(base, (place_of(cell, base_size.x) + 0.5) / base_size).r;
#if SAP_CELLS == 3
    value = value * 255.0;
#endif
    return value >= 0.5 ? min(floor(value + 0.5), most) : 0.0;
}

vec4 node_at(float node, float row) {
    vec2 place = place_of(node, levels_size.x) + vec2(0.5, row + 0.5);
    return texture2D(levels, place / levels_size);
}

float sum_at(float node, float row) {
#if SAP_BYTES
    return whole_of(node_at(node, row));
#else
    return node_at(node, row).a;
#endif
}

#if SAP_PASS < 2
uniform float below_row;
uniform float below_nodes;

float child_sum(float node) {
#if SAP_PASS == 0
    return cell_count(node);
#else
    return node < below_nodes ? sum_at(node, below_row) : 0.0;
#endif
}

void main() {
    vec2 place = floor(covered * pass_size);
    float first = 4.0 * (place.y * levels_size.x + place.x);
    vec4 sums = vec4(child_sum(first), child_sum(first + 1.0), child_sum(first + 2.0), child_sum(first + 3.0));
    sums.y += sums.x;
    sums.z += sums.y;
    sums.w += sums.z;
#if SAP_BYTES
    gl_FragColor = bytes_of(sums.w);
#else
    gl_FragColor = sums;
#endif
}
#endif

#if SAP_PASS == 2
uniform float top_size; // cells below the top node: a power of 4
uniform float list_width;
uniform float list_room;

float rows_of(float size) {
    float nodes = floor((cells - 1.0) / size) + 1.0;
    return floor((nodes - 1.0) / levels_size.x) + 1.0;
}

#if SAP_BYTES
float child_of(float node, float size, float row) {
    return size > 4.5 ? sum_at(node, row + rows_of(size)) : cell_count(node);
}
#endif

// The running sums of a node's first three children; a node of `size` cells, in a level that begins at `row`.
vec3 ends_of(float node, float size, float row) {
#if SAP_BYTES
    vec3 sums = vec3(child_of(4.0 * node, size, row), child_of(4.0 * node + 1.0, size, row),
                     child_of(4.0 * node + 2.0, size, row));
    sums.y += sums.x;
    sums.z += sums.y;
    return sums;
#else
    return node_at(node, row).rgb;
#endif
}

// In floats, the cell, which of its outputs, and the cell's column and row; in bytes the cell, lowest byte first.
void main() {
    vec2 place = floor(covered * pass_size);
    float rest = place.y * list_width + place.x, node = 0.0, row = 0.0, size = top_size;
    if (rest >= list_room || rest >= sum_at(0.0, 0.0)) discard;
    for (int level = 0; level < 13; level++) {
        if (size < 2.0) break;
        vec3 ends = ends_of(node, size, row);
        vec3 passed = step(ends, vec3(rest));
        rest -= max(max(passed.x * ends.x, passed.y * ends.y), passed.z * ends.z);
        node = 4.0 * node + passed.x + passed.y + passed.z;
        row += rows_of(size);
        size /= 4.0;
    }
#if SAP_BYTES
    gl_FragColor = bytes_of(node);
#else
    gl_FragColor = vec4(node, rest, place_of(node, base_size.x));
#endif
}
#endif

#if SAP_PASS == 3
void main() { gl_FragColor = bytes_of(sum_at(0.0, 0.0)); }
#endif

#if SAP_PASS == 4
void main() { gl_FragColor = vec4(SAP_BYTES == 1 ? 1.0 : -1.0); }
#endif
