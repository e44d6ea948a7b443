// The whole-structure check on a GPU; here that of a balanced tree, from the leaves up.
//
// Of what lies below a node, two points per axis matter: the first and the last in the axis's total order. They bound
// its box, and of two halves, the last point of the left one must come before the first point of the right one. A block
// of threads finds them for a few leaves and merges them up to a common ancestor in shared memory; the next kernel
// continues from those ancestors.
#include "tree/balanced/verify_points_cuda.cuh"

enum {
    MOST_ITEM_BITS = 8,
    SHARED_BYTES = 25 << 10,
    LEAF_BLOCKS = 4 // at once on a multiprocessor
};

// ---- Nodes of `depth`, in row `row` of the block's places

// Whether the box or the smallest id beside node `index` is wrong, where there is one.
template <typename real>
static __device__ bool wrong_box(const check<real>& c, const places<real>& p, int row, int32_t depth, int64_t index,
                                 bool empty) {
    const sap_tree_shape* s = &c.tree.shape;
    const int32_t below = s->depth - depth;
    if (below % SAP_GROUP_BITS || (depth == 0 && s->depth > 0)) return false;
    const int32_t level = s->levels - 1 - below / SAP_GROUP_BITS;
    SAP_ASSERT(level >= 0 && level < s->levels);
    const real* box = (const real*)(const void*)(c.tree.arrays + s->box_at[level]) +
                      index / SAP_GROUP * s->dims * 2 * SAP_GROUP + index % SAP_GROUP;
    const int32_t* min_ids = (const int32_t*)(const void*)(c.tree.arrays + s->min_id_at[level]);
    bool wrong = min_ids[index] != (empty ? SAP_NO_ID : p.min_id[row]);
    for (int column = 0; column < p.columns; ++column) {
        const real none = column & 1 ? -(real)INFINITY : (real)INFINITY;
        wrong |= !same(box[column * SAP_GROUP], empty ? none : p.x[column * p.rows + row]);
    }
    return wrong;
}

// Before the halves are merged: whether a point is on the wrong side, or the split is not the median.
template <typename real>
static __device__ bool wrong_split(const check<real>& c, const places<real>& p, int left, int right, int32_t depth,
                                   int64_t index) {
    const sap_tree_shape* s = &c.tree.shape;
    const int64_t node = ((int64_t)1 << depth) + index;
    const int axis = (c.tree.arrays + s->axis_at)[node];
    const real split = ((const real*)(const void*)(c.tree.arrays + s->split_at))[node];
    if (axis >= s->dims) return true;
    if (count_below(s, depth, index) < 2) return false;
    const place<real> low = p.get(2 * axis + 1, left), median = p.get(2 * axis, right);
    if (low.slot == NO_SLOT || median.slot == NO_SLOT) return true; // no coordinate is a number
    return !before(c, axis, low, median) || !same(split, median.x);
}

// After that: whether the axis is not the rule's, or the box or the smallest id is wrong.
template <typename real>
static __device__ bool wrong_node(const check<real>& c, const places<real>& p, int row, int32_t depth, int64_t index) {
    const sap_tree_shape* s = &c.tree.shape;
    const int64_t node = ((int64_t)1 << depth) + index;
    const int32_t axis = (c.tree.arrays + s->axis_at)[node], count = count_below(s, depth, index);
    int32_t rule = 0;
    bool wrong = false;
    if (count < 2) { // a lone point is on the plane, whichever side it is on
        const real split = ((const real*)(const void*)(c.tree.arrays + s->split_at))[node];
        wrong = !same(split, count ? p.x[row] : (real)0);
    } else if (c.tree.options.axis == SAP_AXIS_CYCLE) {
        rule = (s->slice.root_depth + depth) % s->dims;
    } else {
        real most = -1;
        for (int a = 0; a < s->dims; ++a) {
            const real extent = p.x[(2 * a + 1) * p.rows + row] - p.x[2 * a * p.rows + row];
            if (extent > most) rule = a;
            if (extent > most) most = extent;
        }
    }
    return wrong || axis != rule || wrong_box(c, p, row, depth, index, count == 0);
}

// The right halves of 2^nodes_bits nodes, `half` rows further on, go into the left halves' rows.
template <typename real>
static __device__ void merge_halves(const check<real>& c, const places<real>& p, int nodes_bits, int half) {
    for (int task = (int)threadIdx.x; task < p.columns << nodes_bits; task += VERIFY_THREADS) {
        const int column = task >> nodes_bits, row = (task & ((1 << nodes_bits) - 1)) * 2 * half;
        p.set(column, row, merge(c, column, p.get(column, row), p.get(column, row + half)));
        if (column == 0 && p.min_id[row + half] < p.min_id[row]) p.min_id[row] = p.min_id[row + half];
    }
}

// Checks and merges the block's nodes up to their common ancestor, which ends in row 0.
template <typename real> static __device__ bool climb(const check<real>& c, const places<real>& p, int64_t first) {
    bool wrong = false;
    for (int up = 1; up <= c.item_bits; ++up) {
        const int nodes_bits = c.item_bits - up, half = 1 << (up - 1);
        const int32_t depth = c.depth - up;
        for (int i = (int)threadIdx.x; i < 1 << nodes_bits; i += VERIFY_THREADS)
            wrong |= wrong_split(c, p, i * 2 * half, i * 2 * half + half, depth, (first >> up) + i);
        __syncthreads();
        merge_halves(c, p, nodes_bits, half);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < 1 << nodes_bits; i += VERIFY_THREADS)
            wrong |= wrong_node(c, p, i * 2 * half, depth, (first >> up) + i);
    }
    return wrong;
}

// ---- Kernels

template <typename real> static __device__ __forceinline__ places<real> shared_places(const check<real>& c) {
    SAP_CUDA_SHARED(double, memory);
    places<real> p = {(real*)memory, NULL, NULL, 2 * c.tree.shape.dims, (int64_t)1 << c.item_bits};
    p.slot = (uint32_t*)(p.x + p.columns * p.rows);
    p.min_id = (int32_t*)(p.slot + p.columns * p.rows);
    return p;
}

template <typename real> static __device__ void end_block(const check<real>& c, const places<real>& p, bool wrong) {
    const int column = (int)threadIdx.x;
    if (column < p.columns && c.depth > c.item_bits) {
        c.higher.set(column, blockIdx.x, p.get(column, 0));
        if (column == 0) c.higher.min_id[blockIdx.x] = p.min_id[0];
    }
    if (wrong) c.found->wrong = 1;
}

template <typename real>
static __global__ void __launch_bounds__(VERIFY_THREADS, LEAF_BLOCKS) check_leaves(const check<real> c) {
    const places<real> p = shared_places(c);
    const int items = 1 << c.item_bits;
    const int64_t first = (int64_t)blockIdx.x << c.item_bits;
    bool wrong = take_leaves(c, p, first, items);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < items; i += VERIFY_THREADS)
        wrong |= wrong_box(c, p, i, c.depth, first + i, count_below(&c.tree.shape, c.depth, first + i) == 0);
    wrong |= climb(c, p, first);
    end_block(c, p, wrong);
}

template <typename real> static __global__ void __launch_bounds__(VERIFY_THREADS) check_nodes(const check<real> c) {
    const places<real> p = shared_places(c);
    const int items = 1 << c.item_bits;
    const int64_t first = (int64_t)blockIdx.x << c.item_bits;
    for (int task = (int)threadIdx.x; task < items * p.columns; task += VERIFY_THREADS) {
        const int column = task >> c.item_bits, row = task & (items - 1);
        p.set(column, row, c.lower.get(column, first + row));
        if (column == 0) p.min_id[row] = c.lower.min_id[first + row];
    }
    __syncthreads();
    const bool wrong = climb(c, p, first);
    end_block(c, p, wrong);
}

// What holds nothing: node 0, boxes beyond a first level's last node. One block.
template <typename real> static __global__ void __launch_bounds__(GAP_THREADS) check_unused(const check<real> c) {
    const sap_tree_shape* s = &c.tree.shape;
    bool wrong = false;
    if (threadIdx.x == 0)
        wrong |= c.tree.arrays[s->axis_at] || !same(*(const real*)(const void*)(c.tree.arrays + s->split_at), (real)0);
    if (threadIdx.x < SAP_GROUP && threadIdx.x >> s->level_depth[0]) {
        const places<real> none = {NULL, NULL, NULL, 2 * s->dims, 0};
        wrong |= wrong_box(c, none, 0, s->level_depth[0], threadIdx.x, true);
    }
    if (wrong) c.found->wrong = 1;
}

// ---- The host's part

static size_t place_bytes(const sap_tree_shape* s, int64_t rows) {
    return (size_t)rows * (2 * (size_t)s->dims * (sap_real_bytes(s) + sizeof(uint32_t)) + sizeof(int32_t));
}

template <typename real> static places<real> take_places(sap_cuda_call* call, const sap_tree_shape* s, int64_t rows) {
    places<real> p = {(real*)sap_cuda_take(call, place_bytes(s, rows)), NULL, NULL, 2 * s->dims, rows};
    if (!p.x) return p;
    p.slot = (uint32_t*)(p.x + p.columns * rows);
    p.min_id = (int32_t*)(p.slot + p.columns * rows);
    return p;
}

// Few nodes a block keep many blocks at work; leaves of few points need few threads each.
static int32_t item_bits(const sap_tree_shape* s, int32_t depth, int32_t width) {
    int32_t bits = 0, most = width < 16 ? MOST_ITEM_BITS : MOST_ITEM_BITS - 2;
    while (bits < most && bits < depth && place_bytes(s, (int64_t)2 << bits) <= SHARED_BYTES) bits++;
    return bits;
}

template <typename real> static void check_tree(sap_cuda_call* call, const sap_tree* tree, verdict* found) {
    const sap_tree_shape* s = &tree->shape;
    check<real> c = {*tree, {}, 1, 0, s->depth, {}, {}, NULL};
    while (c.width < SAP_WARP && c.width < s->stride) c.width *= 2;
    c.points = begin_check<real>(call, tree, &c.found);
    sap_cuda_grid grid = {1, GAP_THREADS, 0, false};
    sap_cuda_launch(call, check_unused<real>, grid, c);
    for (bool leaves = true; leaves || c.depth > 0; leaves = false) {
        c.item_bits = item_bits(s, c.depth, c.width);
        const int64_t blocks = (int64_t)1 << (c.depth - c.item_bits);
        if (blocks > 1) c.higher = take_places<real>(call, s, blocks);
        grid = {blocks, VERIFY_THREADS, place_bytes(s, (int64_t)1 << c.item_bits), false};
        sap_cuda_launch(call, leaves ? check_leaves<real> : check_nodes<real>, grid, c);
        c.depth -= c.item_bits;
        c.lower = c.higher;
    }
    end_check(call, c.points.ids, s->source_count, c.found, found);
}

sap_status sap_tree_verify_cuda(const sap_tree* tree, bool* right) {
    *right = false;
    sap_tree_shape derived;
    // This also refuses options outside their enumerations.
    if (sap_shape_derive(&tree->options, &tree->shape, &derived) || !sap_shape_follows(&tree->shape, &derived))
        return SAP_OK;
    // Ids that are so sparse that their bits would take more memory than the tree are left to the host.
    if ((size_t)derived.source_count / 8 > derived.bytes) return SAP_OK;
    sap_cuda_call call;
    verdict found = {0, 1};
    if (sap_cuda_begin(&call, tree->device) == SAP_OK) {
        if (derived.kind == SAP_TREE_EXPLICIT)
            sap_cuda_verify_explicit(&call, tree, &found);
        else if (derived.real_bits == 64)
            check_tree<double>(&call, tree, &found);
        else
            check_tree<float>(&call, tree, &found);
    }
    const sap_status status = sap_cuda_end(&call, SAP_OK);
    *right = status == SAP_OK && !found.wrong && found.ids == (uint64_t)derived.count;
    return status;
}
