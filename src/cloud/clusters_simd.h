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

enum { TOGETHER = 64 }; // points of a leaf that are looked at together, a bit each

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

// Of `count` points of a leaf from a slot on, at most TOGETHER, those that are within the limit of a box, a bit each.
INLINE uint64_t reaching(const looking* l, const int dims, uint32_t leaf, int32_t first, int32_t count, const real* box,
                         real limit) {
    const int32_t stride = l->c->boxed->nodes[leaf].stride;
    const real* coords = (const real*)sap_boxed_coords(l->c->boxed, leaf) + first;
    uint64_t found = 0;
#if PERIODIC
    for (int32_t i = 0; i < count; i++) {
        real corners[2 * SAP_MAX_DIMS];
        for (int a = 0; a < dims; a++) corners[a] = corners[dims + a] = coords[(int64_t)a * stride + i];
        found |= (uint64_t)(boxes_nearest2(corners, box, dims, l->periods) <= limit) << i;
    }
#else
    for (int32_t i = 0; i < count; i += LANES) {
        vreal sum = v_set(0);
        for (int a = 0; a < dims; a++) {
            const vreal at = v_load(coords + (int64_t)a * stride + i);
            const vreal outside = v_max(v_sub(v_set(box[a]), at), v_sub(at, v_set(box[dims + a])));
            const vreal gap = v_max(outside, v_set(0));
            sum = a ? v_add(sum, v_mul(gap, gap)) : v_mul(gap, gap);
        }
        found |= (uint64_t)(v_less_equal(sum, v_set(limit)) & lanes_below(count - i)) << i;
    }
#endif
    return found;
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
    uint64_t near_b = 0; // of a group of points
    for (int32_t i = 0; i < leaf_a->count; i++) {
        if (i % TOGETHER == 0) {
            const int32_t left = leaf_a->count - i < TOGETHER ? leaf_a->count - i : TOGETHER;
            near_b = a == b ? UINT64_MAX : reaching(l, dims, a, i, left, box, l->limit);
        }
        if (!(near_b >> i % TOGETHER & 1) || !is_core(c, ids_a[i])) continue;
        real point[SAP_MAX_DIMS];
        vreal q[QUERY_VECTORS];
        load_point(l, dims, coords_a, leaf_a->stride, i, point, q);
        int32_t root = ids_a[i];
        for (int32_t j = a == b ? (i + 1) / LANES * LANES : 0; j < leaf_b->count; j += LANES) {
            uint32_t near = near_lanes(l, dims, q, coords_b, leaf_b->stride, j, leaf_b->count);
            for (; near; near &= near - 1) {
                const int32_t id = ids_b[j + __builtin_ctz(near)];
                if (!is_core(c, id) || __atomic_load_n(&c->links[id], __ATOMIC_RELAXED) == root) continue;
                root = sap_clusters_join(c->links, root, id);
                if (are_whole) return;
            }
        }
    }
}

// Joins the core points of a leaf of at most TOGETHER, given as bits, with one another. False if they are several sets.
INLINE bool join_few(const looking* l, const int dims, uint32_t leaf, uint64_t cores, int32_t* set) {
    const sap_boxed_node* own = &l->c->boxed->nodes[leaf];
    const real* coords = sap_boxed_coords(l->c->boxed, leaf);
    const int32_t* ids = sap_boxed_ids(l->c->boxed, leaf);
    int sets = 0;
    for (uint64_t left = cores; left; sets++) {
        uint64_t found = left & -left;
        left &= left - 1;
        *set = ids[__builtin_ctzll(found)];
        while (found) {
            const int i = __builtin_ctzll(found);
            real point[SAP_MAX_DIMS];
            vreal q[QUERY_VECTORS];
            uint64_t near = 0;
            found &= found - 1;
            load_point(l, dims, coords, own->stride, i, point, q);
            for (int32_t j = 0; j < own->count; j += LANES)
                near |= (uint64_t)near_lanes(l, dims, q, coords, own->stride, j, own->count) << j;
            *set = sap_clusters_join(l->c->links, *set, ids[i]);
            found |= near & left;
            left &= ~near;
        }
    }
    return sets == 1;
}

// Joins the core points of a leaf, however many, with one another. False if they are several sets.
INLINE bool join_many(const looking* l, const int dims, uint32_t leaf, int32_t* set) {
    const sap_clusters* c = l->c;
    const int32_t* ids = sap_boxed_ids(c->boxed, leaf);
    join_leaves(l, dims, leaf, leaf);
    for (int32_t i = 0; i < c->boxed->nodes[leaf].count; i++) {
        if (!is_core(c, ids[i])) continue;
        const int32_t root = sap_clusters_root(c->links, ids[i]);
        if (*set >= 0 && root != *set) return false;
        *set = root;
    }
    return true;
}

INLINE void join_own_with(sap_clusters* c, const int dims, uint32_t leaf) {
    const looking l = look(c);
    const int32_t *ids = sap_boxed_ids(c->boxed, leaf), count = c->boxed->nodes[leaf].count;
    int32_t set = SAP_CLUSTERS_NONE;
    uint64_t cores = 0;
    if (known_set(c, leaf) != SAP_CLUSTERS_ANY) return;
    for (int32_t i = 0; i < count && count <= TOGETHER; i++) cores |= (uint64_t)is_core(c, ids[i]) << i;
    if (count <= TOGETHER ? join_few(&l, dims, leaf, cores, &set) : join_many(&l, dims, leaf, &set))
        c->one_set[leaf] = set;
}

INLINE void join_leaf_with(sap_clusters* c, const int dims, uint32_t leaf) {
    const looking l = look(c);
    const sap_boxed* boxed = c->boxed;
    const real* box = box_of(boxed, dims, leaf);
    const int32_t own = known_set(c, leaf);
    uint32_t waiting[SAP_MAX_DEPTH + 1];
    int count = 1;
    if (own == SAP_CLUSTERS_NONE) return;
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

// ---- Points of a leaf that go down the tree together

typedef struct group {
    uint32_t leaf;
    int32_t first;              // slot of the first of them
    uint64_t asks;              // those that look for something, a bit each
    real box[2 * SAP_MAX_DIMS]; // of these
    real reach;                 // how far they look
    int64_t counts[TOGETHER];   // of core points: neighbours found
    real least[TOGETHER];       // of border points: how far the nearest core point is
    int32_t nearest[TOGETHER];  // and which it is; INT32_MAX: none yet
} group;

// All points of a group, a bit each.
INLINE uint64_t group_of(const looking* l, uint32_t leaf, int32_t first, group* g) {
    const int32_t left = l->c->boxed->nodes[leaf].count - first;
    g->leaf = leaf;
    g->first = first;
    g->reach = l->limit;
    return left >= TOGETHER ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

INLINE void bound_group(const looking* l, const int dims, group* g) {
    const real* coords = sap_boxed_coords(l->c->boxed, g->leaf);
    const int32_t stride = l->c->boxed->nodes[g->leaf].stride;
    for (int a = 0; a < dims; a++) {
        real lower = (real)INFINITY, upper = -(real)INFINITY;
        for (uint64_t left = g->asks; left; left &= left - 1) {
            const real at = coords[(int64_t)a * stride + g->first + __builtin_ctzll(left)];
            lower = at < lower ? at : lower;
            upper = at > upper ? at : upper;
        }
        g->box[a] = lower;
        g->box[dims + a] = upper;
    }
}

// A node that waits, and the one after those below it.
typedef struct span {
    uint32_t node, end;
} span;

// The next leaf that the group may reach and that is not its own, or, where `whole` is not NULL, a node all of which it
// reaches; UINT32_MAX: there is none.
INLINE uint32_t next_reached(const looking* l, const int dims, const group* g, span* waiting, int* count, bool* whole) {
    const sap_boxed* boxed = l->c->boxed;
    while (*count > 0) {
        const span at = waiting[--*count];
        const real* other = box_of(boxed, dims, at.node);
        if (at.node == g->leaf || (!whole && known_set(l->c, at.node) == SAP_CLUSTERS_NONE) ||
            boxes_nearest2(g->box, other, dims, l->periods) > g->reach)
            continue;
        if (whole) *whole = false;
        if (whole && !(at.node <= g->leaf && g->leaf < at.end) &&
            boxes_farthest2(g->box, other, dims, l->periods) <= l->limit) {
            *whole = true;
            return at.node;
        }
        if (sap_boxed_is_leaf(boxed, at.node)) return at.node;
        const uint32_t upper = boxed->nodes[at.node].upper;
        SAP_ASSERT(*count + 2 <= SAP_MAX_DEPTH + 1);
        const span lower_part = {at.node + 1, upper}, upper_part = {upper, at.end};
        const bool is_upper =
            g->leaf >= upper && g->leaf < at.end; // what the group is in comes first, then its siblings
        waiting[(*count)++] = is_upper ? lower_part : upper_part;
        waiting[(*count)++] = is_upper ? upper_part : lower_part;
    }
    return UINT32_MAX;
}

// Those that ask and reach a leaf.
INLINE uint64_t group_reaching(const looking* l, const int dims, const group* g, uint32_t leaf) {
    const int32_t left = l->c->boxed->nodes[g->leaf].count - g->first, count = left < TOGETHER ? left : TOGETHER;
    if (leaf == g->leaf) return g->asks;
    return g->asks & reaching(l, dims, g->leaf, g->first, count, box_of(l->c->boxed, dims, leaf), g->reach);
}

// ---- Core points

// Counts the points of a leaf within the limit of those that ask, until they have enough.
INLINE void count_in_leaf(const looking* l, const int dims, group* g, uint32_t leaf) {
    const sap_boxed* boxed = l->c->boxed;
    const sap_boxed_node *own = &boxed->nodes[g->leaf], *other = &boxed->nodes[leaf];
    const real *own_coords = sap_boxed_coords(boxed, g->leaf), *coords = sap_boxed_coords(boxed, leaf);
    for (uint64_t left = group_reaching(l, dims, g, leaf); left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        real point[SAP_MAX_DIMS];
        vreal q[QUERY_VECTORS];
        load_point(l, dims, own_coords, own->stride, g->first + i, point, q);
        for (int32_t j = 0; j < other->count && g->counts[i] < l->c->fewest; j += LANES)
            g->counts[i] += __builtin_popcount(near_lanes(l, dims, q, coords, other->stride, j, other->count));
        if (g->counts[i] >= l->c->fewest) g->asks &= ~(UINT64_C(1) << i);
    }
}

INLINE void mark_cores_with(sap_clusters* c, const int dims, uint32_t leaf) {
    const looking l = look(c);
    const int32_t *ids = sap_boxed_ids(c->boxed, leaf), own = c->boxed->nodes[leaf].count;
    const real* box = box_of(c->boxed, dims, leaf);
    const bool is_small = boxes_farthest2(box, box, dims, l.periods) <= l.limit; // then all are near one another
    group g;
    for (int32_t first = 0; first < own; first += TOGETHER) {
        const uint64_t all = group_of(&l, leaf, first, &g);
        span waiting[SAP_MAX_DEPTH + 1] = {{0, c->boxed->count}};
        int count = 1;
        bool whole;
        g.asks = all;
        for (int i = 0; i < TOGETHER; i++) g.counts[i] = is_small ? own : 0;
        if (is_small && own >= c->fewest) g.asks = 0;
        if (!is_small) count_in_leaf(&l, dims, &g, leaf);
        if (g.asks) bound_group(&l, dims, &g);
        while (g.asks) {
            const uint32_t node = next_reached(&l, dims, &g, waiting, &count, &whole);
            if (node == UINT32_MAX) break;
            if (!whole) {
                count_in_leaf(&l, dims, &g, node);
                continue;
            }
            for (uint64_t left = g.asks; left; left &= left - 1) {
                const int i = __builtin_ctzll(left);
                g.counts[i] += c->boxed->nodes[node].count;
                if (g.counts[i] >= c->fewest) g.asks &= ~(UINT64_C(1) << i);
            }
        }
        for (uint64_t left = all; left; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            c->core[ids[first + i]] = g.counts[i] >= c->fewest;
        }
    }
}

// ---- Border points

// Offers the core points of a leaf to those that ask.
INLINE void offer_leaf(const looking* l, const int dims, group* g, uint32_t leaf) {
    const sap_boxed* boxed = l->c->boxed;
    const sap_boxed_node *own = &boxed->nodes[g->leaf], *other = &boxed->nodes[leaf];
    const real *own_coords = sap_boxed_coords(boxed, g->leaf), *coords = sap_boxed_coords(boxed, leaf);
    const int32_t* ids = sap_boxed_ids(boxed, leaf);
    for (uint64_t asking = group_reaching(l, dims, g, leaf); asking; asking &= asking - 1) {
        const int n = __builtin_ctzll(asking);
        real point[SAP_MAX_DIMS];
        vreal q[QUERY_VECTORS];
        load_point(l, dims, own_coords, own->stride, g->first + n, point, q);
        for (int32_t j = 0; j < other->count; j += LANES) {
            vreal d = offset_between(q, 0, v_load(coords + j)), sum = v_mul(d, d);
            for (int a = 1; a < dims; a++) {
                d = offset_between(q, a, v_load(coords + (int64_t)a * other->stride + j));
                sum = v_add(sum, v_mul(d, d));
            }
            real distance2[LANES];
            v_store(distance2, sum);
            uint32_t near = v_less_equal(sum, v_set(g->least[n])) & lanes_below(other->count - j);
            for (; near; near &= near - 1) {
                const int i = __builtin_ctz(near);
                const int32_t id = ids[j + i];
                if (!is_core(l->c, id) || distance2[i] > g->least[n] ||
                    (distance2[i] == g->least[n] && id >= g->nearest[n]))
                    continue;
                g->least[n] = distance2[i];
                g->nearest[n] = id;
            }
        }
    }
    g->reach = 0;
    for (uint64_t asking = g->asks; asking; asking &= asking - 1) {
        const real least = g->least[__builtin_ctzll(asking)];
        g->reach = least > g->reach ? least : g->reach;
    }
}

INLINE void label_border_with(sap_clusters* c, const int dims, uint32_t leaf) {
    const looking l = look(c);
    const int32_t* ids = sap_boxed_ids(c->boxed, leaf);
    group g;
    for (int32_t first = 0; first < c->boxed->nodes[leaf].count; first += TOGETHER) {
        const uint64_t all = group_of(&l, leaf, first, &g);
        span waiting[SAP_MAX_DEPTH + 1] = {{0, c->boxed->count}};
        int count = 1;
        g.asks = 0;
        for (uint64_t left = all; left; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            g.asks |= (uint64_t)!is_core(c, ids[first + i]) << i;
            g.least[i] = l.limit;
            g.nearest[i] = INT32_MAX;
        }
        if (!g.asks) continue;
        bound_group(&l, dims, &g);
        if (known_set(c, leaf) != SAP_CLUSTERS_NONE) offer_leaf(&l, dims, &g, leaf);
        for (uint32_t node; (node = next_reached(&l, dims, &g, waiting, &count, NULL)) != UINT32_MAX;)
            offer_leaf(&l, dims, &g, node);
        for (uint64_t left = g.asks; left; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            c->labels[ids[first + i]] = g.nearest[i] == INT32_MAX ? -1 : c->labels[g.nearest[i]];
        }
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

static void mark_cores(sap_clusters* c, uint32_t leaf) {
#define CALL(dims) mark_cores_with(c, dims, leaf)
    WITH_DIMS(CALL)
#undef CALL
}

static void join_small(sap_clusters* c) {
#define CALL(dims) join_small_with(c, dims)
    WITH_DIMS(CALL)
#undef CALL
}

static void join_own(sap_clusters* c, uint32_t leaf) {
#define CALL(dims) join_own_with(c, dims, leaf)
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
