// The published histopyramid: blocks of two by two texels, in Z order. SAP_PASS: 0 a level from the one below; 1 the
// list, by the fragment shader, or, in a program of both shaders, by the vertex shader, whose points are the texels.
//
// SAP_VEC4      a node is the running sums of its four children: a step down reads the node; else it reads three of these
// SAP_BYTES     a sum is the four bytes of a texel; else floats
// SAP_BRANCHES  a step down takes one of four ways; else all four are computed, and one is chosen by arithmetic
// SAP_GATHER    what a texel of the list is: 0 the place of its cell; 1 its position in space, where the base holds
//               slices side by side; 2 the texel of another texture there
//
// Level of `width` nodes on a side stands in column side - 2 * width of one texture; the top is one node.

uniform sampler2D base;
uniform sampler2D levels;
uniform int side; // of the base

#if SAP_BYTES
uint whole_of(vec4 texel) {
    uvec4 bytes = uvec4(texel * 255.0 + 0.5);
    return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}
vec4 texel_of(uint whole) {
    return vec4(float(whole & 255u), float((whole >> 8) & 255u), float((whole >> 16) & 255u), float(whole >> 24)) /
           255.0;
}
#endif

uint flag_at(ivec2 place) { return texelFetch(base, place, 0).x >= 0.5 ? 1u : 0u; }

vec4 node_at(ivec2 place, int width) { return texelFetch(levels, place + ivec2(side - 2 * width, 0), 0); }

uint sum_at(ivec2 place, int width) {
    if (width == side) return flag_at(place);
#if SAP_BYTES
    return whole_of(node_at(place, width));
#else
    return uint(node_at(place, width).w);
#endif
}

#if SAP_PASS == 0
uniform int own_width;
layout(location = 0) out vec4 result;

void main() {
    ivec2 first = 2 * ivec2(gl_FragCoord.xy);
    int below = 2 * own_width;
    uint a = sum_at(first, below);
    uint b = a + sum_at(first + ivec2(1, 0), below);
    uint c = b + sum_at(first + ivec2(0, 1), below);
    uint d = c + sum_at(first + ivec2(1, 1), below);
#if SAP_BYTES
    result = texel_of(d);
#elif SAP_VEC4
    result = vec4(float(a), float(b), float(c), float(d));
#else
    result = vec4(float(d));
#endif
}
#endif

#if SAP_PASS == 1
uniform uint list_width;
uniform uint list_height;
uniform uint list_room;
#if SAP_GATHER == 1
uniform int slice; // side of a slice
#endif
#if SAP_GATHER == 2
uniform sampler2D payload;
#endif

// A child by its number in Z order.
ivec2 child_place(ivec2 node, uint child) { return 2 * node + ivec2(int(child & 1u), int(child >> 1)); }

// The cell of a key below the total.
ivec2 find(uint key) {
    ivec2 node = ivec2(0);
    uint rest = key;
    for (int width = 1; width < side; width *= 2) {
#if SAP_VEC4
        vec4 sums = node_at(node, width);
        uvec3 ends = uvec3(sums.xyz);
#if SAP_BRANCHES
        uint child = 0u;
        if (rest < ends.x) {
            child = 0u;
        } else if (rest < ends.y) {
            child = 1u;
            rest -= ends.x;
        } else if (rest < ends.z) {
            child = 2u;
            rest -= ends.y;
        } else {
            child = 3u;
            rest -= ends.z;
        }
        node = child_place(node, child);
#endif
#elif SAP_BRANCHES
        // A child that need not be read is not.
        uint child = 0u;
        uint sum = sum_at(child_place(node, 0u), 2 * width);
        if (rest >= sum) {
            rest -= sum;
            child = 1u;
            sum = sum_at(child_place(node, 1u), 2 * width);
            if (rest >= sum) {
                rest -= sum;
                child = 2u;
                sum = sum_at(child_place(node, 2u), 2 * width);
                if (rest >= sum) {
                    rest -= sum;
                    child = 3u;
                }
            }
        }
        node = child_place(node, child);
#else
        uvec3 ends;
        ends.x = sum_at(child_place(node, 0u), 2 * width);
        ends.y = ends.x + sum_at(child_place(node, 1u), 2 * width);
        ends.z = ends.y + sum_at(child_place(node, 2u), 2 * width);
#endif
#if !SAP_BRANCHES
        uvec3 passed = uvec3(greaterThanEqual(uvec3(rest), ends));
        rest -= max(max(passed.x * ends.x, passed.y * ends.y), passed.z * ends.z);
        node = child_place(node, passed.x + passed.y + passed.z);
#endif
    }
    return node;
}

vec4 gathered(uint key) {
    ivec2 cell = find(key);
#if SAP_GATHER == 0
    return vec4(vec2(cell), float(cell.y * side + cell.x), 1.0);
#elif SAP_GATHER == 1
    ivec2 which = cell / slice;
    return vec4(vec2(cell - which * slice), float(which.y * (side / slice) + which.x), 1.0);
#else
    return texelFetch(payload, cell, 0);
#endif
}

#ifdef SAP_DRAWN
#ifdef SAP_VERTEX
flat out vec4 value;

void main() {
    uint key = uint(gl_VertexID);
    bool there = key < list_room && key < sum_at(ivec2(0), 1);
    value = there ? gathered(key) : vec4(0.0);
    vec2 place = vec2(float(key % list_width), float(key / list_width)) + 0.5;
    gl_Position = there ? vec4(2.0 * place / vec2(float(list_width), float(list_height)) - 1.0, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 1.0;
}
#else
flat in vec4 value;
layout(location = 0) out vec4 result;

void main() { result = value; }
#endif
#else
layout(location = 0) out vec4 result;

void main() {
    uint key = uint(gl_FragCoord.y) * list_width + uint(gl_FragCoord.x);
    if (key >= list_room || key >= sum_at(ivec2(0), 1)) discard;
    result = gathered(key);
}
#endif
#endif
