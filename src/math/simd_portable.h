// math/simd.h in the compiler's vector extensions: 16-byte registers, SSE2 on x86-64, NEON on AArch64, SIMD128 in
// WebAssembly.
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#if SAP_REAL_BITS == 32
enum { LANES = 4 };
typedef int32_t lane_int;
#else
enum { LANES = 2 };
typedef int64_t lane_int;
#endif
typedef real vreal __attribute__((vector_size(16)));
typedef lane_int vlane __attribute__((vector_size(16)));
typedef int32_t vid __attribute__((vector_size(4 * LANES)));

INLINE uint32_t lane_mask(vlane on) {
#if defined(__SSE2__) && SAP_REAL_BITS == 32
    return (uint32_t)_mm_movemask_ps((__m128)on);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_pd((__m128d)on);
#elif defined(__wasm_simd128__) && SAP_REAL_BITS == 32
    return wasm_i32x4_bitmask((v128_t)on);
#elif defined(__wasm_simd128__)
    return wasm_i64x2_bitmask((v128_t)on);
#else
    uint32_t mask = 0;
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++) mask |= (uint32_t)(on[i] & 1) << i;
    return mask;
#endif
}

INLINE vreal v_choose(vlane on, vreal yes, vreal no) { return (vreal)((on & (vlane)yes) | (~on & (vlane)no)); }
// Lane by lane: clang compiles a loop over the lanes to one through memory.
INLINE vreal v_set(real x) {
#if SAP_REAL_BITS == 32
    return (vreal){x, x, x, x};
#else
    return (vreal){x, x};
#endif
}
INLINE vlane lanes_from(lane_int first, lane_int step) {
#if SAP_REAL_BITS == 32
    return (vlane){first, first + step, first + 2 * step, first + 3 * step};
#else
    return (vlane){first, first + step};
#endif
}
INLINE vreal v_load(const real* p) {
    vreal v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE vreal v_load_part(const real* p, int n) {
    SAP_ASSERT(n >= 0 && n <= LANES);
    vreal v = v_set(0);
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++)
        if (i < n) v[i] = p[i];
    return v;
}
INLINE void v_store(real* p, vreal x) { memcpy(p, &x, sizeof x); }
INLINE void v_store_part(real* p, vreal x, int n) {
    SAP_ASSERT(n >= 0 && n <= LANES);
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++)
        if (i < n) p[i] = x[i];
}
INLINE vreal v_add(vreal a, vreal b) { return a + b; }
INLINE vreal v_sub(vreal a, vreal b) { return a - b; }
INLINE vreal v_mul(vreal a, vreal b) { return a * b; }
INLINE vreal v_abs(vreal x) { return (vreal)((vlane)x & ~(vlane)v_set((real)-0.0)); }
// Where an operand is NaN these give b, as the x86 instructions do.
INLINE vreal v_min(vreal a, vreal b) {
#if defined(__SSE2__) && SAP_REAL_BITS == 32
    return _mm_min_ps(a, b);
#elif defined(__SSE2__)
    return _mm_min_pd(a, b);
#elif defined(__wasm_simd128__) && SAP_REAL_BITS == 32
    return (vreal)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#elif defined(__wasm_simd128__)
    return (vreal)wasm_f64x2_pmin((v128_t)b, (v128_t)a);
#else
    return v_choose(a < b, a, b);
#endif
}
INLINE vreal v_max(vreal a, vreal b) {
#if defined(__SSE2__) && SAP_REAL_BITS == 32
    return _mm_max_ps(a, b);
#elif defined(__SSE2__)
    return _mm_max_pd(a, b);
#elif defined(__wasm_simd128__) && SAP_REAL_BITS == 32
    return (vreal)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#elif defined(__wasm_simd128__)
    return (vreal)wasm_f64x2_pmax((v128_t)b, (v128_t)a);
#else
    return v_choose(a > b, a, b);
#endif
}
INLINE uint32_t v_less(vreal a, vreal b) { return lane_mask(a < b); }
INLINE uint32_t v_less_equal(vreal a, vreal b) { return lane_mask(a <= b); }
INLINE uint32_t v_both_less_equal(vreal a, vreal b, vreal c, vreal d) { return lane_mask((a <= b) & (c <= d)); }
INLINE uint32_t v_equal(vreal a, vreal b) { return lane_mask(a == b); }
INLINE vreal v_select(uint32_t mask, vreal yes, vreal no) {
#if SAP_REAL_BITS == 32
    const vlane bit = {1, 2, 4, 8};
#else
    const vlane bit = {1, 2};
#endif
    return v_choose((lanes_from((lane_int)mask, 0) & bit) != 0, yes, no);
}
#if defined(__wasm_simd128__) && SAP_REAL_BITS == 32
// For each mask, the bytes of the lanes that it keeps.
INLINE v128_t kept_bytes(uint32_t mask) {
    static const uint8_t kept[16][16] __attribute__((aligned(16))) = {
#define LANE(i)          4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define KEPT(a, b, c, d) {LANE(a), LANE(b), LANE(c), LANE(d)}
        KEPT(0, 0, 0, 0), KEPT(0, 0, 0, 0), KEPT(1, 0, 0, 0), KEPT(0, 1, 0, 0), KEPT(2, 0, 0, 0), KEPT(0, 2, 0, 0),
        KEPT(1, 2, 0, 0), KEPT(0, 1, 2, 0), KEPT(3, 0, 0, 0), KEPT(0, 3, 0, 0), KEPT(1, 3, 0, 0), KEPT(0, 1, 3, 0),
        KEPT(2, 3, 0, 0), KEPT(0, 2, 3, 0), KEPT(1, 2, 3, 0), KEPT(0, 1, 2, 3)
#undef KEPT
#undef LANE
    };
    return wasm_v128_load(kept[mask]);
}
INLINE vreal v_compress(uint32_t mask, vreal x) { return (vreal)wasm_i8x16_swizzle((v128_t)x, kept_bytes(mask)); }
INLINE void v_store_kept(real* p, uint32_t mask, vreal x) { v_store(p, v_compress(mask, x)); }
#else
INLINE vreal v_compress(uint32_t mask, vreal x) {
    real kept[LANES + 1] = {0};
#pragma GCC unroll 4
    for (int i = 0, n = 0; i < LANES; n += (int)(mask >> i & 1), i++) kept[n] = x[i];
    return v_load(kept);
}
// Scalar stores: there is no fast compression of 16-byte registers.
INLINE void v_store_kept(real* p, uint32_t mask, vreal x) {
    for (int i = 0; i < LANES; p += mask >> i & 1, i++) *p = x[i];
}
#endif
INLINE vreal v_exchange(vreal x, int m) {
#if SAP_REAL_BITS == 32
    if (m == 1) return __builtin_shufflevector(x, x, 1, 0, 3, 2);
    if (m == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1);
    return __builtin_shufflevector(x, x, 3, 2, 1, 0);
#else
    (void)m;
    return __builtin_shufflevector(x, x, 1, 0);
#endif
}
INLINE vreal v_number(vreal x, int first) { return (vreal)(((vlane)x & ~(lane_int)15) | lanes_from(first, 1)); }
INLINE real reduce_min(vreal x) {
#pragma GCC unroll 2
    for (int m = LANES / 2; m; m /= 2) x = v_min(x, v_exchange(x, m));
    return x[0];
}
INLINE real reduce_max(vreal x) {
#pragma GCC unroll 2
    for (int m = LANES / 2; m; m /= 2) x = v_max(x, v_exchange(x, m));
    return x[0];
}
INLINE vid id_set(int32_t x) {
#if SAP_REAL_BITS == 32
    return (vid){x, x, x, x};
#else
    return (vid){x, x};
#endif
}
INLINE vid id_load(const int32_t* p) {
    vid v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE vid id_load_part(const int32_t* p, int n) {
    SAP_ASSERT(n >= 0 && n <= LANES);
    vid v = id_set(0);
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++)
        if (i < n) v[i] = p[i];
    return v;
}
INLINE void id_store(int32_t* p, vid x) { memcpy(p, &x, sizeof x); }
INLINE void id_store_part(int32_t* p, vid x, int n) {
    SAP_ASSERT(n >= 0 && n <= LANES);
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++)
        if (i < n) p[i] = x[i];
}
#if defined(__wasm_simd128__) && SAP_REAL_BITS == 32
INLINE vid id_compress(uint32_t mask, vid x) { return (vid)wasm_i8x16_swizzle((v128_t)x, kept_bytes(mask)); }
INLINE void id_store_kept(int32_t* p, uint32_t mask, vid x) { id_store(p, id_compress(mask, x)); }
#else
INLINE vid id_compress(uint32_t mask, vid x) {
    int32_t kept[LANES + 1] = {0};
#pragma GCC unroll 4
    for (int i = 0, n = 0; i < LANES; n += (int)(mask >> i & 1), i++) kept[n] = x[i];
    return id_load(kept);
}
INLINE void id_store_kept(int32_t* p, uint32_t mask, vid x) {
    for (int i = 0; i < LANES; p += mask >> i & 1, i++) *p = x[i];
}
#endif
INLINE uint32_t id_mask(vid on) {
#if defined(__wasm_simd128__) && SAP_REAL_BITS == 32
    return wasm_i32x4_bitmask((v128_t)on);
#else
    uint32_t mask = 0;
#pragma GCC unroll 4
    for (int i = 0; i < LANES; i++) mask |= (uint32_t)(on[i] & 1) << i;
    return mask;
#endif
}
INLINE uint32_t id_less(vid a, vid b) { return id_mask(a < b); }
INLINE uint32_t id_equal(vid a, vid b) { return id_mask(a == b); }
