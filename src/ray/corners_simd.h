// The corners of up to LANES triangles in registers, for one ray or point: their axes are put in order as they are
// loaded.
#ifndef SAPWOOD_RAY_CORNERS_SIMD_H
#define SAPWOOD_RAY_CORNERS_SIMD_H

#include "ray/walk_simd.h"

// An order of the axes.
typedef struct lane_order {
    int axis[3];
#if SAP_SIMD == 2
    int32_t lane[8]; // the same for each half of a register
#endif
} lane_order;

INLINE lane_order order_lanes(int x, int y, int z) {
#if SAP_SIMD == 2
    return (lane_order){{x, y, z}, {x, y, z, 3, x, y, z, 3}};
#else
    return (lane_order){{x, y, z}};
#endif
}

#if SAP_SIMD == 2
// x, y and z of one corner of eight triangles; row i of `m` holds it of triangle i and, above, of triangle i + 4.
INLINE void turn_corner(vreal* corner, const __m256* m) {
    const __m256 a = _mm256_unpacklo_ps(m[0], m[1]), b = _mm256_unpackhi_ps(m[0], m[1]);
    const __m256 c = _mm256_unpacklo_ps(m[2], m[3]), d = _mm256_unpackhi_ps(m[2], m[3]);
    corner[0] = _mm256_shuffle_ps(a, c, 0x44);
    corner[1] = _mm256_shuffle_ps(a, c, 0xee);
    corner[2] = _mm256_shuffle_ps(b, d, 0x44);
}

// corner[0 … 8]: x, y, z of a, then b, then c, in the order of `axes`. The lanes from n on hold some triangle.
INLINE void load_corners(vreal* corner, const real* corners, const int32_t* places, int n, const lane_order* axes) {
    const __m256i order = id_load(axes->lane), last = _mm256_add_epi32(order, _mm256_set1_epi32(1));
    int32_t place[LANES];
    __m256 a[4], b[4], c[4];
    SAP_ASSERT(n >= 1 && n <= LANES);
    id_store(place, id_load_part(places, n));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const real* low = corners + (size_t)place[i] * SAP_TRIANGLE_FLOATS;
        const real* high = corners + (size_t)place[i + 4] * SAP_TRIANGLE_FLOATS;
        a[i] = _mm256_permutevar_ps(two_quarters(low, high), order);
        b[i] = _mm256_permutevar_ps(two_quarters(low + 3, high + 3), order);
        c[i] = _mm256_permutevar_ps(two_quarters(low + 5, high + 5), last); // to the triangle's end, not beyond
    }
    turn_corner(corner, a);
    turn_corner(corner + 3, b);
    turn_corner(corner + 6, c);
}
#else
// corner[0 … 8]: x, y, z of a, then b, then c, in the order of `axes`. The lanes from n on repeat a triangle.
INLINE void load_corners(vreal* corner, const real* corners, const int32_t* places, int n, const lane_order* axes) {
    rows triangles;
    load_rows(&triangles, corners, places, n);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        corner[k] = v_load(triangles.row[axes->axis[k]]);
        corner[3 + k] = v_load(triangles.row[3 + axes->axis[k]]);
        corner[6 + k] = v_load(triangles.row[6 + axes->axis[k]]);
    }
}
#endif

#endif
