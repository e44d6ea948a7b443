// Vectors of the compiler, as wide as the instruction set's, and the operations that compilers translate badly.
#ifndef SAPWOOD_MESH_VECTOR_SIMD_H
#define SAPWOOD_MESH_VECTOR_SIMD_H

#include "math/simd.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef float vfloat __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t vint __attribute__((vector_size(4 * LANES), aligned(4)));

// Bits of the lanes where a is less than b. The compiler's own comparisons yield vectors, which are slow to turn into
// bits.
INLINE uint32_t vfloat_less(const vfloat* a, const vfloat* b) { return v_less((vreal)*a, (vreal)*b); }

// The same for four registers of four lanes at once: bits of the lanes where x is less than a plane, or above it.
#if SAP_SIMD == 1 && defined(__SSE2__)
#define LANES_16 1
INLINE uint32_t bits_of_16(const vint* on) {
    const __m128i low = _mm_packs_epi32((__m128i)on[0], (__m128i)on[1]);
    const __m128i high = _mm_packs_epi32((__m128i)on[2], (__m128i)on[3]);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}
#elif defined(__wasm_simd128__)
#define LANES_16 1
INLINE uint32_t bits_of_16(const vint* on) {
    const v128_t low = wasm_i16x8_narrow_i32x4((v128_t)on[0], (v128_t)on[1]);
    const v128_t high = wasm_i16x8_narrow_i32x4((v128_t)on[2], (v128_t)on[3]);
    return wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(low, high));
}
#else
#define LANES_16 0
#endif
#if LANES_16
INLINE uint32_t less_16(const vfloat x[4], const vfloat* plane) {
    const vint on[4] = {x[0] < *plane, x[1] < *plane, x[2] < *plane, x[3] < *plane};
    return bits_of_16(on);
}
INLINE uint32_t more_16(const vfloat x[4], const vfloat* plane) {
    const vint on[4] = {x[0] > *plane, x[1] > *plane, x[2] > *plane, x[3] > *plane};
    return bits_of_16(on);
}
#endif

// Adds 1 to each lane's count where a is less than b.
INLINE void vint_count_less(vint* count, const vfloat* a, const vfloat* b) {
#if SAP_SIMD == 3
    *count = (vint)_mm512_mask_add_epi32((__m512i)*count, (__mmask16)vfloat_less(a, b), (__m512i)*count,
                                         _mm512_set1_epi32(1));
#else
    *count -= *a < *b;
#endif
}

// Eight floats: EIGHT_VECTORS vectors of EIGHT_LANES floats.
enum { EIGHT_LANES = SAP_SIMD > 1 ? 8 : 4, EIGHT_VECTORS = 8 / EIGHT_LANES };
typedef float eight_vector __attribute__((vector_size(4 * EIGHT_LANES)));
typedef int32_t eight_mask __attribute__((vector_size(4 * EIGHT_LANES)));

#define EIGHT_SELECT(mask, yes, no) ((eight_vector)SELECT(mask, (eight_mask)(yes), (eight_mask)(no)))
// If equal or unordered, the second operand, like the instructions.
#if defined(__AVX__)
#define EIGHT_MIN(a, b) ((eight_vector)_mm256_min_ps((__m256)(a), (__m256)(b)))
#else
#define EIGHT_MIN(a, b) VFLOAT4_MIN(a, b)
#endif

// Bits set in a word.
INLINE int count_word(uint64_t word) {
#if SAP_SIMD > 1 || defined(__wasm__)
    return __builtin_popcountll(word);
#else // plain x86-64 has no instruction for it
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(word * UINT64_C(0x0101010101010101) >> 56);
#endif
}

// Counts the bits that each of eight words shares with a word, by a table of 4-bit counts (Mula, Kurz and Lemire 2018).
#if SAP_SIMD == 3
INLINE void count_eight(const uint64_t words[8], uint64_t with, eight_vector counts[EIGHT_VECTORS]) {
    const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i half = _mm512_set1_epi8(15);
    __m512i x = _mm512_and_si512(_mm512_loadu_si512(words), _mm512_set1_epi64((long long)with));
    __m512i low = _mm512_shuffle_epi8(table, _mm512_and_si512(x, half));
    __m512i high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), half));
    counts[0] = (eight_vector)_mm512_cvtepi64_ps(_mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512()));
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

INLINE void count_eight(const uint64_t words[8], uint64_t with, eight_vector counts[EIGHT_VECTORS]) {
    __m256 first = _mm256_castsi256_ps(count_four(words, with)),
           last = _mm256_castsi256_ps(count_four(words + 4, with));
    __m256i both = _mm256_castps_si256(_mm256_shuffle_ps(first, last, 0x88)); // the low halves, pairs crossed
    counts[0] = (eight_vector)_mm256_cvtepi32_ps(_mm256_permute4x64_epi64(both, 0xD8));
}
#else
INLINE void count_eight(const uint64_t words[8], uint64_t with, eight_vector counts[EIGHT_VECTORS]) {
    // Lane by lane: clang compiles a loop over the lanes to one through memory.
    for (int v = 0; v < EIGHT_VECTORS; v++) {
        const uint64_t* four = words + EIGHT_LANES * v;
        const eight_mask each = {count_word(four[0] & with), count_word(four[1] & with), count_word(four[2] & with),
                                 count_word(four[3] & with)};
        counts[v] = __builtin_convertvector(each, eight_vector);
    }
}
#endif

#endif
