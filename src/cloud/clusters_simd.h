// The points of a leaf look for others that are near: leaves are ruled out by their boxes, or by being in the same set
// already, and points are tested a register at a time.
#ifndef SAPWOOD_CLOUD_CLUSTERS_SIMD_H
#define SAPWOOD_CLOUD_CLUSTERS_SIMD_H

#include "cloud/clusters.h"
#include "pairs/boxed_simd.h"

typedef struct looking {
    sap_clusters* c;
    real limit;
    real periods[SAP_MAX_DIMS]; // infinite on open axes
} looking;

INLINE looking look(sap_clusters* c) {
    looking l = {.c = c, .limit = (real)c->limit2};
    const sap_tree* tree = c->boxed->tree;
    for (int a = 0; a < tree->shape.dims; a++)
        l.periods[a] = tree->options.period[a] > 0 ? (real)tree->options.period[a] : (real)INFINITY;
    return l;
}

INLINE bool is_core(const sap_clusters* c, int32_t id) { return !c->core || c->core[id]; }

INLINE int32_t known_set(const sap_clusters* c, uint32_t node) {
    return __atomic_load_n(&c->one_set[node], __ATOMIC_RELAXED);
}

// ---- Small nodes

// The node after those below this one, in preorder.
INLINE uint32_t end_of(const sap_boxed* boxed, uint32_t node) {
    while (!sap_boxed_is_leaf(boxed, node)) node = boxed->nodes[node].upper;
    return node + 1;
}

// Joins all core points below; returns one of them, or SAP_CLUSTERS_NONE.
static int32_t join_below(const sap_clusters* c, uint32_t node, uint32_t end) {
    int32_t first = SAP_CLUSTERS_NONE;
    for (; node < end; node++) {
        if (!sap_boxed_is_leaf(c->boxed, node)) continue;
        const int32_t* ids = sap_boxed_ids(c->boxed, node);
        for (int32_t i = 0; i < c->boxed->nodes[node].count; i++) {
            if (!is_core(c, ids[i])) continue;
            first = first < 0 ? sap_clusters_root(c->links, ids[i]) : sap_clusters_join(c->links, first, ids[i]);
        }
    }
    return first;
}

// Whether a leaf has a core point; of other nodes true.
INLINE bool has_core(const sap_clusters* c, uint32_t node) {
    if (!c->core || !sap_boxed_is_leaf(c->boxed, node)) return true;
    const int32_t* ids = sap_boxed_ids(c->boxed, node);
    for (int32_t i = 0; i < c->boxed->nodes[node].count; i++)
        if (c->core[ids[i]]) return true;
    return false;
}

INLINE void join_small_with(sap_clusters* c, const int dims) {
    const looking l = look(c);
    const sap_boxed* boxed = c->boxed;
    for (uint32_t node = 0; node < boxed->count;) {
        const real* box = box_of(boxed, dims, node);
        c->one_set[node] = has_core(c, node) ? SAP_CLUSTERS_ANY : SAP_CLUSTERS_NONE;
        if (!(boxes_farthest2(box, box, dims, l.periods) <= l.limit)) {
            node++;
            continue;
        }
        const uint32_t end = end_of(boxed, node);
        const int32_t set = join_below(c, node, end);
        for (; node < end; node++) c->one_set[node] = has_core(c, node) ? set : SAP_CLUSTERS_NONE;
    }
    // A node below which there is no core point has no part in anything.
    for (uint32_t node = boxed->count; node-- > 0;)
        if (!sap_boxed_is_leaf(boxed, node) && c->one_set[node + 1] == SAP_CLUSTERS_NONE &&
            c->one_set[boxed->nodes[node].upper] == SAP_CLUSTERS_NONE)
            c->one_set[node] = SAP_CLUSTERS_NONE;
}

// ---- Points of two leaves

// Of the points from slot i on, those within the limit of the query.
INLINE uint32_t near_lanes(const looking* l, const int dims, const vreal* q, const real* coords, int32_t stride,
                           int32_t i, int32_t count) {
    vreal d = offset_between(q, 0, v_load(coords + i)), sum = v_mul(d, d);
    for (int a = 1; a < dims; a++) {
        d = offset_between(q, a, v_load(coords + (int64_t)a * stride + i));
        sum = v_add(sum, v_mul(d, d));
    }
    return v_less_equal(sum, v_set(l->limit)) & lanes_below(count - i);
}

INLINE void load_point(const looking* l, const int dims, const real* coords, int32_t stride, int32_t slot, real* point,
                       vreal* q) {
    int a = 0;
    do { // a tree has an axis at least, which compilers do not know
        point[a] = coords[(int64_t)a * stride + slot];
    } while (++a < dims);
    load_query(point, dims, q);
    load_periods(l->c->boxed->tree, dims, q);
}

// How near a point is to a box, as boxes_nearest2.
INLINE real point_to_box2(const looking* l, const int dims, const real* point, const real* box) {
    real corners[2 * SAP_MAX_DIMS];
    for (int a = 0; a < dims; a++) corners[a] = corners[dims + a] = point[a];
    return boxes_nearest2(corners, box, dims, l->periods);
}

// Joins the core points of two leaves, or of one (b the same as a), that are near one another. If the points of each are
// known to be in one set, one pair is enough.
INLINE void join_leaves(const looking* l, const int dims, uint32_t a, uint32_t b) {
    const sap_clusters* c = l->c;
    const sap_boxed_node *leaf_a = &c->boxed->nodes[a], *leaf_b = &c->boxed->nodes[b];
    const real *coords_a = sap_boxed_coords(c->boxed, a), *coords_b = sap_boxed_coords(c->boxed, b);
    const int32_t *ids_a = sap_boxed_ids(c->boxed, a), *ids_b = sap_boxed_ids(c->boxed, b);
    const real* box = box_of(c->boxed, dims, b);
    const bool are_whole = known_set(c, a) >= 0 && known_set(c, b) >= 0;
    for (int32_t i = 0; i < leaf_a->count; i++) {
        if (!is_core(c, ids_a[i])) continue;
        real point[SAP_MAX_DIMS];
        vreal q[QUERY_VECTORS];
        load_point(l, dims, coords_a, leaf_a->stride, i, point, q);
        if (a != b && point_to_box2(l, dims, point, box) > l->limit) continue;
        int32_t root = ids_a[i];
        for (int32_t j = a == b ? (i + 1) / LANES * LANES : 0; j < leaf_b->count; j += LANES) {
            uint32_t near = near_lanes(l, dims, q, coords_b, leaf_b->stride, j, leaf_b->count);
            for (; near; near &= near - 1) {
                const int32_t id = ids_b[j + __builtin_ctz(near)];
                if (!is_core(c, id)) continue;
                root = sap_clusters_join(c->links, root, id);
                if (are_whole) return;
            }
        }
    }
}

INLINE void join_leaf_with(sap_clusters* c, const int dims, uint32_t leaf) {
    const looking l = look(c);
    const sap_boxed* boxed = c->boxed;
    const real* box = box_of(boxed, dims, leaf);
    const int32_t own = known_set(c, leaf);
    uint32_t waiting[SAP_MAX_DEPTH + 1];
    int count = 1;
    if (own == SAP_CLUSTERS_NONE) return;
    if (own == SAP_CLUSTERS_ANY) join_leaves(&l, dims, leaf, leaf);
    waiting[0] = 0;
    while (count > 0) {
        const uint32_t node = waiting[--count];
        const real* other = box_of(boxed, dims, node);
        const int32_t set = known_set(c, node);
        if (set == SAP_CLUSTERS_NONE || boxes_nearest2(box, other, dims, l.periods) > l.limit) continue;
        const bool are_whole = own >= 0 && set >= 0 && node > leaf;
        if (are_whole && sap_clusters_root(c->links, own) == sap_clusters_root(c->links, set)) continue;
        if (are_whole && boxes_farthest2(box, other, dims, l.periods) <= l.limit) {
            sap_clusters_join(c->links, own, set);
        } else if (sap_boxed_is_leaf(boxed, node)) {
            if (node > leaf) join_leaves(&l, dims, leaf, node);
        } else {
            const uint32_t upper = boxed->nodes[node].upper;
            SAP_ASSERT(count + 2 <= SAP_MAX_DEPTH + 1);
            waiting[count++] = upper;
            if (upper > leaf) waiting[count++] = node + 1; // else all that is below comes before the leaf
        }
    }
}

// ---- Border points

INLINE int32_t nearest_core(const looking* l, const int dims, const real* point, const vreal* q) {
    const sap_boxed* boxed = l->c->boxed;
    uint32_t waiting[SAP_MAX_DEPTH + 1];
    int count = 1;
    real least = l->limit;
    int32_t nearest = INT32_MAX;
    waiting[0] = 0;
    while (count > 0) {
        const uint32_t node = waiting[--count];
        if (known_set(l->c, node) == SAP_CLUSTERS_NONE) continue;
        if (point_to_box2(l, dims, point, box_of(boxed, dims, node)) > least) continue;
        if (!sap_boxed_is_leaf(boxed, node)) {
            SAP_ASSERT(count + 2 <= SAP_MAX_DEPTH + 1);
            waiting[count++] = boxed->nodes[node].upper;
            waiting[count++] = node + 1;
            continue;
        }
        const real* coords = sap_boxed_coords(boxed, node);
        const int32_t* ids = sap_boxed_ids(boxed, node);
        const sap_boxed_node* leaf = &boxed->nodes[node];
        for (int32_t j = 0; j < leaf->count; j += LANES) {
            vreal d = offset_between(q, 0, v_load(coords + j)), sum = v_mul(d, d);
            for (int a = 1; a < dims; a++) {
                d = offset_between(q, a, v_load(coords + (int64_t)a * leaf->stride + j));
                sum = v_add(sum, v_mul(d, d));
            }
            real distance2[LANES];
            v_store(distance2, sum);
            uint32_t near = v_less_equal(sum, v_set(least)) & lanes_below(leaf->count - j);
            for (; near; near &= near - 1) {
                const int i = __builtin_ctz(near);
                const int32_t id = ids[j + i];
                if (!is_core(l->c, id) || distance2[i] > least || (distance2[i] == least && id >= nearest)) continue;
                least = distance2[i];
                nearest = id;
            }
        }
    }
    return nearest;
}

INLINE void label_border_with(sap_clusters* c, const int dims, uint32_t leaf) {
    const looking l = look(c);
    const real* coords = sap_boxed_coords(c->boxed, leaf);
    const int32_t* ids = sap_boxed_ids(c->boxed, leaf);
    for (int32_t i = 0; i < c->boxed->nodes[leaf].count; i++) {
        if (is_core(c, ids[i])) continue;
        real point[SAP_MAX_DIMS];
        vreal q[QUERY_VECTORS];
        load_point(&l, dims, coords, c->boxed->nodes[leaf].stride, i, point, q);
        const int32_t core = nearest_core(&l, dims, point, q);
        c->labels[ids[i]] = core == INT32_MAX ? -1 : c->labels[core];
    }
}

// One instance for each usual number of dimensions.
#define WITH_DIMS(call)                                                                                                \
    const int dims = c->boxed->tree->shape.dims;                                                                       \
    switch (dims) {                                                                                                    \
    case 2: call(2); break;                                                                                            \
    case 3: call(3); break;                                                                                            \
    default: call(dims);                                                                                               \
    }

static void join_small(sap_clusters* c) {
#define CALL(dims) join_small_with(c, dims)
    WITH_DIMS(CALL)
#undef CALL
}

static void join_leaf(sap_clusters* c, uint32_t leaf) {
#define CALL(dims) join_leaf_with(c, dims, leaf)
    WITH_DIMS(CALL)
#undef CALL
}

static void label_border(sap_clusters* c, uint32_t leaf) {
#define CALL(dims) label_border_with(c, dims, leaf)
    WITH_DIMS(CALL)
#undef CALL
}

#endif
