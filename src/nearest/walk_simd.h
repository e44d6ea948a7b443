// The fast walk over a balanced tree: boxes of 16 siblings tested together, four binary levels a step, and leaves
// scanned in registers. A sibling of nearest/walk.h, because registers, not single values, are what CPUs are fast at.
#ifndef SAPWOOD_NEAREST_WALK_SIMD_H
#define SAPWOOD_NEAREST_WALK_SIMD_H

#include "base/assert.h"
#include "nearest/candidates/list_simd.h"
#include "nearest/nearest.h"
#include "tree/balanced/view_simd.h"

// OWN_ASKED: who includes this has an `asked` of its own, with these fields, and says what counts: of points `kept`, and
// `worth`, of the boxes of a group that is met first, after so many leaves, those that may have any.
#if !defined(OWN_ASKED)
#define worth(q, level, group, leaves) 0xffffu
typedef struct asked {
    vreal at[QUERY_VECTORS];
    int32_t self; // an id that does not count, or a negative number
#if MEASURED
    const uint8_t* keep; // by id: what counts is not 0; NULL: all
#endif
} asked;

#if MEASURED
// Of the lanes in `close`, those whose points the search keeps. Apart, since most searches have no mask: the others'
// code is shorter without it.
static __attribute__((noinline)) uint32_t kept_of(const uint8_t* keep, const int32_t* ids, uint32_t close) {
    for (uint32_t left = close; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        if (!keep[ids[i]]) close &= ~(1u << i);
    }
    return close;
}

INLINE uint32_t kept(const asked* q, const int32_t* ids, uint32_t close) {
    return __builtin_expect(q->keep != NULL, 0) ? kept_of(q->keep, ids, close) : close;
}
#else
#define kept(q, ids, close) (close)
#endif
#endif

// ---- Leaves

// With fewer than 8 lanes a leaf of usual size takes too many registers to unroll.
#define UNROLLED_LEAVES (SAP_SIMD == 3 || (SAP_SIMD == 2 && SAP_REAL_BITS == 32))
#if UNROLLED_LEAVES
INLINE void scan_one_few(const tree_view* t, const int dims, const int vectors, const asked* q, const real* block,
                         list* l) {
    vreal distance[4], least = v_set(INFINITY);
    SAP_ASSERT(vectors >= 1 && vectors <= 4 && t->vectors == vectors);
    const int32_t* ids = block_ids(t, dims, block);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        distance[v] = leaf_distance(t, dims, q->at, block, v * LANES);
        if (v == vectors - 1) distance[v] = v_select(t->last_lanes, distance[v], v_set(INFINITY));
        least = v_min(least, distance[v]);
    }
    if (!v_less_equal(least, v_set(l->worst))) return;
    if (q->self >= 0) {
        least = v_set(INFINITY);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            uint32_t own = id_equal(id_load(ids + v * LANES), id_set(q->self));
            distance[v] = v_select(own, v_set(INFINITY), distance[v]);
            least = v_min(least, distance[v]);
        }
    }
    real nearest = reduce_min(least);
    if (!(nearest <= l->worst)) return;
    // Ids ascend within a leaf: the first point at this distance has the smallest id.
    int32_t id = NOBODY;
#pragma GCC unroll 4
    for (int v = vectors - 1; v >= 0; v--) {
        uint32_t equal = v_equal(distance[v], v_set(nearest));
        if (equal) id = ids[v * LANES + __builtin_ctz(equal)];
    }
    if (nearest < l->worst || id < l->worst_id) {
        l->worst = nearest;
        l->worst_id = id;
    }
}
#endif

INLINE void scan_one_many(const tree_view* t, const int dims, const asked* q, const real* block, list* l) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        vreal distance = leaf_distance(t, dims, q->at, block, v * LANES);
        uint32_t close = v_less_equal(distance, v_set(l->worst)) & lanes_below(t->stride - v * LANES);
        if (close && q->self >= 0) close &= ~id_equal(id_load(ids + v * LANES), id_set(q->self));
        close = kept(q, ids + v * LANES, close);
        if (!close) continue;
        real nearest = reduce_min(v_select(close, distance, v_set(INFINITY)));
        int32_t id = ids[v * LANES + __builtin_ctz(v_equal(distance, v_set(nearest)) & close)];
        if (nearest < l->worst || id < l->worst_id) {
            l->worst = nearest;
            l->worst_id = id;
        }
    }
}

INLINE void scan_one(const tree_view* t, const int dims, const asked* q, const real* block, list* l) {
#if !UNROLLED_LEAVES
    scan_one_many(t, dims, q, block, l);
#else
#if MEASURED
    if (q->keep) {
        scan_one_many(t, dims, q, block, l);
        return;
    }
#endif
    switch (t->vectors) {
    case 1: scan_one_few(t, dims, 1, q, block, l); break;
    case 2: scan_one_few(t, dims, 2, q, block, l); break;
    case 3: scan_one_few(t, dims, 3, q, block, l); break;
    case 4: scan_one_few(t, dims, 4, q, block, l); break;
    default: scan_one_many(t, dims, q, block, l);
    }
#endif
}

// Writes the keys of the lanes in `close`; returns how many.
INLINE int collect_keys(vreal distance, const int32_t* ids, uint32_t close, key* keys) {
#if SAP_SIMD == 3 && SAP_REAL_BITS == 32
    const __m512i even = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i odd = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    __m512i id = id_load(ids), bits = _mm512_castps_si512(distance);
    __m512i low = _mm512_permutex2var_epi32(id, even, bits), high = _mm512_permutex2var_epi32(id, odd, bits);
    _mm512_storeu_si512(keys, _mm512_maskz_compress_epi64((__mmask8)close, low));
    _mm512_storeu_si512(keys + count_bits(close & 255), _mm512_maskz_compress_epi64((__mmask8)(close >> 8), high));
    return count_bits(close);
#elif SAP_SIMD == 3
    const vbits id = _mm512_cvtepi32_epi64(id_load(ids));
    keys_store(keys, (vkey){v_compress(close, distance), _mm512_maskz_compress_epi64((__mmask8)close, id)});
    return count_bits(close);
#else
    real distances[LANES];
    int n = 0;
    v_store(distances, distance);
    for (; close; close &= close - 1) {
        int i = __builtin_ctz(close);
        keys[n++] = make_key(distances[i], ids[i]);
    }
    return n;
#endif
}

// Registers of a leaf that are compared with the worst before any of them is offered: the more, the fewer branches that
// nobody can foretell, but the more points that are offered for nothing while the list is not full, and the more code.
#if defined(__EMSCRIPTEN__) // where code is downloaded
enum { TOGETHER = 1 };
#else
enum { TOGETHER = 2 };
#endif

// Scans `together` registers from number `first` on, of which the leaf has them all.
INLINE void scan_some(const tree_view* t, const int kind, const int dims, const int together, const asked* q,
                      const real* block, const int first, list* l) {
    const int32_t* ids = block_ids(t, dims, block) + first * LANES;
    vreal distance[TOGETHER];
    uint32_t close[TOGETHER], any = 0;
    SAP_ASSERT(together <= TOGETHER && first + together <= t->vectors);
#pragma GCC unroll 8
    for (int v = 0; v < together; v++) {
        distance[v] = leaf_distance(t, dims, q->at, block, (first + v) * LANES);
        close[v] = v_less_equal(distance[v], v_set(l->worst));
        if (first + v == t->vectors - 1) close[v] &= t->last_lanes;
        any |= close[v];
    }
    if (!any) return;
    key keys[TOGETHER * LANES + 8] __attribute__((aligned(64))); // stores that cross a line are slow to read back
    int n = 0;
#pragma GCC unroll 8
    for (int v = 0; v < together; v++) {
        if (q->self >= 0) close[v] &= ~id_equal(id_load(ids + v * LANES), id_set(q->self));
        close[v] = kept(q, ids + v * LANES, close[v]);
        n += collect_keys(distance[v], ids + v * LANES, close[v], keys + n);
    }
    list_offer(l, kind, keys, n);
}

INLINE void scan_list(const tree_view* t, const int kind, const int dims, const asked* q, const real* block, list* l) {
    int v = 0;
    for (; v + TOGETHER <= t->vectors; v += TOGETHER) scan_some(t, kind, dims, TOGETHER, q, block, v, l);
    if (TOGETHER == 1) return;
    for (; v < t->vectors; v++) scan_some(t, kind, dims, 1, q, block, v, l);
}

INLINE void scan(const tree_view* t, const int kind, const int dims, const asked* q, int64_t leaf, list* l) {
    const real* block = leaf_block(t, leaf);
    if (kind == KIND_ONE)
        scan_one(t, dims, q, block, l);
    else
        scan_list(t, kind, dims, q, block, l);
}

// ---- The walk

enum { GROUP_VECTORS = SAP_GROUP / LANES }; // registers that hold a bound of each box of a group

// Of the boxes in `todo`, those that may hold a better point: nearer than the worst, or as near with a smaller id
// below. *are_tied: all of them are as near as the worst.
INLINE uint32_t boxes_before(const vreal* bound, const int32_t* min_ids, uint32_t todo, real worst, int32_t worst_id,
                             bool* are_tied) {
    uint32_t near = 0, equal = 0;
#pragma GCC unroll 8
    for (int v = 0; v < GROUP_VECTORS; v++) {
        near |= v_less_equal(bound[v], v_set(worst)) << v * LANES;
        equal |= v_equal(bound[v], v_set(worst)) << v * LANES;
    }
    near &= todo;
    *are_tied = false;
    if (__builtin_expect((equal & near) != 0, 0)) {
        uint32_t smaller = 0;
        for (int v = 0; v < SAP_GROUP; v += LANES) smaller |= id_less(id_load(min_ids + v), id_set(worst_id)) << v;
        near &= ~equal | smaller;
        *are_tied = !(near & ~equal);
    }
    return near;
}

INLINE uint32_t promising(const real* bounds, const int32_t* min_ids, uint32_t todo, const list* l, bool* are_tied) {
    vreal bound[GROUP_VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < GROUP_VECTORS; v++) bound[v] = v_load(bounds + v * LANES);
    return boxes_before(bound, min_ids, todo, l->worst, l->worst_id, are_tied);
}

// The nearest of the boxes in `among`, none of them infinitely far; of those that differ in the last four bits only,
// the first. Each bound carries its number there, so that the least one tells which it is.
INLINE int nearest_among(const vreal* bound, uint32_t among) {
    SAP_ASSERT(among != 0 && among < 1u << SAP_GROUP);
    if (!(among & (among - 1))) return __builtin_ctz(among);
    vreal least = v_set(INFINITY);
#pragma GCC unroll 8
    for (int v = 0; v < GROUP_VECTORS; v++) {
        vreal numbered = v_number(bound[v], v * LANES);
        least = v_min(least, v_select(among >> v * LANES & ALL_LANES, numbered, v_set(INFINITY)));
    }
    const int nearest = (int)(bits_of(reduce_min(least)) & 15);
    SAP_ASSERT(among >> nearest & 1);
    return nearest;
}

INLINE int nearest_box(const real* bounds, uint32_t among) {
    vreal bound[GROUP_VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < GROUP_VECTORS; v++) bound[v] = v_load(bounds + v * LANES);
    return nearest_among(bound, among);
}

// Of boxes that are all as far as the worst point, the one with the smallest id: so few of many equal distances are
// scanned, however their ids lie in space.
static __attribute__((noinline)) int first_by_id(const int32_t* min_ids, uint32_t among) {
    SAP_ASSERT(among != 0);
    int first = __builtin_ctz(among);
    for (; among; among &= among - 1) {
        int i = __builtin_ctz(among);
        if (min_ids[i] < min_ids[first]) first = i;
    }
    return first;
}

// A group of which boxes are still to be visited.
typedef struct pending {
    real bound[SAP_GROUP] __attribute__((aligned(64)));
    int64_t group;
    int level;
    uint32_t todo;
} pending;

INLINE void group_bounds(const tree_view* t, const int dims, const vreal* q, int level, int64_t group, real* bound) {
    const real* boxes = group_boxes(t, dims, level, group);
#pragma GCC unroll 8
    for (int v = 0; v < SAP_GROUP; v += LANES) v_store(bound + v, box_bounds(boxes, dims, q, v));
}

INLINE void walk(const tree_view* t, const int kind, const int dims, const asked* q, int64_t home, list* l,
                 sap_search_stats* stats) {
    pending stack[SAP_MAX_LEVELS];
    int top = 0, level = 0, last = t->levels - 1;
    int64_t group = 0, nodes = 1, leaves = 0;
    bool are_tied;
    SAP_ASSERT(t->levels > 0);
    group_bounds(t, dims, q->at, 0, 0, stack[0].bound);
    uint32_t near = promising(stack[0].bound, t->min_ids[0], worth(q, 0, 0, 0), l, &are_tied);
    for (;;) {
        if (!near) {
            if (top == 0) break;
            top--;
            level = stack[top].level;
            group = stack[top].group;
            near = promising(stack[top].bound, t->min_ids[level] + group * SAP_GROUP, stack[top].todo, l, &are_tied);
            continue;
        }
        const int i = __builtin_expect(are_tied, 0) ? first_by_id(t->min_ids[level] + group * SAP_GROUP, near)
                                                    : nearest_box(stack[top].bound, near);
        int64_t child = group * SAP_GROUP + i;
        near &= ~(1u << i);
        if (near) { // a group without more to visit is not kept: most ways back up need no second look
            stack[top].group = group;
            stack[top].level = level;
            stack[top].todo = near;
            top++;
        }
        if (level < last) {
            level++;
            group = child;
            SAP_ASSERT(top <= level && level < SAP_MAX_LEVELS);
            group_bounds(t, dims, q->at, level, group, stack[top].bound);
            near = promising(stack[top].bound, t->min_ids[level] + group * SAP_GROUP, worth(q, level, group, leaves), l,
                             &are_tied);
            nodes++;
        } else {
            if (child != home) {
                scan(t, kind, dims, q, child, l);
                leaves++;
            }
            near = 0;
        }
    }
    stats->nodes += nodes;
    stats->leaves += leaves;
}

#endif
