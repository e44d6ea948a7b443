// Sorted lists of keys in registers, with AVX2 and AVX-512: ascending through all lanes. Of floats a lane is a key; of
// doubles one register has the distances and another the ids. For nearest/candidates/list_simd.h.
#ifndef SAPWOOD_NEAREST_CANDIDATES_REGISTERS_SIMD_H
#define SAPWOOD_NEAREST_CANDIDATES_REGISTERS_SIMD_H

#include "nearest/candidates/key.h"

#define REGISTER_LISTS (SAP_SIMD > 1)
#if REGISTER_LISTS

// Lanes of eight bytes. Every lane moves one or two lanes up; the lowest ones take the uppermost lanes of `below`.
#if SAP_SIMD == 3
enum { KEYS = 8 }; // in a register
typedef __m512i vbits;
INLINE vbits lanes_all(int64_t x) { return _mm512_set1_epi64(x); }
INLINE vbits lanes_load(const void* from) { return _mm512_loadu_si512(from); }
INLINE void lanes_store(void* to, vbits x) { _mm512_storeu_si512(to, x); }
INLINE vbits lanes_up(vbits x, vbits below) { return _mm512_alignr_epi64(x, below, 7); }
INLINE vbits lanes_up_two(vbits x, vbits below) { return _mm512_alignr_epi64(x, below, 6); }
INLINE int64_t lanes_last(vbits x) { return _mm_extract_epi64(_mm512_extracti64x2_epi64(x, 3), 1); }
#else
enum { KEYS = 4 };
typedef __m256i vbits;
INLINE vbits lanes_all(int64_t x) { return _mm256_set1_epi64x(x); }
INLINE vbits lanes_load(const void* from) { return _mm256_loadu_si256(from); }
INLINE void lanes_store(void* to, vbits x) { _mm256_storeu_si256(to, x); }
INLINE vbits lanes_up_two(vbits x, vbits below) { return _mm256_permute2x128_si256(below, x, 0x21); }
INLINE vbits lanes_up(vbits x, vbits below) { return _mm256_alignr_epi8(x, lanes_up_two(x, below), 8); }
INLINE int64_t lanes_last(vbits x) { return _mm_extract_epi64(_mm256_extracti128_si256(x, 1), 1); }
#endif

#if SAP_REAL_BITS == 32

typedef vbits vkey;
#if SAP_SIMD == 3
INLINE vkey keys_min(vkey a, vkey b) { return _mm512_min_epu64(a, b); }
INLINE vkey keys_max(vkey a, vkey b) { return _mm512_max_epu64(a, b); }
#else
INLINE vkey keys_min(vkey a, vkey b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
INLINE vkey keys_max(vkey a, vkey b) { return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)); }
#endif
INLINE vkey keys_load(const key* keys) { return lanes_load(keys); }
INLINE void keys_store(key* keys, vkey x) { lanes_store(keys, x); }
INLINE key keys_last(vkey x) { return (key)lanes_last(x); }
// The key, but in lanes where `highest` is 0 a key below all others.
INLINE vkey keys_empty(key empty, vbits highest) { return keys_min(lanes_all((int64_t)empty), highest); }

// Inserts two keys into `count` registers, whose two greatest keys fall out.
INLINE void keys_insert_two(vkey* list, const int count, const key* two) {
    const vkey one = lanes_all((int64_t)two[0]), other = lanes_all((int64_t)two[1]);
    const vkey x = keys_min(one, other), y = keys_max(one, other);
    vkey below = lanes_all(0);
#pragma GCC unroll 8
    for (int v = 0; v < count; v++) { // new[j] = min(old[j], max(old[j-1], x), max(old[j-2], y))
        const vkey after_x = keys_max(lanes_up(list[v], below), x), after_y = keys_max(lanes_up_two(list[v], below), y);
        below = list[v];
        list[v] = keys_min(list[v], keys_min(after_x, after_y));
    }
}

#else

typedef struct vkey {
    vreal distance;
    vbits id;
} vkey;
#if SAP_SIMD == 3
typedef __mmask8 some; // of the lanes
INLINE vbits as_lanes(vreal x) { return _mm512_castpd_si512(x); }
INLINE vreal as_reals(vbits x) { return _mm512_castsi512_pd(x); }
INLINE some some_less(vreal a, vreal b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
INLINE some some_equal(vreal a, vreal b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
INLINE some some_lower(vbits a, vbits b) { return _mm512_cmplt_epi64_mask(a, b); }
INLINE some some_or(some a, some b) { return _kor_mask8(a, b); }
INLINE some some_and(some a, some b) { return _kand_mask8(a, b); }
INLINE bool any_of(some s) { return s != 0; }
INLINE vbits lanes_select(some s, vbits yes, vbits no) { return _mm512_mask_mov_epi64(no, s, yes); }
INLINE vkey keys_load(const key* keys) {
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                  odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    const vbits low = lanes_load(keys), high = lanes_load(keys + 4);
    return (vkey){as_reals(_mm512_permutex2var_epi64(low, even, high)), _mm512_permutex2var_epi64(low, odd, high)};
}
INLINE void keys_store(key* keys, vkey x) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    lanes_store(keys, _mm512_permutex2var_epi64(as_lanes(x.distance), low, x.id));
    lanes_store(keys + 4, _mm512_permutex2var_epi64(as_lanes(x.distance), high, x.id));
}
#else
typedef __m256d some;
INLINE vbits as_lanes(vreal x) { return _mm256_castpd_si256(x); }
INLINE vreal as_reals(vbits x) { return _mm256_castsi256_pd(x); }
INLINE some some_less(vreal a, vreal b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
INLINE some some_equal(vreal a, vreal b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
INLINE some some_lower(vbits a, vbits b) { return as_reals(_mm256_cmpgt_epi64(b, a)); }
INLINE some some_or(some a, some b) { return _mm256_or_pd(a, b); }
INLINE some some_and(some a, some b) { return _mm256_and_pd(a, b); }
INLINE bool any_of(some s) { return _mm256_movemask_pd(s) != 0; }
INLINE vbits lanes_select(some s, vbits yes, vbits no) {
    return as_lanes(_mm256_blendv_pd(as_reals(no), as_reals(yes), s));
}
INLINE vkey keys_load(const key* keys) {
    const vbits low = lanes_load(keys), high = lanes_load(keys + 2); // d0 i0 d1 i1, d2 i2 d3 i3
    const vbits first = _mm256_permute2x128_si256(low, high, 0x20), second = _mm256_permute2x128_si256(low, high, 0x31);
    return (vkey){as_reals(_mm256_unpacklo_epi64(first, second)), _mm256_unpackhi_epi64(first, second)};
}
INLINE void keys_store(key* keys, vkey x) {
    const vbits even = _mm256_unpacklo_epi64(as_lanes(x.distance), x.id); // d0 i0 d2 i2
    const vbits odd = _mm256_unpackhi_epi64(as_lanes(x.distance), x.id);
    lanes_store(keys, _mm256_permute2x128_si256(even, odd, 0x20));
    lanes_store(keys + 2, _mm256_permute2x128_si256(even, odd, 0x31));
}
#endif
INLINE key keys_last(vkey x) {
    const int64_t bits = lanes_last(as_lanes(x.distance));
    key last = {.id = lanes_last(x.id)};
    memcpy(&last.distance, &bits, sizeof bits);
    return last;
}
// The key, but in lanes where `highest` is 0 one with a distance below all others.
INLINE vkey keys_empty(key empty, vbits highest) {
    const some in = some_equal(as_reals(highest), v_set(0));
    return (vkey){as_reals(lanes_select(in, as_lanes(v_set(-1)), as_lanes(v_set(empty.distance)))),
                  lanes_all(empty.id)};
}

// Where keys come before others; `exact`: also where distances are equal.
INLINE some keys_before(vkey a, vkey b, const bool exact) {
    const some less = some_less(a.distance, b.distance);
    return exact ? some_or(less, some_and(some_equal(a.distance, b.distance), some_lower(a.id, b.id))) : less;
}

INLINE void keys_insert_ordered(vkey* list, const int count, vkey x, vkey y, const bool exact) {
    vkey below = {v_set(-1), lanes_all(0)};
#pragma GCC unroll 8
    for (int v = 0; v < count; v++) { // new[j] = min(old[j], max(old[j-1], x), max(old[j-2], y)), where x < y
        const vkey old = list[v];
        const vbits distance = as_lanes(old.distance), distance_below = as_lanes(below.distance);
        const vkey up = {as_reals(lanes_up(distance, distance_below)), lanes_up(old.id, below.id)};
        const vkey up_two = {as_reals(lanes_up_two(distance, distance_below)), lanes_up_two(old.id, below.id)};
        const vreal after = v_min(v_max(up.distance, x.distance), v_max(up_two.distance, y.distance));
        list[v].distance = v_min(old.distance, after);
        // The lanes from x's place on, those behind it, those from y's place on, and those behind that one.
        vbits id = lanes_select(keys_before(x, old, exact), x.id, old.id);
        id = lanes_select(keys_before(x, up, exact), up.id, id);
        id = lanes_select(keys_before(y, up, exact), y.id, id);
        list[v].id = lanes_select(keys_before(y, up_two, exact), up_two.id, id);
        below = old;
    }
}

// Inserts two keys into `count` registers, whose two greatest keys fall out.
INLINE void keys_insert_two(vkey* list, const int count, const key* two) {
    const vkey one = {v_set(two[0].distance), lanes_all(two[0].id)},
               other = {v_set(two[1].distance), lanes_all(two[1].id)};
    const some swapped = keys_before(other, one, true);
    const vkey x = {v_min(one.distance, other.distance), lanes_select(swapped, other.id, one.id)};
    const vkey y = {v_max(one.distance, other.distance), lanes_select(swapped, one.id, other.id)};
    some ties = some_or(some_equal(list[0].distance, x.distance), some_equal(list[0].distance, y.distance));
#pragma GCC unroll 8
    for (int v = 1; v < count; v++)
        ties =
            some_or(ties, some_or(some_equal(list[v].distance, x.distance), some_equal(list[v].distance, y.distance)));
    if (__builtin_expect(any_of(ties), 0))
        keys_insert_ordered(list, count, x, y, true);
    else
        keys_insert_ordered(list, count, x, y, false);
}

#endif
#endif
#endif
