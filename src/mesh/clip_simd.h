// Clipping triangles to cells, a vertex a vector. Not the shared text: vectors of four doubles halve the time.
//
// Clipping works in double on the whole triangle and rounds bounds outward to floats: a cut by a plane nearly parallel
// to the triangle would amplify the errors of an earlier cut in floats into a missing strip.
#ifndef SAPWOOD_MESH_CLIP_SIMD_H
#define SAPWOOD_MESH_CLIP_SIMD_H

#include "mesh/build.h"
#include <string.h>
#if defined(__SSE__)
#include <immintrin.h>
#endif

typedef double vertex __attribute__((vector_size(32)));
typedef int64_t vertex_mask __attribute__((vector_size(32)));
typedef float corner4 __attribute__((vector_size(16)));
typedef int32_t corner4_mask __attribute__((vector_size(16)));

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

// The next float, up or down.
INLINE float step(float x, bool up) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x == 0)
        bits = up ? 1U : 0x80000001U;
    else
        bits += ((bits >> 31) == 0) == up ? 1U : ~0U;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE float round_down(double x) {
    float f = (float)x;
    return (double)f > x ? step(f, false) : f;
}

INLINE float round_up(double x) {
    float f = (float)x;
    return (double)f < x ? step(f, true) : f;
}

// Writes a side's bounds, outward but within the part's; false if they are empty.
INLINE bool settle(const extent* e, const sap_mesh_part* part, sap_mesh_part* side) {
    bool some = true;
    for (int k = 0; k < 3; k++) {
        float lower = round_down(e->lower[k]), upper = round_up(e->upper[k]);
        side->lower[k] = lower > part->lower[k] ? lower : part->lower[k];
        side->upper[k] = upper < part->upper[k] ? upper : part->upper[k];
        some &= side->lower[k] <= side->upper[k];
    }
    side->triangle = part->triangle;
    side->unused = 0;
    return some;
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

// The cheap cut: the whole triangle against the one plane, met with the part's bounds. Once a triangle has been cut
// across two axes the result may be too large, never too small.
static int clip_cheaply(const float* triangle, const sap_mesh_part* part, int axis, float plane, sap_mesh_part* left,
                        sap_mesh_part* right) {
    vertex corners[3];
    extent below = no_extent(), above = no_extent();
    load_corners(triangle, corners);
    halve(corners, 3, axis, plane, &below, &above);
    bool has_left = settle(&below, part, left), has_right = settle(&above, part, right);
    if (!has_left && !has_right) { // rounding ate it
        has_left = has_right = true;
        halve_bounds(part, axis, plane, HAS_LEFT, left);
        halve_bounds(part, axis, plane, HAS_RIGHT, right);
    }
    return (has_left ? HAS_LEFT : 0) | (has_right ? HAS_RIGHT : 0);
}

#endif
