// Vectors of 16 floats, as the compiler makes them of what the instruction set has, and the little that it makes badly.
#ifndef SAPWOOD_MESH_WIDE_SIMD_H
#define SAPWOOD_MESH_WIDE_SIMD_H

#include <stdint.h>
#if SAP_SIMD > 1
#include <immintrin.h>
#endif

enum { WIDE = 16 };
typedef float wide __attribute__((vector_size(64), aligned(4)));
typedef int32_t wide_int __attribute__((vector_size(64), aligned(4)));

// A bit of each lane of a comparison.
INLINE uint32_t wide_bits(wide_int lanes) {
#if SAP_SIMD == 3
    return _mm512_movepi32_mask((__m512i)lanes);
#elif SAP_SIMD == 2
    __m256 low, high;
    memcpy(&low, &lanes, sizeof low);
    memcpy(&high, (const char*)&lanes + sizeof low, sizeof high);
    return (uint32_t)_mm256_movemask_ps(low) | (uint32_t)_mm256_movemask_ps(high) << 8;
#else
    uint32_t bits = 0;
    for (int i = 0; i < WIDE; i++) bits |= (uint32_t)(lanes[i] & 1) << i;
    return bits;
#endif
}

// Bits set in a word.
INLINE int count_word(uint64_t word) {
#if SAP_SIMD > 1
    return __builtin_popcountll(word);
#else // plain x86-64 has no instruction for it
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(word * UINT64_C(0x0101010101010101) >> 56);
#endif
}

#endif
