// The first hit of each ray, or any hit, one ray per texel: the walk of ray/walk.h, which may stop after some nodes and
// triangles and continue in the next pass.
//
// SAP_MESH_STACK  the most inner nodes above a leaf
// SAP_LISTED      rays are stored in one texture, two texels each; else in two textures, one texel each in both
// SAP_RESUMED     the walks continue where the previous pass stopped
// SAP_OUTCOME     this pass summarizes a block of rays: x is not 0 if a walk has not ended, y is not 0 if any ray has a
//                 hit, z is the number of rays that have visited a node
#include "math/dialect.h"
#include "mesh/texture.h"
#include "ray/rounding.h"
#include "ray/intersect.h"
#include "ray/walk.h"

#define ENDED 0xffffffffu // in the place of a node

// RGBA32UI, the bits of: origin, t_min; direction, t_max.
#ifdef SAP_LISTED
uniform usampler2D rays;
#else
uniform usampler2D origins;
uniform usampler2D directions;
#endif
#if defined(SAP_RESUMED) || defined(SAP_OUTCOME)
uniform usampler2D place;
uniform usampler2D found;
#endif
#ifdef SAP_OUTCOME
uniform int block;  // rays on a side
uniform ivec2 size; // rays
#endif
uniform float magnitude; // the largest coordinate of the tree's box
uniform bool any_hit;
uniform int rounds; // nodes and triangles to visit in this pass

layout(location = 0) out uvec4 out_place; // node, next triangle, place of what was found, nodes visited
#ifndef SAP_OUTCOME
layout(location = 1) out uvec4 out_found; // t, u, v, triangle: once the walk has ended, a hit as in memory

sap_prepared_ray ray_at(ivec2 at) {
#ifdef SAP_LISTED
    uvec4 from = texelFetch(rays, ivec2(2 * at.x, at.y), 0);
    uvec4 to = texelFetch(rays, ivec2(2 * at.x + 1, at.y), 0);
#else
    uvec4 from = texelFetch(origins, at, 0);
    uvec4 to = texelFetch(directions, at, 0);
#endif
    sap_prepared_ray given =
        sap_ray_prepare(sap_vector_of(uintBitsToFloat(from.xyz)), sap_vector_of(uintBitsToFloat(to.xyz)),
                        sap_float_of_bits(from.w), sap_float_of_bits(to.w), magnitude);
    // In GLSL comparisons with NaN need not be false.
    const uint infinite = 0x7f800000u;
    uvec4 from_size = from & 0x7fffffffu;
    uvec4 to_size = to & 0x7fffffffu;
    bool is_finite = all(lessThan(from_size, uvec4(infinite))) && all(lessThan(to_size.xyz, uvec3(infinite)));
    given.is_ray = given.is_ray && is_finite && to_size.w <= infinite;
    return given;
}

#ifdef SAP_RESUMED
sap_ray_walk_state state_of(uvec4 at, uvec4 hit) {
    sap_ray_walk_state walk;
    walk.going = at.x != ENDED;
    walk.node = at.x;
    walk.next = int(at.y);
    walk.found.place = at.z;
    walk.found.visits = int(at.w);
    walk.found.t = sap_float_of_bits(hit.x);
    walk.found.u = sap_float_of_bits(hit.y);
    walk.found.v = sap_float_of_bits(hit.z);
    walk.found.triangle = int(hit.w);
    return walk;
}
#endif

void write_state(sap_ray_walk_state walk) {
    sap_ray_result hit = walk.found;
    bool is_miss = !walk.going && hit.triangle < 0;
    out_place = uvec4(walk.going ? walk.node : ENDED, uint(walk.next), hit.place, uint(hit.visits));
    out_found = uvec4(is_miss ? 0x7f800000u : sap_bits_of_float(hit.t), sap_bits_of_float(hit.u),
                      sap_bits_of_float(hit.v), uint(hit.triangle));
}
#endif

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
#ifdef SAP_OUTCOME
    ivec2 end = min((here + 1) * block, size);
    uvec4 outcome = uvec4(0u);
    for (int y = here.y * block; y < end.y; ++y)
        for (int x = here.x * block; x < end.x; ++x) {
            uvec4 at = texelFetch(place, ivec2(x, y), 0);
            outcome.x |= ~at.x;
            outcome.z += at.w > 0u ? 1u : 0u;
            outcome.y |= ~texelFetch(found, ivec2(x, y), 0).w;
        }
    out_place = outcome;
#else
    ray = ray_at(here);
    sap_vector lower = sap_vector_of(mesh_lower);
    sap_vector upper = sap_vector_of(mesh_upper);
#ifdef SAP_RESUMED
    sap_ray_walk_state walk = state_of(texelFetch(place, here, 0), texelFetch(found, here, 0));
#else
    sap_ray_walk_state walk = sap_ray_walk_begin(lower, upper);
#endif
    write_state(sap_ray_walk_resume(walk, lower, upper, any_hit, rounds));
#endif
}
