// What the parts of the builder's top share: its nodes, its memory, a block's view, a point in hand.
#ifndef SAPWOOD_TREE_BALANCED_TOP_NODE_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_NODE_CUDA_CUH

#include "tree/balanced/median_cuda.cuh"

enum {
    TOP_THREADS = 1024,
    TOP_WARPS = TOP_THREADS / SAP_WARP,
    TOP_ITEMS = 4, // points a lane has in hand
    TOP_TILE = TOP_THREADS * TOP_ITEMS,
    TOP_GRAIN = 256, // a block's range is a multiple of this
    TOP_ROUND = 7,   // levels between two moves of all points, at most
    TOP_CHILDREN = 1 << TOP_ROUND,
    TOP_SAMPLED = 0,         // heap number of no node: there are the bounds of a sample of all points
    TOP_SIDE_BYTES = 1536,   // a real for each child of a root and axis takes so much, at most
    TOP_COUNTS = 12288,      // of a block, in all its histograms, on any GPU
    TOP_COUNTS_MOST = 24576, // where shared memory has room for them
    TOP_BINS = 4096,         // of a histogram, at most
    TOP_BINS_LEAST = 32,
    TOP_DROP_TILES = 4,     // with more, a block looks after the first tile which histograms are needed
    TOP_BIN_POINTS = 256,   // fewer bins rather than fewer points in each
    TOP_RANKED = 64,        // candidates that a warp ranks
    TOP_TEAMS = 16,         // warps of a block that find medians, where there are many nodes
    TOP_TEAM_BINS = 128,    // of the candidates' histogram of such a warp; a block has TOP_TEAMS times as many
    TOP_TEAM_LISTED = 4096, // candidates with which a warp is left alone
    TOP_ALL_LISTED = 65536, // with which a block is, at levels of few nodes; with more, all blocks find the median
    TOP_ALL_BINS = TOP_TEAMS * TOP_TEAM_BINS
};

// Where a point is in the total order, relative to its node's candidates.
enum { TOP_BEFORE, TOP_AMONG, TOP_AFTER };

// What blocks that find a median together tell each other.
template <typename real> struct top_meeting {
    int bins[3][TOP_ALL_BINS]; // one is filled, one is read, one is cleared
    typename sap_ordinal<real>::type key[TOP_RANKED];
    int list[TOP_RANKED];
    int found;
    unsigned int arrived[SAP_MAX_DEPTH]; // [level] blocks at the barrier, so far
};

// What the kernels work with, in global memory. [node] counts in heap order.
template <typename real> struct top_work {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal *lower, *upper; // [node][dims] bounds
    ordinal* pivot;         // [node][dims] the median, from the node's axis on
    int* pivot_id;          // [node]
    int* min_id;            // [node]
    sap_median<real>* node; // [node] before any of its candidates was looked at
    int* listed;            // [node] candidates that are listed
    int* moved;             // [node] points that have moved there
    unsigned char* noted;   // [rank] the point's node of the root's heap, at the level that was counted last
    int* bins[2];           // [node of a level][dims][bins] histograms: one is filled and read, one is cleared
    int64_t bins_total;
    top_meeting<real>* meeting;
};

// A border between the halves of a node.
template <typename real> struct top_cut {
    real split;
    int axis;
};

// What is known of a child along an axis: bounds of the points that the block has seen, and the bins of its histogram.
template <typename real> struct alignas(4 * sizeof(real)) top_side { real least, most, origin, scale; };

// What tells a node's candidates from the points before and after them.
template <typename real> struct alignas(4 * sizeof(real)) top_gate {
    real low, high; // the first and the last candidate
    int axis;
};

// What a block has while it counts.
template <typename real, int dims> struct top_counting {
    enum { STAGED = dims ? 4096 : 512, SIDES = TOP_SIDE_BYTES / sizeof(real) + (dims ? dims : SAP_MAX_DIMS) };
    // Whether histograms end along axes that children cannot divide. In 3 dimensions that saves less than asking costs.
    enum { DROPS = dims == 4 };
    top_cut<real> cut[TOP_CHILDREN];       // [node of the root's heap]
    top_side<real> side[SIDES];            // [child][axis]; behind the children those of points that belong to none
    top_gate<real> gate[TOP_CHILDREN / 2]; // [node that is split]
    int min_id[TOP_CHILDREN];              // [child]
    int listed[TOP_CHILDREN];              // [node of the root's heap] candidates that wait; then where they go
    unsigned int rank[STAGED];             // of the candidates that wait
    int place[STAGED];                     // node << PLACE_BITS | number among those of the node
    int staged;                            // how many wait
    unsigned int counted;                  // bit a: some child may divide axis a
    int counts[TOP_COUNTS + 1];            // build.counts + 1 of them; the last one: of what is in no histogram
};
enum { TOP_PLACE_BITS = 20 };

// What those who find a node's median have: a warp, a block, or all blocks, each the same.
template <typename real, int dims> struct top_team {
    typedef typename sap_ordinal<real>::type ordinal;
    enum { AXES = dims ? dims : SAP_MAX_DIMS };
    top_side<real> side[2 * AXES]; // [child][axis]
    sap_median<real> node;
    ordinal pivot[AXES]; // components of the median that are known
    ordinal lower[2 * AXES], upper[2 * AXES];
    ordinal key[TOP_RANKED];
    int list[TOP_RANKED]; // the candidates that are left
    int found, median;    // how many they are; which of the listed is the median
    int min_id[2];
};

template <typename real, int dims> struct top_teams {
    top_team<real, dims> team[TOP_TEAMS];
    int bins[TOP_ALL_BINS];
    alignas(16) int counts[4]; // stage.room of them at least: histograms of listed points alone
};

// Points that are moved, in the order of their children. dims 0: a column at a time, ids too.
template <typename real, int dims> struct top_tile {
    top_cut<real> cut[TOP_CHILDREN];
    int places[TOP_WARPS][TOP_CHILDREN + 1]; // of each warp's points of each child; a child's lie in different banks
    int total[TOP_CHILDREN];
    int delta[TOP_CHILDREN];       // from a place in the tile to a rank
    unsigned char child[TOP_TILE]; // of a place in the tile
    real coords[dims ? dims : 1][TOP_TILE];
    int32_t ids[dims ? TOP_TILE : 1];
};

// One launch: where points are read and written, and what is done. Columns, but the caller's rows.
template <typename real> struct top_stage {
    const real* from; // coordinate a of rank i: from[i * row_step + a * axis_step]
    int64_t row_step, axis_step;
    sap_cuda_ids from_ids; // none: ids are ranks
    real* to;
    sap_cuda_ids to_ids;
    int root_level, level; // of the nodes whose points lie together; of those that are split, or to which points move
    int bins;              // of a histogram of the level's children; 0: they belong to the tree's bottom
    int room;              // counts in the histograms of a block that resolves nodes
    int teams;             // nodes a block that resolves them
    bool together;         // all blocks run at once
    bool ahead;            // the launch before writes neither points nor their nodes
    unsigned int share, rest; // of all grains, a block's, and how many of the first blocks have one more
    float roots;              // for a rank
    bool packed;              // rows lie without gaps, from where one load brings four numbers
    real most;                // the greatest coordinate that a tree takes
};

// What a thread needs at hand: what the kernel was called with. dims 0: known at run time only.
template <typename real, int dims> struct top_block {
    const sap_cuda_build* build;
    const top_work<real>* work;
    const top_stage<real>* stage;
    const top_cut<real>* cut; // [node of the root's heap] in shared memory
    __device__ __forceinline__ int axes() const { return dims ? dims : build->dims; }
    __device__ __forceinline__ int64_t rank(int at_level, int64_t index) const {
        return sap_rank(*build, at_level, index);
    }
    // The heap's number of node `local` of the heap of a root.
    __device__ __forceinline__ int64_t heap(int64_t root, int local) const {
        const int down = 31 - __clz(local);
        return ((((int64_t)1 << stage->root_level) + root) << down) + local - (1 << down);
    }
    __device__ __forceinline__ const real* at(int axis, unsigned int i) const {
        return stage->from + (i * stage->row_step + axis * stage->axis_step);
    }
    __device__ __forceinline__ int32_t id(unsigned int i) const {
        return stage->from_ids.first ? stage->from_ids[i] : (int32_t)i;
    }
    __device__ __forceinline__ real* to(int axis, int64_t i) const {
        return stage->to + axis * build->points.pitch + i;
    }
};

// Levels between two moves, at most.
static __host__ __forceinline__ int top_round(int dims, size_t real_bytes) {
    int levels = TOP_ROUND;
    while ((size_t)dims * real_bytes << levels > TOP_SIDE_BYTES) levels--;
    return levels;
}

static __host__ __forceinline__ int top_moves(int levels, int dims, size_t real_bytes) {
    const int most = top_round(dims, real_bytes), moves = (levels + most - 1) / most;
    return moves > 1 && levels == moves * most ? moves + 1 : moves; // moves by the most levels are the dearest
}

// Bins of each histogram of the children of `level` (-1: of the whole tree), `below` levels under their root. counts: in all
// histograms of a block, at most.
static __host__ __forceinline__ int top_bins(int64_t count, int dims, int level, int below, int counts) {
    int bins = TOP_BINS;
    while (bins > TOP_BINS_LEAST &&
           ((bins * dims) << (below + 1) > counts || count >> (level + 1) < (int64_t)bins * TOP_BIN_POINTS))
        bins /= 2;
    return bins;
}

// What the histogram of a child along an axis spans: the bounds of its parent, as far as the candidates of the parent's median
// allow, or those of a sample.
template <typename real> struct top_span {
    typedef typename sap_ordinal<real>::type ordinal;
    ordinal lower, upper; // of the parent
    ordinal low, high;    // of its candidates
    int axis;             // of the parent; -1: of a sample
    __device__ __forceinline__ sap_median<real> begin(int side, int a, int bins) const {
        sap_median<real> m;
        sap_median_begin(&m, a == axis && side == 1 ? low : lower, a == axis && side == 0 ? high : upper, 0, bins);
        return m;
    }
};

// Loads it, but for the candidates and the axis. parent: TOP_SAMPLED or a node.
template <typename real, int dims>
static __device__ __forceinline__ top_span<real> top_load_span(const top_block<real, dims>& k, int64_t parent, int a) {
    const int64_t at = parent * k.axes() + a;
    const top_span<real> span = {k.work->lower[at], k.work->upper[at], 0, 0, -1};
    return span;
}

// A point of a rank in global memory; if the number of dimensions is known, its coordinates are in hand.
template <typename real, int dims> struct top_point {
    const top_block<real, dims>* k;
    unsigned int i;
    real x[dims ? dims : 1];
    __device__ __forceinline__ void load(const top_block<real, dims>* block, unsigned int rank) {
        k = block;
        i = rank;
#pragma unroll
        for (int a = 0; a < dims; a++) x[a] = *k->at(a, i);
    }
    // Makes minus zero zero; only after all loads have been issued, since an addition waits for its load.
    __device__ __forceinline__ void settle() {
#pragma unroll
        for (int a = 0; a < dims; a++) x[a] = x[a] + 0;
    }
    __device__ __forceinline__ real coordinate(int axis) const {
        if (dims == 0) return *k->at(axis, i) + 0;
        real found = x[0];
#pragma unroll
        for (int a = 1; a < dims; a++)
            if (axis == a) found = x[a];
        return found;
    }
    __device__ __forceinline__ int32_t id() const { return k->id(i); }
};

// Loads a lane's points for a move, the first one of rank `first`, others TOP_THREADS ranks apart. Those from `to` on are equal
// to no number or, where coordinates are not in hand, the last one before. `rows`: points lie as the caller gave them, with minus
// zeros; else in columns.
template <bool rows, typename real, int dims>
static __device__ __forceinline__ void top_load(const top_block<real, dims>& k, top_point<real, dims>* point,
                                                unsigned int first, unsigned int to) {
    const top_stage<real>& stage = *k.stage;
    const real* from = stage.from + first * (rows ? stage.row_step : 1);
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        const bool is_there = first + j * TOP_THREADS < to;
        point[j].k = &k;
        point[j].i = dims || is_there ? first + j * TOP_THREADS : to - 1;
#pragma unroll
        for (int a = 0; a < dims; a++) {
            point[j].x[a] = (real)NAN;
            if (is_there)
                point[j].x[a] =
                    rows ? from[j * TOP_THREADS * stage.row_step + a] : from[a * stage.axis_step + j * TOP_THREADS];
        }
    }
}

// As many numbers as a lane has points at hand, which one load brings.
template <typename type> struct alignas(TOP_ITEMS * sizeof(type)) top_four { type of[TOP_ITEMS]; };

// Which of the ranks from `first` on, a lane's, lie in [from, to): bits.
static __device__ __forceinline__ unsigned int top_there(unsigned int first, unsigned int from, unsigned int to) {
    enum { ALL = (1 << TOP_ITEMS) - 1 };
    const unsigned int before = first < from ? from - first : 0, up_to = first < to ? to - first : 0;
    return (up_to < TOP_ITEMS ? (1u << up_to) - 1 : ALL) & (unsigned int)ALL << min(before, (unsigned int)TOP_ITEMS);
}

// Loads a lane's points for a pass, neighbours from rank `first` on, a multiple of their number, and the nodes to which they
// belong, `levels` - 1 below a root, as they were noted when that level was counted (the first-level cache may know older
// notes); the root itself needs no note. Where there is no point: no number or, where coordinates are not in hand, rank
// `other`; and the first node.
template <bool rows, typename real, int dims>
static __device__ __forceinline__ void top_load_neighbours(const top_block<real, dims>& k, int levels,
                                                           top_point<real, dims>* point, int* node, unsigned int first,
                                                           unsigned int there, unsigned int other) {
    const top_stage<real>& stage = *k.stage;
    const unsigned char* noted = k.work->noted;
    const bool all = there == (1u << TOP_ITEMS) - 1;
    constexpr int axes = dims ? dims : 1;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        point[j].k = &k;
        point[j].i = dims || there >> j & 1 ? first + j : other;
        node[j] = levels > 1 ? 1 << (levels - 1) : 1;
    }
    if (all && (!rows || stage.packed)) {
#pragma unroll
        for (int a = 0; a < dims; a++) {
            const top_four<real> four =
                *(const top_four<real>*)(stage.from +
                                         (rows ? (int64_t)first * dims + a * TOP_ITEMS : first + a * stage.axis_step));
#pragma unroll
            for (int j = 0; j < TOP_ITEMS; j++)
                if (rows)
                    point[(a * TOP_ITEMS + j) / axes].x[(a * TOP_ITEMS + j) % axes] = four.of[j];
                else
                    point[j].x[a] = four.of[j];
        }
    } else {
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++)
#pragma unroll
            for (int a = 0; a < dims; a++) point[j].x[a] = there >> j & 1 ? *k.at(a, first + j) : (real)NAN;
    }
    if (levels > 1 && all) {
        const unsigned int four = __ldcg((const unsigned int*)(noted + first));
        static_assert(TOP_ITEMS == sizeof four, "a byte each");
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) node[j] = (int)(four >> 8 * j & 0xff);
    } else if (levels > 1) {
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++)
            if (there >> j & 1) node[j] = __ldcg(noted + first + j);
    }
}

// Notes the nodes of a lane's points.
static __device__ __forceinline__ void top_note(unsigned char* noted, const int* node, unsigned int first,
                                                unsigned int there) {
    if (there == (1u << TOP_ITEMS) - 1) {
        top_four<unsigned char> four;
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) four.of[j] = (unsigned char)node[j];
        *(top_four<unsigned char>*)(noted + first) = four;
        return;
    }
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++)
        if (there >> j & 1) noted[first + j] = (unsigned char)node[j];
}

// Whether the point of rank i, whose first component is the pivot's, comes before it.
template <typename real, int dims>
static __device__ __forceinline__ bool top_tied_before_pivot(const top_block<real, dims>& k, int64_t heap, int axis,
                                                             unsigned int i) {
    const typename sap_ordinal<real>::type* pivot = k.work->pivot + heap * k.axes();
#pragma unroll 1
    for (int c = 1; c < k.axes(); c++) {
        const typename sap_ordinal<real>::type own = sap_ordinal_of(*k.at(sap_next_axis(axis, c, k.axes()), i) + 0);
        if (own != pivot[c]) return own < pivot[c];
    }
    return k.id(i) < k.work->pivot_id[heap];
}

// Takes the nodes to which a lane's points belong, `levels` - 1 below a root, as they were noted when that level was
// counted; where there is no point, the first one. The root itself needs no note.
static __device__ __forceinline__ void top_take_nodes(const unsigned char* noted, int levels, unsigned int first,
                                                      unsigned int to, int* node) {
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        node[j] = levels > 1 ? 1 << (levels - 1) : 1;
        if (levels > 1 && first + j * TOP_THREADS < to) node[j] = noted[first + j * TOP_THREADS];
    }
}

// A lane's points go from their nodes of the root's heap to the children, side by side without a branch; those that meet
// their own coordinate, which are few, are looked at again.
template <typename real, int dims>
static __device__ __forceinline__ void top_descend(const top_block<real, dims>& k, int64_t root,
                                                   const top_point<real, dims>* point, int* node) {
    unsigned int tied = 0;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        const top_cut<real> cut = k.cut[node[j]];
        const real x = point[j].coordinate(cut.axis);
        node[j] = 2 * node[j] + (x >= cut.split);
        if (x == cut.split) tied |= 1u << j;
    }
    if (!tied) return;
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        const int parent = node[j] / 2;
        if (tied >> j & 1 && top_tied_before_pivot(k, k.heap(root, parent), k.cut[parent].axis, point[j].i))
            node[j] = 2 * parent;
    }
}

// Takes what top_descend needs to step down to the nodes that are `levels` below a root. `thread`: in any order.
template <typename real, int dims>
static __device__ __forceinline__ void top_take_cuts(const top_block<real, dims>& k, int64_t root, int levels,
                                                     int thread, top_cut<real>* cut) {
    for (int i = (1 << levels) / 2 + thread; i > 0 && i < 1 << levels; i += TOP_THREADS) {
        const int64_t heap = k.heap(root, i);
        cut[i].split = sap_real_of(k.work->pivot[heap * k.axes()]);
        cut[i].axis = k.work->node[heap].axis;
    }
}

// Calls work(root, from, to) for the part of each root that lies in the block's ranks.
template <typename real, int dims, typename work_type>
static __device__ __forceinline__ void top_each_root(const top_block<real, dims>& k, const work_type& work) {
    const top_stage<real>& stage = *k.stage;
    const int64_t count = k.build->count, before = (int64_t)stage.share * blockIdx.x + min(blockIdx.x, stage.rest);
    const int64_t from = min(before * TOP_GRAIN, count);
    const int64_t to = min((before + stage.share + (blockIdx.x < stage.rest)) * TOP_GRAIN, count);
    // Nearly: a division would take as long as a load.
    int64_t root = min((int64_t)((float)from * stage.roots), ((int64_t)1 << stage.root_level) - 1);
    while (from < to && root > 0 && k.rank(stage.root_level, root) > from) root--;
    while (from < to && k.rank(stage.root_level, root + 1) <= from) root++;
    for (int64_t at = from; at < to; root++) {
        const int64_t end = min(k.rank(stage.root_level, root + 1), to);
        work(root, (unsigned int)at, (unsigned int)end);
        at = end;
    }
}

#endif
