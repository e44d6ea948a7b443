// The scan of leaves by the lanes of a warp, each with a query of its own. All lanes take part, also those without a
// leaf (`scans` is false).
#ifndef SAPWOOD_NEAREST_LEAF_LANES_CUDA_CUH
#define SAPWOOD_NEAREST_LEAF_LANES_CUDA_CUH

#include "nearest/candidates/heap_cuda.cuh"
#include "nearest/leaf_cuda.cuh"

// ---- Which points of their leaves may be near

// What a query of lane `from` measures by, but for its coordinates and what all lanes share.
template <typename real, int dims>
static __device__ __forceinline__ void walk_take_measure(walk_query<real, dims>*, int) {}
template <typename real, int dims>
static __device__ __forceinline__ void walk_take_measure(told_query<real, dims, SAP_CUDA_IMAGE>* q, int from) {
    q->around = __shfl_sync(SAP_ALL_LANES, q->around, from);
}

// walk_near for the lanes that scan, by all lanes of a warp: each team of lanes tests the leaf of one query, and each
// lane 16 bytes of a column, so that a team reads whole lines of memory. That is less work than one leaf for each lane,
// as long as few lanes scan.
template <typename real, int dims, typename query>
static __device__ __forceinline__ unsigned int walk_near_teams(const walk_tree<real>& t, bool scans, unsigned int node,
                                                               const query& q, int first, real limit2) {
    enum { EACH = 16 / sizeof(real), TEAM = 32 / EACH, TEAMS = SAP_WARP / TEAM };
    const int lane = sap_lane(), part = lane % TEAM * EACH;
    const real limit = walk_filter_limit(q, limit2);
    unsigned int waiting = __ballot_sync(SAP_ALL_LANES, scans), near = 0;
    int before = __popc(waiting & sap_lanes_below()); // lanes whose leaves come first
    for (; waiting; before -= TEAMS) {
        int owner = -1; // the lane whose leaf the team tests
#pragma unroll
        for (int team = 0; team < TEAMS; team++) {
            if (team == lane / TEAM) owner = __ffs((int)waiting) - 1;
            waiting &= waiting - 1;
        }
        const bool looks = owner >= 0 && first + part < t.stride;
        const int from = owner < 0 ? 0 : owner;
        const unsigned int its_node = __shfl_sync(SAP_ALL_LANES, node, from);
        const real its_limit = __shfl_sync(SAP_ALL_LANES, limit, from);
        const walk_leaf<real> leaf = walk_balanced_leaf<real, dims>(t, looks ? its_node : 1u << t.depth);
        const real* column = leaf.coords + (looks ? first + part : 0);
        query its = q;
        walk_take_measure(&its, from);
        real left[EACH];
#pragma unroll
        for (int a = 0; a < dims; a++) {
            const real at = __shfl_sync(SAP_ALL_LANES, q.at[a], from);
            real x[EACH];
            load_reals(column + a * leaf.stride, x);
#pragma unroll
            for (int j = 0; j < EACH; j++) left[j] = walk_left(its, a, its_limit, a ? left[j] : its_limit, at - x[j]);
        }
        unsigned int far = 0;
#pragma unroll
        for (int j = EACH - 1; j >= 0; j--) far = walk_sign(far, left[j]);
        unsigned int found = looks ? (~far & ((1u << EACH) - 1)) << part : 0;
#pragma unroll
        for (int step = 1; step < TEAM; step *= 2) found |= __shfl_xor_sync(SAP_ALL_LANES, found, step);
        found = __shfl_sync(SAP_ALL_LANES, found, (before * TEAM) & (SAP_WARP - 1));
        if (scans && before >= 0 && before < TEAMS) near = found;
    }
    return near;
}

enum { WALK_TEAM_LANES = 12 }; // most lanes that scan in teams, as measured

// Whether teams are faster than one leaf for each lane. The same for all lanes.
template <typename real, int dims>
static __device__ __forceinline__ bool walk_in_teams(const walk_tree<real>& t, bool scans) {
    return dims > 0 && t.stride % 4 == 0 && __popc(__ballot_sync(SAP_ALL_LANES, scans)) <= WALK_TEAM_LANES;
}

// Which of up to 32 points from `first` on of a lane's leaf may be at most limit2 away, as a mask.
template <typename real, int dims, typename query>
static __device__ __forceinline__ unsigned int walk_near_lanes(const walk_tree<real>& t, bool in_teams, bool scans,
                                                               unsigned int node, const query& q, int first,
                                                               real limit2) {
    if constexpr (dims > 0) {
        if (in_teams) return walk_near_teams<real, dims>(t, scans, node, q, first, limit2);
    }
    if (!scans) return 0;
    return walk_near<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, first, min(first + 32, t.capacity),
                                 limit2);
}

// ---- Lists of some length

// Which of up to 32 points from `first` on of a lane's leaf a search may find, as a mask.
template <typename real, int dims>
static __device__ __forceinline__ unsigned int walk_kept(const walk_tree<real>&, unsigned int,
                                                         const walk_query<real, dims>&, int) {
    return ~0u;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ unsigned int walk_kept(const walk_tree<real>& t, unsigned int node,
                                                         const told_query<real, dims, measure>& q, int first) {
    if (!q.told->kept) return ~0u;
    return q.told->kept[(int64_t)(node - (1u << t.depth)) * q.told->kept_words + first / 32];
}

// Whether a list takes one of those.
template <typename real, int dims>
static __device__ __forceinline__ bool walk_takes_kept(const walk_query<real, dims>&, real, real, int id, int without) {
    return id != without;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ bool walk_takes_kept(const told_query<real, dims, measure>&, real distance,
                                                       real limit, int id, int without) {
    return distance <= limit && id != without;
}

static __device__ __forceinline__ void load_ids(const int32_t* from, int (&to)[4]) {
    const int4 four = *(const int4*)from;
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}
static __device__ __forceinline__ void load_ids(const int32_t* from, int (&to)[2]) {
    const int2 two = *(const int2*)from;
    to[0] = two.x;
    to[1] = two.y;
}

enum {
    WALK_FILL = 8,          // points that an empty list takes together
    WALK_TOGETHER = 4,      // candidates that a list takes together
    WALK_TOGETHER_LEAST = 3 // from so many on, that is less work than one by one
};

// Offers a leaf's points to a list that is empty and takes them all.
template <typename real, int dims, typename query, int capacity>
static __device__ __forceinline__ void walk_fill(const walk_tree<real>& t, unsigned int node,
                                                 const walk_leaf<real>& leaf, const query& q, int without,
                                                 sap_list<real, capacity>* best) {
    enum { WIDTH = 16 / sizeof(real) };
    const typename sap_key_of<real>::type none = sap_key((real)INFINITY, SAP_NO_ID);
    const real limit = best->limit2();
    SAP_ASSERT(walk_unlimited(limit));
    for (int first = 0; first < leaf.count; first += WALK_FILL) {
        typename sap_key_of<real>::type keys[WALK_FILL];
        const unsigned int kept = walk_kept(t, node, q, first) >> first % 32;
#pragma unroll
        for (int i = 0; i < WALK_FILL; i += WIDTH) {
            real distance2[WIDTH];
            int ids[WIDTH];
            const bool there = first + i < leaf.count;
            const int slot = there ? first + i : 0;
            walk_distances2<real, dims>(leaf, q, slot, distance2);
            load_ids(leaf.ids + slot, ids);
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                keys[i + j] = there && (kept >> (i + j) & 1) && walk_takes_kept(q, distance2[j], limit, ids[j], without)
                                  ? sap_key(distance2[j], ids[j])
                                  : none;
        }
        best->take(keys);
    }
}

// Offers those of a lane's leaf's points from `first` on that a mask names, but for the one with the id `without`. The
// other lanes wait for the one with the most candidates.
template <typename real, int dims, typename query, int capacity>
static __device__ __forceinline__ void walk_offer_lanes(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                        const query& q, int first, unsigned int near, int without,
                                                        sap_list<real, capacity>* best) {
    const typename sap_key_of<real>::type none = sap_key((real)INFINITY, SAP_NO_ID);
    // A few are inserted one by one, more of them together.
    for (unsigned int most; (most = sap_warp_max((unsigned int)__popc(near))) > 0;) {
        if (!near) continue;
        if (most < WALK_TOGETHER_LEAST) {
            const int slot = first + __ffs((int)near) - 1, id = leaf.ids[slot];
            const real distance2 = walk_distance2<real, dims>(t, leaf, q, slot);
            near &= near - 1;
            if (walk_takes_kept(q, distance2, best->limit2(), id, without)) best->offer(distance2, id);
            continue;
        }
        typename sap_key_of<real>::type keys[WALK_TOGETHER];
        real distance2[WALK_TOGETHER];
        int slot[WALK_TOGETHER];
        bool there[WALK_TOGETHER];
#pragma unroll
        for (int i = 0; i < WALK_TOGETHER; i++) {
            there[i] = near != 0;
            slot[i] = first + (near ? __ffs((int)near) - 1 : 0);
            near &= near - 1;
        }
        walk_distances2_at<real, dims>(t, leaf, q, slot, distance2);
#pragma unroll
        for (int i = 0; i < WALK_TOGETHER; i++) {
            const int id = leaf.ids[slot[i]];
            keys[i] = there[i] && walk_takes_kept(q, distance2[i], best->limit2(), id, without)
                          ? sap_key(distance2[i], id)
                          : none;
        }
        best->take(keys);
    }
}

// Offers the points of a lane's leaf, but for the one with the id `without`.
template <typename real, int dims, typename query, int capacity>
static __device__ __forceinline__ void walk_scan_lanes(const walk_tree<real>& t, bool scans, unsigned int node,
                                                       const query& q, int without, sap_list<real, capacity>* best) {
    walk_leaf<real> leaf;
    if (scans) leaf = walk_balanced_leaf<real, dims>(t, node);
    bool fills = false;
    if constexpr (dims > 0) {
        fills = scans && walk_unlimited(best->limit2()) && walk_in_vectors(leaf);
        if (fills) walk_fill<real, dims>(t, node, leaf, q, without, best);
    }
    const bool looks = scans && !fills, in_teams = walk_in_teams<real, dims>(t, looks);
    for (int first = 0; first < t.capacity; first += 32) {
        unsigned int near = walk_near_lanes<real, dims>(t, in_teams, looks, node, q, first, best->limit2());
        if (near) near &= walk_kept(t, node, q, first);
        walk_offer_lanes<real, dims>(t, leaf, q, first, near, without, best);
    }
}

// The same on explicit trees, whose leaves differ in size: the lanes wait for the one with the largest.
template <typename real, int dims, int capacity>
static __device__ __forceinline__ void walk_scan_lanes(const walk_tree<real>& t, bool scans,
                                                       const walk_leaf<real>& given, const walk_query<real, dims>& q,
                                                       int without, sap_list<real, capacity>* best) {
    const walk_leaf<real> leaf = walk_first_equal(given, capacity);
    bool looks = scans;
    if constexpr (dims > 0) {
        const bool fills = scans && walk_unlimited(best->limit2()) && walk_in_vectors(leaf);
        if (fills) walk_fill<real, dims>(t, 0, leaf, q, without, best);
        looks = scans && !fills;
    }
    const int most = (int)sap_warp_max(looks ? (unsigned int)leaf.count : 0);
    for (int first = 0; first < most; first += 32) {
        const bool here = looks && first < leaf.count;
        const int end = min(first + 32, leaf.count);
        const unsigned int near = here ? walk_near<real, dims>(t, leaf, q, first, end, best->limit2()) : 0;
        walk_offer_lanes<real, dims>(t, leaf, q, first, near, without, best);
    }
}

// ---- One neighbour, and heaps

template <typename real, int dims>
static __device__ __forceinline__ void walk_scan_lanes(const walk_tree<real>& t, bool scans, unsigned int node,
                                                       const walk_query<real, dims>& q, int without,
                                                       sap_list<real, 1>* best) {
    // Larger leaves would need a loop, which costs as much as teams save.
    if (t.capacity > 32 || !walk_in_teams<real, dims>(t, scans)) {
        if (scans) walk_scan<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, without, best);
        return;
    }
    const unsigned int near = walk_near_lanes<real, dims>(t, true, scans, node, q, 0, best->limit2());
    if (near) walk_offer<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, 0, near, without, best);
}
template <typename real, int dims, typename query>
static __device__ __forceinline__ void walk_scan_lanes(const walk_tree<real>& t, bool scans, unsigned int node,
                                                       const query& q, int without, sap_heap<real>* best) {
    if (scans) walk_scan<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, without, best);
}

// The same on explicit trees.
template <typename real, int dims>
static __device__ __forceinline__ void walk_scan_lanes(const walk_tree<real>& t, bool scans,
                                                       const walk_leaf<real>& leaf, const walk_query<real, dims>& q,
                                                       int without, sap_list<real, 1>* best) {
    if (scans) walk_scan<real, dims>(t, walk_first_equal(leaf, 1), q, without, best);
}
template <typename real, int dims>
static __device__ __forceinline__ void walk_scan_lanes(const walk_tree<real>& t, bool scans,
                                                       const walk_leaf<real>& leaf, const walk_query<real, dims>& q,
                                                       int without, sap_heap<real>* best) {
    if (scans) walk_scan<real, dims>(t, walk_first_equal(leaf, best->k), q, without, best);
}

// ---- Explicit trees by what a search was told: it may leave out any number of equal points

template <typename real, int dims, int measure, typename list>
static __device__ __forceinline__ void
walk_scan_lanes(const walk_tree<real>& t, bool scans, const walk_leaf<real>& leaf,
                const told_query<real, dims, measure>& q, int without, list* best) {
    if (scans) walk_scan<real, dims>(t, leaf, q, without, best);
}

#endif
