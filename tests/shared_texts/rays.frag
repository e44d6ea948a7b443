// The shared texts of rays as a shader: every fragment is a ray on a tree over triangles whose arrays lie in textures.
// This program is compiled, not run. check.sh puts the version on top and each text in place of its include.
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp isampler2D;
precision highp usampler2D;

#define SAP_MESH_PARAM
#define SAP_MESH
#define SAP_RAY_PARAM sap_prepared_ray ray,
#define SAP_RAY ray,
#define SAP_MESH_STACK 64

#include "math/dialect.h"

uniform usampler2D nodes;      // bits and link
uniform isampler2D references; // a texel each
uniform sampler2D corners;     // three texels a triangle
uniform isampler2D ids;        // a texel a triangle
uniform sampler2D rays;        // two texels a fragment
uniform vec3 lower;
uniform vec3 upper;
uniform bool asks_nearest;

struct sap_vector {
    float x;
    float y;
    float z;
};

struct sap_triangle {
    sap_vector a;
    sap_vector b;
    sap_vector c;
};

struct sap_mesh_step {
    bool is_leaf;
    int axis;
    float split;
    uint right;
    uint first;
    int count;
};

ivec2 texel(int number, int width) { return ivec2(number % width, number / width); }

sap_vector vector_of(vec3 v) {
    sap_vector w;
    w.x = v.x;
    w.y = v.y;
    w.z = v.z;
    return w;
}

sap_mesh_step sap_mesh_step_at(uint node) {
    uvec4 at = texelFetch(nodes, texel(int(node), textureSize(nodes, 0).x), 0);
    sap_mesh_step step;
    step.axis = int(at.y & 3u);
    step.is_leaf = step.axis == 3;
    step.split = sap_float_of_bits(at.x);
    step.right = at.y >> 2;
    step.first = at.x;
    step.count = int(at.y >> 2);
    return step;
}

uint sap_mesh_place_of(sap_mesh_step leaf, int i) {
    if (leaf.count == 1) return leaf.first;
    return uint(texelFetch(references, texel(int(leaf.first) + i, textureSize(references, 0).x), 0).x);
}

sap_triangle sap_mesh_triangle(uint place) {
    int width = textureSize(corners, 0).x;
    sap_triangle triangle;
    triangle.a = vector_of(texelFetch(corners, texel(3 * int(place), width), 0).xyz);
    triangle.b = vector_of(texelFetch(corners, texel(3 * int(place) + 1, width), 0).xyz);
    triangle.c = vector_of(texelFetch(corners, texel(3 * int(place) + 2, width), 0).xyz);
    return triangle;
}

int sap_mesh_id(uint place) { return texelFetch(ids, texel(int(place), textureSize(ids, 0).x), 0).x; }

#include "ray/rounding.h"

#include "ray/intersect.h"
#include "ray/walk.h"
#include "ray/closest.h"

layout(location = 0) out vec4 answer;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 origin = texelFetch(rays, ivec2(2 * at.x, at.y), 0);
    vec4 direction = texelFetch(rays, ivec2(2 * at.x + 1, at.y), 0);
    float magnitude = sap_largest_magnitude(vector_of(max(abs(lower), abs(upper))));
    if (asks_nearest) {
        sap_near_point near_point =
            sap_mesh_nearest(vector_of(origin.xyz), vector_of(lower), vector_of(upper), sap_float_of_bits(0x7f800000u));
        answer = vec4(near_point.distance2, near_point.u, near_point.v, intBitsToFloat(near_point.triangle));
    } else {
        sap_prepared_ray ray =
            sap_ray_prepare(vector_of(origin.xyz), vector_of(direction.xyz), origin.w, direction.w, magnitude);
        sap_ray_result found = sap_ray_walk(ray, vector_of(lower), vector_of(upper), false);
        answer = vec4(found.t, found.u, found.v, intBitsToFloat(found.triangle));
    }
}
