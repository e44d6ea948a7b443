// Records of floats, one after the other in memory, turned into rows: one register for each number of LANES records.
#ifndef SAPWOOD_RAY_ROWS_SIMD_H
#define SAPWOOD_RAY_ROWS_SIMD_H

#include "math/simd.h"

// Up to LANES triangles, corner by corner.
typedef struct rows {
    real row[9][LANES];
} __attribute__((aligned(64))) rows;

#if SAP_SIMD > 1
// Turns 8 rows of 4 into 4 rows of 8: `m[i]` holds four floats of record i and four of record i + 4.
INLINE void turn_eight(__m256* to, const __m256* m) {
    __m256 a = _mm256_unpacklo_ps(m[0], m[1]), b = _mm256_unpackhi_ps(m[0], m[1]);
    __m256 c = _mm256_unpacklo_ps(m[2], m[3]), d = _mm256_unpackhi_ps(m[2], m[3]);
    to[0] = _mm256_shuffle_ps(a, c, 0x44);
    to[1] = _mm256_shuffle_ps(a, c, 0xee);
    to[2] = _mm256_shuffle_ps(b, d, 0x44);
    to[3] = _mm256_shuffle_ps(b, d, 0xee);
}

INLINE void turn(rows* r, int row, int lane, const __m256* m) {
    __m256 turned[4];
    turn_eight(turned, m);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) _mm256_store_ps(r->row[row + i] + lane, turned[i]);
}

INLINE __m256 two_quarters(const real* low, const real* high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

#else
// Turns 4 rows of 4 into columns: `m[i]` holds four floats of record i.
INLINE void turn_four(vreal* to, const vreal* m) {
    vreal a = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5), b = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7);
    vreal c = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5), d = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
    to[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    to[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    to[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    to[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

INLINE void turn(rows* r, int row, const vreal* m) {
    vreal turned[4];
    turn_four(turned, m);
    for (int i = 0; i < 4; i++) v_store(r->row[row + i], turned[i]);
}
#endif

#endif
