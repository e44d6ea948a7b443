// How compute shaders read a tree over triangles from one buffer with its bytes, as they are saved: the accessors of
// mesh/access.h. Text for GLSL ES 3.10; needs math/dialect.h. The bytes are read as words of 32 bits, and places are numbers
// of words.

#include "mesh/step_glsl.h"

// SwiftShader takes minutes over the branches that `? :` becomes.
#define SAP_PICK(v, axis) mix(mix((v).z, (v).y, (axis) == 1), (v).x, (axis) == 0)

layout(std430, binding = 0) readonly buffer sap_mesh_bytes { uint mesh_words[]; };
layout(std140, binding = 1) uniform sap_mesh_shape {
    vec4 mesh_lower; // the tree's box; w: its largest coordinate
    vec4 mesh_upper;
    int mesh_references_at;
    int mesh_corners_at;
    int mesh_ids_at;
};

sap_mesh_step sap_mesh_step_at(uint node) {
    uint bits = mesh_words[2u * node];
    uint link = mesh_words[2u * node + 1u];
    sap_mesh_step step;
    step.axis = int(link & 3u);
    step.is_leaf = step.axis == 3;
    step.split = sap_float_of_bits(bits);
    step.right = link >> 2;
    step.first = bits;
    step.count = int(link >> 2);
    return step;
}

uint sap_mesh_place_of(sap_mesh_step leaf, int i) {
    return leaf.count == 1 ? leaf.first : mesh_words[mesh_references_at + int(leaf.first) + i];
}

sap_vector sap_mesh_corner(int at) {
    sap_vector corner;
    corner.x = sap_float_of_bits(mesh_words[at]);
    corner.y = sap_float_of_bits(mesh_words[at + 1]);
    corner.z = sap_float_of_bits(mesh_words[at + 2]);
    return corner;
}

sap_triangle sap_mesh_triangle(uint place) {
    int at = mesh_corners_at + 9 * int(place);
    sap_triangle triangle;
    triangle.a = sap_mesh_corner(at);
    triangle.b = sap_mesh_corner(at + 3);
    triangle.c = sap_mesh_corner(at + 6);
    return triangle;
}

int sap_mesh_id(uint place) { return int(mesh_words[mesh_ids_at + int(place)]); }
