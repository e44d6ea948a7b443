// Surfaces of volumes in compute shaders, which write buffers. What is inside is kept as bits, 32 samples a word, as
// rows.h keeps it for C and CUDA; GLSL has no pointers, hence this sibling. SAP_PASS: 0 the bits; 1 how many vertices
// and triangles each word has, summed up within a block of words; 2 the same for blocks, and what is to be drawn; 3
// vertices and triangles.
layout(local_size_x = 256) in;

#define SAP_VOLUME_PARAM
#define SAP_VOLUME

#include "math/dialect.h"

const uint GROUPS = 32768u; // in a row, as device/gl.h says
const uint BLOCK = 256u;    // words

uniform SAP_SAMPLER volume;
uniform usampler2D cases;
uniform ivec3 sides;
uniform float level;
uniform uint row_words;
uniform uint all_words;
uniform uint all_blocks;
uniform uint vertex_room; // how many are kept at most
uniform uint triangle_room;

// Of each word its bits; and behind all of these, of each word, how many vertices and triangles (16 bits each) the
// words ahead of it in its block have.
layout(std430, binding = 0) buffer Words { uint words[]; };
// Of each block how many vertices and triangles it has, and then those ahead of it.
layout(std430, binding = 1) buffer Blocks { uvec2 blocks[]; };

float sap_voxel_value(int x, int y, int z) { return float(texelFetch(volume, ivec3(x, y, z), 0).x); }

#define SAP_CUBE_WORD(i) texelFetch(cases, ivec2(int(i), 0), 0).x
#include "surface/cases.h"

uint group() { return gl_WorkGroupID.x + GROUPS * gl_WorkGroupID.y; }

// The word, row and slice that a number stands for.
uvec3 word_place(uint number) {
    uint row = number / row_words;
    uint slice = row / uint(sides.y);
    return uvec3(number - row * row_words, row - slice * uint(sides.y), slice);
}

// Where a row of words begins.
uint row_at(uint y, uint z) { return (z * uint(sides.y) + y) * row_words; }

// Word w of a row, moved by one: bit i is that of the sample behind sample i.
uint behind(uint row, uint w) {
    uint next = w + 1u < row_words ? words[row + w + 1u] : 0u;
    return words[row + w] >> 1 | next << 31;
}

// The samples of word w that have one behind them.
uint inner(uint w) {
    int samples = sides.x - 1 - int(w) * 32;
    return samples >= 32 ? 0xffffffffu : samples > 0 ? (1u << uint(samples)) - 1u : 0u;
}

// Rows that the lattice lacks are the last ones there are, so that nothing crosses to them.
uint above(uint y) { return min(y + 1u, uint(sides.y) - 1u); }
uint beyond(uint z) { return min(z + 1u, uint(sides.z) - 1u); }

// Which edges of a word of samples have a vertex, by axis.
uvec3 edges_at(uint w, uint y, uint z) {
    uint row = row_at(y, z);
    uint here = words[row + w];
    return uvec3((here ^ behind(row, w)) & inner(w), here ^ words[row_at(above(y), z) + w],
                 here ^ words[row_at(y, beyond(z)) + w]);
}

uint count_vertices(uvec3 edges) {
    return uint(bitCount(edges.x) + bitCount(edges.y) + bitCount(edges.z));
}

// The corners of a word of cells with the same x, by y and z, and those behind them.
struct cells {
    uvec4 near;
    uvec4 far;
    uint mixed; // neither outside nor inside as a whole
};

cells cells_at(uint w, uint y, uint z) {
    uvec4 row = uvec4(row_at(y, z), row_at(above(y), z), row_at(y, beyond(z)), row_at(above(y), beyond(z)));
    cells c;
    c.near = uvec4(words[row.x + w], words[row.y + w], words[row.z + w], words[row.w + w]);
    c.far = uvec4(behind(row.x, w), behind(row.y, w), behind(row.z, w), behind(row.w, w));
    uvec4 any = c.near | c.far;
    uvec4 all = c.near & c.far;
    bool there = y + 1u < uint(sides.y) && z + 1u < uint(sides.z);
    c.mixed = there ? (any.x | any.y | any.z | any.w) & ~(all.x & all.y & all.z & all.w) & inner(w) : 0u;
    return c;
}

uint case_of(cells c, uint i) {
    uvec4 near = (c.near >> i) & 1u;
    uvec4 far = (c.far >> i) & 1u;
    return near.x | far.x << 1 | near.y << 2 | far.y << 3 | near.z << 4 | far.z << 5 | near.w << 6 | far.w << 7;
}

uint count_triangles(cells c, uint mixed) {
    uint count = 0u;
    for (; mixed != 0u; mixed &= mixed - 1u) count += sap_cube_triangles(case_of(c, uint(findLSB(mixed))));
    return count;
}

#if SAP_PASS == 0
void main() {
    uint number = group() * BLOCK + gl_LocalInvocationID.x;
    if (number >= all_words) return;
    uvec3 place = word_place(number);
    int first = int(place.x) * 32;
    int end = min(32, sides.x - first);
    uint bits = 0u;
    for (int i = 0; i < end; i++)
        bits |= (sap_voxel_value(first + i, int(place.y), int(place.z)) >= level ? 1u : 0u) << i;
    words[number] = bits;
}
#endif

#if SAP_PASS == 1
shared uint sums[256];

void main() {
    uint number = group() * BLOCK + gl_LocalInvocationID.x;
    uint own = 0u;
    if (number < all_words) {
        uvec3 place = word_place(number);
        own = count_vertices(edges_at(place.x, place.y, place.z));
        cells c = cells_at(place.x, place.y, place.z);
        own |= count_triangles(c, c.mixed) << 16; // a block has 24,576 vertices and 40,960 triangles at most
    }
    uint at = gl_LocalInvocationID.x;
    sums[at] = own;
    for (uint step = 1u; step < BLOCK; step *= 2u) {
        barrier();
        uint ahead = at >= step ? sums[at - step] : 0u;
        barrier();
        sums[at] += ahead;
    }
    if (number < all_words) words[all_words + number] = sums[at] - own;
    if (at == BLOCK - 1u) blocks[group()] = uvec2(sums[at] & 0xffffu, sums[at] >> 16);
}
#endif

#if SAP_PASS == 2
// For an indexed draw: corners, 1, 0, 0, 0; and how many vertices and triangles there are, drawn or not.
layout(std430, binding = 2) buffer Command { uint command[]; };
shared uvec2 sums[256];

void main() {
    uint at = gl_LocalInvocationID.x;
    uvec2 before = uvec2(0u);
    for (uint first = 0u; first < all_blocks; first += BLOCK) {
        uvec2 own = first + at < all_blocks ? blocks[first + at] : uvec2(0u);
        sums[at] = own;
        for (uint step = 1u; step < BLOCK; step *= 2u) {
            barrier();
            uvec2 ahead = at >= step ? sums[at - step] : uvec2(0u);
            barrier();
            sums[at] += ahead;
        }
        barrier();
        if (first + at < all_blocks) blocks[first + at] = before + sums[at] - own;
        before += sums[BLOCK - 1u];
        barrier();
    }
    if (at == 0u) {
        command[0] = 3u * min(before.y, triangle_room);
        command[1] = 1u;
        command[2] = 0u;
        command[3] = 0u;
        command[4] = 0u;
        command[5] = before.x;
        command[6] = before.y;
    }
}
#endif

#if SAP_PASS == 3
uniform vec3 origin;
uniform vec3 spacing;
uniform vec3 slopes;
uniform float facing;
uniform bool low_inside;
#include "surface/crossing.h"

layout(std430, binding = 2) buffer Vertices { float vertices[]; }; // position and normal
layout(std430, binding = 3) buffer Triangles { uint triangles[]; };

// The first vertex, and the first triangle, of a word.
uvec2 first_of(uint number) {
    uint ahead = words[all_words + number];
    return blocks[number / BLOCK] + uvec2(ahead & 0xffffu, ahead >> 16);
}

void make_vertex(sap_lattice lattice, uvec3 place, uint i, int axis, uint number) {
    if (number >= vertex_room) return;
    sap_surface_vertex vertex =
        sap_surface_vertex_on(lattice, int(place.x * 32u + i), int(place.y), int(place.z), axis);
    for (uint a = 0u; a < 3u; a++) {
        vertices[6u * number + a] = vertex.position[a];
        vertices[6u * number + 3u + a] = vertex.normal[a];
    }
}

// Of all vertices the number of the one on an edge of a cell.
uint vertex_on(uvec3 place, uint i, uint edge) {
    uint x = place.x * 32u + i + sap_edge_step(edge, 0u);
    uint y = place.y + sap_edge_step(edge, 1u);
    uint z = place.z + sap_edge_step(edge, 2u);
    uint axis = sap_edge_axis(edge);
    uvec3 edges = edges_at(x / 32u, y, z);
    uint bit = x % 32u;
    uint earlier = (1u << bit) - 1u;
    return first_of(row_at(y, z) + x / 32u).x + count_vertices(edges & earlier) +
           (axis > 0u ? (edges.x >> bit) & 1u : 0u) + (axis > 1u ? (edges.y >> bit) & 1u : 0u);
}

void make_triangles(cells c, uvec3 place, uint i, uint first) {
    uint inside = case_of(c, i);
    uint count = sap_cube_triangles(inside);
    for (uint t = 0u; t < count && first + t < triangle_room; t++) {
        uint a = vertex_on(place, i, sap_cube_edge(inside, 3u * t));
        uint b = vertex_on(place, i, sap_cube_edge(inside, 3u * t + 1u));
        uint d = vertex_on(place, i, sap_cube_edge(inside, 3u * t + 2u));
        bool fits = max(a, max(b, d)) < vertex_room; // else nothing is drawn
        uint at = 3u * (first + t);
        triangles[at] = fits ? a : 0u;
        triangles[at + 1u] = fits ? (low_inside ? d : b) : 0u;
        triangles[at + 2u] = fits ? (low_inside ? b : d) : 0u;
    }
}

// Four samples an invocation, so that a word in which the surface lies flat keeps none waiting.
void main() {
    uint number = group() * (BLOCK / 8u) + gl_LocalInvocationID.x / 8u;
    uint mask = 15u << (4u * (gl_LocalInvocationID.x & 7u));
    uint ahead = (mask & (~mask + 1u)) - 1u;
    if (number >= all_words) return;
    // Most words have nothing: then the next one in the block stands at the same numbers.
    bool is_last = number % BLOCK == BLOCK - 1u || number + 1u == all_words;
    if (!is_last && words[all_words + number] == words[all_words + number + 1u]) return;
    uvec3 place = word_place(number);
    uvec3 edges = edges_at(place.x, place.y, place.z);
    cells c = cells_at(place.x, place.y, place.z);
    uint crossed = edges.x | edges.y | edges.z;
    if (((crossed | c.mixed) & mask) == 0u) return;
    uvec2 first = first_of(number);
    sap_lattice lattice;
    for (int a = 0; a < 3; a++) {
        lattice.sides[a] = sides[a];
        lattice.origin[a] = origin[a];
        lattice.spacing[a] = spacing[a];
        lattice.slopes[a] = slopes[a];
    }
    lattice.level = level;
    lattice.facing = facing;
    uint vertex = first.x + count_vertices(edges & ahead);
    for (uint left = crossed & mask; left != 0u; left &= left - 1u) {
        uint i = uint(findLSB(left));
        for (int axis = 0; axis < 3; axis++) {
            if (((edges[axis] >> i) & 1u) == 0u) continue;
            make_vertex(lattice, place, i, axis, vertex);
            vertex++;
        }
    }
    if ((c.mixed & mask) == 0u) return;
    uint triangle = first.y + count_triangles(c, c.mixed & ahead);
    for (uint left = c.mixed & mask; left != 0u; left &= left - 1u) {
        uint i = uint(findLSB(left));
        make_triangles(c, place, i, triangle);
        triangle += sap_cube_triangles(case_of(c, i));
    }
}
#endif
