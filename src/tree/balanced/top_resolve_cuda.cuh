// The builder's top: a block a node, one of its warps, or all blocks one node after another, find the median among the
// candidates that were listed, and begin the children.
#ifndef SAPWOOD_TREE_BALANCED_TOP_RESOLVE_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_RESOLVE_CUDA_CUH

#include "tree/balanced/top_count_cuda.cuh"

enum { TOP_WARP, TOP_BLOCK, TOP_ALL };

// A thread of those who find a median.
template <int who> struct top_member {
    enum {
        LOCAL = who == TOP_WARP ? (int)SAP_WARP : TOP_TEAMS * SAP_WARP, // threads that share memory
        BINS = who == TOP_WARP ? (int)TOP_TEAM_BINS : (int)TOP_ALL_BINS
    };
    int* bins;           // [BINS] shared, of candidates
    int* counts;         // shared, of the histograms of both children
    int room;            // how many
    unsigned int rounds; // of the barrier of all blocks
    __device__ __forceinline__ int local() const { return who == TOP_WARP ? sap_lane() : (int)threadIdx.x; }
    __device__ __forceinline__ int own() const { return local() + (who == TOP_ALL ? (int)blockIdx.x * LOCAL : 0); }
    __device__ __forceinline__ int threads() const { return who == TOP_ALL ? (int)gridDim.x * LOCAL : (int)LOCAL; }
    // Whether its warp does what one warp does; in each block, if there are several.
    __device__ __forceinline__ bool leads() const { return who == TOP_WARP || threadIdx.x < SAP_WARP; }
    // Whether it writes what there is once.
    __device__ __forceinline__ bool writes() const { return who != TOP_ALL || blockIdx.x == 0; }
    static __device__ __forceinline__ void wait(void) { wait_for_group<who != TOP_WARP>(); }
    template <typename real, int dims> __device__ __forceinline__ void meet(const top_block<real, dims>& k) {
        sap_cuda_meet(&k.work->meeting->arrived[k.stage->level], &rounds);
    }
};

// Four bins that follow each other. Those in global memory were changed by atomics a moment ago, which the first-level cache
// does not see.
struct __align__(16) top_bins_read {
    int of[4];
};
template <bool global> static __device__ __forceinline__ top_bins_read top_read_bins(const int* bins) {
    top_bins_read four;
#ifndef SAP_CUDA_ON_CPU
    if (global) {
        const int4 read = __ldcg((const int4*)bins);
        memcpy(&four, &read, sizeof four);
        return four;
    }
#endif
    four = *(const top_bins_read*)bins;
    return four;
}

// Narrows a search by a histogram, by a warp, all of whose lanes have it. more: what is to be added to it, in shared memory,
// or NULL. `rank`: of the median in the node.
template <bool global, typename real>
static __device__ __forceinline__ void top_narrow(sap_median<real>* median, const int* counts, const int* more,
                                                  int bins, int rank) {
    enum { AHEAD = 8, EACH = 4 * SAP_WARP };
    const int lane = sap_lane();
    const top_bins_read none = {{0, 0, 0, 0}};
    top_bins_read mine = none;
    int before = 0, first = 0;
    bool found = false;
    rank -= median->below;
    for (int at = 0; at < bins && !found; at += AHEAD * EACH) {
        top_bins_read own[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int from = at + i * EACH + 4 * lane;
            own[i] = from < bins ? top_read_bins<global>(counts + from) : none;
            if (more && from < bins) {
                const top_bins_read added = top_read_bins<false>(more + from);
#pragma unroll
                for (int j = 0; j < 4; j++) own[i].of[j] += added.of[j];
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int* four = own[i].of;
            const int sum = (int)sap_warp_sum((unsigned int)(four[0] + four[1] + four[2] + four[3]));
            if (found) continue;
            found = rank < before + sum;
            mine = own[i];
            first = at + i * EACH;
            if (!found) before += sum;
        }
    }
    const int sum = mine.of[0] + mine.of[1] + mine.of[2] + mine.of[3];
    int up_to = sum;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const int other = __shfl_up_sync(SAP_ALL_LANES, up_to, (unsigned int)step);
        if (lane >= step) up_to += other;
    }
    const int finder = __ffs((int)__ballot_sync(SAP_ALL_LANES, rank < before + up_to)) - 1;
    SAP_ASSERT(found && finder >= 0);
    before += up_to - sum;
    int bin = first + 4 * lane, inside = mine.of[0];
#pragma unroll
    for (int i = 1; i < 4; i++) {
        if (rank < before + inside) break;
        before += inside;
        inside = mine.of[i];
        bin++;
    }
    sap_median_take(median, __shfl_sync(SAP_ALL_LANES, bin, finder), bins, __shfl_sync(SAP_ALL_LANES, before, finder),
                    __shfl_sync(SAP_ALL_LANES, inside, finder));
}

// Where a listed point is, relative to the candidates that are left; *key: a candidate's key. x: its coordinate on the
// node's axis.
template <typename real, int dims>
static __device__ __forceinline__ int top_class(const top_block<real, dims>& k, const top_team<real, dims>& team,
                                                const sap_median<real>& median, real x, unsigned int i,
                                                typename sap_ordinal<real>::type* key) {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal own = sap_ordinal_of(x);
#pragma unroll 1
    for (int c = 0; c < median.component; c++) {
        if (own != team.pivot[c]) return own < team.pivot[c] ? TOP_BEFORE : TOP_AFTER;
        own = c + 1 == k.axes() ? (ordinal)k.stage->from_ids[i]
                                : sap_ordinal_of(*k.at(sap_next_axis(team.node.axis, c + 1, k.axes()), i));
    }
    *key = own;
    return own < median.low ? TOP_BEFORE : own <= median.high ? TOP_AMONG : TOP_AFTER;
}

// Calls work(i, key) for each of the listed points, from `first` on, that are still candidates.
template <int who, typename real, int dims, typename work_type>
static __device__ __forceinline__ void top_each_candidate(const top_block<real, dims>& k, top_member<who>* me,
                                                          const top_team<real, dims>& team, unsigned int first,
                                                          int count, const work_type& work) {
    const sap_median<real> median = team.node;
    const int threads = me->threads();
    for (int at = me->own(); at < count; at += TOP_ITEMS * threads) {
        real x[TOP_ITEMS];
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++)
            x[j] = *k.at(team.node.axis, first + (unsigned int)min(at + j * threads, count - 1));
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            const int i = at + j * threads;
            typename sap_ordinal<real>::type key;
            if (i < count && top_class(k, team, median, x[j], first + (unsigned int)i, &key) == TOP_AMONG) work(i, key);
        }
    }
}

// Narrows the listed candidates to so few that they can be ranked.
template <int who, typename real, int dims>
static __device__ __forceinline__ void top_narrow_list(const top_block<real, dims>& k, top_member<who>* me,
                                                       top_team<real, dims>* team, int64_t heap, unsigned int first,
                                                       int count, int rank) {
    typedef typename sap_ordinal<real>::type ordinal;
    enum { LOCAL = top_member<who>::LOCAL, BINS = top_member<who>::BINS };
    enum { AT_ONCE = 1024 }; // as many bins as a warp reads at once will do for few candidates
    const int all = who == TOP_BLOCK && count <= TOP_TEAM_LISTED ? (int)AT_ONCE : (int)BINS;
    top_meeting<real>* meeting = k.work->meeting;
    for (int round = 0; team->node.candidates > TOP_RANKED; round++) {
        const ordinal low = team->node.low;
        const int shift = sap_median_shift(team->node, all);
        for (int i = me->local(); i < all; i += LOCAL) me->bins[i] = 0;
        me->wait();
        top_each_candidate(k, me, *team, first, count,
                           [&](int, ordinal key) { atomicAdd(&me->bins[(int)((key - low) >> shift)], 1); });
        me->wait();
        const int* bins = me->bins;
        if (who == TOP_ALL) {
            int *sums = meeting->bins[round % 3], *clear = meeting->bins[(round + 1) % 3];
            for (int i = me->local(); i < all; i += LOCAL) {
                if (me->bins[i]) atomicAdd(&sums[i], me->bins[i]);
                if (me->writes()) clear[i] = 0;
            }
            me->meet(k);
            bins = sums;
        }
        if (me->leads()) {
            sap_median<real> median = team->node;
            top_narrow<who == TOP_ALL>(&median, bins, NULL, all, rank);
            __syncwarp(); // all have read it
            if (median.candidates > TOP_RANKED && median.low == median.high) {
                if (sap_lane() == 0) team->pivot[median.component] = median.low;
                sap_median_next(&median, k.axes(), k.work->lower + heap * k.axes(), k.work->upper + heap * k.axes());
            }
            if (sap_lane() == 0) team->node = median;
        }
        me->wait();
    }
}

// Whether candidate x (a rank) comes before y, their components up to this one being equal.
template <typename real, int dims>
static __device__ bool top_tied_before(const top_block<real, dims>& k, int axis, int component, unsigned int x,
                                       unsigned int y) {
    for (int c = component + 1; c < k.axes(); c++) {
        const int a = sap_next_axis(axis, c, k.axes());
        if (*k.at(a, x) != *k.at(a, y)) return *k.at(a, x) < *k.at(a, y);
    }
    return k.stage->from_ids[x] < k.stage->from_ids[y];
}

// Finds the median among the `count` listed candidates.
template <int who, typename real, int dims>
static __device__ __forceinline__ void top_find_pivot(const top_block<real, dims>& k, top_member<who>* me,
                                                      top_team<real, dims>* team, int64_t index, unsigned int first,
                                                      int count) {
    typedef typename sap_ordinal<real>::type ordinal;
    const int64_t heap = ((int64_t)1 << k.stage->level) + index;
    const int rank = (int)(k.rank(k.stage->level + 1, 2 * index + 1) - first);
    top_meeting<real>* meeting = k.work->meeting;
    top_narrow_list(k, me, team, heap, first, count, rank);
    top_each_candidate(k, me, *team, first, count, [&](int i, ordinal key) {
        const int at = atomicAdd(who == TOP_ALL ? &meeting->found : &team->found, 1);
        SAP_ASSERT(at < TOP_RANKED);
        (who == TOP_ALL ? meeting->key : team->key)[at] = key;
        (who == TOP_ALL ? meeting->list : team->list)[at] = i;
    });
    me->wait();
    if (who == TOP_ALL) {
        me->meet(k);
        const int found = *(volatile int*)&meeting->found;
        if (threadIdx.x == 0) team->found = found;
        if ((int)threadIdx.x < found) {
            team->key[threadIdx.x] = *(volatile ordinal*)&meeting->key[threadIdx.x];
            team->list[threadIdx.x] = *(volatile int*)&meeting->list[threadIdx.x];
        }
        __syncthreads();
    }
    if (me->leads()) {
        const int axis = team->node.axis, component = team->node.component, found = team->found;
        SAP_ASSERT(found == team->node.candidates);
        for (int own = sap_lane(); own < found; own += SAP_WARP) {
            const ordinal key = team->key[own];
            const unsigned int at = first + (unsigned int)team->list[own];
            int before = team->node.below;
            for (int i = 0; i < found; i++) {
                const ordinal other = team->key[i];
                before += other < key;
                if (other == key && i != own)
                    before += top_tied_before(k, axis, component, first + (unsigned int)team->list[i], at);
            }
            if (before == rank) team->median = team->list[own];
        }
    }
    me->wait();
}

// Writes the median of a node, a listed point, by a warp.
template <typename real, int dims>
static __device__ __forceinline__ void top_write_median(const top_block<real, dims>& k, int64_t index, int axis,
                                                        unsigned int at) {
    const int lane = sap_lane();
    const int64_t heap = ((int64_t)1 << k.stage->level) + index;
    static_assert(SAP_MAX_DIMS < SAP_WARP, "a lane has a coordinate or the id");
    if (lane == k.axes()) k.work->pivot_id[heap] = k.stage->from_ids[at];
    if (lane >= k.axes()) return;
    const real x = *k.at(sap_next_axis(axis, lane, k.axes()), at);
    k.work->pivot[heap * k.axes() + lane] = sap_ordinal_of(x);
    if (lane == 0) sap_write_node<real>(*k.build, k.stage->level, index, axis, x);
}

// Takes keys of a warp's points, those of a lane whose bits are set, into bounds. Points of a list crowd at the border of
// their children: a warp asks first, so that its threads need not wait for one another.
template <typename ordinal>
static __device__ __forceinline__ void top_widen_by(const ordinal* key, unsigned int own, ordinal* lower,
                                                    ordinal* upper) {
    ordinal low = (ordinal)-1, high = 0;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (!(own >> j & 1)) continue;
        low = min(low, key[j]);
        high = max(high, key[j]);
    }
    low = sap_warp_min(low);
    high = sap_warp_max(high);
    if (sap_lane() != 0) return;
    if (low < *(volatile ordinal*)lower) atomicMin(lower, low);
    if (high > *(volatile ordinal*)upper) atomicMax(upper, high);
}

// Takes the listed points into the bounds and histograms of the two children. node: before any of them was looked at. counts:
// the histograms of these points alone, in shared memory; NULL: they are counted in the children's in global memory, which takes
// longer.
template <int who, typename real, int dims>
static __device__ __forceinline__ void
top_take_list(const top_block<real, dims>& k, top_member<who>* me, top_team<real, dims>* team, int64_t parent,
              const sap_median<real>& node, int bins, int* counts, unsigned int first, int count) {
    typedef typename sap_ordinal<real>::type ordinal;
    const top_work<real>& w = *k.work;
    const int all = 2 * k.axes(), threads = me->threads();
    const unsigned int pivot = first + (unsigned int)team->median;
    const real split = *k.at(node.axis, pivot);
    int* sums = w.bins[(k.stage->level + 1) & 1] + (parent - ((int64_t)1 << k.stage->level)) * all * bins;
    for (int at = me->own(); at - sap_lane() < count; at += TOP_ITEMS * threads) { // by whole warps
        top_point<real, dims> point[TOP_ITEMS];
        int32_t id[TOP_ITEMS];
        unsigned int there = 0, right = 0; // which of the points there are; which are the right child's
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            point[j].load(&k, first + (unsigned int)min(at + j * threads, count - 1));
            id[j] = k.stage->from_ids[point[j].i];
            if (at + j * threads < count) there |= 1u << j;
        }
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            const real x = point[j].coordinate(node.axis);
            bool after = x > split;
            if (x == split) after = point[j].i == pivot || !top_tied_before(k, node.axis, 0, point[j].i, pivot);
            if (after) right |= 1u << j;
        }
        for (int a = 0; a < k.axes(); a++) {
            ordinal key[TOP_ITEMS];
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++) {
                const real x = point[j].coordinate(a);
                const int side = (right >> j & 1) * k.axes() + a;
                key[j] = sap_ordinal_of(x);
                if (!(there >> j & 1 && team->side[side].scale > 0)) continue;
                const int bin = side * bins + top_bin(team->side[side], x, bins);
                if (counts)
                    atomicAdd(&counts[bin], 1);
                else
                    atomicAdd(&sums[bin], 1);
            }
#pragma unroll
            for (int side = 0; side < 2; side++)
                top_widen_by(key, side ? there & right : there & ~right, &team->lower[side * k.axes() + a],
                             &team->upper[side * k.axes() + a]);
        }
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const unsigned int own = side ? there & right : there & ~right;
            unsigned int least = INT32_MAX;
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++)
                if (own >> j & 1) least = min(least, (unsigned int)id[j]);
            least = sap_warp_min(least);
            if (sap_lane() == 0 && least < (unsigned int)*(volatile int*)&team->min_id[side])
                atomicMin(&team->min_id[side], (int)least);
        }
    }
    if (!counts) __threadfence();
    me->wait();
    if constexpr (who == TOP_ALL) {
        for (int i = me->local(); i < all; i += top_member<who>::LOCAL) {
            atomicMin(&w.lower[2 * parent * k.axes() + i], team->lower[i]);
            atomicMax(&w.upper[2 * parent * k.axes() + i], team->upper[i]);
            if (i < 2) atomicMin(&w.min_id[2 * parent + i], team->min_id[i]);
        }
        me->meet(k);
        for (int i = me->local(); i < all; i += top_member<who>::LOCAL) {
            team->lower[i] = *(volatile ordinal*)&w.lower[2 * parent * k.axes() + i];
            team->upper[i] = *(volatile ordinal*)&w.upper[2 * parent * k.axes() + i];
            if (i < 2) team->min_id[i] = *(volatile int*)&w.min_id[2 * parent + i];
        }
        __syncthreads();
    }
}

// What is known of a child along an axis before candidates were looked at, as it lies in memory.
template <typename real> struct top_known {
    top_span<real> span;
    typename sap_ordinal<real>::type low, high;
    int min_id;
};

// Loads it for side `i` of a node's children, or of the tree's root itself (parent TOP_SAMPLED).
template <typename real, int dims>
static __device__ __forceinline__ top_known<real> top_load_side(const top_block<real, dims>& k, int64_t parent, int i) {
    const top_work<real>& w = *k.work;
    const int64_t child = parent == TOP_SAMPLED ? 1 : 2 * parent;
    const top_known<real> known = {top_load_span(k, parent, i % k.axes()), w.lower[child * k.axes() + i],
                                   w.upper[child * k.axes() + i], w.min_id[child + i / k.axes()]};
    return known;
}

template <typename real, int dims>
static __device__ __forceinline__ void top_take_side(const top_block<real, dims>& k, top_team<real, dims>* team, int i,
                                                     const top_known<real>& known, int bins) {
    top_begin_side(&team->side[i], known.span.begin(i / k.axes(), i % k.axes(), bins));
    team->lower[i] = known.low;
    team->upper[i] = known.high;
    if (i % k.axes() == 0) team->min_id[i / k.axes()] = known.min_id;
}

// Begins a node of `level`, whose bounds and histograms are complete: axis, candidates; and writes its box if the tree
// keeps it. By a warp; the team knows it as child `side`. counts: as in top_take_list.
template <typename real, int dims>
static __device__ __forceinline__ void top_begin(const top_block<real, dims>& k, const top_team<real, dims>& team,
                                                 int level, int64_t index, int side, int bins, const int* counts) {
    const sap_cuda_build& b = *k.build;
    SAP_ASSERT(level < b.top && index >> level == 0);
    const typename sap_ordinal<real>::type *lower = team.lower + side * k.axes(), *upper = team.upper + side * k.axes();
    const int stored = sap_stored_level(b, level);
    const int64_t heap = ((int64_t)1 << level) + index, from = k.rank(level, index);
    const int count = (int)(k.rank(level, index + 1) - from);
    sap_median<real> node;
    node.axis = sap_choose_axis<real>(b, level, count, lower, upper);
    const int own = side * k.axes() + node.axis;
    node.low = lower[node.axis];
    node.high = upper[node.axis];
    node.origin = team.side[own].origin;
    node.scale = team.side[own].scale;
    node.component = 0;
    node.below = 0;
    node.candidates = count;
    if (node.scale > 0) // else all points of the node are candidates
        top_narrow<true>(&node, k.work->bins[level & 1] + (index * k.axes() + node.axis) * bins,
                         counts ? counts + own * bins : NULL, bins, (int)(k.rank(level + 1, 2 * index + 1) - from));
    if (sap_lane() == 0) k.work->node[heap] = node;
    for (int a = sap_lane(); a < k.axes(); a += SAP_WARP) {
        k.work->lower[heap * k.axes() + a] = lower[a];
        k.work->upper[heap * k.axes() + a] = upper[a];
        if (stored < 0) continue;
        real* box = sap_stored_box<real>(b, stored, index) + 2 * SAP_GROUP * a;
        box[0] = sap_real_of(lower[a]);
        box[SAP_GROUP] = sap_real_of(upper[a]);
        if (a == 0) *sap_stored_min_id(b, stored, index) = team.min_id[side];
    }
}

// What is loaded of a node before anything is looked at: each load takes as long as many. By those who find its median.
template <typename real> struct top_opening {
    sap_median<real> node;
    top_known<real> known; // of a side, which a thread each has
};

template <typename real, int dims>
static __device__ __forceinline__ top_opening<real> top_open(const top_block<real, dims>& k, int64_t index, int bins,
                                                             int local) {
    const int64_t heap = ((int64_t)1 << k.stage->level) + index;
    static_assert(2 * SAP_MAX_DIMS <= SAP_WARP, "a lane has a side");
    top_opening<real> opening = {k.work->node[heap], {}};
    if (bins && local < 2 * k.axes()) opening.known = top_load_side(k, heap, local);
    opening.known.span.low = opening.node.low;
    opening.known.span.high = opening.node.high;
    opening.known.span.axis = opening.node.axis;
    return opening;
}

// Finds a node's median and begins its children.
template <int who, typename real, int dims>
static __device__ void top_resolve(const top_block<real, dims>& k, top_member<who>* me, top_team<real, dims>* team,
                                   int64_t index, int bins, const top_opening<real>& opening) {
    const int64_t heap = ((int64_t)1 << k.stage->level) + index;
    const sap_median<real>& node = opening.node;
    const unsigned int first = (unsigned int)k.rank(k.stage->level, index);
    SAP_ASSERT(k.work->listed[heap] == node.candidates);
    int* counts = who != TOP_ALL && 2 * k.axes() * bins <= me->room ? me->counts : NULL;
    me->wait();
    for (int i = me->local(); counts && i < 2 * k.axes() * bins; i += top_member<who>::LOCAL) counts[i] = 0;
    if (me->local() == 0) {
        team->node = node;
        team->found = 0;
    }
    if (who == TOP_ALL) {
        for (int i = me->local(); i < TOP_ALL_BINS && me->writes(); i += top_member<who>::LOCAL)
            k.work->meeting->bins[0][i] = 0;
        if (me->own() == 0) k.work->meeting->found = 0;
        me->meet(k);
    }
    if (bins && me->local() < 2 * k.axes()) top_take_side(k, team, me->local(), opening.known, bins);
    me->wait();
    top_find_pivot(k, me, team, index, first, node.candidates);
    SAP_ASSERT(who != TOP_ALL || bins > 0); // else a block might begin the next node while another one reads this one's
    if (bins) top_take_list(k, me, team, heap, node, bins, counts, first, node.candidates);
    const int warp = who == TOP_WARP ? 0 : (int)threadIdx.x / SAP_WARP, warps = who == TOP_WARP ? 1 : (int)TOP_TEAMS;
    if (!me->writes()) return;
    for (int side = warp; bins && side < 2; side += warps)
        top_begin(k, *team, k.stage->level + 1, 2 * index + side, side, bins, counts);
    if (warp == warps - 1) top_write_median(k, index, node.axis, first + (unsigned int)team->median);
}

// All blocks together find the medians of nodes with very many candidates. Apart from the rest, which needs its registers.
template <typename real, int dims>
static __device__ __noinline__ void top_resolve_crowded(const top_block<real, dims>& k, top_teams<real, dims>* shared) {
    const int64_t nodes = (int64_t)1 << k.stage->level;
    top_member<TOP_ALL> all = {shared->bins, NULL, 0, 0};
    for (int64_t index = 0; index < nodes; index++)
        if (k.work->node[nodes + index].candidates > TOP_ALL_LISTED)
            top_resolve(k, &all, &shared->team[0], index, k.stage->bins,
                        top_open(k, index, k.stage->bins, (int)threadIdx.x));
}

// A warp or a block a node of the level. Level -1: begins the tree's root. The points are those that were listed.
template <typename real, int dims>
static __global__ void __launch_bounds__(TOP_TEAMS* SAP_WARP, 1)
    build_resolve(const __grid_constant__ sap_cuda_build b, const __grid_constant__ top_work<real> w,
                  const __grid_constant__ top_stage<real> stage) {
    typedef top_teams<real, dims> shared_type;
    SAP_CUDA_SHARED(shared_type, shared);
    const top_block<real, dims> k = {&b, &w, &stage, NULL};
    const int warp = (int)threadIdx.x / SAP_WARP;
    bool is_bad = stage.level >= 0 && sap_build_is_bad(b); // as the first pass has said, long before
    sap_cuda_await_before();
    if (stage.level < 0) is_bad = sap_build_is_bad(b);
    if (is_bad) return;
    if (stage.level < 0) {
        if (warp > 0) return;
        if (sap_lane() < k.axes())
            top_take_side(k, &shared->team[0], sap_lane(), top_load_side(k, (int64_t)TOP_SAMPLED, sap_lane()),
                          stage.bins);
        __syncwarp();
        top_begin(k, shared->team[0], 0, 0, 0, stage.bins, NULL);
        return;
    }
    const int64_t nodes = (int64_t)1 << stage.level, first = (int64_t)blockIdx.x * stage.teams;
    const int64_t own = min(first + (stage.teams > 1 ? warp : 0), nodes - 1), end = min(first + stage.teams, nodes);
    const int local = stage.teams > 1 ? sap_lane() : (int)threadIdx.x;
    const top_opening<real> opening = top_open(k, own, stage.bins, local);
    bool crowded = false;
    for (int64_t index = threadIdx.x; stage.together && index < nodes; index += TOP_TEAMS * SAP_WARP)
        crowded |= w.node[nodes + index].candidates > TOP_ALL_LISTED;
    if (stage.together && __syncthreads_or(crowded)) // hardly ever
        top_resolve_crowded(k, shared);
    const int most = stage.together ? TOP_ALL_LISTED : INT_MAX, least = stage.teams > 1 ? TOP_TEAM_LISTED + 1 : 0;
    const bool alone = opening.node.candidates < least;
    top_member<TOP_BLOCK> all = {shared->bins, shared->counts, stage.room, 0};
    if (stage.teams == 1 || __syncthreads_or(!alone))
        for (int64_t index = first; index < end; index++) {
            top_opening<real> block = opening;
            if (stage.teams > 1) block = top_open(k, index, stage.bins, (int)threadIdx.x);
            if (block.node.candidates >= least && block.node.candidates <= most)
                top_resolve(k, &all, &shared->team[0], index, stage.bins, block);
        }
    if (stage.teams == 1) return;
    __syncthreads();
    const int room = stage.room / TOP_TEAMS;
    top_member<TOP_WARP> only = {shared->bins + warp * TOP_TEAM_BINS, shared->counts + warp * room, room, 0};
    if (first + warp < end && alone) top_resolve(k, &only, &shared->team[warp], own, stage.bins, opening);
}

#endif
