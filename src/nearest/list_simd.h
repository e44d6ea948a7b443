// The k best candidates found so far, ordered by (squared distance, id): one value, a sorted list of up to
// SAP_LIST_MAX, or a heap. With AVX-512 the lists of floats live in registers.
#ifndef SAPWOOD_NEAREST_LIST_SIMD_H
#define SAPWOOD_NEAREST_LIST_SIMD_H

#include "math/simd.h"
#include "nearest/nearest.h"

#define NOBODY INT32_MAX // above every id: a place that no point has taken yet

#if SAP_REAL_BITS == 32
// Distance bits above, id below: non-negative floats order as their bits do.
typedef uint64_t key;
INLINE key make_key(real distance, int32_t id) {
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return (uint64_t)bits << 32 | (uint32_t)id;
}
INLINE bool key_less(key a, key b) { return a < b; }
INLINE int32_t key_id(key k) { return (int32_t)(uint32_t)k; }
INLINE real key_distance(key k) {
    uint32_t bits = (uint32_t)(k >> 32);
    real distance;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}
#else
typedef struct key {
    real distance;
    int32_t id;
} key;
INLINE key make_key(real distance, int32_t id) { return (key){distance, id}; }
INLINE bool key_less(key a, key b) { return a.distance < b.distance || (a.distance == b.distance && a.id < b.id); }
INLINE int32_t key_id(key k) { return k.id; }
INLINE real key_distance(key k) { return k.distance; }
#endif

// How a list is kept: ONE value, SORTED keys in memory, a HEAP, or the number of registers of 8 keys.
enum { KIND_ONE = 0, KIND_SORTED = -1, KIND_HEAP = -2 };
#if SAP_SIMD == 3 && SAP_REAL_BITS == 32
#define REGISTER_LISTS 1
#else
#define REGISTER_LISTS 0
#endif

typedef struct list {
    real worst;       // of the k-th best, or the limit
    int32_t worst_id; // its id, or NOBODY
    int32_t k;
    key* keys;
#if REGISTER_LISTS
    __m512i registers[SAP_LIST_MAX / 8]; // ascending through all lanes; the k keys lie at the upper end, 0 below
#endif
} list;

INLINE void list_set_worst(list* l, key k) {
    l->worst = key_distance(k);
    l->worst_id = key_id(k);
}

INLINE void list_begin(list* l, const int kind, int32_t k, real limit, key* keys) {
    l->worst = limit;
    l->worst_id = NOBODY;
    l->k = k;
    l->keys = keys;
    key empty = make_key(limit, NOBODY);
    if (kind == KIND_ONE) return;
#if REGISTER_LISTS
    if (kind > 0) {
        const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
#pragma GCC unroll 4
        for (int v = 0; v < kind; v++) {
            __mmask8 used = _mm512_cmpge_epi64_mask(lane, _mm512_set1_epi64(8 * (kind - v) - k));
            l->registers[v] = _mm512_maskz_set1_epi64(used, (long long)empty);
        }
        return;
    }
#endif
    for (int32_t i = 0; i < k; i++) keys[i] = empty;
}

static void sorted_insert(list* l, key x) {
    int32_t i = l->k - 1;
    if (!key_less(x, l->keys[i])) return;
    for (; i > 0 && key_less(x, l->keys[i - 1]); i--) l->keys[i] = l->keys[i - 1];
    l->keys[i] = x;
}

// Puts x where the greatest key of a heap of `count` keys was, and lets it sink.
static void heap_replace_top(key* heap, int32_t count, key x) {
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && key_less(heap[child], heap[child + 1])) child++;
        if (!key_less(x, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = x;
}

// Offers n candidates, none beyond the worst.
INLINE void list_offer(list* l, const int kind, const key* candidates, int n) {
#if REGISTER_LISTS
    if (kind > 0) {
        for (int i = 0; i < n; i++) { // new[j] = min(old[j], max(old[j-1], x))
            __m512i x = _mm512_set1_epi64((long long)candidates[i]), below = _mm512_setzero_si512();
#pragma GCC unroll 4
            for (int v = 0; v < kind; v++) {
                __m512i shifted = _mm512_alignr_epi64(l->registers[v], below, 7);
                below = l->registers[v];
                l->registers[v] = _mm512_min_epu64(l->registers[v], _mm512_max_epu64(shifted, x));
            }
        }
        __m128i top = _mm512_extracti64x2_epi64(l->registers[kind - 1], 3);
        list_set_worst(l, (key)_mm_extract_epi64(top, 1));
        return;
    }
#endif
    if (kind == KIND_SORTED) {
        for (int i = 0; i < n; i++) sorted_insert(l, candidates[i]);
        list_set_worst(l, l->keys[l->k - 1]);
        return;
    }
    for (int i = 0; i < n; i++)
        if (key_less(candidates[i], l->keys[0])) heap_replace_top(l->keys, l->k, candidates[i]);
    list_set_worst(l, l->keys[0]);
}

INLINE void write_answer(key k, int32_t* id, real* distance2) {
    bool found = key_id(k) != NOBODY;
    *id = found ? key_id(k) : -1;
    if (distance2) *distance2 = found ? key_distance(k) : (real)INFINITY;
}

// Writes the row in ascending order. A heap is used up.
INLINE void list_write(list* l, const int kind, int32_t* ids, real* distance2) {
    if (kind == KIND_ONE) {
        write_answer(make_key(l->worst, l->worst_id), ids, distance2);
        return;
    }
#if REGISTER_LISTS
    if (kind > 0) {
        const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        const __m256i infinite = _mm256_set1_epi32(0x7f800000);
#pragma GCC unroll 4
        for (int v = 0; v < kind; v++) {
            int first = 8 * v - (8 * kind - l->k); // place in the row of this register's lane 0
            __mmask8 used = _mm512_cmpge_epi64_mask(lane, _mm512_set1_epi64(-first));
            __m256i id = _mm512_cvtepi64_epi32(l->registers[v]);
            __m256i distance = _mm512_cvtepi64_epi32(_mm512_srli_epi64(l->registers[v], 32));
            __mmask8 free_place = _mm256_cmpeq_epi32_mask(id, _mm256_set1_epi32(NOBODY));
            id = _mm256_mask_set1_epi32(id, free_place, -1);
            distance = _mm256_mask_mov_epi32(distance, free_place, infinite);
            _mm256_mask_storeu_epi32(ids + first, used, id);
            if (distance2) _mm256_mask_storeu_epi32(distance2 + first, used, distance);
        }
        return;
    }
#endif
    if (kind == KIND_HEAP)
        for (int32_t end = l->k - 1; end > 0; end--) {
            key last = l->keys[end];
            l->keys[end] = l->keys[0];
            heap_replace_top(l->keys, end, last);
        }
    for (int32_t i = 0; i < l->k; i++) write_answer(l->keys[i], ids + i, distance2 ? distance2 + i : NULL);
}

#endif
