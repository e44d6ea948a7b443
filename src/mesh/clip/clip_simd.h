// Clipping triangles to cells, a vertex a vector. Not the shared text (mesh/clip/clip.h), but the same bits: vectors of
// four doubles take half the time, and the cheap cut does without branches, which nobody can foretell.
#ifndef SAPWOOD_MESH_CLIP_CLIP_SIMD_H
#define SAPWOOD_MESH_CLIP_CLIP_SIMD_H

#include "mesh/build.h"
#include <string.h>
#if defined(__SSE__)
#include <immintrin.h>
#endif

typedef double vertex __attribute__((vector_size(32)));
typedef int64_t vertex_mask __attribute__((vector_size(32)));
typedef float corner4 __attribute__((vector_size(16)));
typedef int32_t corner4_mask __attribute__((vector_size(16)));
typedef uint32_t corner4_bits __attribute__((vector_size(16)));

enum { POLYGON = 12 }; // corners of a triangle cut by six planes, and some to spare

static const vertex_mask axis_masks[3] = {{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}};

#define PICK(mask, yes, no) (((mask) & (yes)) | (~(mask) & (no)))
// Of equal or unordered ones the second, as the instructions have it.
#if defined(__AVX__)
#define VERTEX_MIN(a, b) ((vertex)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define VERTEX_MAX(a, b) ((vertex)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#else
#define VERTEX_MIN(a, b) ((vertex)PICK((a) < (b), (vertex_mask)(a), (vertex_mask)(b)))
#define VERTEX_MAX(a, b) ((vertex)PICK((a) > (b), (vertex_mask)(a), (vertex_mask)(b)))
#endif
#if defined(__SSE__)
#define CORNER_MIN(a, b) ((corner4)_mm_min_ps((__m128)(a), (__m128)(b)))
#define CORNER_MAX(a, b) ((corner4)_mm_max_ps((__m128)(a), (__m128)(b)))
#else
#define CORNER_MIN(a, b) ((corner4)PICK((a) < (b), (corner4_mask)(a), (corner4_mask)(b)))
#define CORNER_MAX(a, b) ((corner4)PICK((a) > (b), (corner4_mask)(a), (corner4_mask)(b)))
#endif

// The signs of the first lanes: bit i of lane i.
#if defined(__SSE__)
#define CORNER_BITS(mask) _mm_movemask_ps((__m128)(mask))
#else
#define CORNER_BITS(mask) (((mask)[0] & 1) | ((mask)[1] & 2) | ((mask)[2] & 4))
#endif

// A part's bounds are read and written four floats at a time: the fourth is its triangle, or unused.
#define LOAD_4(to, from)  memcpy(&(to), (from), sizeof(corner4))
#define STORE_4(to, from) memcpy((to), &(from), sizeof(corner4))

// The bounds of what has been added.
typedef struct extent {
    vertex lower, upper;
} extent;

INLINE extent no_extent(void) {
    const vertex none = {INFINITY, INFINITY, INFINITY, INFINITY};
    return (extent){none, -none};
}

INLINE void extent_add(extent* e, const vertex* v) {
    e->lower = VERTEX_MIN(e->lower, *v);
    e->upper = VERTEX_MAX(e->upper, *v);
}

INLINE void extent_join(extent* e, const extent* other) {
    e->lower = VERTEX_MIN(e->lower, other->lower);
    e->upper = VERTEX_MAX(e->upper, other->upper);
}

// The triangle's corners; lane 3 is of no meaning.
INLINE void load_corners(const float* triangle, vertex corners[3]) {
    for (int i = 0; i < 3; i++) {
        corner4 c;
        LOAD_4(c, triangle + 3 * i);
        corners[i] = __builtin_convertvector(c, vertex);
    }
}

// Where the edge from u to w, at distances du and dw of different signs from the plane, meets it.
INLINE void meet(const vertex* u, const vertex* w, double du, double dw, double plane, int axis, vertex* point) {
    const vertex at = *u + (du / (du - dw)) * (*w - *u), on = {plane, plane, plane, plane};
    *point = (vertex)PICK(axis_masks[axis], (vertex_mask)on, (vertex_mask)at);
}

// Sutherland and Hodgman 1974: keeps what lies below the plane (sign 1) or above it (sign -1).
INLINE int cut(const vertex* from, int count, int axis, double plane, double sign, vertex* to) {
    int kept = 0;
    const vertex* u = from + count - 1;
    double du = count ? ((*u)[axis] - plane) * sign : 0;
    for (int i = 0; i < count; i++) {
        const vertex* w = from + i;
        double dw = ((*w)[axis] - plane) * sign;
        if ((du > 0) != (dw > 0)) meet(u, w, du, dw, plane, axis, &to[kept++]);
        if (!(dw > 0)) to[kept++] = *w;
        u = w;
        du = dw;
    }
    return kept;
}

// The bounds of a polygon's parts on both sides of a plane.
INLINE void halve(const vertex* polygon, int count, int axis, double plane, extent* left, extent* right) {
    const vertex* u = polygon + count - 1;
    double du = count ? (*u)[axis] - plane : 0;
    for (int i = 0; i < count; i++) {
        const vertex* w = polygon + i;
        double dw = (*w)[axis] - plane;
        if ((du < 0 && dw > 0) || (du > 0 && dw < 0)) {
            vertex point;
            meet(u, w, du, dw, plane, axis, &point);
            extent_add(left, &point);
            extent_add(right, &point);
        }
        if (dw <= 0) extent_add(left, w);
        if (dw >= 0) extent_add(right, w);
        u = w;
        du = dw;
    }
}

// Four doubles rounded to floats, down (direction -1) or up (1).
INLINE void round_four(const vertex* x, int32_t direction, corner4* rounded) {
    const corner4 zero = {0};
    const corner4_mask none = {0}, one = {1, 1, 1, 1}, smallest = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    corner4 f = __builtin_convertvector(*x, corner4);
    vertex back = __builtin_convertvector(f, vertex);
    vertex_mask beyond = direction < 0 ? back > *x : back < *x;
    corner4_mask moved = __builtin_convertvector(beyond, corner4_mask), bits = (corner4_mask)f, sign = bits < none;
    const corner4_bits ahead = (corner4_bits)(direction < 0 ? ~sign | one : sign | one);
    corner4_mask next = (corner4_mask)((corner4_bits)bits + ahead);
    next = PICK(f == zero, direction < 0 ? smallest | one : none + one, next);
    *rounded = (corner4)PICK(moved, next, bits) + zero; // -0 becomes 0
}

// Writes a side's bounds, outward but within the part's; false if they are empty.
INLINE bool settle(const extent* e, const sap_mesh_part* part, sap_mesh_part* side) {
    const corner4_mask three = {-1, -1, -1, 0};
    corner4 lower, upper, part_lower, part_upper;
    LOAD_4(part_lower, part->lower);
    LOAD_4(part_upper, part->upper);
    round_four(&e->lower, -1, &lower);
    round_four(&e->upper, 1, &upper);
    lower = CORNER_MAX(lower, part_lower);
    upper = CORNER_MIN(upper, part_upper);
    lower = (corner4)PICK(three, (corner4_mask)lower, (corner4_mask)part_lower); // the triangle
    upper = (corner4)PICK(three, (corner4_mask)upper, (corner4_mask)part_upper);
    STORE_4(side->lower, lower);
    STORE_4(side->upper, upper);
    const corner4_mask empty = lower > upper;
    return !(CORNER_BITS(empty) & 7);
}

enum { HAS_LEFT = 1, HAS_RIGHT = 2 };

// The half of the part's bounds on one side, where rounding leaves nothing of the polygon there.
INLINE void halve_bounds(const sap_mesh_part* part, int axis, float plane, int side, sap_mesh_part* half) {
    *half = *part;
    if (side == HAS_LEFT)
        half->upper[axis] = plane;
    else
        half->lower[axis] = plane;
}

// Which sides the triangle's part reaches, and its bounds there: of the triangle clipped by the part's bounds.
static int clip_exactly(const float* triangle, const sap_mesh_part* part, int axis, float plane, sap_mesh_part* left,
                        sap_mesh_part* right) {
    vertex buffer[2][POLYGON];
    int now = 0, count = 3;
    load_corners(triangle, buffer[0]);
    for (int a = 0; a < 3; a++) {
        float x = triangle[a], y = triangle[3 + a], z = triangle[6 + a];
        float low = x < y ? x : y, high = x < y ? y : x;
        if ((low < z ? low : z) < part->lower[a]) {
            count = cut(buffer[now], count, a, part->lower[a], -1, buffer[!now]);
            now = !now;
        }
        if ((high > z ? high : z) > part->upper[a]) {
            count = cut(buffer[now], count, a, part->upper[a], 1, buffer[!now]);
            now = !now;
        }
    }
    extent below = no_extent(), above = no_extent();
    halve(buffer[now], count, axis, plane, &below, &above);
    bool has_left = below.lower[0] <= below.upper[0], has_right = above.lower[0] <= above.upper[0];
    if (!has_left && !has_right) has_left = has_right = true; // rounding ate it
    if (has_left && !settle(&below, part, left)) halve_bounds(part, axis, plane, HAS_LEFT, left);
    if (has_right && !settle(&above, part, right)) halve_bounds(part, axis, plane, HAS_RIGHT, right);
    return (has_left ? HAS_LEFT : 0) | (has_right ? HAS_RIGHT : 0);
}

// A lane of a vector in all of its lanes.
#define SPREAD(x, lane) __builtin_shufflevector(x, x, lane, lane, lane, lane)

// Adds a vertex where a mask says so.
INLINE void extent_add_some(extent* e, const vertex* v, const vertex_mask* on) {
    const vertex none = {INFINITY, INFINITY, INFINITY, INFINITY};
    const vertex lower = (vertex)PICK(*on, (vertex_mask)*v, (vertex_mask)none);
    const vertex upper = (vertex)PICK(*on, (vertex_mask)*v, (vertex_mask)-none);
    e->lower = VERTEX_MIN(e->lower, lower);
    e->upper = VERTEX_MAX(e->upper, upper);
}

// Adds the edge from u to w, lane `w_lane` of the distances: where it meets the plane to both sides, w to its own.
#define ADD_EDGE(u, w, w_lane)                                                                                         \
    do {                                                                                                               \
        const vertex at = (u) + SPREAD(part_way, w_lane) * ((w) - (u));                                                \
        const vertex point = (vertex)PICK(axis_masks[axis], (vertex_mask)on, (vertex_mask)at);                         \
        const vertex_mask meets = SPREAD(crosses, w_lane), in_left = SPREAD(left_on, w_lane),                          \
                          in_right = SPREAD(right_on, w_lane);                                                         \
        extent_add_some(&both, &point, &meets);                                                                        \
        extent_add_some(&below, &(w), &in_left);                                                                       \
        extent_add_some(&above, &(w), &in_right);                                                                      \
    } while (0)

// The cheap cut: the whole triangle against the one plane, met with the part's bounds.
INLINE int clip_cheaply(const float* triangle, const sap_mesh_part* part, int axis, float plane, sap_mesh_part* left,
                        sap_mesh_part* right) {
    const double at_plane = plane;
    const vertex zero = {0}, on = {at_plane, at_plane, at_plane, at_plane};
    // Lane i: how far corner i lies from the plane, and the corner before it.
    const vertex to = {(double)triangle[axis] - at_plane, (double)triangle[3 + axis] - at_plane,
                       (double)triangle[6 + axis] - at_plane, 0};
    const vertex from = __builtin_shufflevector(to, to, 2, 0, 1, 3), part_way = from / (from - to);
    const vertex_mask crosses = ((from < zero) & (to > zero)) | ((from > zero) & (to < zero));
    const vertex_mask left_on = to <= zero, right_on = to >= zero;
    vertex corners[3];
    extent below = no_extent(), above = no_extent(), both = no_extent();
    load_corners(triangle, corners);
    ADD_EDGE(corners[2], corners[0], 0);
    ADD_EDGE(corners[0], corners[1], 1);
    ADD_EDGE(corners[1], corners[2], 2);
    extent_join(&below, &both);
    extent_join(&above, &both);
    bool has_left = settle(&below, part, left), has_right = settle(&above, part, right);
    if (!has_left && !has_right) { // rounding ate it
        has_left = has_right = true;
        halve_bounds(part, axis, plane, HAS_LEFT, left);
        halve_bounds(part, axis, plane, HAS_RIGHT, right);
    }
    return (has_left ? HAS_LEFT : 0) | (has_right ? HAS_RIGHT : 0);
}

#endif
