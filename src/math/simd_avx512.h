// math/simd.h for AVX-512 F, BW, DQ and VL.
#include <immintrin.h>

#if SAP_REAL_BITS == 32
enum { LANES = 16 };
typedef __m512 vreal;
typedef __m512i vid;
typedef __mmask16 vmask;

INLINE vreal v_set(real x) { return _mm512_set1_ps(x); }
INLINE vreal v_load(const real* p) { return _mm512_loadu_ps(p); }
INLINE vreal v_load_part(const real* p, int n) { return _mm512_maskz_loadu_ps((vmask)((1u << n) - 1), p); }
INLINE void v_store(real* p, vreal x) { _mm512_storeu_ps(p, x); }
INLINE void v_store_part(real* p, vreal x, int n) { _mm512_mask_storeu_ps(p, (vmask)((1u << n) - 1), x); }
INLINE vreal v_add(vreal a, vreal b) { return _mm512_add_ps(a, b); }
INLINE vreal v_sub(vreal a, vreal b) { return _mm512_sub_ps(a, b); }
INLINE vreal v_mul(vreal a, vreal b) { return _mm512_mul_ps(a, b); }
INLINE vreal v_min(vreal a, vreal b) { return _mm512_min_ps(a, b); }
INLINE vreal v_max(vreal a, vreal b) { return _mm512_max_ps(a, b); }
INLINE vreal v_abs(vreal x) { return _mm512_abs_ps(x); }
INLINE uint32_t v_less(vreal a, vreal b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
INLINE uint32_t v_less_equal(vreal a, vreal b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
INLINE uint32_t v_both_less_equal(vreal a, vreal b, vreal c, vreal d) {
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a, b, _CMP_LE_OQ), c, d, _CMP_LE_OQ);
}
INLINE uint32_t v_equal(vreal a, vreal b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
INLINE vreal v_select(uint32_t mask, vreal yes, vreal no) { return _mm512_mask_mov_ps(no, (vmask)mask, yes); }
INLINE vreal v_compress(uint32_t mask, vreal x) { return _mm512_maskz_compress_ps((vmask)mask, x); }
INLINE void v_store_kept(real* p, uint32_t mask, vreal x) { v_store(p, v_compress(mask, x)); }
// Lane i of the result is lane i^m of x; m < LANES.
INLINE vreal v_exchange(vreal x, int m) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_ps(_mm512_xor_si512(lane, _mm512_set1_epi32(m)), x);
}
INLINE vreal v_number(vreal x, int first) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i number = _mm512_add_epi32(lane, _mm512_set1_epi32(first)), bits = _mm512_castps_si512(x);
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_andnot_si512(_mm512_set1_epi32(15), bits), number));
}
INLINE real reduce_min(vreal x) { return _mm512_reduce_min_ps(x); }
INLINE real reduce_max(vreal x) { return _mm512_reduce_max_ps(x); }
INLINE vid id_set(int32_t x) { return _mm512_set1_epi32(x); }
INLINE vid id_load(const int32_t* p) { return _mm512_loadu_si512(p); }
INLINE vid id_load_part(const int32_t* p, int n) { return _mm512_maskz_loadu_epi32((vmask)((1u << n) - 1), p); }
INLINE void id_store(int32_t* p, vid x) { _mm512_storeu_si512(p, x); }
INLINE void id_store_part(int32_t* p, vid x, int n) { _mm512_mask_storeu_epi32(p, (vmask)((1u << n) - 1), x); }
INLINE vid id_compress(uint32_t mask, vid x) { return _mm512_maskz_compress_epi32((vmask)mask, x); }
INLINE void id_store_kept(int32_t* p, uint32_t mask, vid x) { id_store(p, id_compress(mask, x)); }
INLINE uint32_t id_less(vid a, vid b) { return _mm512_cmplt_epi32_mask(a, b); }
INLINE uint32_t id_equal(vid a, vid b) { return _mm512_cmpeq_epi32_mask(a, b); }

#else
enum { LANES = 8 };
typedef __m512d vreal;
typedef __m256i vid;
typedef __mmask8 vmask;

INLINE vreal v_set(real x) { return _mm512_set1_pd(x); }
INLINE vreal v_load(const real* p) { return _mm512_loadu_pd(p); }
INLINE vreal v_load_part(const real* p, int n) { return _mm512_maskz_loadu_pd((vmask)((1u << n) - 1), p); }
INLINE void v_store(real* p, vreal x) { _mm512_storeu_pd(p, x); }
INLINE void v_store_part(real* p, vreal x, int n) { _mm512_mask_storeu_pd(p, (vmask)((1u << n) - 1), x); }
INLINE vreal v_add(vreal a, vreal b) { return _mm512_add_pd(a, b); }
INLINE vreal v_sub(vreal a, vreal b) { return _mm512_sub_pd(a, b); }
INLINE vreal v_mul(vreal a, vreal b) { return _mm512_mul_pd(a, b); }
INLINE vreal v_min(vreal a, vreal b) { return _mm512_min_pd(a, b); }
INLINE vreal v_max(vreal a, vreal b) { return _mm512_max_pd(a, b); }
INLINE vreal v_abs(vreal x) { return _mm512_abs_pd(x); }
INLINE uint32_t v_less(vreal a, vreal b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
INLINE uint32_t v_less_equal(vreal a, vreal b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
INLINE uint32_t v_both_less_equal(vreal a, vreal b, vreal c, vreal d) {
    return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ), c, d, _CMP_LE_OQ);
}
INLINE uint32_t v_equal(vreal a, vreal b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
INLINE vreal v_select(uint32_t mask, vreal yes, vreal no) { return _mm512_mask_mov_pd(no, (vmask)mask, yes); }
INLINE vreal v_compress(uint32_t mask, vreal x) { return _mm512_maskz_compress_pd((vmask)mask, x); }
INLINE void v_store_kept(real* p, uint32_t mask, vreal x) { v_store(p, v_compress(mask, x)); }
INLINE vreal v_exchange(vreal x, int m) {
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_pd(_mm512_xor_si512(lane, _mm512_set1_epi64(m)), x);
}
INLINE vreal v_number(vreal x, int first) {
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i number = _mm512_add_epi64(lane, _mm512_set1_epi64(first)), bits = _mm512_castpd_si512(x);
    return _mm512_castsi512_pd(_mm512_or_si512(_mm512_andnot_si512(_mm512_set1_epi64(15), bits), number));
}
INLINE real reduce_min(vreal x) { return _mm512_reduce_min_pd(x); }
INLINE real reduce_max(vreal x) { return _mm512_reduce_max_pd(x); }
INLINE vid id_set(int32_t x) { return _mm256_set1_epi32(x); }
INLINE vid id_load(const int32_t* p) { return _mm256_loadu_si256((const __m256i*)(const void*)p); }
INLINE vid id_load_part(const int32_t* p, int n) { return _mm256_maskz_loadu_epi32((vmask)((1u << n) - 1), p); }
INLINE void id_store(int32_t* p, vid x) { _mm256_storeu_si256((__m256i*)(void*)p, x); }
INLINE void id_store_part(int32_t* p, vid x, int n) { _mm256_mask_storeu_epi32(p, (vmask)((1u << n) - 1), x); }
INLINE vid id_compress(uint32_t mask, vid x) { return _mm256_maskz_compress_epi32((vmask)mask, x); }
INLINE void id_store_kept(int32_t* p, uint32_t mask, vid x) { id_store(p, id_compress(mask, x)); }
INLINE uint32_t id_less(vid a, vid b) { return _mm256_cmplt_epi32_mask(a, b); }
INLINE uint32_t id_equal(vid a, vid b) { return _mm256_cmpeq_epi32_mask(a, b); }
#endif
