// Rays against a tree over triangles, for shaders of others: what web/package/src/gl/text.ts hands out. All names begin
// with the tree's.
//
// SAP_MESH_STACK  the most inner nodes above a leaf
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp usampler2D;
#include "math/dialect.h"
#include "mesh/texture.h"
#include "ray/rounding.h"
#include "ray/intersect.h"
#include "ray/walk.h"

uniform float mesh_largest; // the largest coordinate of the tree's box

// Whether a number is finite, by its bits: in GLSL comparisons with NaN need not be false.
bool sap_is_number(float value) { return (floatBitsToUint(value) & 0x7fffffffu) < 0x7f800000u; }
bool sap_are_numbers(vec3 v) { return sap_is_number(v.x) && sap_is_number(v.y) && sap_is_number(v.z); }

sap_ray_result sap_walk(vec3 origin, vec3 direction, float t_min, float t_max, bool any) {
    sap_vector lower = sap_vector_of(mesh_lower);
    sap_vector upper = sap_vector_of(mesh_upper);
    ray = sap_ray_prepare(sap_vector_of(origin), sap_vector_of(direction), t_min, t_max, mesh_largest);
    ray.is_ray = ray.is_ray && sap_are_numbers(origin) && sap_are_numbers(direction) && sap_is_number(t_min) &&
                 (floatBitsToUint(t_max) & 0x7fffffffu) <= 0x7f800000u;
    return sap_ray_walk(lower, upper, any);
}

// The first hit of a ray: .triangle, -1 for a miss, and of a hit .t, .u, .v.
sap_ray_result sap_trace(vec3 origin, vec3 direction, float t_min, float t_max) {
    return sap_walk(origin, direction, t_min, t_max, false);
}

// Whether a ray hits anything.
bool sap_occluded(vec3 origin, vec3 direction, float t_min, float t_max) {
    return sap_walk(origin, direction, t_min, t_max, true).triangle >= 0;
}
