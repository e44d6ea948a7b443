// How shaders read a tree over triangles: the accessors of mesh/access.h over textures (mesh/textures_gl.c makes them).
// Text for GLSL ES 3.00; needs math/dialect.h.

#include "mesh/step_glsl.h"

uniform usampler2D mesh_nodes;     // RG32UI, a texel per node: bits and link; a leaf's bits are its first reference
uniform usampler2D mesh_triangles; // RGBA32UI, three texels per reference, leaf by leaf: x y z of a corner, the number
uniform ivec2 mesh_shifts;         // binary logarithms of the textures' widths
uniform vec3 mesh_lower;           // the tree's box
uniform vec3 mesh_upper;

ivec2 sap_mesh_texel(int number, int shift) { return ivec2(number & ((1 << shift) - 1), number >> shift); }

sap_mesh_step sap_mesh_step_at(uint node) {
    uvec2 at = texelFetch(mesh_nodes, sap_mesh_texel(int(node), mesh_shifts.x), 0).xy;
    sap_mesh_step step;
    step.axis = int(at.y & 3u);
    step.is_leaf = step.axis == 3;
    step.split = sap_float_of_bits(at.x);
    step.right = at.y >> 2;
    step.first = at.x;
    step.count = int(at.y >> 2);
    return step;
}

uint sap_mesh_place_of(sap_mesh_step leaf, int i) { return leaf.first + uint(i); }

uvec4 sap_mesh_corner(uint place, int which) {
    return texelFetch(mesh_triangles, sap_mesh_texel(3 * int(place) + which, mesh_shifts.y), 0);
}

uint sap_mesh_number; // the number of the triangle that was read last

sap_triangle sap_mesh_triangle(uint place) {
    uvec4 first = sap_mesh_corner(place, 0);
    sap_triangle triangle;
    sap_mesh_number = first.w;
    triangle.a = sap_vector_of(uintBitsToFloat(first.xyz));
    triangle.b = sap_vector_of(uintBitsToFloat(sap_mesh_corner(place, 1).xyz));
    triangle.c = sap_vector_of(uintBitsToFloat(sap_mesh_corner(place, 2).xyz));
    return triangle;
}

// Walks call this only for the triangle that they have just read.
int sap_mesh_id(uint place) { return int(sap_mesh_number); }
