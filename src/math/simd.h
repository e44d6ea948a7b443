// One register of reals and one of as many int32 ids: the same few operations on every instruction set. A file that
// includes this is compiled once per instruction set (SAP_SIMD 1, 2, 3 as in sap_simd) and precision (SAP_REAL_BITS).
//
// real, LANES; vreal: LANES reals; vid: LANES int32. Masks are the low LANES bits of a uint32_t.
// v_both_less_equal(a, b, c, d): the lanes with a <= b and c <= d.
// v_number(x, first): x with its lowest four bits replaced by the lane's number, counted from `first`.
// v_compress, id_compress: the lanes in the mask, moved down; the lanes after them are undefined. _store_kept stores
// them and may write a whole register.
// reduce_min, reduce_max: of all lanes; no lane may be NaN.
// "part" loads and stores touch only the first n lanes; lanes not loaded are zero.
#ifndef SAPWOOD_MATH_SIMD_H
#define SAPWOOD_MATH_SIMD_H

#include "base/assert.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#if SAP_REAL_BITS == 64
typedef double real;
typedef uint64_t real_word;
#elif SAP_REAL_BITS == 32
typedef float real;
typedef uint32_t real_word;
#else
#error "SAP_REAL_BITS must be 32 or 64"
#endif

// SAP_KERNEL(name): the name of this instruction set's and precision's own version of a function or table.
// SAP_KERNEL_OF_FLOAT(name): the same for what exists in single precision only; the name has no precision.
#define SAP_KERNEL_JOIN(name, simd, bits) sap_##name##_##simd##_f##bits
#define SAP_KERNEL_NAME(name, simd, bits) SAP_KERNEL_JOIN(name, simd, bits)
#if SAP_SIMD == 1
#define SAP_KERNEL(name)          SAP_KERNEL_NAME(name, portable, SAP_REAL_BITS)
#define SAP_KERNEL_OF_FLOAT(name) sap_##name##_portable
#include "math/simd_portable.h"
#elif SAP_SIMD == 2
#define SAP_KERNEL(name)          SAP_KERNEL_NAME(name, avx2, SAP_REAL_BITS)
#define SAP_KERNEL_OF_FLOAT(name) sap_##name##_avx2
#include "math/simd_avx2.h"
#elif SAP_SIMD == 3
#define SAP_KERNEL(name)          SAP_KERNEL_NAME(name, avx512, SAP_REAL_BITS)
#define SAP_KERNEL_OF_FLOAT(name) sap_##name##_avx512
#include "math/simd_avx512.h"
#else
#error "SAP_SIMD must be 1, 2 or 3"
#endif

enum { ALL_LANES = (1 << LANES) - 1 };

INLINE uint32_t lanes_below(int64_t n) { return n >= LANES ? ALL_LANES : n <= 0 ? 0 : (1u << n) - 1; }

INLINE int count_bits(uint32_t mask) {
    SAP_ASSERT(mask <= (uint32_t)ALL_LANES);
    // Plain x86-64 has no instruction for it: four bits are counted by a table.
    return LANES <= 4 ? (int)(UINT64_C(0x4332322132212110) >> 4 * mask & 15) : __builtin_popcount(mask);
}

INLINE real_word bits_of(real x) {
    real_word bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
