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
INLINE uint32_t wide_bits(const wide_int* at) {
    const wide_int lanes = *at;
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

typedef float eight __attribute__((vector_size(32)));
typedef int32_t eight_int __attribute__((vector_size(32)));

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

// How many bits each of eight words shares with a word. By a table of half bytes (Mula, Kurz and Lemire 2018).
#if SAP_SIMD == 3
INLINE void count_eight(const uint64_t words[8], uint64_t with, eight* counts) {
    const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i half = _mm512_set1_epi8(15);
    __m512i x = _mm512_and_si512(_mm512_loadu_si512(words), _mm512_set1_epi64((long long)with));
    __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(x, half));
    __m512i high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), half));
    *counts = (eight)_mm512_cvtepi64_ps(_mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512()));
}
#elif SAP_SIMD == 2
INLINE __m256i count_four(const uint64_t words[4], uint64_t with) {
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i half = _mm256_set1_epi8(15);
    __m256i x =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i*)(const void*)words), _mm256_set1_epi64x((long long)with));
    __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(x, half));
    __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
    return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

INLINE void count_eight(const uint64_t words[8], uint64_t with, eight* counts) {
    __m256 first = _mm256_castsi256_ps(count_four(words, with)),
           last = _mm256_castsi256_ps(count_four(words + 4, with));
    __m256i both = _mm256_castps_si256(_mm256_shuffle_ps(first, last, 0x88)); // the low halves, pairs crossed
    *counts = (eight)_mm256_cvtepi32_ps(_mm256_permute4x64_epi64(both, 0xD8));
}
#else
INLINE void count_eight(const uint64_t words[8], uint64_t with, eight* counts) {
    float each[8];
    for (int k = 0; k < 8; k++) each[k] = (float)count_word(words[k] & with);
    memcpy(counts, each, sizeof each);
}
#endif

#endif
