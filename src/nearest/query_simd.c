// One query a call on a balanced tree. The walk of nearest/walk_simd.h, arranged so that what comes next waits for as
// little as possible: there is no other query to work on meanwhile.
#include "nearest/query.h"
#include "nearest/walk_simd.h"

_Static_assert(sizeof(tree_view) <= SAP_QUERY_VIEW, "a prepared search has room for the view");

INLINE const tree_view* view_of(const sap_query* query) { return (const tree_view*)(const void*)query->view; }

// Ends a row of which `found` places are taken.
INLINE int32_t end_row(const sap_query* query, int32_t found, int32_t* ids, real* distance2) {
    for (int32_t i = found; i < query->search.k; i++)
        write_answer(make_key(0, NOBODY), ids + i, distance2 ? distance2 + i : NULL);
    return found;
}

INLINE void add_stats(const sap_query* query, const sap_search_stats* done) {
    sap_search_stats* stats = query->search.stats;
    if (!stats) return;
    stats->nodes += done->nodes;
    stats->leaves += done->leaves;
    stats->points += done->leaves * view_of(query)->points;
}

// ---- Leaves, for one neighbour

// Leaves of up to so many registers are scanned without loops.
#if SAP_SIMD == 2 && SAP_REAL_BITS == 32
#define UNROLLED 5
#elif SAP_SIMD == 3
#define UNROLLED 3
#else
#define UNROLLED 0
#endif

#if UNROLLED
// The best of a leaf's points, if it comes before `best`. No branch depends on the points, of which processors would
// foretell none.
INLINE key best_of_few(const tree_view* t, const int dims, const int vectors, const vreal* q, const real* block,
                       key best) {
    vreal distance[UNROLLED];
    SAP_ASSERT(vectors >= 1 && vectors <= UNROLLED && t->vectors == vectors);
    const int32_t* ids = block_ids(t, dims, block);
#pragma GCC unroll 5
    for (int v = 0; v < vectors; v++) distance[v] = leaf_distance(t, dims, q, block, v * LANES);
    distance[vectors - 1] = v_select(t->last_lanes, distance[vectors - 1], v_set(INFINITY));
    vreal least = distance[0];
#pragma GCC unroll 5
    for (int v = 1; v < vectors; v++) least = v_min(least, distance[v]);
    const real nearest = reduce_min(least);
    uint64_t equal = 0;
#pragma GCC unroll 5
    for (int v = 0; v < vectors; v++) equal |= (uint64_t)v_equal(distance[v], v_set(nearest)) << v * LANES;
    // Ids ascend within a leaf: the first point at this distance has the smallest id.
    const key found = make_key(nearest, ids[__builtin_ctzll(equal)]);
    return key_less(found, best) ? found : best;
}
#endif

INLINE key best_of_many(const tree_view* t, const int dims, const vreal* q, const real* block, key best) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        vreal distance = leaf_distance(t, dims, q, block, v * LANES);
        uint32_t close = v_less_equal(distance, v_set(key_distance(best)));
        if (v == t->vectors - 1) close &= t->last_lanes;
        if (!close) continue;
        const real nearest = reduce_min(v_select(close, distance, v_set(INFINITY)));
        const int lane = __builtin_ctz(v_equal(distance, v_set(nearest)) & close);
        const key found = make_key(nearest, ids[v * LANES + lane]);
        if (key_less(found, best)) best = found;
    }
    return best;
}

INLINE key best_of_leaf(const tree_view* t, const int dims, const vreal* q, const real* block, key best) {
#if UNROLLED
    switch (t->vectors) {
    case 1: return best_of_few(t, dims, 1, q, block, best);
    case 2: return best_of_few(t, dims, 2, q, block, best);
    case 3: return best_of_few(t, dims, 3, q, block, best);
#if UNROLLED > 3
    case 4: return best_of_few(t, dims, 4, q, block, best);
    case 5: return best_of_few(t, dims, 5, q, block, best);
#endif
    default: break;
    }
#endif
    return best_of_many(t, dims, q, block, best);
}

// ---- Leaves, for a list

// No more than the distance of the k-th nearest of a leaf's points, as far as that is quickly known: of each lane's
// points one, or two, or more, are that near. The first leaf would otherwise put most of its points into the list.
INLINE real cap_of_leaf(const tree_view* t, const int dims, const vreal* q, const real* block, int32_t k) {
    enum { MOST = 4 };
    const int rounds = (k + LANES - 1) / LANES;
    vreal least[MOST];
    if (rounds > MOST || rounds > t->vectors) return INFINITY;
#pragma GCC unroll 4
    for (int r = 0; r < MOST; r++) least[r] = v_set(INFINITY);
    for (int v = 0; v < t->vectors; v++) {
        vreal distance = leaf_distance(t, dims, q, block, v * LANES);
        if (v == t->vectors - 1) distance = v_select(t->last_lanes, distance, v_set(INFINITY));
#pragma GCC unroll 4
        for (int r = 0; r < MOST; r++) {
            vreal more = v_max(least[r], distance);
            least[r] = v_min(least[r], distance);
            distance = more;
        }
    }
    vreal kth = least[0];
#pragma GCC unroll 4
    for (int r = 1; r < MOST; r++) kth = r < rounds ? least[r] : kth;
    return reduce_max(kth);
}

INLINE void list_of_leaf(const tree_view* t, const int kind, const int dims, const vreal* q, const real* block,
                         real cap, list* l) {
    const int32_t* ids = block_ids(t, dims, block);
    for (int v = 0; v < t->vectors; v++) {
        vreal distance = leaf_distance(t, dims, q, block, v * LANES);
        uint32_t close = v_less_equal(distance, v_set(cap < l->worst ? cap : l->worst));
        if (v == t->vectors - 1) close &= t->last_lanes;
        if (!close) continue;
        key keys[LANES + 8] __attribute__((aligned(64))); // stores that cross a line are slow to read back
        int n = collect_keys(distance, ids + v * LANES, close, keys);
        list_offer(l, kind, keys, n);
    }
}

// ---- The walk

// The box of a group with the least bound, some of which are finite; of those that differ in the last four bits only,
// any.
INLINE int nearest_of_all(const vreal* bound) {
    vreal least = v_set(sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX);
    // An infinite bound with a number is none any more; v_min takes its second operand then.
#pragma GCC unroll 8
    for (int v = 0; v < GROUP_VECTORS; v++) least = v_min(v_number(bound[v], v * LANES), least);
    return (int)(bits_of(reduce_min(least)) & 15);
}

INLINE void scan_leaf(const tree_view* t, const int kind, const int dims, const vreal* q, int64_t leaf, bool is_first,
                      list* l) {
    const real* block = leaf_block(t, leaf);
    if (kind == KIND_ONE) {
        const key best = best_of_leaf(t, dims, q, block, make_key(l->worst, l->worst_id));
        list_set_worst(l, best);
    } else {
        const real cap = is_first ? cap_of_leaf(t, dims, q, block, l->k) : INFINITY;
        list_of_leaf(t, kind, dims, q, block, cap, l);
    }
}

INLINE void walk_alone(const tree_view* t, const int kind, const int dims, const vreal* q, list* l,
                       sap_search_stats* stats) {
    pending stack[SAP_MAX_LEVELS];
    int top = 0, level = 0, last = t->levels - 1;
    int64_t group = 0, nodes = 0, leaves = 0;
    bool are_tied;
    for (;;) {
        SAP_ASSERT(top <= level && level <= last && last < SAP_MAX_LEVELS);
        const int32_t* min_ids = t->min_ids[level] + group * SAP_GROUP;
        const real* boxes = group_boxes(t, dims, level, group);
        if (level == last) { // the pages of the leaves, of which one will be wanted soon
            __builtin_prefetch(leaf_block(t, group * SAP_GROUP + SAP_GROUP / 4));
            __builtin_prefetch(leaf_block(t, group * SAP_GROUP + 3 * SAP_GROUP / 4));
        }
        vreal bound[GROUP_VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < GROUP_VECTORS; v++) bound[v] = box_bounds(boxes, dims, q, v * LANES);
        uint32_t near = boxes_before(bound, min_ids, 0xffff, l->worst, l->worst_id, &are_tied);
        nodes++;
        if (near) {
            int i = __builtin_expect(are_tied, 0) ? first_by_id(min_ids, near) : nearest_of_all(bound);
            near &= ~(1u << i);
            if (level < last) {
                if (near) {
#pragma GCC unroll 8
                    for (int v = 0; v < GROUP_VECTORS; v++) v_store(stack[top].bound + v * LANES, bound[v]);
                    stack[top].group = group;
                    stack[top].level = level;
                    stack[top].todo = near;
                    top++;
                }
                level++;
                group = group * SAP_GROUP + i;
                continue;
            }
            for (;;) {
                scan_leaf(t, kind, dims, q, group * SAP_GROUP + i, leaves == 0, l);
                leaves++;
                if (!near) break;
                near = boxes_before(bound, min_ids, near, l->worst, l->worst_id, &are_tied);
                if (!near) break;
                if (__builtin_expect(are_tied, 0))
                    i = first_by_id(min_ids, near);
                else
                    i = kind == KIND_ONE ? __builtin_ctz(near) : nearest_among(bound, near);
                near &= ~(1u << i);
            }
        }
        do {
            if (top == 0) {
                stats->nodes += nodes;
                stats->leaves += leaves;
                return;
            }
            top--;
            level = stack[top].level;
            group = stack[top].group;
            vreal waiting[GROUP_VECTORS];
#pragma GCC unroll 8
            for (int v = 0; v < GROUP_VECTORS; v++) waiting[v] = v_load(stack[top].bound + v * LANES);
            near = boxes_before(waiting, t->min_ids[level] + group * SAP_GROUP, stack[top].todo, l->worst, l->worst_id,
                                &are_tied);
        } while (!near);
        const int i = __builtin_expect(are_tied, 0) ? first_by_id(t->min_ids[level] + group * SAP_GROUP, near)
                                                    : nearest_box(stack[top].bound, near);
        near &= ~(1u << i);
        stack[top].todo = near;
        top += near != 0;
        level++;
        group = group * SAP_GROUP + i;
    }
}

INLINE int32_t answer_with(const sap_query* query, const int kind, const int dims, const real* at, int32_t* ids,
                           real* distance2) {
    list l;
    key sorted[SAP_LIST_MAX];
    vreal q[SAP_MAX_DIMS];
    sap_search_stats done = {0, 0, 0};
    if (!load_query(at, dims, q)) return end_row(query, 0, ids, distance2);
    list_begin(&l, kind, query->k, (real)query->limit2, kind == KIND_HEAP ? query->keys : sorted);
    walk_alone(view_of(query), kind, dims, q, &l, &done);
    add_stats(query, &done);
    list_write(&l, kind, ids, distance2);
    int32_t found = query->k;
    while (found > 0 && ids[found - 1] < 0) found--;
    return end_row(query, found, ids, distance2);
}

// One instance for each usual number of dimensions, and one for all others; doubles in 4-D are too rare.
// SAP_FEW_INSTANCES: only that one, where the code is downloaded.
#define ANY query->tree->shape.dims
#define INSTANCE(kind, name, dims)                                                                                     \
    static int32_t answer_##kind##_##name(const sap_query* query, const void* point, int32_t* ids, void* distance2) {  \
        return answer_with(query, KIND_##kind, dims, point, ids, distance2);                                           \
    }
#if defined(SAP_FEW_INSTANCES)
#define INSTANCES(kind) INSTANCE(kind, any, ANY)
#define EACH(kind)                                                                                                     \
    { answer_##kind##_any, answer_##kind##_any, answer_##kind##_any, answer_##kind##_any }
#elif SAP_REAL_BITS == 64
#define INSTANCES(kind) INSTANCE(kind, 2, 2) INSTANCE(kind, 3, 3) INSTANCE(kind, any, ANY)
#define EACH(kind)                                                                                                     \
    { answer_##kind##_2, answer_##kind##_3, answer_##kind##_any, answer_##kind##_any }
#else
#define INSTANCES(kind) INSTANCE(kind, 2, 2) INSTANCE(kind, 3, 3) INSTANCE(kind, 4, 4) INSTANCE(kind, any, ANY)
#define EACH(kind)                                                                                                     \
    { answer_##kind##_2, answer_##kind##_3, answer_##kind##_4, answer_##kind##_any }
#endif
INSTANCES(ONE)
#if REGISTER_LISTS
enum { KIND_8 = 1, KIND_16 = 2, KIND_32 = 4 };
INSTANCES(8)
INSTANCES(16)
INSTANCES(32)
#define EACH_LIST EACH(8), EACH(16), EACH(32)
#else
INSTANCES(SORTED)
#define EACH_LIST EACH(SORTED), EACH(SORTED), EACH(SORTED)
#endif
INSTANCE(HEAP, any, ANY)
#define EACH_HEAP                                                                                                      \
    { answer_HEAP_any, answer_HEAP_any, answer_HEAP_any, answer_HEAP_any }

static void prepare(sap_query* query) {
    static const sap_query_answer answers[5][4] = {EACH(ONE), EACH_LIST, EACH_HEAP};
    const int32_t dims = query->tree->shape.dims, k = query->k;
    const int kind = k == 1 ? 0 : k <= 8 ? 1 : k <= 16 ? 2 : k <= SAP_LIST_MAX ? 3 : 4;
    *(tree_view*)(void*)query->view = view_tree(query->tree);
    query->answer = answers[kind][dims >= 2 && dims <= 4 ? dims - 2 : 3];
}

const sap_one_kernels SAP_KERNEL(one_kernels) = {prepare};
