// The k best candidates found so far, ordered by (squared distance, id): one value, a sorted list of up to
// SAP_LIST_MAX, or a heap. With AVX2 and AVX-512 the lists of floats live in registers.
#ifndef SAPWOOD_NEAREST_CANDIDATES_LIST_SIMD_H
#define SAPWOOD_NEAREST_CANDIDATES_LIST_SIMD_H

#include "base/assert.h"
#include "math/simd.h"
#include "nearest/nearest.h"

#define NOBODY INT32_MAX // above every id: the id of a place that no point has taken yet

#if SAP_REAL_BITS == 32
// The distance's bits above, the id below: non-negative floats are ordered as their bits are.
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

#if SAP_SIMD == 3 && SAP_REAL_BITS == 32
#define REGISTER_LISTS 1
enum { KEYS = 8 }; // in a register
typedef __m512i vkey;
INLINE vkey keys_all(key x) { return _mm512_set1_epi64((long long)x); }
INLINE vkey keys_load(const key* keys) { return _mm512_loadu_si512(keys); }
INLINE void keys_store(key* keys, vkey x) { _mm512_storeu_si512(keys, x); }
// Every key moves one lane up; the lowest lane takes the uppermost key of `below`.
INLINE vkey keys_up(vkey x, vkey below) { return _mm512_alignr_epi64(x, below, 7); }
INLINE vkey keys_up_two(vkey x, vkey below) { return _mm512_alignr_epi64(x, below, 6); }
INLINE vkey keys_min(vkey a, vkey b) { return _mm512_min_epu64(a, b); }
INLINE vkey keys_max(vkey a, vkey b) { return _mm512_max_epu64(a, b); }
INLINE key keys_last(vkey x) { return (key)_mm_extract_epi64(_mm512_extracti64x2_epi64(x, 3), 1); }
#elif SAP_SIMD == 2 && SAP_REAL_BITS == 32
#define REGISTER_LISTS 1
enum { KEYS = 4 };
typedef __m256i vkey;
INLINE vkey keys_all(key x) { return _mm256_set1_epi64x((long long)x); }
INLINE vkey keys_load(const key* keys) { return _mm256_loadu_si256((const __m256i*)(const void*)keys); }
INLINE void keys_store(key* keys, vkey x) { _mm256_storeu_si256((__m256i*)(void*)keys, x); }
INLINE vkey keys_up(vkey x, vkey below) { return _mm256_alignr_epi8(x, _mm256_permute2x128_si256(below, x, 0x21), 8); }
INLINE vkey keys_up_two(vkey x, vkey below) { return _mm256_permute2x128_si256(below, x, 0x21); }
INLINE vkey keys_min(vkey a, vkey b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
INLINE vkey keys_max(vkey a, vkey b) { return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)); }
INLINE key keys_last(vkey x) { return (key)_mm_extract_epi64(_mm256_extracti128_si256(x, 1), 1); }
#else
#define REGISTER_LISTS 0
#endif

// How a list is kept: ONE value, SORTED keys in memory, a HEAP, or that many times eight keys in registers.
enum { KIND_ONE = 0, KIND_SORTED = -1, KIND_HEAP = -2 };

typedef struct list {
    real worst;       // of the k-th best, or the limit
    int32_t worst_id; // its id, or NOBODY
    int32_t k;
    key* keys; // room for the list; for registers, at its end
#if REGISTER_LISTS
    vkey registers[SAP_LIST_MAX / KEYS]; // ascending through all lanes; the k keys lie at the upper end, 0 below
#endif
} list;

INLINE void list_set_worst(list* l, key k) {
    l->worst = key_distance(k);
    l->worst_id = key_id(k);
}

#if REGISTER_LISTS
#define HIGHEST_8 INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX
static const key lowest_then_highest[2 * SAP_LIST_MAX] = {[SAP_LIST_MAX] = HIGHEST_8, HIGHEST_8, HIGHEST_8, HIGHEST_8};
#endif

INLINE void list_begin(list* l, const int kind, int32_t k, real limit, key* keys) {
    l->worst = limit;
    l->worst_id = NOBODY;
    l->k = k;
    l->keys = keys;
    SAP_ASSERT(k >= 1);
    SAP_ASSERT(kind != KIND_ONE || k == 1);
    SAP_ASSERT(kind != KIND_SORTED || k <= SAP_LIST_MAX);
    SAP_ASSERT(kind <= 0 || k <= 8 * kind);
    key empty = make_key(limit, NOBODY);
    if (kind == KIND_ONE) return;
#if REGISTER_LISTS
    if (kind > 0) {
        const key* bounds = lowest_then_highest + SAP_LIST_MAX - (8 * kind - k);
#pragma GCC unroll 8
        for (int v = 0; v < 8 * kind / KEYS; v++)
            l->registers[v] = keys_min(keys_all(empty), keys_load(bounds + v * KEYS));
        return;
    }
#endif
    for (int32_t i = 0; i < k; i++) keys[i] = empty;
}

// Puts a list of up to SAP_LIST_MAX keys into its memory, and takes it from there.
INLINE void list_keep(const list* l, const int kind) {
#if REGISTER_LISTS
    if (kind > 0) {
#pragma GCC unroll 8
        for (int v = 0; v < 8 * kind / KEYS; v++) keys_store(l->keys + v * KEYS, l->registers[v]);
    }
#endif
    SAP_ASSERT(kind > 0 || kind == KIND_SORTED);
    (void)l;
}

INLINE void list_take(list* l, const int kind, int32_t k, key* keys) {
    l->k = k;
    l->keys = keys;
#if REGISTER_LISTS
    if (kind > 0) {
#pragma GCC unroll 8
        for (int v = 0; v < 8 * kind / KEYS; v++) l->registers[v] = keys_load(keys + v * KEYS);
        list_set_worst(l, keys_last(l->registers[8 * kind / KEYS - 1]));
        return;
    }
#endif
    SAP_ASSERT(kind == KIND_SORTED);
    list_set_worst(l, keys[k - 1]);
}

static void sorted_insert(list* l, key x) {
    int32_t i = l->k - 1;
    if (!key_less(x, l->keys[i])) return;
    for (; i > 0 && key_less(x, l->keys[i - 1]); i--) l->keys[i] = l->keys[i - 1];
    l->keys[i] = x;
}

// Replaces the greatest key of a heap of `count` keys by x, and restores the order.
static void heap_replace_top(key* heap, int32_t count, key x) {
    int64_t at = 0;
    SAP_ASSERT(count > 0);
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

// Offers n candidates, none beyond the worst. Registers take two at a time; there must be room for one after the last.
INLINE void list_offer(list* l, const int kind, key* candidates, int n) {
    for (int i = 0; i < n; i++) SAP_ASSERT(key_distance(candidates[i]) <= l->worst);
#if REGISTER_LISTS
    if (kind > 0) {
        candidates[n] = INT64_MAX;
        for (int i = 0; i < n; i += 2) { // new[j] = min(old[j], max(old[j-1], x), max(old[j-2], y)), where x < y
            const vkey one = keys_all(candidates[i]), other = keys_all(candidates[i + 1]);
            const vkey x = keys_min(one, other), y = keys_max(one, other);
            vkey below = keys_all(0);
#pragma GCC unroll 8
            for (int v = 0; v < 8 * kind / KEYS; v++) {
                const vkey after_x = keys_max(keys_up(l->registers[v], below), x),
                           after_y = keys_max(keys_up_two(l->registers[v], below), y);
                below = l->registers[v];
                l->registers[v] = keys_min(l->registers[v], keys_min(after_x, after_y));
            }
        }
        list_set_worst(l, keys_last(l->registers[8 * kind / KEYS - 1]));
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

// Writes the row in ascending order. A heap is no heap any more after that.
INLINE void list_write(list* l, const int kind, int32_t* ids, real* distance2) {
    if (kind == KIND_ONE) {
        write_answer(make_key(l->worst, l->worst_id), ids, distance2);
        return;
    }
    const key* keys = l->keys;
#if REGISTER_LISTS
    if (kind > 0) {
#pragma GCC unroll 8
        for (int v = 0; v < 8 * kind / KEYS; v++) keys_store(l->keys + v * KEYS, l->registers[v]);
        keys += 8 * kind - l->k;
    }
#endif
    if (kind == KIND_HEAP)
        for (int32_t end = l->k - 1; end > 0; end--) {
            key last = l->keys[end];
            l->keys[end] = l->keys[0];
            heap_replace_top(l->keys, end, last);
        }
    for (int32_t i = 0; i < l->k; i++) write_answer(keys[i], ids + i, distance2 ? distance2 + i : NULL);
}

#endif
