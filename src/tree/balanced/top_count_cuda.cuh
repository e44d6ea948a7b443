// The builder's top: one pass over all points takes the bounds and histograms of a level's children, and lists the
// candidates for its medians.
#ifndef SAPWOOD_TREE_BALANCED_TOP_COUNT_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_COUNT_CUDA_CUH

#include "tree/balanced/top_node_cuda.cuh"

// The least and the greatest of reals, kept as they are: as integers positive ones have their order, negative ones the
// opposite one. There is neither minus zero nor NaN.
static __device__ __forceinline__ void top_lower(float* least, float x) {
    if (x >= 0)
        atomicMin((int*)least, __float_as_int(x));
    else
        atomicMax((unsigned int*)least, __float_as_uint(x));
}
static __device__ __forceinline__ void top_raise(float* most, float x) {
    if (x >= 0)
        atomicMax((int*)most, __float_as_int(x));
    else
        atomicMin((unsigned int*)most, __float_as_uint(x));
}
static __device__ __forceinline__ void top_lower(double* least, double x) {
    if (x >= 0)
        atomicMin((long long*)least, __double_as_longlong(x));
    else
        atomicMax((unsigned long long*)least, (unsigned long long)__double_as_longlong(x));
}
static __device__ __forceinline__ void top_raise(double* most, double x) {
    if (x >= 0)
        atomicMax((long long*)most, __double_as_longlong(x));
    else
        atomicMin((unsigned long long*)most, (unsigned long long)__double_as_longlong(x));
}

// Takes a coordinate into the bounds of a child. They are read first, since most points change nothing.
template <typename real> static __device__ __forceinline__ void top_widen(top_side<real>* shared, real x) {
    if (x < shared->least) top_lower(&shared->least, x);
    if (x > shared->most) top_raise(&shared->most, x);
}

// The bin of a coordinate, in the histogram that there is if scale > 0: what lies beyond belongs to the bins at the ends.
template <typename real> static __device__ __forceinline__ int top_bin(const top_side<real>& side, real x, int bins) {
    const real place = (x - side.origin) * side.scale;
    return (int)min(sizeof(real) == 4 ? __float2uint_rz((float)place) : __double2uint_rz((double)place),
                    (unsigned int)bins - 1);
}

template <typename real>
static __device__ __forceinline__ void top_begin_side(top_side<real>* side, const sap_median<real>& m) {
    side->least = (real)INFINITY;
    side->most = -(real)INFINITY;
    side->origin = m.origin;
    side->scale = m.scale;
}

// Copies a candidate to a place among those of its node, in the buffer that is free.
template <typename real, int dims>
static __device__ __forceinline__ void top_list(const top_block<real, dims>& k, int64_t heap, int place,
                                                unsigned int i) {
    const int64_t to = k.rank(k.stage->level, heap - ((int64_t)1 << k.stage->level)) + place;
    for (int a = 0; a < k.axes(); a++) *k.to(a, to) = *k.at(a, i) + 0;
    k.stage->to_ids[to] = k.id(i);
}

// Has a warp's candidates wait in shared memory; those that find no room there are listed at once.
template <typename real, int dims>
static __device__ __forceinline__ void top_await(const top_block<real, dims>& k, top_counting<real, dims>* s,
                                                 int64_t root, bool is_one, int node, unsigned int i) {
    bool has_room = true;
    if (is_one) {
        const int at = atomicAdd(&s->staged, 1);
        has_room = at < (int)top_counting<real, dims>::STAGED;
        if (has_room) {
            s->rank[at] = i;
            s->place[at] = node << TOP_PLACE_BITS | atomicAdd(&s->listed[node], 1);
        }
    }
    for (unsigned int left = __ballot_sync(SAP_ALL_LANES, !has_room); left;) {
        const int leader = __ffs((int)left) - 1, own = __shfl_sync(SAP_ALL_LANES, node, leader);
        const unsigned int peers = __ballot_sync(SAP_ALL_LANES, !has_room && node == own);
        const int64_t heap = k.heap(root, own);
        int base = 0;
        if (sap_lane() == leader) base = atomicAdd(&k.work->listed[heap], __popc(peers));
        base = __shfl_sync(SAP_ALL_LANES, base, leader);
        left &= ~peers;
        if (peers >> sap_lane() & 1) top_list(k, heap, base + __popc(peers & sap_lanes_below()), i);
    }
}

// What the histogram of a root's child spans along an axis.
template <typename real, int dims>
static __device__ __forceinline__ top_span<real> top_side_span(const top_block<real, dims>& k, int64_t root, int nodes,
                                                               int child, int a) {
    const int64_t parent = nodes ? k.heap(root, nodes + child / 2) : TOP_SAMPLED;
    top_span<real> span = top_load_span(k, parent, a);
    if (nodes) {
        span.low = k.work->node[parent].low;
        span.high = k.work->node[parent].high;
        span.axis = k.work->node[parent].axis;
    }
    return span;
}

// Begins a root's children: bounds of nothing, empty histograms. What has to be loaded is loaded by different warps, side
// by side. Threads wait for one another before it.
template <typename real, int dims>
static __device__ __forceinline__ void top_count_begin(const top_block<real, dims>& k, top_counting<real, dims>* s,
                                                       int64_t root, int nodes, int children, int bins) {
    const top_work<real>& w = *k.work;
    __syncthreads();
    if (threadIdx.x == 0) s->staged = 0;
    if (threadIdx.x == 0) s->counted = ~0u;
    for (int i = (int)threadIdx.x; i < children * k.axes() * bins; i += TOP_THREADS) s->counts[i] = 0;
    sap_cuda_await_before();
    static_assert(2 * TOP_CHILDREN <= TOP_THREADS, "the warps are different ones");
    if (nodes) top_take_cuts(k, root, k.stage->level - k.stage->root_level, TOP_THREADS - 1 - (int)threadIdx.x, s->cut);
    for (int i = nodes + ((int)threadIdx.x ^ TOP_THREADS / 2); i < 2 * nodes; i += TOP_THREADS) {
        const sap_median<real> node = w.node[k.heap(root, i)];
        s->gate[i - nodes] = {sap_real_of(node.low), sap_median_last(node), node.axis};
        s->listed[i] = 0;
    }
    if (bins == 0) return;
    for (int i = (int)threadIdx.x; i < children * k.axes(); i += TOP_THREADS) {
        const int child = i / k.axes();
        top_begin_side(&s->side[i],
                       top_side_span(k, root, nodes, child, i % k.axes()).begin(child % 2, i % k.axes(), bins));
        if (i % k.axes() == 0) s->min_id[child] = INT32_MAX;
    }
    for (int i = (int)threadIdx.x; i < k.axes(); i += TOP_THREADS) // whatever comes there widens nothing and has no bin
        s->side[children * k.axes() + i] = {-(real)INFINITY, (real)INFINITY, 0, 0};
}

// Adds what the block has found to the children.
template <typename real, int dims>
static __device__ __forceinline__ void top_add_children(const top_block<real, dims>& k, top_counting<real, dims>* s,
                                                        int64_t root, int children, int bins, bool ids) {
    const top_work<real>& w = *k.work;
    const int all = children * k.axes();
    const int64_t first = ((int64_t)1 << (k.stage->level + 1)) + root * children;
    int* sums = w.bins[(k.stage->level + 1) & 1] + root * all * bins;
    for (int i = (int)threadIdx.x; i < all * bins; i += TOP_THREADS)
        if (s->counts[i]) atomicAdd(&sums[i], s->counts[i]);
    for (int i = (int)threadIdx.x; i < all; i += TOP_THREADS) {
        if (s->side[i].least > s->side[i].most) continue;
        atomicMin(&w.lower[first * k.axes() + i], sap_ordinal_of(s->side[i].least));
        atomicMax(&w.upper[first * k.axes() + i], sap_ordinal_of(s->side[i].most));
    }
    for (int i = (int)threadIdx.x; ids && i < children; i += TOP_THREADS) atomicMin(&w.min_id[first + i], s->min_id[i]);
}

// Lists the candidates that wait, and adds what the block has found to the children while room is taken for those.
template <typename real, int dims>
static __device__ __forceinline__ void top_count_end(const top_block<real, dims>& k, top_counting<real, dims>* s,
                                                     int64_t root, int nodes, int children, int bins, bool ids) {
    const int staged = min(s->staged, (int)top_counting<real, dims>::STAGED), own = nodes + (int)threadIdx.x;
    const int listed = own < 2 * nodes ? s->listed[own] : 0;
    int place = 0;
    if (listed) place = atomicAdd(&k.work->listed[k.heap(root, own)], listed);
    if (bins > 0) top_add_children(k, s, root, children, bins, ids);
    if (listed) s->listed[own] = place;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < staged; i += TOP_THREADS) {
        const int node = s->place[i] >> TOP_PLACE_BITS, number = s->place[i] & ((1 << TOP_PLACE_BITS) - 1);
        top_list(k, k.heap(root, node), s->listed[node] + number, s->rank[i]);
    }
}

// Reports the first of a lane's points that no tree can hold.
template <typename real, int dims>
static __device__ __forceinline__ void top_check(const top_block<real, dims>& k, const top_point<real, dims>* point,
                                                 unsigned int there) {
    const real most = k.stage->most;
    int64_t bad = INT64_MAX;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        bool good = true;
#pragma unroll
        for (int a = 0; a < (dims ? dims : k.axes()); a++) {
            const real x = point[j].coordinate(a);
            good = good && x >= -most && x <= most;
        }
        if (!good && there >> j & 1) bad = min(bad, (int64_t)point[j].id());
    }
    if (bad != INT64_MAX) sap_report_bad(*k.build, bad);
}

// Ends the histograms along axes that a child cannot divide: by the rule of the tree, or since the points seen so far make
// it wider along another axis than all of its points can make it there. Threads wait for one another before and after.
template <typename real, int dims>
static __device__ __forceinline__ void top_drop(const top_block<real, dims>& k, top_counting<real, dims>* s,
                                                int64_t root, int nodes, int children, int bins) {
    const bool cycle = k.build->tree.options.axis == SAP_AXIS_CYCLE;
    const int by_depth = (k.build->tree.shape.slice.root_depth + k.stage->level + 1) % k.axes();
    __syncthreads();
    if (threadIdx.x == 0) s->counted = 0;
    __syncthreads();
    for (int child = (int)threadIdx.x; child < children; child += TOP_THREADS) {
        top_side<real>* side = &s->side[child * k.axes()];
        real widest = 0;
        unsigned int counted = 0;
        for (int a = 0; a < k.axes(); a++)
            if (side[a].least < side[a].most) widest = max(widest, side[a].most - side[a].least);
        for (int a = 0; a < k.axes(); a++) {
            // Of a sample nothing is known for certain.
            const sap_median<real> m = top_side_span(k, root, nodes, child, a).begin(child % 2, a, bins);
            const bool can = cycle ? a == by_depth : !nodes || !(sap_real_of(m.high) - sap_real_of(m.low) < widest);
            if (!can) side[a].scale = 0;
            if (side[a].scale > 0) counted |= 1u << a;
        }
        if (counted) atomicOr(&s->counted, counted);
    }
    __syncthreads();
}

// Counts a lane's points, the first one of rank `first`, to whose nodes their noted ones are parents.
template <bool rows, typename real, int dims>
static __device__ __forceinline__ void
top_count_some(const top_block<real, dims>& k, top_counting<real, dims>* s, int64_t root, int below, int bins, bool ids,
               top_point<real, dims>* point, int* node, unsigned int first, unsigned int there) {
    const int nodes = below < 0 ? 0 : 1 << below, children = nodes ? 2 * nodes : 1;
    int child[TOP_ITEMS];
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (rows) point[j].settle();
        child[j] = there >> j & 1 ? 0 : children;
    }
    if (!nodes) top_check(k, point, there);
    if (nodes) {
        unsigned int waiting = 0;
        if (below > 0) {
            top_descend(k, root, point, node);
            top_note(k.work->noted, node, first, there);
        }
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            const top_gate<real> gate = s->gate[node[j] - nodes];
            const real x = point[j].coordinate(gate.axis);
            const bool after = x > gate.high, among = x >= gate.low && !after;
            waiting |= among ? there & 1u << j : 0;
            child[j] = among ? children : max(child[j], 2 * node[j] + after - children);
        }
        if (__any_sync(SAP_ALL_LANES, waiting))
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++) top_await(k, s, root, waiting >> j & 1, node[j], point[j].i);
    }
    if (bins == 0) return;
    const unsigned int counted = s->counted;
    int histogram[TOP_ITEMS]; // the child's first one
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) histogram[j] = child[j] * k.axes() * bins;
#pragma unroll
    for (int a = 0; a < (dims ? dims : k.axes()); a++) {
        top_side<real>* sides = s->side + a;
        bool widens = false;
        if (!top_counting<real, dims>::DROPS || counted >> a & 1) {
            int bin[TOP_ITEMS];
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++) {
                const top_side<real> side = sides[child[j] * k.axes()];
                const real x = point[j].coordinate(a);
                widens = widens || x < side.least || x > side.most;
                bin[j] = histogram[j] + a * bins + top_bin(side, x, bins);
                if (!(side.scale > 0)) bin[j] = k.build->counts;
                SAP_ASSERT(bin[j] >= 0 && bin[j] <= k.build->counts);
            }
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++) atomicAdd(&s->counts[bin[j]], 1);
        } else {
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++) {
                const top_side<real>& side = sides[child[j] * k.axes()];
                const real x = point[j].coordinate(a);
                widens = widens || x < side.least || x > side.most;
            }
        }
        if (widens) // few do, and a branch for each point would take longer than all of this
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++) top_widen(&sides[child[j] * k.axes()], point[j].coordinate(a));
    }
    if (!ids) return;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (child[j] == children) continue;
        const int id = k.id(point[j].i);
        if (id < *(volatile int*)&s->min_id[child[j]]) atomicMin(&s->min_id[child[j]], id);
    }
}

// Counts ranks [from, to) of a root. bins 0: the children belong to the tree's bottom, and are not counted.
template <bool rows, typename real, int dims>
static __device__ void top_count(const top_block<real, dims>& k, top_counting<real, dims>* s, int64_t root, int bins,
                                 unsigned int from, unsigned int to) {
    const int below = k.stage->level - k.stage->root_level, nodes = below < 0 ? 0 : 1 << below,
              children = nodes ? 2 * nodes : 1;
    const bool ids = bins > 0 && k.stage->level >= 0 && sap_stored_level(*k.build, k.stage->level + 1) >= 0;
    const unsigned int begin = from / TOP_ITEMS * TOP_ITEMS; // where loads of several points can
    unsigned int first = begin + threadIdx.x * TOP_ITEMS, there = 0;
    top_point<real, dims> point[TOP_ITEMS];
    int node[TOP_ITEMS];
    const auto load = [&](void) {
        there = top_there(first, from, to);
        top_load_neighbours<rows>(k, below, point, node, first, there, from);
    };
    if (!k.stage->ahead) sap_cuda_await_before();
    load(); // the first points are on their way while the block gets ready, and medians are found
    top_count_begin(k, s, root, nodes, children, bins);
    __syncthreads();
    const bool drops = top_counting<real, dims>::DROPS && bins > 0 && to - from > TOP_DROP_TILES * TOP_TILE;
    for (unsigned int tile = begin; tile < to; tile += TOP_TILE) {
        if (first - sap_lane() * TOP_ITEMS < to) // by whole warps
            top_count_some<rows>(k, s, root, below, bins, ids, point, node, first, there);
        first += TOP_TILE;
        load();
        if (drops && tile == begin) top_drop(k, s, root, nodes, children, bins);
    }
    __syncthreads();
    top_count_end(k, s, root, nodes, children, bins, ids);
}

template <typename real, int dims, bool rows>
static __global__ void __launch_bounds__(TOP_THREADS)
    build_count(const __grid_constant__ sap_cuda_build b, const __grid_constant__ top_work<real> w,
                const __grid_constant__ top_stage<real> stage) {
    typedef top_counting<real, dims> shared_type;
    SAP_CUDA_SHARED(shared_type, shared);
    const top_block<real, dims> k = {&b, &w, &stage, shared->cut};
    // The first pass looks at all points, whatever other blocks find: the lowest bad row is named. It has ended long before.
    if (stage.level >= 0 && sap_build_is_bad(b)) return sap_cuda_await_before();
    top_each_root(k, [&](int64_t root, unsigned int from, unsigned int to) {
        top_count<rows>(k, shared, root, stage.bins, from, to);
    });
    int* clear = w.bins[stage.level & 1];
    for (int64_t i = (int64_t)blockIdx.x * TOP_THREADS + threadIdx.x; i < w.bins_total;
         i += (int64_t)gridDim.x * TOP_THREADS)
        clear[i] = 0;
}

#endif
