// Integer and floating-point functions of CUDA's device code. Part of cuda_runtime.h.
#ifndef CUDA_ON_CPU_NUMBERS_H
#define CUDA_ON_CPU_NUMBERS_H

// A lie to the compiler is found out here.
#define __builtin_assume(truth)                                                                                        \
    ((truth) ? (void)0 : cuda_on_cpu_fail("%s:%d: __builtin_assume is told what is false", __FILE__, __LINE__))

// ---- Bits.

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }

static inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1u) << (31 - bit);
    return reversed;
}

static inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

// Each nibble of the selector chooses a byte of y:x; its top bit asks for the byte's sign instead.
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned nibble = selector >> 4 * i & 15u;
        unsigned byte = (unsigned)(bytes >> 8 * (nibble & 7u)) & 255u;
        if (nibble & 8u) byte = byte & 128u ? 255u : 0u;
        result |= byte << 8 * i;
    }
    return result;
}

static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31u)) >> 32);
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31u));
}

static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}

static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

__extension__ typedef unsigned __int128 cuda_on_cpu_uint128;

static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((uint64_t)x * y >> 32); }
static inline int __mulhi(int x, int y) { return (int)((int64_t)x * y >> 32); }

static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((cuda_on_cpu_uint128)x * y >> 64);
}

// ---- Bits of floats.

#define CUDA_ON_CPU_BITS(to, name, from)                                                                               \
    static inline to name(from value) {                                                                                \
        to bits;                                                                                                       \
        memcpy(&bits, &value, sizeof bits);                                                                            \
        return bits;                                                                                                   \
    }

CUDA_ON_CPU_BITS(int, __float_as_int, float)
CUDA_ON_CPU_BITS(unsigned, __float_as_uint, float)
CUDA_ON_CPU_BITS(float, __int_as_float, int)
CUDA_ON_CPU_BITS(float, __uint_as_float, unsigned)
CUDA_ON_CPU_BITS(long long, __double_as_longlong, double)
CUDA_ON_CPU_BITS(double, __longlong_as_double, long long)

static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }

static inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((uint64_t)(unsigned)high << 32 | (unsigned)low));
}

// ---- Arithmetic that is never contracted (compile with -ffp-contract=off), also rounded down and up.

// The rounded result, moved by one step if its exact error is on the wrong side. Errors that underflow are lost.
template <typename type> static inline type cuda_on_cpu_rounded(type rounded, type error, bool finite, int direction) {
    const type infinite = (type)INFINITY;
    if (finite && isinf(rounded)) return (type)direction * rounded > 0 ? rounded : std::nextafter(rounded, (type)0);
    return (type)direction * error > 0 ? std::nextafter(rounded, (type)direction * infinite) : rounded;
}

template <typename type> static inline type cuda_on_cpu_add(type x, type y, int direction) {
    type sum = x + y, rest = sum - x;
    return cuda_on_cpu_rounded(sum, (x - (sum - rest)) + (y - rest), isfinite(x) && isfinite(y), direction);
}

template <typename type> static inline type cuda_on_cpu_multiply(type x, type y, int direction) {
    type product = x * y;
    return cuda_on_cpu_rounded(product, std::fma(x, y, -product), isfinite(x) && isfinite(y), direction);
}

#define CUDA_ON_CPU_ARITHMETIC(type, letter)                                                                           \
    static inline type __##letter##add_rn(type x, type y) { return x + y; }                                            \
    static inline type __##letter##sub_rn(type x, type y) { return x - y; }                                            \
    static inline type __##letter##mul_rn(type x, type y) { return x * y; }                                            \
    static inline type __##letter##div_rn(type x, type y) { return x / y; }                                            \
    static inline type __##letter##sqrt_rn(type x) { return std::sqrt(x); }                                            \
    static inline type __##letter##add_rd(type x, type y) { return cuda_on_cpu_add(x, y, -1); }                        \
    static inline type __##letter##add_ru(type x, type y) { return cuda_on_cpu_add(x, y, 1); }                         \
    static inline type __##letter##sub_rd(type x, type y) { return cuda_on_cpu_add(x, -y, -1); }                       \
    static inline type __##letter##sub_ru(type x, type y) { return cuda_on_cpu_add(x, -y, 1); }                        \
    static inline type __##letter##mul_rd(type x, type y) { return cuda_on_cpu_multiply(x, y, -1); }                   \
    static inline type __##letter##mul_ru(type x, type y) { return cuda_on_cpu_multiply(x, y, 1); }

CUDA_ON_CPU_ARITHMETIC(float, f)
CUDA_ON_CPU_ARITHMETIC(double, d)

static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

// ---- Conversions: out of range gives the nearest value, NaN gives 0 (for 64 bits, CUDA's 1 << 63 is not imitated).

#define CUDA_ON_CPU_CONVERSION(from, from_name, to, to_name, least, most, mode, function)                              \
    static inline to __##from_name##2##to_name##_##mode(from x) {                                                      \
        x = std::function(x);                                                                                          \
        return isnan(x) ? 0 : x <= (from)(least) ? (least) : x >= (from)(most) ? (most) : (to)x;                       \
    }

#define CUDA_ON_CPU_CONVERSIONS_TO(from, from_name, to, to_name, least, most)                                          \
    CUDA_ON_CPU_CONVERSION(from, from_name, to, to_name, least, most, rn, nearbyint)                                   \
    CUDA_ON_CPU_CONVERSION(from, from_name, to, to_name, least, most, rd, floor)                                       \
    CUDA_ON_CPU_CONVERSION(from, from_name, to, to_name, least, most, ru, ceil)                                        \
    CUDA_ON_CPU_CONVERSION(from, from_name, to, to_name, least, most, rz, trunc)

#define CUDA_ON_CPU_CONVERSIONS(from, from_name)                                                                       \
    CUDA_ON_CPU_CONVERSIONS_TO(from, from_name, int, int, INT_MIN, INT_MAX)                                            \
    CUDA_ON_CPU_CONVERSIONS_TO(from, from_name, unsigned, uint, 0u, UINT_MAX)                                          \
    CUDA_ON_CPU_CONVERSIONS_TO(from, from_name, long long, ll, LLONG_MIN, LLONG_MAX)                                   \
    CUDA_ON_CPU_CONVERSIONS_TO(from, from_name, unsigned long long, ull, 0ull, ULLONG_MAX)                             \
    static inline from __int2##from_name##_rn(int x) { return (from)x; }                                               \
    static inline from __uint2##from_name##_rn(unsigned x) { return (from)x; }                                         \
    static inline from __ll2##from_name##_rn(long long x) { return (from)x; }                                          \
    static inline from __ull2##from_name##_rn(unsigned long long x) { return (from)x; }

CUDA_ON_CPU_CONVERSIONS(float, float)
CUDA_ON_CPU_CONVERSIONS(double, double)

static inline float __double2float_rn(double x) { return (float)x; }

static inline float __double2float_rd(double x) {
    return (double)(float)x > x ? nextafterf((float)x, -INFINITY) : (float)x;
}

static inline float __double2float_ru(double x) {
    return (double)(float)x < x ? nextafterf((float)x, INFINITY) : (float)x;
}

// ---- Least and greatest, with CUDA's mixes of types.

#define CUDA_ON_CPU_MIN_MAX(result, first, second)                                                                     \
    static inline result min(first x, second y) { return (result)x < (result)y ? (result)x : (result)y; }              \
    static inline result max(first x, second y) { return (result)x > (result)y ? (result)x : (result)y; }

#define CUDA_ON_CPU_MIN_MAX_MIXED(result, other)                                                                       \
    CUDA_ON_CPU_MIN_MAX(result, result, result)                                                                        \
    CUDA_ON_CPU_MIN_MAX(result, result, other)                                                                         \
    CUDA_ON_CPU_MIN_MAX(result, other, result)

CUDA_ON_CPU_MIN_MAX(int, int, int)
CUDA_ON_CPU_MIN_MAX(long, long, long)
CUDA_ON_CPU_MIN_MAX(long long, long long, long long)
CUDA_ON_CPU_MIN_MAX_MIXED(unsigned, int)
CUDA_ON_CPU_MIN_MAX_MIXED(unsigned long, long)
CUDA_ON_CPU_MIN_MAX_MIXED(unsigned long long, long long)

// Of floats, a NaN loses against a number.
#define CUDA_ON_CPU_MIN_MAX_REAL(result, first, second)                                                                \
    static inline result min(first x, second y) { return std::fmin((result)x, (result)y); }                            \
    static inline result max(first x, second y) { return std::fmax((result)x, (result)y); }

CUDA_ON_CPU_MIN_MAX_REAL(float, float, float)
CUDA_ON_CPU_MIN_MAX_REAL(double, double, double)
CUDA_ON_CPU_MIN_MAX_REAL(double, float, double)
CUDA_ON_CPU_MIN_MAX_REAL(double, double, float)

#endif
