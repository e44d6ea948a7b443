// The corners of a surface's triangles, three texels each, from a list of triangles: what a program draws without an
// index. Vertices are those of surface/surface.glsl's second pass.
#define SAP_PASS    3
#define SAP_SAMPLER sampler3D
#include "surface/surface.glsl"
#include "surface/crossing.h"

uniform vec3 origin;
uniform vec3 spacing;
uniform vec3 slopes;
uniform float facing;
uniform bool low_inside;
uniform int corners; // of all triangles
uniform int list_width;
uniform int first_row; // of the list: a row here is one there

// Bits of floats, which every context can write.
layout(location = 0) out uvec4 position;
layout(location = 1) out uvec4 normal;

void main() {
    int number = int(gl_FragCoord.x) + list_width * (int(gl_FragCoord.y) + first_row);
    position = uvec4(0u);
    normal = uvec4(0u);
    if (number >= corners) return;
    int place = number / 3;
    uint corner = uint(number - 3 * place);
    if (low_inside && corner > 0u) corner = 3u - corner;
    uvec2 triangle = texelFetch(list, ivec2(place % list_width, place / list_width), 0).xy;
    ivec3 cell = sample_place(triangle.x);
    uint edge = sap_cube_edge(case_at(cell), 3u * triangle.y + corner);
    ivec3 owner = cell + ivec3(int(sap_edge_step(edge, 0u)), int(sap_edge_step(edge, 1u)), int(sap_edge_step(edge, 2u)));
    sap_lattice lattice;
    for (int i = 0; i < 3; i++) {
        lattice.sides[i] = sides[i];
        lattice.origin[i] = origin[i];
        lattice.spacing[i] = spacing[i];
        lattice.slopes[i] = slopes[i];
    }
    lattice.level = level;
    lattice.facing = facing;
    sap_surface_vertex vertex = sap_surface_vertex_on(lattice, owner.x, owner.y, owner.z, int(sap_edge_axis(edge)));
    position = uvec4(floatBitsToUint(vertex.position[0]), floatBitsToUint(vertex.position[1]),
                     floatBitsToUint(vertex.position[2]), floatBitsToUint(1.0));
    normal = uvec4(floatBitsToUint(vertex.normal[0]), floatBitsToUint(vertex.normal[1]),
                   floatBitsToUint(vertex.normal[2]), 0u);
}
