// The first hit of each ray, or whether there is any, in WebGPU: a thread for each ray. web/package/shaders.mjs makes WGSL of
// it.
layout(local_size_x = 64) in;

#define SAP_NOTHING zero
#include "math/dialect.h"
layout(std140, binding = 2) uniform search {
    int count;  // rays in this pass
    int across; // threads in a row of workgroups
    int any;    // any hit will do
    uint zero;  // 0, which compilers do not know
};
#define SAP_MESH_STACK 64
#include "mesh/buffer.h"
#include "ray/rounding.h"
#include "ray/intersect.h"
#include "ray/walk.h"

layout(std430, binding = 3) readonly buffer asked { uvec4 rays[]; }; // two a ray: origin and t_min, direction and t_max
layout(std430, binding = 4) buffer found { uvec4 hits[]; };          // t, u, v, triangle

// Comparisons with NaN need not be false here.
bool is_finite(uvec4 from, uvec4 to) {
    const uint infinite = 0x7f800000u;
    uvec4 from_size = from & 0x7fffffffu;
    uvec4 to_size = to & 0x7fffffffu;
    return all(lessThan(from_size, uvec4(infinite))) && all(lessThan(to_size.xyz, uvec3(infinite))) && to_size.w <= infinite;
}

void main() {
    int i = int(gl_GlobalInvocationID.y) * across + int(gl_GlobalInvocationID.x);
    if (i >= count) return;
    uvec4 from = rays[2 * i];
    uvec4 to = rays[2 * i + 1];
    ray = sap_ray_prepare(sap_vector_of(uintBitsToFloat(from.xyz)), sap_vector_of(uintBitsToFloat(to.xyz)),
                          sap_float_of_bits(from.w), sap_float_of_bits(to.w), mesh_lower.w);
    ray.is_ray = ray.is_ray && is_finite(from, to);
    sap_vector lower = sap_vector_of(mesh_lower.xyz);
    sap_vector upper = sap_vector_of(mesh_upper.xyz);
    sap_ray_result hit = sap_ray_walk_resume(sap_ray_walk_begin(lower, upper), lower, upper, any != 0, 0).found;
    bool is_miss = hit.triangle < 0;
    hits[i] = uvec4(is_miss ? 0x7f800000u : sap_bits_of_float(hit.t), sap_bits_of_float(hit.u), sap_bits_of_float(hit.v),
                    uint(hit.triangle));
}
