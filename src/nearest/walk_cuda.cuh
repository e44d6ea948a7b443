// The walks of one query through a tree of either kind on a GPU, with a stack and without. A list is a sap_list or a
// sap_heap (both have begin, limit2, limit_id and offer), a query a walk_query or a told_query.
#ifndef SAPWOOD_NEAREST_WALK_CUDA_CUH
#define SAPWOOD_NEAREST_WALK_CUDA_CUH

#include "nearest/leaf_lanes_cuda.cuh"

// Each thread has a query. A walk goes round by round, with one leaf in each, so that the lanes of a warp run each part
// of a round together: they vote, because lanes that leave a loop early would run what follows alone. All lanes take
// part, also those without a query (`asks` is false). A lane that is done can take its next query before the next
// round.

static __device__ __forceinline__ bool walk_any(bool yes) { return __any_sync(SAP_ALL_LANES, yes) != 0; }

// ---- Answers that are near enough follow from the shared walk with a stack (nearest/walk.h): it leaves out a node if
// the list is full and the bound of the node's cell, widened, is too far. The walks here take nodes in the same order
// and besides leave out only what the list would not take anything of, so that they find the same.

// The bound of a node's cell, from the planes that its path crosses.
template <typename real, int dims, bool balanced>
static __device__ __forceinline__ real walk_cell2(const walk_tree<real>& t, const walk_query<real, dims>& q,
                                                  unsigned int node) {
    real aside[dims];
    unsigned int at = balanced ? 1 : 0;
#pragma unroll
    for (int a = 0; a < dims; a++) aside[a] = 0;
#pragma unroll 1 // inlined, because a call would put the query and the list into memory
    for (int level = balanced ? 30 - __clz((int)node) : 0; balanced ? level >= 0 : at != node; level--) {
        int axis;
        real split;
        bool upper; // where the node lies
        if (balanced) {
            axis = t.axis[at];
            split = t.split[at];
            upper = node >> level & 1;
            at = 2 * at + upper;
        } else {
            const typename sap_node_of<real>::type inner = sap_node_read<real>(t.nodes, at);
            axis = (int)(inner.link & SAP_NODE_LEAF);
            split = sap_node_split(inner);
            upper = node >= at + sap_link_right(inner.link);
            at += upper ? sap_link_right(inner.link) : 1;
        }
        const real offset = walk_coordinate<real, dims>(q, axis) - split;
        const bool is_beyond = upper ? offset <= 0 : offset > 0;
#pragma unroll
        for (int a = 0; a < dims; a++) aside[a] = is_beyond && a == axis ? offset : aside[a];
    }
    real sum = aside[0] * aside[0];
#pragma unroll
    for (int a = 1; a < dims; a++) sum = sum + aside[a] * aside[a];
    return sum;
}

// That bound as it is compared with the list's limit.
template <typename real, int dims, bool balanced, typename list>
static __device__ __forceinline__ real walk_widened2(const walk_tree<real>& t,
                                                     const told_query<real, dims, SAP_CUDA_NEAR>& q, unsigned int node,
                                                     const list& best) {
    const real cell2 = walk_cell2<real, dims, balanced>(t, q, node);
    return best.limit_id() == SAP_NO_ID ? cell2 : cell2 * q.told->widen;
}

// Whether a walk enters a node that waited. *tied: its bound is the limit.
template <typename real, int dims, bool balanced, typename query, typename list>
static __device__ __forceinline__ bool walk_enters(const walk_tree<real>& t, const query& q, unsigned int node,
                                                   const list& best, bool*) {
    return walk_box_reaches<real, dims>(t, q, node, best);
}
template <typename real, int dims, bool balanced, typename list>
static __device__ __forceinline__ bool walk_enters(const walk_tree<real>& t,
                                                   const told_query<real, dims, SAP_CUDA_NEAR>& q, unsigned int node,
                                                   const list& best, bool* tied) {
    int id;
    const real bound2 = walk_bound2<real, dims>(t, q, node, &id);
    *tied = false;
    if (!walk_reaches(bound2, id, best)) return false;
    // The cell is no farther than the box.
    if ((best.limit_id() == SAP_NO_ID ? bound2 : bound2 * q.told->widen) < best.limit2()) return true;
    const real widened2 = walk_widened2<real, dims, balanced>(t, q, node, best);
    *tied = widened2 == best.limit2();
    return walk_reaches(widened2, id, best);
}

template <typename real, int dims>
static __device__ __forceinline__ int walk_smallest_id(const walk_tree<real>& t, unsigned int node) {
    return *(const int*)(t.boxes + (int64_t)node * sap_walk_box_reals(dims, (int)sizeof(real) * 8) + 2 * dims);
}

// Without a stack, on balanced trees: goes to the leaf in whose cell the query lies first, and from there to the
// siblings of nodes on its path that may hold something nearer. Bit d of `pending` says that, d levels above the node,
// the sibling of the path's node still has to be visited.
//
// All points of a sibling lie beyond the plane between the two, as seen from the query, so that no computed distance is
// less than that of the plane (math/distance.h), or, around an axis with a period, than that of the period's end. Planes
// cost much less than boxes and rule out most siblings: boxes are read for the rest, and for leaves before they are
// scanned.
template <typename real, int dims> struct walk_stackless {
    unsigned int node, pending;
    bool at_leaf, first; // first: the path's planes have not been tested
    int nodes, leaves;   // visited

    // Goes two levels down on the query's side, or one if there is only one. Returns how many, and the squared
    // distances of the planes there. Both children's planes are loaded before it is known which is needed: that halves
    // the latency.
    template <typename query>
    __device__ __forceinline__ int descend(const walk_tree<real>& t, const query& q, real* upper2, real* lower2) {
        const unsigned int left = 2 * node;
        const bool last = left >> t.depth != 0;
        unsigned char axes[2];
        real planes[2];
        memcpy(planes, __builtin_assume_aligned(t.split + (last ? 0 : left), 2 * sizeof(real)), sizeof planes);
        memcpy(axes, __builtin_assume_aligned(t.axis + (last ? 0 : left), 2), sizeof axes);
        const int axis = t.axis[node];
        const real x = walk_coordinate<real, dims>(q, axis), upper = t.split[node];
        const bool right = walk_above(q, axis, x, upper);
        *upper2 = walk_plane(q, axis, x - upper);
        node = left + right;
        if (last) return 1;
        const int next = right ? axes[1] : axes[0];
        const real y = walk_coordinate<real, dims>(q, next), lower = right ? planes[1] : planes[0];
        *lower2 = walk_plane(q, next, y - lower);
        node = 2 * node + walk_above(q, next, y, lower);
        return 2;
    }

    template <typename query> __device__ __forceinline__ void begin(const walk_tree<real>& t, const query& q) {
        real upper2, lower2;
        node = 1;
        for (int level = 0; level < t.depth;) level += descend(t, q, &upper2, &lower2);
        at_leaf = first = true;
        nodes = t.depth;
        leaves = 0;
    }

    // Marks the siblings on the way to the first leaf that may hold something nearer than what was found there.
    template <typename query>
    __device__ __forceinline__ void narrow(const walk_tree<real>& t, const query& q, real limit2) {
        pending = 0;
#pragma unroll 4
        for (int level = 0; level < t.depth; level++) {
            const unsigned int above = node >> (level + 1);
            const int axis = t.axis[above];
            const real offset = walk_coordinate<real, dims>(q, axis) - t.split[above];
            pending |= (unsigned int)(walk_plane(q, axis, offset) <= limit2) << level;
        }
        first = false;
    }

    // Goes down from a node whose widened bound is the limit: of two children of which that is true, too, to the one
    // with the smaller id first.
    template <typename query, typename list>
    __device__ __forceinline__ void descend_tied(const walk_tree<real>& t, const query& q, const list& best) {
#pragma unroll 1
        while (node >> t.depth == 0) {
            const unsigned int near =
                2 * node + walk_above(q, t.axis[node], walk_coordinate<real, dims>(q, t.axis[node]), t.split[node]);
            const bool reaches = walk_widened2<real, dims, true>(t, q, near ^ 1u, best) <= best.limit2();
            const bool swaps =
                reaches && walk_smallest_id<real, dims>(t, near ^ 1u) < walk_smallest_id<real, dims>(t, near);
            node = near ^ (unsigned int)swaps;
            pending = pending << 1 | reaches;
            nodes++;
        }
    }

    // One round; returns whether the walk goes on.
    template <typename query, typename list>
    __device__ __forceinline__ bool round(const walk_tree<real>& t, const query& q, bool asks, int without,
                                          list* best) {
        const bool scans = asks && at_leaf;
        walk_scan_lanes<real, dims>(t, scans, node, q, without, best);
        leaves += scans;
        const real limit2 = walk_plane_limit(q, *best);
        if (asks && first) narrow(t, q, limit2);
        // Back up to the next subtree that reaches …
        bool reaches = false, tied = false;
        for (bool up = asks; walk_any(up);) {
            if (!up) continue;
            asks = up = pending != 0;
            if (!asks) continue;
            const int levels = __ffs((int)pending) - 1;
            SAP_ASSERT(node >> levels > 1); // the root has no sibling
            node = (node >> levels) ^ 1u;
            pending = (pending >> levels) ^ 1u;
            reaches = walk_enters<real, dims, true>(t, q, node, *best, &tied);
            up = !reaches;
            nodes++;
        }
        // … and down by the planes to the leaf on the query's side. A lane whose leaf is too far waits while the others
        // scan theirs: if it searched on at once, they would wait longer.
        const bool inner = reaches && node >> t.depth == 0;
        if constexpr (query::IS_NEAR)
            if (inner && tied) descend_tied(t, q, *best);
        for (bool down = inner && node >> t.depth == 0; walk_any(down);) {
            if (!down) continue;
            real upper2, lower2;
            const int levels = descend(t, q, &upper2, &lower2);
            pending = pending << 1 | (upper2 <= limit2);
            if (levels == 2) pending = pending << 1 | (lower2 <= limit2);
            nodes += levels;
            down = node >> t.depth == 0;
        }
        if (inner) {
            reaches = walk_box_reaches<real, dims>(t, q, node, *best);
            nodes++;
        }
        at_leaf = reaches;
        return asks;
    }
};

// With a stack, on balanced trees: the bounds and the nodes on it are a column of shared memory each.
template <typename real, int dims> struct walk_stack {
    real* bound2; // [depth], `step` apart
    unsigned int* waits;
    int step, waiting;
    unsigned int node;
    int nodes, leaves; // visited

    template <typename query> __device__ __forceinline__ void begin(const walk_tree<real>&, const query&) {
        node = 1;
        waiting = nodes = leaves = 0;
    }

    template <typename query, typename list>
    __device__ __forceinline__ bool round(const walk_tree<real>& t, const query& q, bool asks, int without,
                                          list* best) {
        bool at_leaf = asks;
        for (bool down = asks; walk_any(down);) {
            if (!down) continue;
            down = node >> t.depth == 0;
            if (!down) continue;
            const unsigned int left = 2 * node, right = 2 * node + 1;
            int left_id, right_id;
            const real left2 = walk_bound2<real, dims>(t, q, left, &left_id);
            const real right2 = walk_bound2<real, dims>(t, q, right, &right_id);
            const bool lower = walk_reaches(left2, left_id, *best), upper = walk_reaches(right2, right_id, *best);
            const bool right_first = upper && (!lower || right2 < left2);
            nodes += 2;
            if (lower && upper) {
                SAP_ASSERT(waiting < t.depth);
                waits[waiting * step] = right_first ? left : right;
                bound2[waiting * step] = right_first ? left2 : right2;
                waiting++;
            }
            node = right_first ? right : left;
            down = at_leaf = lower || upper;
        }
        if (at_leaf) {
            SAP_ASSERT(asks);
            walk_scan<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, without, best);
            leaves++;
        }
        for (bool up = asks; walk_any(up);) {
            if (!up) continue;
            asks = up = waiting > 0;
            if (!asks) continue;
            waiting--;
            node = waits[waiting * step];
            const real nearest2 = bound2[waiting * step];
            up = !(nearest2 < best->limit2());
            if (nearest2 == best->limit2()) {
                int id;
                (void)walk_bound2<real, dims>(t, q, node, &id);
                up = !(id < best->limit_id());
            }
        }
        return asks;
    }
};

// On explicit trees, which may be too deep for a bit a level: as without a stack, but the nodes that wait are a column
// of shared memory. It holds nothing else: at most 48 KiB a block, for SAP_MAX_DEPTH levels, which any GPU has.
template <typename real, int dims> struct walk_explicit {
    enum { NARROWED = 4 }; // nodes that are loaded together
    typedef typename sap_node_of<real>::type tree_node;

    // [depth], `step` apart: the nodes on the way to the first leaf, until their planes are tested; then siblings.
    unsigned int* waits;
    int step, waiting;
    unsigned int node;
    bool first;        // on the way to the first leaf
    int nodes, leaves; // visited

    template <typename query> __device__ __forceinline__ void begin(const walk_tree<real>&, const query&) {
        node = 0;
        waiting = nodes = leaves = 0;
        first = true;
    }

    // The child on the query's side, or the other one; the least distance beyond the plane.
    template <typename query>
    static __device__ __forceinline__ void turn(const query& q, unsigned int at, const tree_node& inner,
                                                unsigned int* near, unsigned int* far, real* plane2) {
        const int axis = (int)(inner.link & SAP_NODE_LEAF);
        const real x = walk_coordinate<real, dims>(q, axis), plane = sap_node_split(inner);
        const bool right = walk_above(q, axis, x, plane);
        const unsigned int left_child = at + 1, right_child = at + sap_link_right(inner.link);
        *near = right ? right_child : left_child;
        *far = right ? left_child : right_child;
        *plane2 = walk_plane(q, axis, x - plane);
    }

    // Replaces the nodes on the way to the first leaf by those of their other children that may hold something nearer
    // than what was found there.
    template <typename query>
    __device__ __forceinline__ void narrow(const walk_tree<real>& t, const query& q, real limit2) {
        int kept = 0;
        for (int from = 0; from < waiting; from += NARROWED) {
            unsigned int at[NARROWED];
            tree_node inner[NARROWED];
#pragma unroll
            for (int i = 0; i < NARROWED; i++) at[i] = waits[min(from + i, waiting - 1) * step];
#pragma unroll
            for (int i = 0; i < NARROWED; i++) inner[i] = sap_node_read<real>(t.nodes, at[i]);
#pragma unroll
            for (int i = 0; i < NARROWED; i++) {
                unsigned int near, far;
                real plane2;
                turn(q, at[i], inner[i], &near, &far, &plane2);
                if (from + i < waiting && plane2 <= limit2) waits[kept++ * step] = far;
            }
        }
        waiting = kept;
        first = false;
    }

    // As in a balanced tree.
    template <typename query, typename list>
    __device__ __forceinline__ void descend_tied(const walk_tree<real>& t, const query& q, const list& best) {
#pragma unroll 1
        for (;;) {
            const tree_node inner = sap_node_read<real>(t.nodes, node);
            if (sap_link_is_leaf(inner.link)) return;
            unsigned int near, far;
            real plane2;
            turn(q, node, inner, &near, &far, &plane2);
            const bool reaches = walk_widened2<real, dims, false>(t, q, far, best) <= best.limit2();
            const bool swaps = reaches && walk_smallest_id<real, dims>(t, far) < walk_smallest_id<real, dims>(t, near);
            SAP_ASSERT(waiting < t.depth);
            if (reaches) waits[waiting++ * step] = swaps ? near : far;
            node = swaps ? far : near;
            nodes++;
        }
    }

    // One round; returns whether the walk goes on.
    template <typename query, typename list>
    __device__ __forceinline__ bool round(const walk_tree<real>& t, const query& q, bool asks, int without,
                                          list* best) {
        // Down by the planes to the leaf on the query's side …
        tree_node at = {};
        bool went_down = false;
        const real limit2 = walk_plane_limit(q, *best);
        for (bool down = asks; walk_any(down);) {
            if (!down) continue;
            at = sap_node_read<real>(t.nodes, node);
            down = !sap_link_is_leaf(at.link);
            if (!down) continue;
            unsigned int near, far;
            real plane2;
            turn(q, node, at, &near, &far, &plane2);
            if (first || plane2 <= limit2) {
                SAP_ASSERT(waiting < t.depth);
                waits[waiting++ * step] = first ? node : far;
            }
            node = near;
            went_down = true;
            nodes++;
        }
        bool scans = asks;
        if (went_down && !first) {
            scans = walk_box_reaches<real, dims>(t, q, node, *best);
            nodes++;
        }
        walk_leaf<real> leaf = {};
        if (scans) leaf = walk_explicit_leaf<real, dims>(t, at);
        walk_scan_lanes<real, dims>(t, scans, leaf, q, without, best);
        leaves += scans;
        if (asks && first) narrow(t, q, walk_plane_limit(q, *best));
        // … and back up to the next subtree that reaches.
        bool tied = false;
        for (bool up = asks; walk_any(up);) {
            if (!up) continue;
            asks = up = waiting > 0;
            if (!asks) continue;
            node = waits[--waiting * step];
            up = !walk_enters<real, dims, false>(t, q, node, *best, &tied);
            nodes++;
        }
        if constexpr (query::IS_NEAR)
            if (asks && tied) descend_tied(t, q, *best);
        return asks;
    }
};

#endif
