// Subtrees whose points fit into shared memory: one block builds each, down to the leaves, from lists of its points that
// are sorted once along every axis. For floats of the dimensions that are common; bottom_cuda.cuh is for the others.
//
// Of every node, each axis has a stretch of its list, of the same ranks: the tight box is at the ends of the stretches,
// the median in the middle of one, and what lies before it there goes left. So a level marks the points that go left and
// divides all lists stably, all nodes at once. Points themselves stay where they are until the leaves are written.
//
// A warp has the same ranks at all levels: those of one node of the level at which there are as many nodes as warps. From
// there down it waits for no other warp.
#ifndef SAPWOOD_TREE_BALANCED_SORTED_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_SORTED_CUDA_CUH

#include "tree/balanced/build_cuda.cuh"

enum {
    SORTED_SHARED_LEVELS = 5, // at which the nodes are fewer than the warps
    SORTED_WARPS = 1 << SORTED_SHARED_LEVELS,
    SORTED_THREADS = SORTED_WARPS * SAP_WARP,
    SORTED_ITEMS = 8, // points a lane, at most
    SORTED_POINTS = SORTED_THREADS * SORTED_ITEMS,
    SORTED_BINS = SORTED_POINTS,
    SORTED_CROWD = 256 // points of a bin that compare themselves with one another, at most
};

// The points of a rank in the lists of all axes, by their numbers in the block.
template <int dims> struct __align__(dims == 2 ? 4 : 8) sorted_rank { unsigned short of[dims == 2 ? 2 : 4]; };

// The same in registers.
template <int dims> struct sorted_own {
    unsigned int pairs[dims == 2 ? 1 : 2];
    __device__ __forceinline__ explicit sorted_own(const sorted_rank<dims>* rank) {
        const sorted_rank<dims> all = *rank;
        memcpy(pairs, &all, sizeof pairs);
    }
    __device__ __forceinline__ sorted_own(void) {}
    __device__ __forceinline__ unsigned int of(int axis) const { return pairs[axis / 2] >> (axis % 2 * 16) & 0xffff; }
};

// A number for each of a lane's items, in order, two in a register.
struct sorted_numbers {
    unsigned int pairs[SORTED_ITEMS / 2];
    __device__ __forceinline__ int of(int item) const { return (int)(pairs[item / 2] >> (item % 2 * 16) & 0xffff); }
    __device__ __forceinline__ void put(int item, int number) {
        pairs[item / 2] = item % 2 ? pairs[item / 2] | (unsigned int)number << 16 : (unsigned int)number & 0xffff;
    }
    // The first one, which leaves, for loops that are not unrolled.
    __device__ __forceinline__ int take(void) {
        const int first = of(0);
#pragma unroll
        for (int i = 0; i < SORTED_ITEMS / 2; i++)
            pairs[i] = pairs[i] >> 16 | (i + 1 < SORTED_ITEMS / 2 ? pairs[i + 1] << 16 : 0);
        return first;
    }
};

// Shared memory: this, then sorted_rank[capacity], float coords[dims][capacity], room for bins, and for each leaf and the
// end of all the rank at which it begins and the axis of the last node seen that begins with it.
struct __align__(16) sorted_shared {
    unsigned int lower[4], upper[4]; // of the block's points
    int totals[4][SORTED_WARPS];     // of the warps
    unsigned int differs;            // bits in which keys differ
};
enum { SORTED_ROOM = (SORTED_BINS / 2 + 4) * 4 }; // also for the end of the last bin; a multiple of 16

template <int dims> static __host__ __device__ inline size_t sorted_bytes(int capacity, int64_t leaves) {
    return sizeof(sorted_shared) + (size_t)capacity * (sizeof(sorted_rank<dims>) + dims * sizeof(float)) + SORTED_ROOM +
           (size_t)(leaves + 1) * (sizeof(unsigned short) + 1);
}

// The same number, from which the compiler works out anew what would take a register for each item if it were kept.
static __device__ __forceinline__ int sorted_anew(int number) {
#ifndef SAP_CUDA_ON_CPU
    asm volatile("" : "+r"(number));
#endif
    return number;
}

template <int dims> struct sorted_block {
    const sap_cuda_build* build;
    sorted_shared* shared;
    sorted_rank<dims>* ranks;
    float* coords;
    unsigned int* bins;       // two in each
    unsigned char* goes_left; // in the room of the bins
    unsigned short* starts;   // of leaves
    unsigned char* axes;
    int capacity, count;        // columns are `capacity` long; a multiple of 4
    int levels, warp, from, to; // the warp's ranks
    int64_t first;              // rank of the first point in the whole tree
    int64_t root;               // number of the subtree among those of its depth
    __device__ __forceinline__ float* column(int axis) const { return coords + axis * capacity; }
    // The threads of the block, or of the warp, wait for each other.
    template <bool block> __device__ __forceinline__ void wait(void) {
        wait_for_group<block>();
        count = sorted_anew(count);
        from = sorted_anew(from);
        to = sorted_anew(to);
    }
};

// The id of a point.
template <int dims> static __device__ __forceinline__ int sorted_id(const sorted_block<dims>& k, int point) {
    const sap_cuda_points& p = k.build->points;
    return k.build->top > 0 ? p.ids[0][k.first + point] : p.keep ? p.keep[point] : point;
}

// Whether point x comes before point y, whose coordinates on this axis are the same, in the axis' total order.
template <int dims> static __device__ bool sorted_tied_before(const sorted_block<dims>& k, int axis, int x, int y) {
    for (int c = 1; c < dims; c++) {
        const float* column = k.column(sap_next_axis(axis, c, dims));
        if (column[x] != column[y]) return column[x] < column[y];
    }
    return sorted_id(k, x) < sorted_id(k, y);
}

// ---- Loading

// Brings the points in, with their bounds.
template <int dims> static __device__ __forceinline__ void sorted_load(const sorted_block<dims>& k, float most) {
    const sap_cuda_build& b = *k.build;
    float least[dims], greatest[dims];
    for (int a = 0; a < dims; a++) {
        least[a] = INFINITY;
        greatest[a] = -INFINITY;
    }
    float x[dims][SORTED_ITEMS];
    const float* columns = (const float*)b.points.coords[0] + k.first;
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int i = j * SORTED_THREADS + (int)threadIdx.x;
        if (i >= k.count) continue;
        if (b.top > 0) {
#pragma unroll
            for (int a = 0; a < dims; a++) x[a][j] = columns[a * b.points.pitch + i];
            continue;
        }
        const int64_t row = b.points.keep ? b.points.keep[i] : i;
        const float* from = (const float*)b.points.rows + row * b.points.stride;
        bool good = true;
#pragma unroll
        for (int a = 0; a < dims; a++) {
            x[a][j] = from[a] + 0; // minus zero becomes zero
            good = good && x[a][j] >= -most && x[a][j] <= most;
        }
        if (!good) sap_report_bad(b, row);
    }
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int i = j * SORTED_THREADS + (int)threadIdx.x;
        if (i >= k.count) continue;
#pragma unroll
        for (int a = 0; a < dims; a++) {
            k.column(a)[i] = x[a][j];
            least[a] = sap_least(least[a], x[a][j]);
            greatest[a] = sap_most(greatest[a], x[a][j]);
        }
    }
#pragma unroll
    for (int a = 0; a < dims; a++) {
        const unsigned int low = sap_warp_min(sap_ordinal_of(least[a])),
                           high = sap_warp_max(sap_ordinal_of(greatest[a]));
        if (sap_lane() == 0) atomicMin(&k.shared->lower[a], low);
        if (sap_lane() == 0) atomicMax(&k.shared->upper[a], high);
    }
}

// ---- Sorting

static __device__ __forceinline__ unsigned int sorted_bin(float x, float origin, float scale) {
    return min((unsigned int)((x - origin) * scale), (unsigned int)SORTED_BINS - 1);
}

// The first rank of a bin, or of what follows the last.
template <int dims>
static __device__ __forceinline__ int sorted_bin_start(const sorted_block<dims>& k, unsigned int bin) {
    return (int)(k.bins[bin / 2] >> (bin % 2 * 16) & 0xffff);
}

template <int dims> static __device__ __forceinline__ void sorted_clear_bins(const sorted_block<dims>& k) {
#pragma unroll
    for (int i = 0; i < SORTED_BINS / 2; i += SORTED_THREADS) k.bins[i + (int)threadIdx.x] = 0;
}

// Turns counts of bins into their starts. Whether a bin is crowded. Ends with all threads waiting for one another.
template <int dims> static __device__ __forceinline__ bool sorted_scan_bins(const sorted_block<dims>& k) {
    enum { EACH = SORTED_BINS / 2 / SORTED_THREADS };
    unsigned int* own = k.bins + (int)threadIdx.x * EACH;
    unsigned int words[EACH], most = 0;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        words[i] = own[i];
        most = max(most, max(words[i] & 0xffff, words[i] >> 16));
        sum += (int)((words[i] & 0xffff) + (words[i] >> 16));
    }
    int before = sum;
#pragma unroll
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const int other = __shfl_up_sync(SAP_ALL_LANES, before, (unsigned int)step);
        if (sap_lane() >= step) before += other;
    }
    if (sap_lane() == SAP_WARP - 1) k.shared->totals[0][k.warp] = before;
    __syncthreads();
    before -= sum;
    before += (int)sap_warp_sum(sap_lane() < k.warp ? (unsigned int)k.shared->totals[0][sap_lane()] : 0);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const unsigned int second = (unsigned int)before + (words[i] & 0xffff);
        own[i] = (unsigned int)before | second << 16;
        before = (int)(second + (words[i] >> 16));
    }
    if (threadIdx.x == SORTED_THREADS - 1) k.bins[SORTED_BINS / 2] = (unsigned int)before;
    return __syncthreads_or(most > SORTED_CROWD);
}

// The rank of a point among those of its bin, which lie in `axis`' list from `start` to `end`, plus `start`.
template <int dims>
static __device__ __forceinline__ int sorted_rank_in_bin(const sorted_block<dims>& k, int axis, int point, int start,
                                                         int end) {
    const float* column = k.column(axis);
    const float x = column[point];
    int rank = start;
#pragma unroll 1
    for (int i = start; i < end; i++) {
        const int other = k.ranks[i].of[axis];
        const float y = column[other];
        rank += y < x;
        if (y == x && other != point) rank += sorted_tied_before(k, axis, other, point);
    }
    return rank;
}

// Sorts the list of each axis: points go to bins of equal width, and within a bin each counts those before it. False, and
// lists without a meaning, if a bin is crowded. All threads wait for one another before and after.
template <int dims> static __device__ __forceinline__ bool sort_by_bins(sorted_block<dims>& k) {
    sorted_clear_bins(k);
    k.template wait<true>();
#pragma unroll 1
    for (int a = 0; a < dims; a++) {
        const float* column = k.column(a);
        const float origin = sap_real_of(k.shared->lower[a]), side = sap_real_of(k.shared->upper[a]) - origin;
        float scale = (float)SORTED_BINS / side;
        if (!(scale > 0 && scale < FLT_MAX)) scale = 0; // one bin, if there is no width or nearly none
        unsigned int place[SORTED_ITEMS];               // the bin, and above it the rank among its points
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int i = j * SORTED_THREADS + (int)threadIdx.x;
            if (i >= k.count) continue;
            const unsigned int bin = sorted_bin(column[i], origin, scale), half = bin % 2 * 16;
            const unsigned int old = atomicAdd(&k.bins[bin / 2], 1u << half);
            place[j] = bin | (old >> half & 0xffff) << 16;
        }
        k.template wait<true>();
        if (sorted_scan_bins(k)) return false;
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int i = j * SORTED_THREADS + (int)threadIdx.x;
            if (i >= k.count) continue;
            const int rank = sorted_bin_start(k, place[j] & 0xffff) + (int)(place[j] >> 16);
            k.ranks[rank].of[a] = (unsigned short)i;
        }
        k.template wait<true>();
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int i = j * SORTED_THREADS + (int)threadIdx.x;
            if (i >= k.count) continue;
            const unsigned int bin = place[j] & 0xffff;
            const int start = sorted_bin_start(k, bin), end = sorted_bin_start(k, bin + 1);
            place[j] = end - start > 1 ? (unsigned int)sorted_rank_in_bin(k, a, i, start, end) : SORTED_POINTS;
        }
        k.template wait<true>();
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int i = j * SORTED_THREADS + (int)threadIdx.x;
            if (i < k.count && place[j] < SORTED_POINTS) k.ranks[place[j]].of[a] = (unsigned short)i;
        }
        sorted_clear_bins(k);
        k.template wait<true>();
    }
    return true;
}

// The key of a point: its coordinate, or its id on axis -1.
template <int dims>
static __device__ __forceinline__ unsigned int sorted_key(const sorted_block<dims>& k, int axis, int point) {
    return axis < 0 ? (unsigned int)sorted_id(k, point) : sap_ordinal_of(k.column(axis)[point]);
}

// Sorts the list of axis `list` stably by a key, bit by bit.
template <int dims> static __device__ __forceinline__ void sort_by_key(sorted_block<dims>& k, int list, int axis) {
    if (threadIdx.x == 0) k.shared->differs = 0;
    k.template wait<true>();
    unsigned int differs = 0;
    for (int i = (int)threadIdx.x; i < k.count; i += SORTED_THREADS)
        differs |= sorted_key(k, axis, i) ^ sorted_key(k, axis, 0);
    if (differs) atomicOr(&k.shared->differs, differs);
    k.template wait<true>();
    unsigned int bits = k.shared->differs;
    k.template wait<true>();
#pragma unroll 1
    for (; bits; bits &= bits - 1) {
        const int bit = __ffs((int)bits) - 1;
        int point[SORTED_ITEMS], total = 0;
        unsigned int low[SORTED_ITEMS];
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int rank = k.from + j * SAP_WARP + sap_lane();
            point[j] = rank < k.to ? k.ranks[rank].of[list] : 0;
            low[j] = __ballot_sync(SAP_ALL_LANES, rank < k.to && !(sorted_key(k, axis, point[j]) >> bit & 1));
            total += __popc(low[j]);
        }
        if (sap_lane() == 0) k.shared->totals[0][k.warp] = total;
        k.template wait<true>();
        const int of_lane = sap_lane() < SORTED_WARPS ? k.shared->totals[0][sap_lane()] : 0;
        int before = (int)sap_warp_sum(sap_lane() < k.warp ? (unsigned int)of_lane : 0);
        const int lows = (int)sap_warp_sum((unsigned int)of_lane);
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int rank = k.from + j * SAP_WARP + sap_lane();
            const int lows_before = before + __popc(low[j] & sap_lanes_below());
            const int to = low[j] >> sap_lane() & 1 ? lows_before : lows + rank - lows_before;
            if (rank < k.to) k.ranks[to].of[list] = (unsigned short)point[j];
            before += __popc(low[j]);
        }
        k.template wait<true>();
    }
}

// Sorts the lists however the points lie. An order along an axis is decided by that axis, then by those after it, from the
// last on by the first, and by ids at last: so each list is the one of the axis after it, sorted stably by one axis more.
template <int dims> static __device__ __forceinline__ void sort_by_keys(sorted_block<dims>& k) {
    for (int rank = k.from + sap_lane(); rank < k.to; rank += SAP_WARP) k.ranks[rank].of[0] = (unsigned short)rank;
#pragma unroll 1
    for (int step = 0; step < 2 * dims; step++) {
        const int axis = step == 0 ? -1 : step <= dims ? dims - step : 2 * dims - step, list = step <= dims ? 0 : axis;
        if (step > dims)
            for (int rank = k.from + sap_lane(); rank < k.to; rank += SAP_WARP)
                k.ranks[rank].of[list] = k.ranks[rank].of[axis == dims - 1 ? 0 : axis + 1];
        sort_by_key(k, list, axis);
    }
}

// ---- Levels

// The first rank that goes to the right half of a rank's node.
template <int dims>
static __device__ __forceinline__ int sorted_middle(const sorted_block<dims>& k, int leaf, int shift) {
    return k.starts[(2 * (leaf >> shift) + 1) << (shift - 1)];
}

// Chooses a node's axis and writes the node, and its box where the tree keeps one.
template <int dims>
static __device__ __forceinline__ void sorted_node(const sorted_block<dims>& k, int level, int index) {
    const sap_cuda_build& b = *k.build;
    const int shift = k.levels - level, depth = b.top + level, stored = sap_stored_level(b, depth);
    const int start = k.starts[index << shift], end = k.starts[(index + 1) << shift];
    const int64_t number = (k.root << level) + index;
    float lower[dims], upper[dims];
    for (int a = 0; a < dims; a++) {
        lower[a] = INFINITY;
        upper[a] = -INFINITY;
    }
    if (start < end) {
        const sorted_rank<dims> first = k.ranks[start], last = k.ranks[end - 1];
        for (int a = 0; a < dims; a++) {
            lower[a] = k.column(a)[first.of[a]];
            upper[a] = k.column(a)[last.of[a]];
        }
    }
    int axis = 0;
    float side = upper[0] - lower[0], split = start < end ? lower[0] : 0;
    if (end - start > 1) {
        if (b.tree.options.axis == SAP_AXIS_CYCLE) {
            axis = (b.tree.shape.slice.root_depth + depth) % dims;
        } else {
            for (int a = 1; a < dims; a++) {
                if (upper[a] - lower[a] > side) {
                    side = upper[a] - lower[a];
                    axis = a;
                }
            }
        }
        const int middle = k.starts[(2 * index + 1) << (shift - 1)];
        SAP_ASSERT(start < middle && middle < end);
        split = k.column(axis)[k.ranks[middle].of[axis]];
    }
    sap_write_node<float>(b, depth, number, axis, split);
    k.axes[index << shift] = (unsigned char)axis;
    if (stored < 0) return;
    float* box = sap_stored_box<float>(b, stored, number);
    for (int a = 0; a < dims; a++) {
        box[2 * SAP_GROUP * a] = lower[a];
        box[2 * SAP_GROUP * a + SAP_GROUP] = upper[a];
    }
    *sap_stored_min_id(b, stored, number) = INT32_MAX; // the leaves lower it
}

// Nodes of a level: all of them, by the block, or the warp's. Ends with the group waiting.
template <int dims, bool block> static __device__ __forceinline__ void sorted_nodes(sorted_block<dims>& k, int level) {
    if (block) {
        if ((int)threadIdx.x < 1 << level) sorted_node(k, level, (int)threadIdx.x);
    } else {
        const int below = level - SORTED_SHARED_LEVELS;
        for (int i = sap_lane(); i < 1 << below; i += SAP_WARP) sorted_node(k, level, (k.warp << below) + i);
    }
    k.template wait<block>();
}

// Splits a level's nodes.
template <int dims, bool block>
static __device__ __forceinline__ void sorted_split(sorted_block<dims>& k, int level, const sorted_numbers& leaf) {
    int shift = k.levels - level;
    const int size = k.to - k.from;
    sorted_nodes<dims, block>(k, level);
    // As many ranks before a rank lie left of the middle of their node as points there go left, but for those of the rank's
    // own node: so places follow from the difference of both counts, wherever they begin.
    sorted_own<dims> own[SORTED_ITEMS];
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int rank = k.from + j * SAP_WARP + sap_lane();
        if (j * SAP_WARP >= size || rank >= k.to) continue;
        own[j] = sorted_own<dims>(&k.ranks[rank]);
        const int axis = k.axes[leaf.of(j) >> shift << shift];
        unsigned int point = own[j].of(0);
#pragma unroll
        for (int a = 1; a < dims; a++) point = axis == a ? own[j].of(a) : point;
        k.goes_left[point] = rank < sorted_middle(k, leaf.of(j), shift);
    }
    k.template wait<block>();
    int ahead[dims];        // points that go left, less ranks left of the middle
    unsigned int lefts = 0; // of the items: bit dims * j + a
#pragma unroll
    for (int a = 0; a < dims; a++) ahead[a] = 0;
    if (block) {
        int marked = 0;
        shift = sorted_anew(shift);
#pragma unroll
        for (int j = 0; j < SORTED_ITEMS; j++) {
            const int rank = k.from + j * SAP_WARP + sap_lane();
            if (j * SAP_WARP >= size || rank >= k.to) continue;
            marked += rank < sorted_middle(k, leaf.of(j), shift);
#pragma unroll
            for (int a = 0; a < dims; a++) {
                const unsigned int left = k.goes_left[own[j].of(a)];
                ahead[a] += (int)left;
                lefts |= left << (dims * j + a);
            }
        }
#pragma unroll
        for (int a = 0; a < dims; a++) {
            const int total = (int)sap_warp_sum((unsigned int)(ahead[a] - marked));
            if (sap_lane() == 0) k.shared->totals[a][k.warp] = total;
        }
        k.template wait<true>();
#pragma unroll
        for (int a = 0; a < dims; a++)
            ahead[a] = (int)sap_warp_sum(sap_lane() < k.warp ? (unsigned int)k.shared->totals[a][sap_lane()] : 0u);
    }
    shift = sorted_anew(shift);
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        if (j * SAP_WARP >= size) break;
        const int rank = k.from + j * SAP_WARP + sap_lane();
        const bool here = rank < k.to;
        const int middle = here ? sorted_middle(k, leaf.of(j), shift) : 0;
        const unsigned int marked = __ballot_sync(SAP_ALL_LANES, rank < middle);
        const int marked_before = __popc(marked & sap_lanes_below()), marked_all = __popc(marked);
        const int low = min(rank, middle) - marked_before, high = max(rank, middle) + marked_before;
#pragma unroll
        for (int a = 0; a < dims; a++) {
            const bool left = here && (block ? lefts >> (dims * j + a) & 1 : k.goes_left[own[j].of(a)]);
            const unsigned int votes = __ballot_sync(SAP_ALL_LANES, left);
            const int before = ahead[a] + __popc(votes & sap_lanes_below());
            const int to = left ? low + before : high - before;
            SAP_ASSERT(!here || (to >= 0 && to < k.count));
            if (here) k.ranks[to].of[a] = (unsigned short)own[j].of(a);
            ahead[a] += __popc(votes) - marked_all;
        }
    }
    k.template wait<block>();
}

// ---- Leaves

// Writes the leaves: points in the order of their ids, found by counting the smaller ones, their boxes and padding.
template <int dims>
static __device__ __forceinline__ void sorted_leaves(sorted_block<dims>& k, sorted_numbers leaf,
                                                     const sorted_numbers& member) {
    const sap_cuda_build& b = *k.build;
    const int stride = b.tree.shape.stride, words = stride * (dims + 1), leaves = 1 << k.levels;
    float* blocks = (float*)(b.tree.arrays + b.tree.shape.block_at) + (k.root << k.levels) * words;
    int* ids = (int*)k.ranks;                          // the lists are done with
    unsigned short* members = (unsigned short*)k.bins; // and so are the marks
    k.template wait<true>();
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < k.count; i += SORTED_THREADS) ids[i] = sorted_id(k, i);
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int rank = k.from + j * SAP_WARP + sap_lane();
        if (rank < k.to) members[rank] = (unsigned short)member.of(j);
    }
    k.template wait<true>();
    int id[SORTED_ITEMS];
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++)
        if (k.from + j * SAP_WARP + sap_lane() < k.to) id[j] = ids[member.of(j)];
    k.template wait<true>();
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int rank = k.from + j * SAP_WARP + sap_lane();
        if (rank < k.to) ids[rank] = id[j];
    }
    k.template wait<true>();
#pragma unroll 1
    for (int rank = k.from + sap_lane(); rank < k.to; rank += SAP_WARP) {
        const int of = leaf.take(), start = k.starts[of], end = k.starts[of + 1];
        const int own = ids[rank], point = members[rank];
        int slot = 0;
#pragma unroll 4
        for (int i = start; i < end; i++) slot += ids[i] < own;
        SAP_ASSERT(end - start <= stride && slot < end - start);
        float* to = blocks + of * words + slot;
#pragma unroll
        for (int a = 0; a < dims; a++) to[a * stride] = k.column(a)[point];
        ((int*)to)[dims * stride] = own;
        if (slot > 0) continue;
#pragma unroll 1
        for (int up = 0; up <= k.levels; up += SAP_GROUP_BITS) {
            const int depth = b.depth - up, stored = sap_stored_level(b, depth);
            if (stored < 0) continue;
            int* least = sap_stored_min_id(b, stored, ((k.root << k.levels) + of) >> up);
            if (up == 0)
                *least = own;
            else
                atomicMin(least, own);
        }
    }
    const int stored = sap_stored_level(b, b.depth);
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < leaves * dims; i += SORTED_THREADS) {
        const int own = i / dims, a = i % dims, start = k.starts[own], end = k.starts[own + 1];
        const float* column = k.column(a);
        float low = INFINITY, high = -INFINITY;
#pragma unroll 4
        for (int rank = start; rank < end; rank++) {
            const float x = column[members[rank]];
            low = sap_least(low, x);
            high = sap_most(high, x);
        }
        const int64_t number = (k.root << k.levels) + own;
        float* box = sap_stored_box<float>(b, stored, number) + 2 * SAP_GROUP * a;
        box[0] = low;
        box[SAP_GROUP] = high;
        if (a == 0 && start == end) *sap_stored_min_id(b, stored, number) = INT32_MAX;
        float* block = blocks + own * words;
        for (int slot = end - start; slot < stride; slot++) {
            block[a * stride + slot] = INFINITY;
            if (a == 0) ((int*)block)[dims * stride + slot] = -1;
        }
    }
}

// Builds one subtree.
template <int dims>
static __global__ void __launch_bounds__(SORTED_THREADS, 1024 / SORTED_THREADS)
    build_sorted(const __grid_constant__ sap_cuda_build b, int capacity, float most) {
    SAP_CUDA_SHARED(sorted_shared, shared);
    sap_cuda_await_before();
    sorted_block<dims> k;
    k.build = &b;
    k.shared = shared;
    k.capacity = capacity;
    k.levels = b.depth - b.top;
    k.warp = (int)threadIdx.x / SAP_WARP;
    k.root = blockIdx.x;
    k.first = sap_rank(b, b.top, k.root);
    k.count = (int)(sap_rank(b, b.top, k.root + 1) - k.first);
    k.ranks = (sorted_rank<dims>*)(shared + 1);
    k.coords = (float*)(k.ranks + capacity);
    k.bins = (unsigned int*)(k.coords + (size_t)dims * capacity);
    k.goes_left = (unsigned char*)k.bins;
    const int leaves = 1 << k.levels;
    k.starts = (unsigned short*)((unsigned char*)k.bins + SORTED_ROOM);
    k.axes = (unsigned char*)(k.starts + leaves + 1);
    if (b.top > 0 && sap_build_is_bad(b)) return;
    SAP_ASSERT(k.count >= 0 && k.count <= capacity);
    if (threadIdx.x < dims) {
        shared->lower[threadIdx.x] = sap_ordinal_highest<float>();
        shared->upper[threadIdx.x] = sap_ordinal_lowest<float>();
    }
    for (int i = (int)threadIdx.x; i <= leaves; i += SORTED_THREADS)
        k.starts[i] = (unsigned short)(sap_rank(b, b.depth, (k.root << k.levels) + i) - k.first);
    __syncthreads();
    sorted_load(k, most);
    // The warp's ranks: an equal part of a node at a level of no more nodes than warps.
    const int node_level = min(k.levels, (int)SORTED_SHARED_LEVELS), parts = SORTED_WARPS >> node_level;
    const int node = k.warp / parts, part = k.warp % parts, shift = k.levels - node_level;
    const int start = k.starts[node << shift], size = k.starts[(node + 1) << shift] - start;
    k.from = start + size * part / parts;
    k.to = start + size * (part + 1) / parts;
    SAP_ASSERT(k.to - k.from <= SORTED_ITEMS * SAP_WARP);
    __syncthreads();
    if (b.top == 0 && sap_build_is_bad(b)) return; // all of a block agree: the barrier is behind the reports
    if (!sort_by_bins(k)) sort_by_keys(k);
    sorted_numbers leaf, member;
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int rank = k.from + j * SAP_WARP + sap_lane();
        int found = 0;
        if (rank < k.to) {
            found = rank * leaves / k.count; // leaves are of nearly the same size
            while (k.starts[found] > rank) found--;
            while (k.starts[found + 1] <= rank) found++;
        }
        leaf.put(j, found);
    }
    int level = 0;
    for (; level < SORTED_SHARED_LEVELS && level + 1 < k.levels; level++) sorted_split<dims, true>(k, level, leaf);
    for (; level + 1 < k.levels; level++) sorted_split<dims, false>(k, level, leaf);
    if (k.levels > 0) {
        if (level < SORTED_SHARED_LEVELS)
            sorted_nodes<dims, true>(k, level);
        else
            sorted_nodes<dims, false>(k, level);
    }
#pragma unroll
    for (int j = 0; j < SORTED_ITEMS; j++) {
        const int rank = k.from + j * SAP_WARP + sap_lane();
        int point = rank;
        if (rank < k.to && k.levels > 0) point = k.ranks[rank].of[k.axes[leaf.of(j) >> 1 << 1]];
        member.put(j, point);
    }
    sorted_leaves(k, leaf, member);
}

#endif
