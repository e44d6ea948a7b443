// What the parts of the builder's top share: its nodes, its memory, a block's view, and the barrier of the whole grid.
#ifndef SAPWOOD_TREE_BALANCED_TOP_NODE_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_NODE_CUDA_CUH

#include "device/async_cuda.cuh"
#include "tree/balanced/median_cuda.cuh"

enum {
    TOP_THREADS = 512,
    TOP_WARPS = TOP_THREADS / SAP_WARP,
    TOP_KEYS = 16,   // keys a lane has in hand while it counts
    TOP_GRAIN = 256, // a block's range is a multiple of this
    TOP_BINS = 4096, // of a node's histogram, at most
    TOP_BINS_LEAST = 256,
    TOP_BIN_POINTS = 64,                     // fewer bins rather than fewer points in each
    TOP_EACH = 12,                           // candidates a thread sorts out, at most
    TOP_CANDIDATES = TOP_EACH * TOP_THREADS, // that one block sorts out
    TOP_RANKED = TOP_THREADS                 // that it ranks
};

// The state of the search for a node's median.
template <typename real> struct top_node {
    sap_median<real> median;
    int state; // one of those below
};
enum { TOP_START, TOP_COUNTED, TOP_PLACED };

// Where a point is in the total order, relative to its node's candidates.
enum { TOP_BEFORE, TOP_AMONG, TOP_AFTER, TOP_NONE };

// What the kernel works with, in global memory. [node] counts in heap order, [index] within a level.
template <typename real> struct top_work {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal *lower, *upper;   // [node][dims] bounds
    ordinal* pivot;           // [node][dims] the median's components that are known
    int* min_id;              // [node]
    int* axis;                // [node]
    top_node<real>* start[2]; // [index] as a level begins; by level
    top_node<real>* node[2];  // [index] of the phases of even and odd number
    int* moved[2]; // [index][4] points before, among and after the candidates that found their place; all; by level
    int* bins[3];  // [index][bins] histograms: one is filled, one is read, one is cleared
    int* pending;  // [3] nodes that are not placed
    unsigned int* arrived; // blocks at the barrier, so far
    int64_t bins_total;
};

// A warp's points on their way, in shared memory: a ring of those that were asked for, and two queues of those that go
// left and right, which leave it a whole line of memory at a time: a queue holds the point of rank r at r % QUEUE.
template <typename real, int dims> struct top_room {
    enum {
        STAGES = 3,
        ITEMS = sizeof(real) == 4 ? 2 : 1, // points a lane
        POINTS = ITEMS * SAP_WARP,
        QUEUE = 2 * POINTS // a line that is not full, and the next points
    };
    alignas(16) real coords[STAGES][dims][POINTS];
    alignas(16) int32_t ids[STAGES][POINTS];
    real queue[2][dims][QUEUE];
    int32_t queue_ids[2][QUEUE];
};
template <typename real> struct top_room<real, 0> {};

template <typename real, int dims> struct top_shared {
    int bins[TOP_BINS];
    int scan[SAP_WARP];
    int count[3][SAP_WARP]; // points of a warp's share before, among and after the candidates; then where they begin
    top_node<real> node;    // as all threads see it
    typename sap_ordinal<real>::type bound[2][2][SAP_MAX_DIMS]; // side; lower or upper
    int side_min_id[2];
    int is_bad;
    typename sap_ordinal<real>::type key[TOP_RANKED];
    int is_last; // of the blocks that work on the node
    top_room<real, dims> room[TOP_WARPS];
};

// What a block needs at hand. dims 0: known at run time only.
template <typename real, int dims> struct top_block {
    const sap_cuda_build* build;
    const top_work<real>* work;
    top_shared<real, dims>* shared;
    int level, phase;
    unsigned int rounds; // of the barrier
    const real* from;    // coordinate a of rank i: from[i * row_step + a * axis_step]
    int64_t row_step, axis_step;
    int64_t pitch; // of the columns, here since it is in hand where a write to memory would have it read again
    const int32_t* from_ids; // NULL: ids are ranks
    real* to;                // columns
    int32_t* to_ids;
    __device__ __forceinline__ int axes() const { return dims ? dims : build->dims; }
    __device__ __forceinline__ int64_t rank(int64_t index) const { return sap_rank(*build, level, index); }
    __device__ __forceinline__ int64_t heap(int64_t index) const { return ((int64_t)1 << level) + index; }
    __device__ __forceinline__ int bins() const;
    // The caller adds zero, which makes minus zero zero, but only after it has issued all the loads that it needs: an
    // addition waits for its load.
    __device__ __forceinline__ const real* at(int axis, unsigned int i) const {
        return from + (i * row_step + axis * axis_step);
    }
};

// Bins of each node's histogram: fewer for smaller nodes.
static __device__ __host__ __forceinline__ int top_bins(int64_t count, int level) {
    int bins = TOP_BINS;
    while (bins > TOP_BINS_LEAST && (count >> level) < (int64_t)bins * TOP_BIN_POINTS) bins /= 2;
    return bins;
}

template <typename real, int dims> __device__ __forceinline__ int top_block<real, dims>::bins() const {
    return top_bins(build->count, level);
}

// Begins a node of `level` with these bounds: axis, range of keys; and writes its box if the tree keeps it. One thread.
template <typename real, int dims>
static __device__ void top_begin(const top_block<real, dims>& k, int level, int64_t index,
                                 const typename sap_ordinal<real>::type* lower,
                                 const typename sap_ordinal<real>::type* upper, int min_id) {
    const sap_cuda_build& b = *k.build;
    const top_work<real>& w = *k.work;
    SAP_ASSERT(level < b.top && index >> level == 0);
    const int64_t heap = ((int64_t)1 << level) + index;
    const int count = (int)(sap_rank(b, level, index + 1) - sap_rank(b, level, index));
    const int axis = sap_choose_axis<real>(b, level, count, lower, upper), stored = sap_stored_level(b, level);
    bool equal = true;
    for (int a = 0; a < k.axes(); a++) equal = equal && lower[a] >= upper[a];
    top_node<real> node;
    sap_median_begin(&node.median, lower[axis], upper[axis], count, top_bins(b.count, level));
    for (; equal && node.median.component < k.axes(); sap_median_next(&node.median, axis, k.axes(), lower, upper))
        w.pivot[heap * k.axes() + node.median.component] = node.median.low; // ids decide
    node.state = TOP_START;
    w.axis[heap] = axis;
    w.start[level & 1][index] = node;
    for (int i = 0; i < 4; i++) w.moved[level & 1][4 * index + i] = 0;
    if (stored < 0) return;
    for (int a = 0; a < k.axes(); a++) {
        real* box = sap_stored_box<real>(b, stored, index) + 2 * SAP_GROUP * a;
        box[0] = sap_real_of(lower[a]);
        box[SAP_GROUP] = sap_real_of(upper[a]);
    }
    *sap_stored_min_id(b, stored, index) = min_id;
}

// A point in global memory, as top_class reads it.
template <typename real, int dims> struct top_point {
    const top_block<real, dims>* k;
    unsigned int i;
    __device__ __forceinline__ real coordinate(int axis) const { return *k->at(axis, i) + 0; }
    __device__ __forceinline__ int32_t id() const { return k->from_ids ? k->from_ids[i] : (int32_t)i; }
};

// Where a point with coordinate x on the axis is, relative to the candidates; *key: a candidate's key.
template <typename real, typename point>
static __device__ __forceinline__ int top_class(const sap_median<real>& median,
                                                const typename sap_ordinal<real>::type* pivot, int axis, int dims,
                                                const point& p, real x, typename sap_ordinal<real>::type* key) {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal own = sap_ordinal_of(x);
    for (int c = 0; c < median.component; c++) {
        if (own != pivot[c]) return own < pivot[c] ? TOP_BEFORE : TOP_AFTER;
        if (c + 1 < dims) own = sap_ordinal_of(p.coordinate(sap_next_axis(axis, c + 1, dims)));
    }
    if (median.component == dims) own = (ordinal)p.id();
    *key = own;
    return own < median.low ? TOP_BEFORE : own <= median.high ? TOP_AMONG : TOP_AFTER;
}

#endif
