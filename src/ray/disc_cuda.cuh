// A flat disc that triangles lie in: how far a point is from them at least. Where triangles are parts of a smooth surface,
// a disc along that surface is a far better bound than a box, of which the surface cuts off a corner: of the triangles near
// a point's nearest one, a box leaves nearly all that lie within sqrt(distance * side), a disc leaves the few about the
// foot.
#ifndef SAPWOOD_RAY_DISC_CUDA_CUH
#define SAPWOOD_RAY_DISC_CUDA_CUH

#include "ray/walk_cuda.cuh"

#include "ray/closest.h"
#include <cfloat>

// All points of the triangles lie within `radius` of the line through `center` along `normal`, and within `half` of the
// plane at right angles to it. Without a normal (0) it is a ball.
typedef struct __align__(16) sap_disc {
    float center[3], radius;
    float normal[3], half;
}
sap_disc;

static __device__ __forceinline__ sap_disc sap_disc_at(const sap_disc* discs, size_t i) {
    const float4 *halves = (const float4*)(discs + i), a = __ldg(halves), b = __ldg(halves + 1);
    const sap_disc disc = {{a.x, a.y, a.z}, a.w, {b.x, b.y, b.z}, b.w};
    return disc;
}

// Nothing in the disc is at a smaller squared distance, as ray/closest.h computes it. `margin`, that of the query, covers
// rounding of places; the squared distance from the disc's axis is reduced by far more than its two terms, which nearly
// cancel, are off. 0 where numbers are too large or too small for that.
static __device__ __forceinline__ float sap_disc_distance2(const sap_disc& disc, sap_vector query, float margin) {
    const float less = 1 - 1.0f / (1 << 18);
    const float x = query.x - disc.center[0], y = query.y - disc.center[1], z = query.z - disc.center[2];
    const float along = x * disc.normal[0] + y * disc.normal[1] + z * disc.normal[2];
    const float whole2 = x * x + y * y + z * z;
    const float aside = fmaxf(sqrtf(fmaxf(whole2 * less - along * along, 0)) - disc.radius - 2 * margin, 0);
    const float above = fmaxf(fabsf(along) - disc.half - 2 * margin, 0);
    const float distance2 = (aside * aside + above * above) * less;
    return distance2 > 1e-30f && whole2 < 1e37f ? distance2 : 0;
}

// ---- Making them

enum { SAP_DISC_LANES = 8 }; // that make the discs of a leaf

static __device__ __forceinline__ sap_triangle sap_packed_triangle(const float4* triangles, uint32_t place) {
    const float4 *rows = triangles + 3 * (size_t)place, x = rows[0], y = rows[1], z = rows[2];
    const sap_triangle triangle = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
    return triangle;
}

// A triangle's normal, twice its area long.
static __device__ __forceinline__ sap_vector sap_area_normal(const sap_triangle& t) {
    const sap_vector b = sap_difference(t.b, t.a), c = sap_difference(t.c, t.a);
    sap_vector n;
    n.x = b.y * c.z - b.z * c.y;
    n.y = b.z * c.x - b.x * c.z;
    n.z = b.x * c.y - b.y * c.x;
    return n;
}

// A disc about a center and along a direction of any length, which holds nothing yet.
static __device__ __forceinline__ sap_disc sap_disc_of(sap_vector center, sap_vector along) {
    const float largest = sap_largest_magnitude(along);
    float scale = 0;
    if (largest > FLT_MIN && largest < FLT_MAX) {
        const sap_vector n = {along.x / largest, along.y / largest, along.z / largest};
        scale = 1 / sqrtf(sap_dot(n, n));
        along = n;
    }
    const sap_disc disc = {{center.x, center.y, center.z}, 0, {0, 0, 0}, 0};
    sap_disc to = disc;
    if (scale > 0) to.normal[0] = along.x * scale, to.normal[1] = along.y * scale, to.normal[2] = along.z * scale;
    return to;
}

// Widens a disc by a point. Lengths are a little too large, not too small.
static __device__ __forceinline__ void sap_disc_hold(sap_disc* disc, sap_vector point) {
    const float more = 1 + 1.0f / (1 << 20);
    const float x = point.x - disc->center[0], y = point.y - disc->center[1], z = point.z - disc->center[2];
    const float *n = disc->normal, along = x * n[0] + y * n[1] + z * n[2];
    const float u = x - along * n[0], v = y - along * n[1], w = z - along * n[2];
    disc->radius = fmaxf(disc->radius, sqrtf(u * u + v * v + w * w) * more);
    disc->half = fmaxf(disc->half, fabsf(along) * more);
}

static __device__ __forceinline__ void sap_disc_hold(sap_disc* disc, const sap_triangle& t) {
    sap_disc_hold(disc, t.a);
    sap_disc_hold(disc, t.b);
    sap_disc_hold(disc, t.c);
}

static __device__ __forceinline__ sap_vector sap_middle(sap_vector a, sap_vector b) {
    const sap_vector m = {0.5f * a.x + 0.5f * b.x, 0.5f * a.y + 0.5f * b.y, 0.5f * a.z + 0.5f * b.z};
    return m;
}

// About the middle of the longest edge, or about the mean of the corners, whichever is smaller.
static __device__ __forceinline__ sap_disc sap_triangle_disc(const sap_triangle& t) {
    const sap_vector normal = sap_area_normal(t);
    const float ab = sap_vector_distance2(t.a, t.b), bc = sap_vector_distance2(t.b, t.c),
                ca = sap_vector_distance2(t.c, t.a);
    const sap_vector edge = ab >= bc && ab >= ca ? sap_middle(t.a, t.b)
                            : bc >= ca           ? sap_middle(t.b, t.c)
                                                 : sap_middle(t.c, t.a);
    const sap_vector mean = {(t.a.x / 3 + t.b.x / 3) + t.c.x / 3, (t.a.y / 3 + t.b.y / 3) + t.c.y / 3,
                             (t.a.z / 3 + t.b.z / 3) + t.c.z / 3};
    sap_disc at_edge = sap_disc_of(edge, normal), at_mean = sap_disc_of(mean, normal);
    sap_disc_hold(&at_edge, t);
    sap_disc_hold(&at_mean, t);
    return at_edge.radius < at_mean.radius ? at_edge : at_mean;
}

// Over the lanes of a leaf.
static __device__ __forceinline__ float sap_least_of_lanes(float x) {
    for (int away = 1; away < SAP_DISC_LANES; away *= 2) x = fminf(x, __shfl_xor_sync(SAP_ALL_LANES, x, away));
    return x;
}
static __device__ __forceinline__ float sap_most_of_lanes(float x) { return -sap_least_of_lanes(-x); }
static __device__ __forceinline__ float sap_sum_of_lanes(float x) {
    for (int away = 1; away < SAP_DISC_LANES; away *= 2) x += __shfl_xor_sync(SAP_ALL_LANES, x, away);
    return x;
}

static __device__ __forceinline__ sap_vector sap_least_corner(const sap_triangle& t) {
    const sap_vector least = {sap_least_of(t.a.x, t.b.x, t.c.x), sap_least_of(t.a.y, t.b.y, t.c.y),
                              sap_least_of(t.a.z, t.b.z, t.c.z)};
    return least;
}
static __device__ __forceinline__ sap_vector sap_most_corner(const sap_triangle& t) {
    const sap_vector most = {sap_most_of(t.a.x, t.b.x, t.c.x), sap_most_of(t.a.y, t.b.y, t.c.y),
                             sap_most_of(t.a.z, t.b.z, t.c.z)};
    return most;
}

// The discs of `count` triangles of a leaf, from `first` on, each at its place; the one that holds them all. SAP_DISC_LANES
// lanes call it together, all of a warp at the same time; what they return is the same.
static __device__ sap_disc sap_discs_make(const float4* packed, uint32_t first, uint32_t count, sap_disc* triangles) {
    const uint32_t lane = threadIdx.x % SAP_DISC_LANES;
    sap_vector lower = {FLT_MAX, FLT_MAX, FLT_MAX}, upper = {-FLT_MAX, -FLT_MAX, -FLT_MAX}, along = {0, 0, 0},
               front = {0, 0, 0};
    if (count) front = sap_area_normal(sap_packed_triangle(packed, first));
    for (uint32_t i = lane; i < count; i += SAP_DISC_LANES) {
        const sap_triangle t = sap_packed_triangle(packed, first + i);
        const sap_vector least = sap_least_corner(t), most = sap_most_corner(t), normal = sap_area_normal(t);
        triangles[first + i] = sap_triangle_disc(t);
        along = sap_vector_add_scaled(along, normal,
                                      sap_dot(front, normal) < 0 ? -1.0f : 1.0f); // faces may look either way
        lower.x = fminf(lower.x, least.x), lower.y = fminf(lower.y, least.y), lower.z = fminf(lower.z, least.z);
        upper.x = fmaxf(upper.x, most.x), upper.y = fmaxf(upper.y, most.y), upper.z = fmaxf(upper.z, most.z);
    }
    along.x = sap_sum_of_lanes(along.x), along.y = sap_sum_of_lanes(along.y), along.z = sap_sum_of_lanes(along.z);
    lower.x = sap_least_of_lanes(lower.x), lower.y = sap_least_of_lanes(lower.y), lower.z = sap_least_of_lanes(lower.z);
    upper.x = sap_most_of_lanes(upper.x), upper.y = sap_most_of_lanes(upper.y), upper.z = sap_most_of_lanes(upper.z);
    sap_disc disc = sap_disc_of(sap_middle(lower, upper), along);
    const sap_vector center = sap_vector_of(disc.center), normal = sap_vector_of(disc.normal);
    float low = FLT_MAX, high = -FLT_MAX; // along the normal
    for (uint32_t i = lane; i < count; i += SAP_DISC_LANES) {
        const sap_triangle t = sap_packed_triangle(packed, first + i);
        const float a = sap_dot(sap_difference(t.a, center), normal), b = sap_dot(sap_difference(t.b, center), normal),
                    c = sap_dot(sap_difference(t.c, center), normal);
        low = fminf(low, sap_least_of(a, b, c));
        high = fmaxf(high, sap_most_of(a, b, c));
    }
    low = sap_least_of_lanes(low), high = sap_most_of_lanes(high);
    disc = sap_disc_of(sap_vector_add_scaled(center, normal, 0.5f * low + 0.5f * high), along);
    for (uint32_t i = lane; i < count; i += SAP_DISC_LANES)
        sap_disc_hold(&disc, sap_packed_triangle(packed, first + i));
    disc.radius = sap_most_of_lanes(disc.radius), disc.half = sap_most_of_lanes(disc.half);
    return disc;
}

#endif
