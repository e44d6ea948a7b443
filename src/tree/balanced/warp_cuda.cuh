// The part of bottom_cuda.cuh that one warp does alone: nodes of at most WARP_POINTS points and all below them.
#ifndef SAPWOOD_TREE_BALANCED_WARP_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_WARP_CUDA_CUH

// The axis that a node divides, and its points' bounds along it. Writes the box if the tree keeps it.
template <typename real, int dims>
static __device__ __forceinline__ int warp_choose_axis(const bottom_block<real, dims>& k, int level, int64_t index,
                                                       warp_range r, typename sap_ordinal<real>::type* low,
                                                       typename sap_ordinal<real>::type* high) {
    typedef typename sap_ordinal<real>::type ordinal;
    const sap_cuda_build& b = *k.build;
    const int depth = b.top + level, stored = sap_stored_level(b, depth);
    const bool cycle = b.tree.options.axis == SAP_AXIS_CYCLE, few = r.end - r.start < 2;
    int chosen = 0;
    real side = 0;
#pragma unroll
    for (int a = 0; a < k.axes(); a++) {
        ordinal least, most;
        warp_bounds(k, r, a, &least, &most);
        const real other = sap_real_of(most) - sap_real_of(least);
        if (a == 0 || (!few && (cycle ? a == (b.tree.shape.slice.root_depth + depth) % k.axes() : other > side))) {
            chosen = a;
            side = other;
            *low = least;
            *high = most;
        }
        if (stored >= 0 && sap_lane() == 0) {
            real* box = sap_stored_box<real>(b, stored, index) + 2 * SAP_GROUP * a;
            box[0] = sap_real_of(least);
            box[SAP_GROUP] = sap_real_of(most);
        }
    }
    if (stored >= 0) {
        const int least = warp_min_id(k, r);
        if (sap_lane() == 0) *sap_stored_min_id(b, stored, index) = least;
    }
    return chosen;
}

// How many of the keys in the masks are at most `most`. Bit j of a lane's mask stands for its item j.
template <int items, typename ordinal>
static __device__ __forceinline__ int warp_count(const ordinal* keys, unsigned int mask, ordinal most) {
    if (items == 1) return __popc(__ballot_sync(SAP_ALL_LANES, (mask & 1) && keys[0] <= most));
    int count = 0;
#pragma unroll
    for (int j = 0; j < items; j++) count += (mask >> j & 1) && keys[j] <= most;
    return (int)sap_warp_sum((unsigned int)count);
}

// The key of rank `target` among the `total` keys in the masks, which lie in [low, high]: the range is narrowed, by
// turns where the rank would be if coordinates were spread evenly and in the middle, until the key next to the border
// is the one.
template <typename real, int items>
static __device__ __forceinline__ typename sap_ordinal<real>::type
warp_select(const typename sap_ordinal<real>::type* keys, unsigned int mask, int target, int total,
            typename sap_ordinal<real>::type low, typename sap_ordinal<real>::type high, bool are_reals) {
    typedef typename sap_ordinal<real>::type ordinal;
    int before = 0, up_to = total; // keys below low; keys up to high
    SAP_ASSERT(target >= 0 && target < total && low <= high);
    for (int round = 0; low < high; round++) {
        ordinal border = low + (high - low) / 2;
        if (are_reals && round % 3 != 2) {
            const real from = sap_real_of(low), to = sap_real_of(high);
            const real part = ((real)(target - before) + (real)0.5) / (real)(up_to - before);
            const ordinal guess = sap_ordinal_of(from + (to - from) * part);
            border = guess < low ? low : guess < high ? guess : high - 1;
        }
        const int count = warp_count<items>(keys, mask, border);
        if (count == target || count == target + 1) {
            const bool above = count == target; // the least key above the border, or the greatest up to it
            ordinal best = above ? high : low;
#pragma unroll
            for (int j = 0; j < items; j++) {
                const bool is_above = keys[j] > border;
                if (!(mask >> j & 1) || is_above != above) continue;
                best = above ? min(best, keys[j]) : max(best, keys[j]);
            }
            return above ? sap_warp_min(best) : sap_warp_max(best);
        }
        if (count > target) {
            high = border;
            up_to = count;
        } else {
            low = border + 1;
            before = count;
        }
    }
    return low;
}

// Which of a lane's items come before the median of the range, as a mask; `split` is the median's coordinate.
template <typename real, int dims, int items>
static __device__ __forceinline__ unsigned int warp_smaller(const bottom_block<real, dims>& k, warp_range r, int target,
                                                            int axis, typename sap_ordinal<real>::type low,
                                                            typename sap_ordinal<real>::type high, real* split) {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal keys[items];
    unsigned int mask = 0, smaller = 0;
    int total = r.end - r.start;
#pragma unroll
    for (int j = 0; j < items; j++) mask |= (unsigned int)(r.start + j * SAP_WARP + sap_lane() < r.end) << j;
    for (int component = 0;; component++) {
        SAP_ASSERT(component <= k.axes());
        const bool are_reals = component < k.axes();
        const real* column = k.column(sap_next_axis(axis, are_reals ? component : 0, k.axes()));
        if (component > 0) {
            low = are_reals ? sap_ordinal_lowest<real>() : 0;
            high = are_reals ? sap_ordinal_highest<real>() : (ordinal)INT32_MAX;
        }
#pragma unroll
        for (int j = 0; j < items; j++) {
            const int i = r.start + j * SAP_WARP + sap_lane();
            keys[j] = 0;
            if (mask >> j & 1) keys[j] = are_reals ? sap_ordinal_of(column[i]) : (ordinal)k.ids[i];
        }
        const ordinal median =
            warp_select<real, items>(keys, mask, target, total, low, high, are_reals && component == 0);
        if (component == 0) *split = sap_real_of(median);
        unsigned int less = 0, tied = 0;
#pragma unroll
        for (int j = 0; j < items; j++) {
            less |= (unsigned int)(keys[j] < median) << j;
            tied |= (unsigned int)(keys[j] == median) << j;
        }
        smaller |= less & mask;
        const int count = median == 0 ? 0 : warp_count<items>(keys, mask, (ordinal)(median - 1));
        if (count == target) return smaller;
        total = warp_count<items>(keys, tied & mask, median);
        target -= count;
        mask &= tied;
    }
}

// Moves the items of the mask to the front of the range.
template <typename real, int dims, int items>
static __device__ __forceinline__ void warp_partition(const bottom_block<real, dims>& k, warp_range r, int middle,
                                                      unsigned int smaller) {
    int to[items], low = r.start, high = middle;
#pragma unroll
    for (int j = 0; j < items; j++) {
        const bool here = r.start + j * SAP_WARP + sap_lane() < r.end, less = smaller >> j & 1;
        const unsigned int lows = __ballot_sync(SAP_ALL_LANES, here && less);
        const unsigned int highs = __ballot_sync(SAP_ALL_LANES, here && !less);
        to[j] = less ? low + __popc(lows & sap_lanes_below()) : high + __popc(highs & sap_lanes_below());
        if (!here) to[j] = -1;
        low += __popc(lows);
        high += __popc(highs);
    }
    move_items<real, dims, items, false>(k, r.start + sap_lane(), to);
}

// A node of more than one point: its median, and the points to their sides. Returns the split.
template <typename real, int dims, int items>
static __device__ __forceinline__ real warp_divide(const bottom_block<real, dims>& k, warp_range r, int middle,
                                                   int axis, typename sap_ordinal<real>::type low,
                                                   typename sap_ordinal<real>::type high) {
    real split = 0;
    const unsigned int smaller = warp_smaller<real, dims, items>(k, r, middle - r.start, axis, low, high, &split);
    warp_partition<real, dims, items>(k, r, middle, smaller);
    return split;
}

template <typename real, int dims>
static __device__ void warp_split(const bottom_block<real, dims>& k, int level, int index, warp_range r, int middle) {
    typedef typename sap_ordinal<real>::type ordinal;
    const int64_t number = (k.root << level) + index;
    const int depth = k.build->top + level;
    ordinal low = 0, high = 0;
    const int axis = warp_choose_axis(k, level, number, r, &low, &high);
    if (r.end - r.start < 2) {
        const real alone = r.end > r.start ? k.coords[r.start] : 0;
        if (sap_lane() == 0) sap_write_node<real>(*k.build, depth, number, 0, alone);
        return;
    }
    // Small nodes are many: what is done for each item must not be done for items that it cannot have.
    const int items = (r.end - r.start + SAP_WARP - 1) / SAP_WARP;
    SAP_ASSERT(items <= WARP_ITEMS && r.start < middle && middle < r.end);
    const real split = items <= 1   ? warp_divide<real, dims, 1>(k, r, middle, axis, low, high)
                       : items <= 2 ? warp_divide<real, dims, 2>(k, r, middle, axis, low, high)
                       : items <= 4 ? warp_divide<real, dims, 4>(k, r, middle, axis, low, high)
                                    : warp_divide<real, dims, WARP_ITEMS>(k, r, middle, axis, low, high);
    if (sap_lane() == 0) sap_write_node<real>(*k.build, depth, number, axis, split);
}

// Writes a leaf: its points in the order of their ids, found by counting the smaller ones, and its box.
template <typename real, int dims>
static __device__ void warp_leaf(const bottom_block<real, dims>& k, int level, int index, warp_range r) {
    typedef typename sap_ordinal<real>::type ordinal;
    const sap_cuda_build& b = *k.build;
    const int64_t number = (k.root << level) + index;
    const int stride = b.tree.shape.stride, count = r.end - r.start;
    SAP_ASSERT(count >= 0 && count <= stride);
    ordinal low, high;
    (void)warp_choose_axis(k, level, number, r, &low, &high);
    real* coords = (real*)(b.tree.arrays + b.tree.shape.block_at +
                           (size_t)(number * stride) * ((size_t)k.axes() * sizeof(real) + sizeof(int32_t)));
    int32_t* ids = (int32_t*)(coords + (int64_t)k.axes() * stride);
    for (int i = r.start + sap_lane(); i < r.end; i += SAP_WARP) {
        const int32_t id = k.ids[i];
        int rank = 0;
#pragma unroll 4
        for (int j = r.start; j < r.end; j++) rank += k.ids[j] < id;
#pragma unroll
        for (int a = 0; a < k.axes(); a++) coords[a * stride + rank] = k.column(a)[i];
        ids[rank] = id;
    }
    for (int i = count + sap_lane(); i < stride; i += SAP_WARP) {
        for (int a = 0; a < k.axes(); a++) coords[a * stride + i] = (real)INFINITY;
        ids[i] = -1;
    }
}

// Everything from one node down, level by level.
template <typename real, int dims>
static __device__ void build_below(const bottom_block<real, dims>& k, int level, int node) {
    const int levels = k.build->depth - k.build->top;
    for (int down = 0; level + down <= levels; down++) {
        const bool leaves = level + down == levels;
        warp_range r = {0, local_rank(k, level + down, node << down)};
        for (int i = node << down; i < (node + 1) << down; i++) {
            r.start = r.end;
            r.end = local_rank(k, level + down, i + 1);
            if (leaves)
                warp_leaf(k, level + down, i, r);
            else
                warp_split(k, level + down, i, r, local_rank(k, level + down + 1, 2 * i + 1));
        }
    }
}

#endif
