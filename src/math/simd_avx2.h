// math/simd.h for AVX2.
#include <immintrin.h>

// For each mask of 8 lanes, the numbers of the lanes that it keeps, one byte each from the lowest on: the index by
// which compression permutes.
#define KEPT_BITS(m, b) ((m) & ((1u << (b)) - 1))
#define KEPT(m, b)      (((m) >> (b)&1) ? (uint64_t)(b) << (8 * __builtin_popcount(KEPT_BITS(m, b))) : 0)
#define KEPT_ALL(m)                                                                                                    \
    (KEPT(m, 0) | KEPT(m, 1) | KEPT(m, 2) | KEPT(m, 3) | KEPT(m, 4) | KEPT(m, 5) | KEPT(m, 6) | KEPT(m, 7))
#define KEPT_4(m)  KEPT_ALL((unsigned)(m)), KEPT_ALL((m) + 1u), KEPT_ALL((m) + 2u), KEPT_ALL((m) + 3u)
#define KEPT_16(m) KEPT_4(m), KEPT_4((m) + 4), KEPT_4((m) + 8), KEPT_4((m) + 12)
#define KEPT_64(m) KEPT_16(m), KEPT_16((m) + 16), KEPT_16((m) + 32), KEPT_16((m) + 48)
static const uint64_t kept_lanes[256] = {KEPT_64(0), KEPT_64(64), KEPT_64(128), KEPT_64(192)};

INLINE __m256i kept_index(uint32_t mask) { return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)kept_lanes[mask])); }

// All bits of the first n of 8 (int32) or 4 (int64) lanes.
INLINE __m256i first_lanes_32(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
INLINE __m256i first_lanes_64(int n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

#if SAP_REAL_BITS == 32
enum { LANES = 8 };
typedef __m256 vreal;
typedef __m256i vid;

INLINE vreal v_set(real x) { return _mm256_set1_ps(x); }
INLINE vreal v_load(const real* p) { return _mm256_loadu_ps(p); }
INLINE vreal v_load_part(const real* p, int n) { return _mm256_maskload_ps(p, first_lanes_32(n)); }
INLINE void v_store(real* p, vreal x) { _mm256_storeu_ps(p, x); }
INLINE void v_store_part(real* p, vreal x, int n) { _mm256_maskstore_ps(p, first_lanes_32(n), x); }
INLINE vreal v_add(vreal a, vreal b) { return _mm256_add_ps(a, b); }
INLINE vreal v_sub(vreal a, vreal b) { return _mm256_sub_ps(a, b); }
INLINE vreal v_mul(vreal a, vreal b) { return _mm256_mul_ps(a, b); }
INLINE vreal v_min(vreal a, vreal b) { return _mm256_min_ps(a, b); }
INLINE vreal v_max(vreal a, vreal b) { return _mm256_max_ps(a, b); }
INLINE vreal v_abs(vreal x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
INLINE uint32_t v_less(vreal a, vreal b) { return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
INLINE uint32_t v_less_equal(vreal a, vreal b) { return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)); }
INLINE uint32_t v_both_less_equal(vreal a, vreal b, vreal c, vreal d) {
    return (uint32_t)_mm256_movemask_ps(
        _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ), _mm256_cmp_ps(c, d, _CMP_LE_OQ)));
}
INLINE uint32_t v_equal(vreal a, vreal b) { return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
INLINE vreal v_select(uint32_t mask, vreal yes, vreal no) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
    return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(on));
}
INLINE vreal v_compress(uint32_t mask, vreal x) { return _mm256_permutevar8x32_ps(x, kept_index(mask)); }
INLINE void v_store_kept(real* p, uint32_t mask, vreal x) { v_store(p, v_compress(mask, x)); }
INLINE vreal v_exchange(vreal x, int m) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_permutevar8x32_ps(x, _mm256_xor_si256(lane, _mm256_set1_epi32(m)));
}
INLINE vreal v_number(vreal x, int first) {
    __m256i number = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
    __m256i rest = _mm256_andnot_si256(_mm256_set1_epi32(15), _mm256_castps_si256(x));
    return _mm256_castsi256_ps(_mm256_or_si256(rest, number));
}
#define REDUCE(name, op)                                                                                               \
    INLINE real name(vreal x) {                                                                                        \
        __m128 low = op(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));                                       \
        low = op(low, _mm_movehl_ps(low, low));                                                                        \
        return _mm_cvtss_f32(op(low, _mm_movehdup_ps(low)));                                                           \
    }
REDUCE(reduce_min, _mm_min_ps)
REDUCE(reduce_max, _mm_max_ps)
INLINE vid id_set(int32_t x) { return _mm256_set1_epi32(x); }
INLINE vid id_load(const int32_t* p) { return _mm256_loadu_si256((const __m256i*)(const void*)p); }
INLINE vid id_load_part(const int32_t* p, int n) { return _mm256_maskload_epi32(p, first_lanes_32(n)); }
INLINE void id_store(int32_t* p, vid x) { _mm256_storeu_si256((__m256i*)(void*)p, x); }
INLINE void id_store_part(int32_t* p, vid x, int n) { _mm256_maskstore_epi32(p, first_lanes_32(n), x); }
INLINE vid id_compress(uint32_t mask, vid x) { return _mm256_permutevar8x32_epi32(x, kept_index(mask)); }
INLINE void id_store_kept(int32_t* p, uint32_t mask, vid x) { id_store(p, id_compress(mask, x)); }
INLINE uint32_t id_mask(__m256i on) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(on)); }
INLINE uint32_t id_less(vid a, vid b) { return id_mask(_mm256_cmpgt_epi32(b, a)); }
INLINE uint32_t id_equal(vid a, vid b) { return id_mask(_mm256_cmpeq_epi32(a, b)); }

#else
enum { LANES = 4 };
typedef __m256d vreal;
typedef __m128i vid;

INLINE vreal v_set(real x) { return _mm256_set1_pd(x); }
INLINE vreal v_load(const real* p) { return _mm256_loadu_pd(p); }
INLINE vreal v_load_part(const real* p, int n) { return _mm256_maskload_pd(p, first_lanes_64(n)); }
INLINE void v_store(real* p, vreal x) { _mm256_storeu_pd(p, x); }
INLINE void v_store_part(real* p, vreal x, int n) { _mm256_maskstore_pd(p, first_lanes_64(n), x); }
INLINE vreal v_add(vreal a, vreal b) { return _mm256_add_pd(a, b); }
INLINE vreal v_sub(vreal a, vreal b) { return _mm256_sub_pd(a, b); }
INLINE vreal v_mul(vreal a, vreal b) { return _mm256_mul_pd(a, b); }
INLINE vreal v_min(vreal a, vreal b) { return _mm256_min_pd(a, b); }
INLINE vreal v_max(vreal a, vreal b) { return _mm256_max_pd(a, b); }
INLINE vreal v_abs(vreal x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
INLINE uint32_t v_less(vreal a, vreal b) { return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)); }
INLINE uint32_t v_less_equal(vreal a, vreal b) { return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ)); }
INLINE uint32_t v_both_less_equal(vreal a, vreal b, vreal c, vreal d) {
    return (uint32_t)_mm256_movemask_pd(
        _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ), _mm256_cmp_pd(c, d, _CMP_LE_OQ)));
}
INLINE uint32_t v_equal(vreal a, vreal b) { return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)); }
INLINE vreal v_select(uint32_t mask, vreal yes, vreal no) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    __m256i on = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(mask), bit), bit);
    return _mm256_blendv_pd(no, yes, _mm256_castsi256_pd(on));
}
INLINE vreal v_compress(uint32_t mask, vreal x) { // a double is a pair of 4-byte lanes
    uint32_t pairs = ((mask & 1) | (mask & 2) << 1 | (mask & 4) << 2 | (mask & 8) << 3) * 3;
    return _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(x), kept_index(pairs)));
}
INLINE void v_store_kept(real* p, uint32_t mask, vreal x) { v_store(p, v_compress(mask, x)); }
INLINE vreal v_exchange(vreal x, int m) {
    __m256i lane = _mm256_xor_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(2 * m));
    return _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(x), lane));
}
INLINE vreal v_number(vreal x, int first) {
    __m256i number = _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(first));
    __m256i rest = _mm256_andnot_si256(_mm256_set1_epi64x(15), _mm256_castpd_si256(x));
    return _mm256_castsi256_pd(_mm256_or_si256(rest, number));
}
#define REDUCE(name, op)                                                                                               \
    INLINE real name(vreal x) {                                                                                        \
        __m128d low = op(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));                                      \
        return _mm_cvtsd_f64(op(low, _mm_unpackhi_pd(low, low)));                                                      \
    }
REDUCE(reduce_min, _mm_min_pd)
REDUCE(reduce_max, _mm_max_pd)
INLINE vid id_set(int32_t x) { return _mm_set1_epi32(x); }
INLINE vid id_load(const int32_t* p) { return _mm_loadu_si128((const __m128i*)(const void*)p); }
INLINE vid id_load_part(const int32_t* p, int n) {
    return _mm_maskload_epi32(p, _mm256_castsi256_si128(first_lanes_32(n)));
}
INLINE void id_store(int32_t* p, vid x) { _mm_storeu_si128((__m128i*)(void*)p, x); }
INLINE void id_store_part(int32_t* p, vid x, int n) {
    _mm_maskstore_epi32(p, _mm256_castsi256_si128(first_lanes_32(n)), x);
}
INLINE vid id_compress(uint32_t mask, vid x) {
    return _mm_castps_si128(_mm_permutevar_ps(_mm_castsi128_ps(x), _mm256_castsi256_si128(kept_index(mask))));
}
INLINE void id_store_kept(int32_t* p, uint32_t mask, vid x) { id_store(p, id_compress(mask, x)); }
INLINE uint32_t id_mask(__m128i on) { return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(on)); }
INLINE uint32_t id_less(vid a, vid b) { return id_mask(_mm_cmplt_epi32(a, b)); }
INLINE uint32_t id_equal(vid a, vid b) { return id_mask(_mm_cmpeq_epi32(a, b)); }
#endif
