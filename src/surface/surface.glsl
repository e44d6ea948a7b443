// Surfaces of volumes, after the texts that all processors share. SAP_PASS: 0 how many vertices and triangles each sample
// and the cell above it have, four samples a texel; 1 vertices from a list of their edges; 2 the vertices' numbers of
// triangles from a list of these.
#define SAP_VOLUME_PARAM
#define SAP_VOLUME

#include "math/dialect.h"

uniform SAP_SAMPLER volume; // of floats, or of integers as they are
uniform usampler2D words; // of the table of cases
uniform ivec3 sides;
uniform float level;

float sap_voxel_value(int x, int y, int z) { return float(texelFetch(volume, ivec3(x, y, z), 0).x); }

// Many compilers would write the table into every fragment's memory.
#define SAP_CUBE_WORD(i) texelFetch(words, ivec2(int(i), 0), 0).x
#include "surface/cases.h"

ivec3 sample_place(uint number) {
    uint row = number / uint(sides.x);
    uint slice = row / uint(sides.y);
    return ivec3(int(number - row * uint(sides.x)), int(row - slice * uint(sides.y)), int(slice));
}

uint is_inside(ivec3 at) { return sap_voxel_value(at.x, at.y, at.z) >= level ? 1u : 0u; }

// The four samples of a cell with the same x: bits 0 and 2 of the corners' numbers. A side that is not there is taken
// for the one that is, so that nothing crosses it.
uint inside_column(ivec3 at) {
    ivec3 end = min(at + 1, sides - 1);
    return is_inside(at) | is_inside(ivec3(at.x, end.y, at.z)) << 1 |
           is_inside(ivec3(at.x, at.y, end.z)) << 2 | is_inside(ivec3(at.x, end.y, end.z)) << 3;
}

// Corners 0, 2, 4 and 6 of a cell's number of what is inside.
uint spread(uint column) {
    return (column & 1u) | (column & 2u) << 1 | (column & 4u) << 2 | (column & 8u) << 3;
}

// Which edges of a sample have a vertex, a bit an axis; of its column and the next one.
uint crossed(uint column, uint next) {
    return ((column ^ next) & 1u) | ((column ^ (column >> 1)) & 1u) << 1 | ((column ^ (column >> 2)) & 1u) << 2;
}

uint count_bits(uint three) { return (three & 1u) + ((three >> 1) & 1u) + (three >> 2); }

uint crossed_at(ivec3 at) {
    uint near = is_inside(at);
    ivec3 end = min(at + 1, sides - 1);
    return (near ^ is_inside(ivec3(end.x, at.y, at.z))) | (near ^ is_inside(ivec3(at.x, end.y, at.z))) << 1 |
           (near ^ is_inside(ivec3(at.x, at.y, end.z))) << 2;
}

uint case_at(ivec3 cell) {
    return spread(inside_column(cell)) | spread(inside_column(ivec3(cell.x + 1, cell.y, cell.z))) << 1;
}

#if SAP_PASS == 0
layout(location = 0) out uvec4 vertices;
layout(location = 1) out uvec4 triangles;
uniform int counts_shift;
uniform uint samples;

void main() {
    uint number = 4u * (uint(gl_FragCoord.x) | uint(gl_FragCoord.y) << uint(counts_shift));
    uvec4 of_edges = uvec4(0u);
    uvec4 of_cells = uvec4(0u);
    vertices = of_edges;
    triangles = of_cells;
    if (number >= samples) return;
    ivec3 at = sample_place(number);
    uint column = inside_column(at);
    for (int i = 0; i < 4; i++) {
        bool is_last = at.x + 1 == sides.x;
        uint next = inside_column(ivec3(is_last ? at.x : at.x + 1, at.y, at.z));
        if (number + uint(i) < samples) {
            of_edges[i] = count_bits(crossed(column, next));
            if (!is_last && at.y + 1 < sides.y && at.z + 1 < sides.z)
                of_cells[i] = sap_cube_triangles(spread(column) | spread(next) << 1);
        }
        at.x += 1;
        column = next;
        if (is_last) {
            at.x = 0;
            at.y += 1;
            at = at.y == sides.y ? ivec3(0, 0, min(at.z + 1, sides.z - 1)) : at;
            column = inside_column(at);
        }
    }
    vertices = of_edges;
    triangles = of_cells;
}
#else
uniform usampler2D list;
#endif

#if SAP_PASS == 1
uniform vec3 origin;
uniform vec3 spacing;
uniform vec3 slopes;
uniform float facing;
#include "surface/crossing.h"

// Bits of floats, which every context can write.
layout(location = 0) out uvec4 position;
layout(location = 1) out uvec4 normal;

void main() {
    uvec2 edge = texelFetch(list, ivec2(gl_FragCoord.xy), 0).xy;
    if (edge.x == 0xffffffffu) discard;
    ivec3 at = sample_place(edge.x);
    uint bits = crossed_at(at);
    // The axis of the crossed edge with this number among those of the sample.
    uint lowest = bits & (~bits + 1u);
    uint rest = bits ^ lowest;
    uint second = rest & (~rest + 1u);
    uint bit = edge.y == 0u ? lowest : edge.y == 1u ? second : rest ^ second;
    sap_lattice lattice;
    for (int i = 0; i < 3; i++) {
        lattice.sides[i] = sides[i];
        lattice.origin[i] = origin[i];
        lattice.spacing[i] = spacing[i];
        lattice.slopes[i] = slopes[i];
    }
    lattice.level = level;
    lattice.facing = facing;
    sap_surface_vertex vertex = sap_surface_vertex_on(lattice, at.x, at.y, at.z, int(bit >> 1));
    position = uvec4(floatBitsToUint(vertex.position[0]), floatBitsToUint(vertex.position[1]),
                     floatBitsToUint(vertex.position[2]), 0u);
    normal = uvec4(floatBitsToUint(vertex.normal[0]), floatBitsToUint(vertex.normal[1]),
                   floatBitsToUint(vertex.normal[2]), 0u);
}
#endif

#if SAP_PASS == 2
#include "compact/histopyramid.h"

#define SAP_LEVELS
#include "compact/levels.h"

uniform bool low_inside;
layout(location = 0) out uvec4 corners;

// Of all vertices the number of the one on an edge of a cell: those of the samples ahead, and those of the same sample
// on earlier axes.
uint vertex_on(ivec3 cell, uint edge) {
    ivec3 owner = cell + ivec3(int(sap_edge_step(edge, 0u)), int(sap_edge_step(edge, 1u)), int(sap_edge_step(edge, 2u)));
    uint number = uint(owner.x) + uint(sides.x) * (uint(owner.y) + uint(sides.y) * uint(owner.z));
    uint earlier = crossed_at(owner) & ((1u << sap_edge_axis(edge)) - 1u);
    return sap_pyramid_first_key(number) + count_bits(earlier);
}

void main() {
    uvec2 triangle = texelFetch(list, ivec2(gl_FragCoord.xy), 0).xy;
    if (triangle.x == 0xffffffffu) discard;
    ivec3 cell = sample_place(triangle.x);
    uint inside = case_at(cell);
    uint first = 3u * triangle.y;
    uint second = vertex_on(cell, sap_cube_edge(inside, first + 1u));
    uint third = vertex_on(cell, sap_cube_edge(inside, first + 2u));
    corners = uvec4(vertex_on(cell, sap_cube_edge(inside, first)), low_inside ? third : second,
                    low_inside ? second : third, 0u);
}
#endif
