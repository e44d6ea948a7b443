// The k best candidates found so far, ordered by (squared distance, id): one value, a sorted list of up to
// SAP_LIST_MAX, a heap, or a pool. With AVX2 and AVX-512 lists live in registers.
#ifndef SAPWOOD_NEAREST_CANDIDATES_LIST_SIMD_H
#define SAPWOOD_NEAREST_CANDIDATES_LIST_SIMD_H

#include "base/assert.h"
#include "math/simd.h"
#include "nearest/candidates/registers_simd.h"
#include "nearest/nearest.h"

// How a list is kept: ONE value, SORTED keys in memory, a HEAP, a POOL, or that many times eight keys in registers.
enum { KIND_ONE = 0, KIND_SORTED = -1, KIND_HEAP = -2, KIND_POOL = -3 };

typedef struct list {
    real worst;       // of the k-th best, or the limit
    int32_t worst_id; // its id, or NOBODY
    int32_t k;
    key* keys;           // room for the list; for registers, at its end
    int32_t count, room; // of a pool: keys in no order, all that came since it was full, when all but the k best went
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
static const int64_t lowest_then_highest[2 * SAP_LIST_MAX] = {
    [SAP_LIST_MAX] = HIGHEST_8, HIGHEST_8, HIGHEST_8, HIGHEST_8};
#endif

INLINE void list_begin(list* l, const int kind, int32_t k, real limit, key* keys) {
    l->worst = limit;
    l->worst_id = NOBODY;
    l->k = k;
    l->keys = keys;
    SAP_ASSERT(k >= 1);
    SAP_ASSERT(kind != KIND_ONE || k == 1);
    SAP_ASSERT(kind != KIND_POOL);
    SAP_ASSERT(kind != KIND_SORTED || k <= SAP_LIST_MAX);
    SAP_ASSERT(kind <= 0 || k <= 8 * kind);
    key empty = make_key(limit, NOBODY);
    if (kind == KIND_ONE) return;
#if REGISTER_LISTS
    if (kind > 0) {
        const int64_t* bounds = lowest_then_highest + SAP_LIST_MAX - (8 * kind - k);
#pragma GCC unroll 8
        for (int v = 0; v < 8 * kind / KEYS; v++) l->registers[v] = keys_empty(empty, lanes_load(bounds + v * KEYS));
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

enum { POOL_SPARE = 64 }; // places of a pool beyond twice k: more than come at once

INLINE void pool_begin(list* l, int32_t k, real limit, key* keys, int32_t room) {
    SAP_ASSERT(k >= 1 && room >= 2 * k + POOL_SPARE);
    *l = (list){.worst = limit, .worst_id = NOBODY, .k = k, .keys = keys, .room = room};
}

// Moves the k least of the keys to the front, the greatest of them last (Hoare 1961). Keys differ; halves are made
// without branches, which nobody could foretell.
static void keys_select(key* keys, int32_t count, int32_t k) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const key a = keys[low], b = keys[low + (high - low) / 2], c = keys[high];
        const key less = key_less(a, b) ? a : b, more = key_less(a, b) ? b : a;
        const key middle = key_less(c, less) ? less : key_less(c, more) ? c : more;
        int32_t below = low, at;
        for (int32_t i = low; i <= high; i++) { // those below the middle come first
            const key x = keys[i];
            keys[i] = keys[below];
            keys[below] = x;
            below += key_less(x, middle);
        }
        for (at = below; key_less(middle, keys[at]); at++) {}
        keys[at] = keys[below];
        keys[below] = middle;
        if (below == k - 1) return;
        if (below < k - 1)
            low = below + 1;
        else
            high = below - 1;
    }
}

static __attribute__((noinline)) void pool_drop(list* l) {
    keys_select(l->keys, l->count, l->k);
    l->count = l->k;
    list_set_worst(l, l->keys[l->k - 1]);
}

// Offers n candidates, none beyond the worst. Registers take two at a time; there must be room for one after the last.
INLINE void list_offer(list* l, const int kind, key* candidates, int n) {
    for (int i = 0; i < n; i++) SAP_ASSERT(key_distance(candidates[i]) <= l->worst);
#if REGISTER_LISTS
    if (kind > 0) {
        candidates[n] = make_key(INFINITY, NOBODY);
        for (int i = 0; i < n; i += 2) keys_insert_two(l->registers, 8 * kind / KEYS, candidates + i);
        list_set_worst(l, keys_last(l->registers[8 * kind / KEYS - 1]));
        return;
    }
#endif
    if (kind == KIND_POOL) {
        memcpy(l->keys + l->count, candidates, (size_t)n * sizeof *candidates);
        l->count += n;
        if (l->count > l->room - POOL_SPARE / 2) pool_drop(l);
        return;
    }
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
