// The scene Compaction. SAP_PASS: 0 which cells of a volume its surface runs through, as slices side by side; 1 the
// picture of these; 2 of a level of the pyramid; 3 of the list; 4 a line or a frame.
//
// The place of a cell gives its colour, so that it is known again in the list.
uniform ivec2 slices; // samples on a side of the volume; slices in a row
uniform vec4 panel;   // of the canvas: left, top (y up), pixels a cell or texel, unused

#if SAP_PASS < 2
uniform highp sampler3D volume;
uniform float level;
#endif
#if SAP_PASS > 0
uniform vec3 paper;
uniform vec3 ink;
uniform float dark;
#endif

ivec3 cell_at(ivec2 texel) {
    return ivec3(texel.x % slices.x, texel.y % slices.x, texel.y / slices.x * slices.y + texel.x / slices.x);
}

#if SAP_PASS > 0
vec3 color_of(ivec3 cell) {
    vec3 place = vec3(cell) / float(slices.x - 1);
    return mix(0.02 + 0.80 * place, 0.24 + 0.76 * place, dark);
}
#endif

#if SAP_PASS == 0
float value_at(ivec3 at) { return texelFetch(volume, at, 0).x; }

void main() {
    ivec3 cell = cell_at(ivec2(gl_FragCoord.xy));
    int inside = 0;
    if (max(cell.x, max(cell.y, cell.z)) + 1 < slices.x)
        for (int i = 0; i < 8; i++) inside += value_at(cell + ivec3(i & 1, (i >> 1) & 1, i >> 2)) >= level ? 1 : 0;
    color = vec4(inside > 0 && inside < 8 ? 1.0 : 0.0);
}
#endif

#if SAP_PASS == 1
uniform highp sampler2D base;
uniform int shown; // 0 what is inside; 1 which cells are kept, too

vec3 cell_color(ivec2 texel) {
    ivec3 cell = cell_at(texel);
    if (cell.z >= slices.x) return mix(paper, ink, 0.015); // below the last slice
    if (shown > 0 && texelFetch(base, texel, 0).x > 0.5) return color_of(cell);
    float value = texelFetch(volume, cell, 0).x;
    float body = value >= level ? 0.20 : 0.035;
    if (shown == 0) body = value >= level ? 0.30 + 0.35 * min(1.0, value - level) : 0.05 + 0.1 * max(0.0, 1.0 + 2.0 * (value - level));
    vec3 gray = mix(paper, ink, body);
    // Every other slice is a little darker: so they tell themselves apart.
    return (cell.z % slices.y + cell.z / slices.y) % 2 == 0 ? gray : mix(gray, ink, 0.035);
}

void main() {
    vec2 at = vec2(gl_FragCoord.x - panel.x, panel.y - gl_FragCoord.y) / panel.z;
    ivec2 size = textureSize(base, 0);
    int cells = clamp(int(ceil(1.0 / panel.z)), 1, 4); // that a pixel covers, along each axis
    vec3 sum = vec3(0.0);
    for (int i = 0; i < cells * cells; i++) {
        vec2 inside = (vec2(float(i % cells), float(i / cells)) + 0.5) / float(cells) - 0.5;
        sum += cell_color(clamp(ivec2(floor(at + inside / panel.z)), ivec2(0), size - 1));
    }
    color = vec4(sum / float(cells * cells), 1.0);
}
#endif

#if SAP_PASS == 2 || SAP_PASS == 3
uniform highp sampler2D nodes; // all levels (compact/zpyramid.glsl says where)
uniform ivec3 place;           // nodes on a side of the base, and of this level; whether sums are bytes

uint sum_at(ivec2 node) {
    vec4 texel = texelFetch(nodes, node + ivec2(place.x - 2 * place.y, 0), 0);
    uvec4 bytes = uvec4(texel * 255.0 + 0.5);
    return place.z > 0 ? bytes.x | bytes.y << 8 | bytes.z << 16 : uint(texel.w);
}
#endif

#if SAP_PASS == 2
uniform vec3 accent;

void main() {
    vec2 at = vec2(gl_FragCoord.x - panel.x, panel.y - gl_FragCoord.y) / panel.z;
    ivec2 node = min(ivec2(at), place.y - 1);
    uint sum = sum_at(node);
    float below = float(place.x / place.y);
    float share = float(sum) / (below * below);
    // Every other 2 x 2 is a little darker: those are what the next level sums.
    vec3 empty = mix(paper, ink, ((node.x ^ node.y) & 2) == 0 ? 0.05 : 0.095);
    // Fuller nodes go on past the accent, towards the ink.
    vec3 full = mix(accent, ink, clamp(2.0 * share - 0.6, 0.0, 0.6));
    color = vec4(sum == 0u ? empty : mix(empty, full, 0.22 + 0.78 * sqrt(min(1.0, 1.6 * share))), 1.0);
}
#endif

#if SAP_PASS == 3
uniform highp sampler2D list;
uniform ivec3 room; // of the list: texels in a row of its texture, outputs, cells in a row of the panel

void main() {
    vec2 at = vec2(gl_FragCoord.x - panel.x, panel.y - gl_FragCoord.y) / panel.z;
    int column = int(at.x);
    int key = int(at.y) * room.z + column;
    color = vec4(mix(paper, ink, 0.05), 1.0);
    // More may have been expected than the top has.
    if (column < room.z && key < min(room.y, int(sum_at(ivec2(0)))))
        color = vec4(color_of(cell_at(ivec2(texelFetch(list, ivec2(key % room.x, key / room.x), 0).xy))), 1.0);
}
#endif

#if SAP_PASS == 4
uniform vec4 ends;  // of a line, y up; of a frame its corners
uniform vec4 paint; // red, green, blue; the line's width
uniform float is_frame;

void main() {
    vec2 at = gl_FragCoord.xy;
    float away;
    if (is_frame > 0.5) {
        vec2 middle = 0.5 * (ends.xy + ends.zw);
        vec2 out_by = abs(at - middle) - 0.5 * abs(ends.zw - ends.xy);
        away = abs(max(out_by.x, out_by.y));
    } else {
        vec2 along = ends.zw - ends.xy;
        float t = clamp(dot(at - ends.xy, along) / max(dot(along, along), 1e-6), 0.0, 1.0);
        away = length(at - ends.xy - t * along);
    }
    color = vec4(paint.xyz, clamp(0.5 * paint.w + 0.5 - away, 0.0, 1.0));
}
#endif
