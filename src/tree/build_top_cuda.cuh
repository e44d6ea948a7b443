// The upper levels of the balanced builder: all blocks of one cooperative kernel split the nodes of a level together.
//
// Every block owns a range of ranks, for the whole build, and works on the parts of nodes that lie in it; within a
// part, every warp has an equal share. A level is a few phases with a barrier of the whole grid behind each:
//   select     a histogram (shared memory, then global) narrows each node's candidates for the median: first of the
//              coordinates over the node's extent, then, while a node has more than TOP_CANDIDATES, of their keys; ties
//              are broken by the next components of the total order, ids last;
//   partition  the phase after a node's last histogram: points before all candidates go left, those after them right,
//              the candidates in between, and bounds of both sides are taken on the way. A warp counts its share first,
//              and then moves it without waiting for any other;
//   resolve    one block a node ranks the candidates by the total order and puts them in their places.
// Nothing returns to the host, whatever the points: the number of phases is decided on the GPU.
#ifndef SAPWOOD_TREE_BUILD_TOP_CUDA_CUH
#define SAPWOOD_TREE_BUILD_TOP_CUDA_CUH

#include "tree/build_cuda.cuh"

enum {
    TOP_THREADS = 512,
    TOP_WARPS = TOP_THREADS / SAP_WARP,
    TOP_ITEMS = 4,    // points a lane has in hand while it moves them
    TOP_KEYS = 16,    // keys a lane has in hand while it counts
    TOP_GRAIN = 4096, // a block's range is a multiple of this
    TOP_BINS = 4096,  // of a node's histogram, at most
    TOP_BINS_LEAST = 256,
    TOP_CANDIDATES = 256, // that one block ranks
    TOP_REGISTER_DIMS = 4 // up to so many dimensions, bounds are kept in registers
};

// How the search for a node's median stands.
template <typename real> struct top_node {
    typename sap_ordinal<real>::type low, high; // keys among which the median lies
    real origin, scale;                         // bin of a coordinate in the first round: (x - origin) * scale
    int bin;                                    // of the median in that round; -1: it is not over yet
    int64_t below, candidates;                  // points before the candidates; candidates
    int component;                              // of the total order along the axis
    int state;                                  // one of those below
};
enum { TOP_START, TOP_COUNTED, TOP_PLACED };

// What the kernel works with, in global memory.
template <typename real> struct top_work {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal *lower, *upper;  // [2^(top+1)][dims] bounds of nodes in heap order
    int* min_id;             // [2^(top+1)]
    int* axis;               // [2^(top+1)]
    top_node<real>* start;   // [2^top] as a level begins
    top_node<real>* node[2]; // [2^top] of the phases of even and odd number
    ordinal* pivot;          // [2^top][dims] the median's first components
    int* moved[2];         // [2^top][3] points before, among and after the candidates that found their place, by level
    int* bins[3];          // histograms: one is filled, one is read, one is cleared
    int* pending;          // [3] nodes that are not placed
    unsigned int* barrier; // [2] arrivals, generation
    int64_t bins_total;
};

template <typename real> struct top_shared {
    int bins[TOP_BINS];
    int scan[TOP_WARPS];
    int count[TOP_WARPS][3]; // points of a warp's share before, among and after the candidates; then where they begin
    top_node<real> node;     // as all threads see it
    typename sap_ordinal<real>::type key[TOP_CANDIDATES];
    typename sap_ordinal<real>::type bound[2][2][SAP_MAX_DIMS]; // side; lower or upper
    int side_min_id[2];
    int is_bad;
};

// What a block needs at hand. dims 0: known at run time only.
template <typename real, int dims> struct top_block {
    const sap_cuda_build* build;
    const top_work<real>* work;
    top_shared<real>* shared;
    int level, phase;
    const real* from; // coordinate a of rank i: from[i * row_step + a * axis_step]
    int64_t row_step, axis_step;
    const int32_t* from_ids; // NULL: ids are ranks
    real* to;                // columns
    int32_t* to_ids;
    __device__ __forceinline__ int axes() const { return dims ? dims : build->dims; }
    __device__ __forceinline__ int64_t rank(int64_t node) const { return sap_rank(*build, level, node); }
    // Minus zero has still to become zero, by adding zero: but only when everything that is needed has been asked for,
    // since an addition waits for its load.
    __device__ __forceinline__ real raw(int axis, unsigned int i) const {
        return from[i * row_step + axis * axis_step];
    }
    __device__ __forceinline__ real coordinate(int axis, unsigned int i) const { return raw(axis, i) + 0; }
    __device__ __forceinline__ int32_t id(unsigned int i) const { return from_ids ? from_ids[i] : (int32_t)i; }
};

static __device__ void top_barrier(unsigned int* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile unsigned int* generation = barrier + 1;
        const unsigned int now = *generation;
        __threadfence();
        if (atomicAdd(&barrier[0], 1) == gridDim.x - 1) {
            barrier[0] = 0;
            __threadfence();
            atomicAdd(&barrier[1], 1);
        } else {
            while (*generation == now) SAP_CUDA_SPIN();
        }
        __threadfence();
    }
    __syncthreads();
}

// Bins of each node's histogram: fewer for smaller nodes.
static __device__ __host__ __forceinline__ int top_bins(int64_t count, int level) {
    int bins = TOP_BINS;
    while (bins > TOP_BINS_LEAST && (count >> level) < (int64_t)bins * 32) bins /= 2;
    return bins;
}

static __device__ __forceinline__ int top_shift(int bits, int bins) {
    for (int size = bins; size > 1; size /= 2) bits--;
    return bits < 0 ? 0 : bits;
}

template <typename real>
static __device__ __forceinline__ int top_first_bin(const top_node<real>& node, real x, int bins) {
    const int bin = (int)((x - node.origin) * node.scale);
    return bin < bins ? bin : bins - 1;
}

enum { TOP_BEFORE, TOP_AMONG, TOP_AFTER, TOP_NONE };

// Where a point stands to its node's candidates. `x`: its coordinate on the axis; `key`: of a candidate.
template <typename real, int dims>
static __device__ __forceinline__ int top_class(const top_block<real, dims>& k, const top_node<real>& node,
                                                const typename sap_ordinal<real>::type* pivot, int axis, int bins,
                                                unsigned int i, real x, typename sap_ordinal<real>::type* key) {
    typedef typename sap_ordinal<real>::type ordinal;
    if (node.bin >= 0) {
        const int bin = top_first_bin(node, x, bins);
        if (bin != node.bin) return bin < node.bin ? TOP_BEFORE : TOP_AFTER;
    }
    ordinal own = sap_ordinal_of(x);
    for (int c = 0; c < node.component; c++) {
        if (pivot == NULL) break; // all points are equal
        if (own != pivot[c]) return own < pivot[c] ? TOP_BEFORE : TOP_AFTER;
        if (c + 1 < k.axes()) own = sap_ordinal_of(k.coordinate(sap_next_axis(axis, c + 1, k.axes()), i));
    }
    if (node.component == k.axes()) own = (ordinal)k.id(i);
    *key = own;
    return own < node.low ? TOP_BEFORE : own <= node.high ? TOP_AMONG : TOP_AFTER;
}

// ---- Nodes

// Begins a node whose bounds are known: axis, range of keys; and writes its box if the tree keeps it. One thread.
template <typename real>
static __device__ void top_begin(const sap_cuda_build& b, const top_work<real>& w, int level, int64_t index) {
    const int64_t heap = ((int64_t)1 << level) + index;
    const int64_t count = sap_rank(b, level, index + 1) - sap_rank(b, level, index);
    const typename sap_ordinal<real>::type *lower = w.lower + heap * b.dims, *upper = w.upper + heap * b.dims;
    const int axis = sap_choose_axis<real>(b, level, count, lower, upper), stored = sap_stored_level(b, level);
    bool equal = true;
    for (int a = 0; a < b.dims; a++) equal = equal && lower[a] >= upper[a];
    top_node<real> node;
    node.low = equal ? 0 : lower[axis]; // of equal points, ids decide
    node.high = equal ? (typename sap_ordinal<real>::type)INT32_MAX : upper[axis];
    node.component = equal ? b.dims : 0;
    node.origin = sap_real_of(lower[axis]);
    node.scale = (real)top_bins(b.count, level) / (sap_real_of(upper[axis]) - node.origin);
    // Where the extent is nothing, or so small that its inverse overflows, bins of keys do better.
    node.bin = node.scale > 0 && node.scale < (real)FLT_MAX ? -1 : 0;
    if (node.bin == 0) node.scale = 0;
    node.below = 0;
    node.candidates = count;
    node.state = TOP_START;
    w.axis[heap] = equal ? ~axis : axis;
    w.start[index] = node;
    for (int i = 0; i < 3; i++) w.moved[level & 1][3 * index + i] = 0;
    if (stored < 0) return;
    for (int a = 0; a < b.dims; a++) {
        real* box = sap_stored_box<real>(b, stored, index) + 2 * SAP_GROUP * a;
        box[0] = sap_real_of(lower[a]);
        box[SAP_GROUP] = sap_real_of(upper[a]);
    }
    *sap_stored_min_id(b, stored, index) = w.min_id[heap];
}

// Narrows a node to the bin of the median, by one thread.
template <typename real, int dims>
static __device__ void top_take_bin(const top_block<real, dims>& k, top_node<real>* node, int64_t index, int axis,
                                    int bins, int bin, int64_t before, int inside) {
    typedef typename sap_ordinal<real>::type ordinal;
    node->below += before;
    node->candidates = inside;
    if (node->bin < 0) {
        // Half a bin more on both sides: rounding is far less.
        const ordinal first = sap_ordinal_of(node->origin + ((real)bin - (real)0.5) / node->scale);
        const ordinal last = sap_ordinal_of(node->origin + ((real)bin + (real)1.5) / node->scale);
        node->bin = bin;
        node->low = first > node->low ? first : node->low;
        node->high = last < node->high ? last : node->high;
    } else {
        const int shift = top_shift(sap_bits_between(node->low, node->high), bins);
        const ordinal first = node->low + ((ordinal)bin << shift), last = first + (((ordinal)1 << shift) - 1);
        node->low = first;
        node->high = last < node->high ? last : node->high;
    }
    if (inside <= TOP_CANDIDATES || node->low != node->high || node->component == k.axes()) return;
    // Too many points share this key: the next component tells them apart.
    const int64_t heap = ((int64_t)1 << k.level) + index;
    k.work->pivot[index * k.axes() + node->component] = node->low;
    node->component++;
    const bool ids = node->component == k.axes();
    const int next = sap_next_axis(axis, ids ? 0 : node->component, k.axes());
    node->low = ids ? 0 : k.work->lower[heap * k.axes() + next];
    node->high = ids ? (ordinal)INT32_MAX : k.work->upper[heap * k.axes() + next];
}

// Reads a node's histogram of the phase before: all threads of the block look for the bin of the median.
template <typename real, int dims>
static __device__ void top_narrow(const top_block<real, dims>& k, int64_t index, int axis) {
    enum { MOST_EACH = TOP_BINS / TOP_THREADS };
    top_shared<real>* s = k.shared;
    const int bins = top_bins(k.build->count, k.level), each = (bins + TOP_THREADS - 1) / TOP_THREADS;
    const int thread = (int)threadIdx.x, *counts = k.work->bins[(k.phase + 2) % 3] + index * bins + thread * each;
    int own[MOST_EACH], sum = 0;
#pragma unroll
    for (int i = 0; i < MOST_EACH; i++) {
        own[i] = i < each && thread * each + i < bins ? counts[i] : 0;
        sum += own[i];
    }
    int before = sum;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const int other = __shfl_up_sync(SAP_ALL_LANES, before, (unsigned int)step);
        if (sap_lane() >= step) before += other;
    }
    if (sap_lane() == SAP_WARP - 1) s->scan[thread / SAP_WARP] = before;
    __syncthreads();
    for (int warp = 0; warp < thread / SAP_WARP; warp++) before += s->scan[warp];
    before -= sum;
    top_node<real> node = s->node;
    const int64_t middle = sap_rank(*k.build, k.level + 1, 2 * index + 1) - k.rank(index), rank = middle - node.below;
    __syncthreads();
    if (rank >= before && rank < before + (int64_t)sum) {
        bool taken = false;
#pragma unroll
        for (int i = 0; i < MOST_EACH; i++) {
            if (!taken && rank < before + own[i]) {
                top_take_bin(k, &node, index, axis, bins, thread * each + i, before, own[i]);
                taken = true;
            }
            before += own[i];
        }
        s->node = node;
    }
    __syncthreads();
}

// ---- The phases

// Adds the keys of ranks [from, to) of a node to its histogram.
template <typename real, int dims>
static __device__ void top_count(const top_block<real, dims>& k, int64_t index, int axis,
                                 const typename sap_ordinal<real>::type* pivot, unsigned int from, unsigned int to) {
    typedef typename sap_ordinal<real>::type ordinal;
    top_shared<real>* s = k.shared;
    const int bins = top_bins(k.build->count, k.level);
    const top_node<real> node = s->node;
    const int shift = top_shift(sap_bits_between(node.low, node.high), bins);
    for (int i = (int)threadIdx.x; i < bins; i += TOP_THREADS) s->bins[i] = 0;
    __syncthreads();
    for (unsigned int tile = from; tile < to; tile += TOP_KEYS * TOP_THREADS) {
        real x[TOP_KEYS];
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) x[j] = k.raw(axis, min(tile + j * TOP_THREADS + threadIdx.x, to - 1));
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) {
            const unsigned int i = tile + j * TOP_THREADS + threadIdx.x;
            if (i >= to) continue;
            x[j] = x[j] + 0;
            ordinal key;
            if (node.bin < 0)
                atomicAdd(&s->bins[top_first_bin(node, x[j], bins)], 1);
            else if (top_class(k, node, pivot, axis, bins, i, x[j], &key) == TOP_AMONG)
                atomicAdd(&s->bins[(int)((key - node.low) >> shift)], 1);
        }
    }
    __syncthreads();
    int* sums = k.work->bins[k.phase % 3] + index * bins;
    for (int i = (int)threadIdx.x; i < bins; i += TOP_THREADS)
        if (s->bins[i]) atomicAdd(&sums[i], s->bins[i]);
    __syncthreads();
}

template <typename real, int dims> static __device__ void top_clear_bounds(const top_block<real, dims>& k) {
    for (int i = (int)threadIdx.x; i < 2 * k.axes(); i += TOP_THREADS) {
        const int side = i / k.axes(), a = i % k.axes();
        k.shared->bound[side][0][a] = sap_ordinal_highest<real>();
        k.shared->bound[side][1][a] = sap_ordinal_lowest<real>();
        if (a == 0) k.shared->side_min_id[side] = INT32_MAX;
    }
    __syncthreads();
}

// Merges what the block found about both sides of a node into the children's bounds.
template <typename real, int dims>
static __device__ void top_merge_bounds(const top_block<real, dims>& k, int64_t index) {
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 2 * k.axes(); i += TOP_THREADS) {
        const int side = i / k.axes(), a = i % k.axes();
        const int64_t child = 2 * (((int64_t)1 << k.level) + index) + side;
        atomicMin(&k.work->lower[child * k.axes() + a], k.shared->bound[side][0][a]);
        atomicMax(&k.work->upper[child * k.axes() + a], k.shared->bound[side][1][a]);
        if (a == 0) atomicMin(&k.work->min_id[child], k.shared->side_min_id[side]);
    }
    __syncthreads();
}

// Takes a warp's bounds of a side into the block's.
template <typename real, int dims>
static __device__ __forceinline__ void top_take_bounds(const top_block<real, dims>& k, int side, int axis, real least,
                                                       real most) {
    typedef typename sap_ordinal<real>::type ordinal;
    const ordinal low = sap_warp_min(sap_ordinal_of(least)), high = sap_warp_max(sap_ordinal_of(most));
    ordinal* bound = &k.shared->bound[side][0][axis];
    if (sap_lane() != 0 || low > high) return;
    if (low < *bound) atomicMin(bound, low); // read first: most shares change little
    bound = &k.shared->bound[side][1][axis];
    if (high > *bound) atomicMax(bound, high);
}

// Bounds of what a lane has moved to either side.
template <typename real, int dims> struct top_bounds {
    static constexpr int KEPT = dims <= (int)TOP_REGISTER_DIMS ? dims : 0, ROOM = KEPT > 0 ? KEPT : 1;
    real least[2][ROOM], most[2][ROOM];
    int min_id[2];
    __device__ __forceinline__ void begin() {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            min_id[c] = INT32_MAX;
#pragma unroll
            for (int a = 0; a < KEPT; a++) {
                least[c][a] = (real)INFINITY;
                most[c][a] = -(real)INFINITY;
            }
        }
    }
};

// Where a warp's share of a node begins.
static __device__ __forceinline__ unsigned int top_share(unsigned int from, unsigned int to, int warp) {
    const unsigned int share = ((to - from + TOP_WARPS - 1) / TOP_WARPS + SAP_WARP - 1) / SAP_WARP * SAP_WARP;
    return min(from + (unsigned int)warp * share, to);
}

// Classes of a lane's next points, TOP_NONE beyond `to`.
template <int items, typename real, int dims>
static __device__ __forceinline__ void top_classes(const top_block<real, dims>& k, const top_node<real>& node,
                                                   const typename sap_ordinal<real>::type* pivot, int axis, int bins,
                                                   unsigned int at, unsigned int to, int* kind) {
    typename sap_ordinal<real>::type key;
    real x[items];
#pragma unroll
    for (int j = 0; j < items; j++) x[j] = k.raw(axis, min(at + j * SAP_WARP + sap_lane(), to - 1));
#pragma unroll
    for (int j = 0; j < items; j++) {
        const unsigned int i = at + j * SAP_WARP + sap_lane();
        kind[j] = i < to ? top_class(k, node, pivot, axis, bins, i, x[j] + 0, &key) : (int)TOP_NONE;
    }
}

// Gives every warp its places: counts what goes where, adds up over the block, and takes room for all of it.
template <typename real, int dims>
static __device__ void top_make_room(const top_block<real, dims>& k, int64_t index, int axis,
                                     const typename sap_ordinal<real>::type* pivot, unsigned int from,
                                     unsigned int to) {
    top_shared<real>* s = k.shared;
    const top_node<real> node = s->node;
    const int warp = (int)threadIdx.x / SAP_WARP, bins = top_bins(k.build->count, k.level);
    const unsigned int end = top_share(from, to, warp + 1);
    int before = 0, after = 0;
    for (unsigned int at = top_share(from, to, warp); at < end; at += TOP_KEYS * SAP_WARP) {
        int kind[TOP_KEYS];
        top_classes<TOP_KEYS>(k, node, pivot, axis, bins, at, end, kind);
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) {
            before += __popc(__ballot_sync(SAP_ALL_LANES, kind[j] == TOP_BEFORE));
            after += __popc(__ballot_sync(SAP_ALL_LANES, kind[j] == TOP_AFTER));
        }
    }
    if (sap_lane() == 0) {
        s->count[warp][TOP_BEFORE] = before;
        s->count[warp][TOP_AFTER] = after;
        s->count[warp][TOP_AMONG] = (int)(end - top_share(from, to, warp)) - before - after;
    }
    __syncthreads();
    if (threadIdx.x < 3) {
        const int c = (int)threadIdx.x;
        const int64_t low = k.rank(index);
        int sum = 0;
        for (int i = 0; i < TOP_WARPS; i++) sum += s->count[i][c];
        int base = sum ? atomicAdd(&k.work->moved[k.level & 1][3 * index + c], sum) : 0;
        base += (int)(c == TOP_BEFORE ? low : c == TOP_AMONG ? low + node.below : low + node.below + node.candidates);
        for (int i = 0; i < TOP_WARPS; i++) {
            const int own = s->count[i][c];
            s->count[i][c] = base;
            base += own;
        }
    }
    __syncthreads();
}

// The place of a lane's point among those of its class; `next`: the warp's first free places.
static __device__ __forceinline__ int top_place(int kind, int* next) {
    int place = 0;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const unsigned int lanes = __ballot_sync(SAP_ALL_LANES, kind == c);
        if (kind == c) place = next[c] + __popc(lanes & sap_lanes_below());
        next[c] += __popc(lanes);
    }
    return place;
}

// Moves one column of a lane's points and takes their bounds.
template <typename real, int dims>
static __device__ __forceinline__ void top_move_column(const top_block<real, dims>& k, int a, unsigned int at,
                                                       unsigned int end, const int* kind, const int* place) {
    real x[TOP_ITEMS], least[2] = {(real)INFINITY, (real)INFINITY}, most[2] = {-(real)INFINITY, -(real)INFINITY};
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) x[j] = k.raw(a, min(at + j * SAP_WARP + sap_lane(), end - 1));
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (kind[j] == TOP_NONE) continue;
        x[j] = x[j] + 0;
        k.to[a * k.build->points.pitch + place[j]] = x[j];
#pragma unroll
        for (int c = 0; c < 2; c++) {
            if (kind[j] != (c == 0 ? TOP_BEFORE : TOP_AFTER)) continue;
            least[c] = sap_least(least[c], x[j]);
            most[c] = sap_most(most[c], x[j]);
        }
    }
    top_take_bounds(k, 0, a, least[0], most[0]);
    top_take_bounds(k, 1, a, least[1], most[1]);
}

// A lane's points on their way.
template <typename real, int dims> struct top_hand {
    real x[TOP_ITEMS][dims ? dims : 1];
    int32_t id[TOP_ITEMS];
};

// Moves a warp's next points. All coordinates are asked for at once, before anything is done with the first.
template <typename real, int dims>
static __device__ __forceinline__ void
top_move(const top_block<real, dims>& k, const top_node<real>& node, const typename sap_ordinal<real>::type* pivot,
         int axis, int bins, unsigned int at, unsigned int end, int* next, top_bounds<real, dims>* bounds) {
    top_hand<real, dims> hand;
    typename sap_ordinal<real>::type key;
    int kind[TOP_ITEMS], place[TOP_ITEMS];
    real* const to = k.to;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++)
#pragma unroll
        for (int a = 0; a < dims; a++) hand.x[j][a] = k.raw(a, min(at + j * SAP_WARP + sap_lane(), end - 1));
    if (k.from_ids) {
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) hand.id[j] = k.from_ids[min(at + j * SAP_WARP + sap_lane(), end - 1)];
    } else {
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) hand.id[j] = (int32_t)(at + j * SAP_WARP + sap_lane());
    }
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++)
#pragma unroll
        for (int a = 0; a < dims; a++) hand.x[j][a] = hand.x[j][a] + 0;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        const unsigned int i = at + j * SAP_WARP + sap_lane();
        real x = hand.x[j][0];
#pragma unroll
        for (int a = 1; a < dims; a++) x = a == axis ? hand.x[j][a] : x;
        kind[j] = i < end ? top_class(k, node, pivot, axis, bins, i, x, &key) : (int)TOP_NONE;
        place[j] = top_place(kind[j], next);
    }
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (kind[j] == TOP_NONE) continue;
#pragma unroll
        for (int a = 0; a < dims; a++) to[a * k.build->points.pitch + place[j]] = hand.x[j][a];
        k.to_ids[place[j]] = hand.id[j];
    }
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const int mine = c == 0 ? TOP_BEFORE : TOP_AFTER;
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            if (kind[j] != mine) continue;
            bounds->min_id[c] = min(bounds->min_id[c], hand.id[j]);
#pragma unroll
            for (int a = 0; a < dims; a++) {
                bounds->least[c][a] = sap_least(bounds->least[c][a], hand.x[j][a]);
                bounds->most[c][a] = sap_most(bounds->most[c][a], hand.x[j][a]);
            }
        }
    }
}

// The same for more dimensions than there are registers for: a column at a time.
template <typename real, int dims>
static __device__ __forceinline__ void top_move_columns(const top_block<real, dims>& k, const top_node<real>& node,
                                                        const typename sap_ordinal<real>::type* pivot, int axis,
                                                        int bins, unsigned int at, unsigned int end, int* next,
                                                        top_bounds<real, dims>* bounds) {
    int kind[TOP_ITEMS], place[TOP_ITEMS];
    top_classes<TOP_ITEMS>(k, node, pivot, axis, bins, at, end, kind);
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) { place[j] = top_place(kind[j], next); }
    for (int a = 0; a < k.axes(); a++) top_move_column(k, a, at, end, kind, place);
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (kind[j] == TOP_NONE) continue;
        const int32_t id = k.id(at + j * SAP_WARP + sap_lane());
        k.to_ids[place[j]] = id;
        if (kind[j] == TOP_BEFORE) bounds->min_id[0] = min(bounds->min_id[0], id);
        if (kind[j] == TOP_AFTER) bounds->min_id[1] = min(bounds->min_id[1], id);
    }
}

// Moves ranks [from, to) of a node to the other buffer and takes the bounds of both sides.
template <typename real, int dims>
static __device__ void top_partition(const top_block<real, dims>& k, int64_t index, int axis,
                                     const typename sap_ordinal<real>::type* pivot, unsigned int from,
                                     unsigned int to) {
    top_shared<real>* s = k.shared;
    top_clear_bounds(k);
    top_make_room(k, index, axis, pivot, from, to);
    const top_node<real> node = s->node;
    const int warp = (int)threadIdx.x / SAP_WARP, bins = top_bins(k.build->count, k.level);
    const unsigned int end = top_share(from, to, warp + 1);
    int next[3] = {s->count[warp][0], s->count[warp][1], s->count[warp][2]};
    top_bounds<real, dims> bounds;
    bounds.begin();
    for (unsigned int at = top_share(from, to, warp); at < end; at += TOP_ITEMS * SAP_WARP) {
        if constexpr (top_bounds<real, dims>::KEPT > 0)
            top_move(k, node, pivot, axis, bins, at, end, next, &bounds);
        else
            top_move_columns(k, node, pivot, axis, bins, at, end, next, &bounds);
    }
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
        for (int a = 0; a < top_bounds<real, dims>::KEPT; a++)
            top_take_bounds(k, c, a, bounds.least[c][a], bounds.most[c][a]);
        const int id = (int)sap_warp_min((unsigned int)bounds.min_id[c]);
        if (sap_lane() == 0 && id < s->side_min_id[c]) atomicMin(&s->side_min_id[c], id);
    }
    top_merge_bounds(k, index);
}

// One phase of one node's part: reads the last histogram, then fills the next or moves the points.
template <typename real, int dims>
static __device__ void top_phase(const top_block<real, dims>& k, int64_t index, bool first_phase, int64_t from,
                                 int64_t to, bool owner) {
    const top_work<real>& w = *k.work;
    top_shared<real>* s = k.shared;
    const int64_t heap = ((int64_t)1 << k.level) + index;
    const bool equal = w.axis[heap] < 0;
    const int axis = equal ? ~w.axis[heap] : w.axis[heap];
    const typename sap_ordinal<real>::type* pivot = equal ? NULL : w.pivot + index * k.axes();
    __syncthreads();
    if (threadIdx.x == 0) s->node = first_phase ? w.start[index] : w.node[(k.phase + 1) & 1][index];
    __syncthreads();
    if (s->node.state == TOP_COUNTED) top_narrow(k, index, axis);
    int state = s->node.state;
    if (state != TOP_PLACED) {
        const bool ready = s->node.candidates <= TOP_CANDIDATES;
        if (ready)
            top_partition(k, index, axis, pivot, (unsigned int)from, (unsigned int)to);
        else
            top_count(k, index, axis, pivot, (unsigned int)from, (unsigned int)to);
        state = ready ? TOP_PLACED : TOP_COUNTED;
    }
    if (owner && threadIdx.x == 0) {
        top_node<real> node = s->node;
        node.state = state;
        w.node[k.phase & 1][index] = node;
        if (state != TOP_PLACED) atomicAdd(&w.pending[k.phase % 3], 1);
    }
    __syncthreads();
}

// ---- Resolving

// Whether candidate x (a rank of the other buffer) comes before y, their keys being equal.
template <typename real, int dims>
static __device__ bool top_tied_before(const top_block<real, dims>& k, int axis, int component, int64_t x, int64_t y) {
    for (int c = component + 1; c < k.axes(); c++) {
        const real* column = k.to + sap_next_axis(axis, c, k.axes()) * k.build->points.pitch;
        if (column[x] != column[y]) return column[x] < column[y];
    }
    return k.to_ids[x] < k.to_ids[y];
}

// Ranks a node's candidates, puts them in order, writes the node, and begins its children.
template <typename real, int dims> static __device__ void top_resolve(const top_block<real, dims>& k, int64_t index) {
    typedef typename sap_ordinal<real>::type ordinal;
    const sap_cuda_build& b = *k.build;
    const top_work<real>& w = *k.work;
    top_shared<real>* s = k.shared;
    const int64_t heap = ((int64_t)1 << k.level) + index;
    const top_node<real> node = w.node[k.phase & 1][index];
    const int axis = w.axis[heap] < 0 ? ~w.axis[heap] : w.axis[heap], count = (int)node.candidates;
    const int64_t first = k.rank(index) + node.below, middle = sap_rank(b, k.level + 1, 2 * index + 1);
    const bool ids = node.component == k.axes(), mine = (int)threadIdx.x < count;
    const real* keys = k.to + sap_next_axis(axis, ids ? 0 : node.component, k.axes()) * b.points.pitch;
    const int64_t from = first + threadIdx.x;
    int64_t to = 0;
    top_clear_bounds(k);
    if (mine) s->key[threadIdx.x] = ids ? (ordinal)k.to_ids[from] : sap_ordinal_of(keys[from]);
    __syncthreads();
    if (mine) {
        const ordinal own = s->key[threadIdx.x];
        int rank = 0;
#pragma unroll 4
        for (int other = 0; other < count; other++)
            rank += s->key[other] < own || (s->key[other] == own && other != (int)threadIdx.x &&
                                            top_tied_before(k, axis, node.component, first + other, from));
        to = first + rank;
    }
    const int side = to < middle ? 0 : 1;
    for (int a = 0; a <= k.axes(); a++) {
        real x = 0;
        int32_t id = 0;
        __syncthreads();
        if (mine && a < k.axes()) x = k.to[a * b.points.pitch + from];
        if (mine && a == k.axes()) id = k.to_ids[from];
        __syncthreads();
        if (!mine) continue;
        if (a == k.axes()) {
            k.to_ids[to] = id;
            atomicMin(&s->side_min_id[side], id);
            continue;
        }
        k.to[a * b.points.pitch + to] = x;
        atomicMin(&s->bound[side][0][a], sap_ordinal_of(x));
        atomicMax(&s->bound[side][1][a], sap_ordinal_of(x));
        if (a == axis && to == middle) sap_write_node<real>(b, k.level, index, axis, x);
    }
    top_merge_bounds(k, index);
    if (threadIdx.x < 2 && k.level + 1 < b.top) {
        __threadfence();
        top_begin(b, w, k.level + 1, 2 * index + (int)threadIdx.x);
    }
    __syncthreads();
}

// ---- The kernel

// A level's phases over the block's ranks, until all nodes have their points placed. Returns the last phase's number.
template <typename real, int dims> static __device__ int top_split(top_block<real, dims> k, int64_t from, int64_t to) {
    const sap_cuda_build& b = *k.build;
    const top_work<real>& w = *k.work;
    for (bool first = true;; first = false, k.phase++) {
        int* clear = w.bins[(k.phase + 1) % 3];
        for (int64_t i = (int64_t)blockIdx.x * TOP_THREADS + threadIdx.x; i < w.bins_total;
             i += (int64_t)gridDim.x * TOP_THREADS)
            clear[i] = 0;
        if (blockIdx.x == 0 && threadIdx.x == 0) w.pending[(k.phase + 1) % 3] = 0;
        int64_t index = from < to ? (from << k.level) / b.count : 0;
        while (from < to && k.rank(index + 1) <= from) index++;
        for (int64_t at = from; at < to; index++) {
            const int64_t end = min(k.rank(index + 1), to);
            top_phase(k, index, first, at, end, k.rank(index) == at);
            at = end;
        }
        top_barrier(w.barrier);
        if (*(volatile int*)&w.pending[k.phase % 3] == 0) return k.phase;
    }
}

template <typename real, int dims>
static __global__ void __launch_bounds__(TOP_THREADS)
    build_top(const __grid_constant__ sap_cuda_build b, const __grid_constant__ top_work<real> w) {
    SAP_CUDA_SHARED(top_shared<real>, shared);
    if (threadIdx.x == 0) shared->is_bad = sap_build_is_bad(b);
    __syncthreads();
    if (shared->is_bad) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) top_begin(b, w, 0, 0);
    top_barrier(w.barrier);
    const int64_t grains = (b.count + TOP_GRAIN - 1) / TOP_GRAIN;
    const int64_t from = min(grains * blockIdx.x / gridDim.x * TOP_GRAIN, b.count);
    const int64_t to = min(grains * (blockIdx.x + 1) / gridDim.x * TOP_GRAIN, b.count);
    top_block<real, dims> k;
    k.build = &b;
    k.work = &w;
    k.shared = shared;
    k.phase = 0;
    for (k.level = 0; k.level < b.top; k.level++) {
        // The last level writes buffer 0, from which the subtrees are built.
        const int target = (b.top - 1 - k.level) & 1;
        k.to = (real*)b.points.coords[target];
        k.to_ids = b.points.ids[target];
        const bool rows = k.level == 0 && !b.points.keep;
        k.from = (const real*)(rows ? b.points.rows : b.points.coords[target ^ 1]);
        k.row_step = rows ? b.points.stride : 1;
        k.axis_step = rows ? 1 : b.points.pitch;
        k.from_ids = rows ? NULL : b.points.ids[target ^ 1];
        k.phase = top_split(k, from, to);
        for (int64_t i = blockIdx.x; i < (int64_t)1 << k.level; i += gridDim.x) top_resolve(k, i);
        k.phase++;
        top_barrier(w.barrier);
    }
}

// ---- Before it: the bounds of all points, and whether all are fit to build over.

enum { BOUNDS_THREADS = 256, BOUNDS_ITEMS = 8, BOUNDS_TILE = BOUNDS_THREADS * BOUNDS_ITEMS };

template <typename real> struct bounds_shared {
    typename sap_ordinal<real>::type low[SAP_MAX_DIMS], high[SAP_MAX_DIMS];
};

template <typename real>
static __global__ void __launch_bounds__(BOUNDS_THREADS) build_bounds(sap_cuda_build b, top_work<real> w, real most) {
    typedef typename sap_ordinal<real>::type ordinal;
    SAP_CUDA_SHARED(bounds_shared<real>, s);
    const sap_cuda_points& p = b.points;
    int64_t bad = INT64_MAX;
    if (threadIdx.x < SAP_MAX_DIMS) {
        s->low[threadIdx.x] = sap_ordinal_highest<real>();
        s->high[threadIdx.x] = sap_ordinal_lowest<real>();
    }
    __syncthreads();
    for (int64_t tile = (int64_t)blockIdx.x * BOUNDS_TILE; tile < b.count; tile += (int64_t)gridDim.x * BOUNDS_TILE) {
        for (int a = 0; a < b.dims; a++) { // all axes of a tile, while its rows are in the cache
            ordinal low = sap_ordinal_highest<real>(), high = sap_ordinal_lowest<real>();
            int64_t row[BOUNDS_ITEMS];
#pragma unroll
            for (int j = 0; j < BOUNDS_ITEMS; j++) {
                const int64_t rank = min(tile + j * BOUNDS_THREADS + threadIdx.x, b.count - 1);
                row[j] = p.keep ? p.keep[rank] : rank;
            }
            real x[BOUNDS_ITEMS];
#pragma unroll
            for (int j = 0; j < BOUNDS_ITEMS; j++) x[j] = ((const real*)p.rows)[row[j] * p.stride + a];
#pragma unroll
            for (int j = 0; j < BOUNDS_ITEMS; j++) {
                if (!(x[j] >= -most && x[j] <= most)) bad = min(bad, row[j]);
                low = min(low, sap_ordinal_of(x[j] + 0));
                high = max(high, sap_ordinal_of(x[j] + 0));
            }
            low = sap_warp_min(low);
            high = sap_warp_max(high);
            if (sap_lane() == 0 && low < s->low[a]) atomicMin(&s->low[a], low);
            if (sap_lane() == 0 && high > s->high[a]) atomicMax(&s->high[a], high);
        }
    }
    if (bad != INT64_MAX) sap_report_bad(b, bad);
    __syncthreads();
    if ((int)threadIdx.x < b.dims) {
        atomicMin(&w.lower[b.dims + threadIdx.x], s->low[threadIdx.x]);
        atomicMax(&w.upper[b.dims + threadIdx.x], s->high[threadIdx.x]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) w.min_id[1] = p.keep ? p.keep[0] : 0;
}

// Gathers the rows to build over, as columns, for the first level to read.
template <typename real>
static __global__ void __launch_bounds__(BOUNDS_THREADS) build_gather(sap_cuda_build b, int buffer) {
    const sap_cuda_points& p = b.points;
    const int64_t rank = (int64_t)blockIdx.x * BOUNDS_THREADS + threadIdx.x;
    if (rank >= b.count) return;
    const int32_t row = p.keep[rank];
    for (int a = 0; a < b.dims; a++)
        ((real*)p.coords[buffer])[a * p.pitch + rank] = ((const real*)p.rows)[row * p.stride + a];
    p.ids[buffer][rank] = row;
}

// Sets the work up: bounds of nothing, empty histograms.
template <typename real>
static __global__ void __launch_bounds__(BOUNDS_THREADS) build_prepare(sap_cuda_build b, top_work<real> w) {
    int64_t step = (int64_t)gridDim.x * BOUNDS_THREADS, first = (int64_t)blockIdx.x * BOUNDS_THREADS + threadIdx.x;
    int64_t nodes = (int64_t)2 << b.top;
    for (int64_t i = first; i < nodes * b.dims; i += step) {
        w.lower[i] = sap_ordinal_highest<real>();
        w.upper[i] = sap_ordinal_lowest<real>();
    }
    for (int64_t i = first; i < nodes; i += step) w.min_id[i] = INT32_MAX;
    for (int64_t i = first; i < w.bins_total; i += step) w.bins[0][i] = 0;
    if (first < 3) w.pending[first] = 0;
    if (first < 2) w.barrier[first] = 0;
}

#endif
