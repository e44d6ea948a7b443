// The nearest point on a mesh to each place, in WebGPU: a thread for each. web/package/shaders.mjs makes WGSL of it.
layout(local_size_x = 64) in;

#define SAP_NOTHING zero
#include "math/dialect.h"
layout(std140, binding = 2) uniform search {
    int count;  // places in this pass
    int across; // threads in a row of workgroups
    uint zero;  // 0, which compilers do not know
};
#define SAP_MESH_STACK 64
#include "mesh/buffer.h"
#include "ray/rounding.h"
#include "ray/intersect.h"
#include "ray/closest.h"

layout(std430, binding = 3) readonly buffer asked { uint places[]; }; // [count][3]
layout(std430, binding = 4) buffer found { uint nearest[]; };         // [count][5]: a point, its squared distance, its triangle

void main() {
    const uint infinite = 0x7f800000u;
    int i = int(gl_GlobalInvocationID.y) * across + int(gl_GlobalInvocationID.x);
    if (i >= count) return;
    uvec3 bits = uvec3(places[3 * i], places[3 * i + 1], places[3 * i + 2]);
    bool is_place = all(lessThan(bits & 0x7fffffffu, uvec3(infinite))); // comparisons with NaN need not be false here
    sap_vector place = sap_vector_of(uintBitsToFloat(is_place ? bits : uvec3(0u)));
    sap_near_point best = sap_no_near_point(place, SAP_FLOAT_MAX);
    if (is_place) best = sap_mesh_nearest(place, sap_vector_of(mesh_lower.xyz), sap_vector_of(mesh_upper.xyz), SAP_FLOAT_MAX);
    bool is_none = best.triangle < 0;
    nearest[5 * i] = is_none ? bits.x : sap_bits_of_float(best.point.x);
    nearest[5 * i + 1] = is_none ? bits.y : sap_bits_of_float(best.point.y);
    nearest[5 * i + 2] = is_none ? bits.z : sap_bits_of_float(best.point.z);
    nearest[5 * i + 3] = is_none ? infinite : sap_bits_of_float(best.distance2);
    nearest[5 * i + 4] = uint(best.triangle);
}
