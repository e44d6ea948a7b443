// Queries in the order of the tree, on CUDA: one counting sort by the cells of the tree's top levels.
//
// Cells, not a grid or a space-filling curve: they hold equally many points whatever the distribution. Within a cell
// the order is arbitrary; answers do not depend on it.
#include "tree/explicit/node_cuda.cuh"
#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

enum {
    ORDER_THREADS = 256,
    CELL_THREADS = 512,
    ORDER_FEW = 4096,    // fewer queries are not worth ordering
    ORDER_PER_CELL = 16, // queries that a cell should hold
    ORDER_MOST_BITS = 20,
    PLACE_THREADS = 1024, // cells that get their places together
};

// The upper levels of a balanced tree, which every query goes through, in shared memory.
enum { TOP_LEVELS = 10 };
template <typename real> struct top_levels {
    real split[1 << TOP_LEVELS];
    unsigned char axis[1 << TOP_LEVELS];
};

// Which cell a query lies in: the number of its node at a depth of a balanced tree; in an explicit tree, that part of
// all slots in which its leaf begins.
template <typename real>
static __device__ int cell_of(const sap_tree& tree, const top_levels<real>* top, const real* query, int bits) {
    const sap_tree_shape& s = tree.shape;
    if (s.kind == SAP_TREE_BALANCED) {
        const real* split = (const real*)(tree.arrays + s.split_at);
        const unsigned char* axis = tree.arrays + s.axis_at;
        int node = 1, level = 0;
        for (; level < bits && level < TOP_LEVELS; level++)
            node = 2 * node + !(query[top->axis[node]] <= top->split[node]);
        for (; level < bits; level++) node = 2 * node + !(query[axis[node]] <= split[node]);
        return node - (1 << bits);
    }
    int64_t number = 0;
    typename sap_node_of<real>::type node = sap_node_at<real>(tree, number);
    while (!sap_link_is_leaf(node.link)) {
        number += query[node.link & SAP_NODE_LEAF] <= sap_node_split(node) ? 1 : sap_link_right(node.link);
        node = sap_node_at<real>(tree, number);
    }
    return s.slots > 0 ? (int)(((int64_t)node.bits << bits) / s.slots) : 0;
}

// Queries' cells, and their numbers among those of their cell.
template <typename real>
static __global__ void __launch_bounds__(CELL_THREADS)
    count_cells(sap_tree tree, const int64_t* bad, const real* queries, int64_t count, int64_t stride, int bits,
                int* cell, int* number, int* cells) {
    SAP_CUDA_SHARED(top_levels<real>, top);
    const sap_tree_shape& s = tree.shape;
    const int64_t kept = s.kind == SAP_TREE_BALANCED ? min(s.nodes, (int64_t)1 << TOP_LEVELS) : 0;
    for (int i = (int)threadIdx.x; i < kept; i += CELL_THREADS) {
        top->split[i] = ((const real*)(tree.arrays + s.split_at))[i];
        top->axis[i] = (tree.arrays + s.axis_at)[i];
    }
    __syncthreads();
    const bool good = *bad == INT64_MAX;
    for (int64_t i = (int64_t)blockIdx.x * CELL_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * CELL_THREADS) {
        int at = good ? cell_of(tree, top, queries + i * stride, bits) : 0;
        SAP_ASSERT(at >= 0 && at < 1 << bits);
        cell[i] = at;
        number[i] = atomicAdd(&cells[at], 1);
    }
}

typedef struct place_shared {
    int sum[SAP_WARP];
    int base;
} place_shared;

// Turns counts into places. The order of the blocks of cells is that in which they arrive. That does no harm: only at
// one border in PLACE_THREADS are neighbours separated.
static __global__ void __launch_bounds__(PLACE_THREADS) place_cells(int* cells, int count, int* total) {
    SAP_CUDA_SHARED(place_shared, s);
    int i = (int)(blockIdx.x * PLACE_THREADS + threadIdx.x), own = i < count ? cells[i] : 0, sum = own;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        int other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned int)step);
        if (sap_lane() >= step) sum += other;
    }
    if (sap_lane() == SAP_WARP - 1) s->sum[threadIdx.x / SAP_WARP] = sum;
    __syncthreads();
    int before = 0;
    for (int warp = 0; warp < (int)threadIdx.x / SAP_WARP; warp++) before += s->sum[warp];
    if (threadIdx.x == PLACE_THREADS - 1) s->base = atomicAdd(total, before + sum);
    __syncthreads();
    if (i < count) cells[i] = s->base + before + sum - own;
}

// Lists the queries by cell. Their coordinates do not move: reading them once in this order costs less.
static __global__ void __launch_bounds__(ORDER_THREADS)
    list_queries(int64_t count, const int* cell, const int* number, const int* cells, int32_t* rows) {
    int64_t i = (int64_t)blockIdx.x * ORDER_THREADS + threadIdx.x;
    if (i >= count) return;
    SAP_ASSERT(cells[cell[i]] + number[i] < count);
    rows[cells[cell[i]] + number[i]] = (int32_t)i;
}

template <typename real>
static void order(sap_cuda_call* call, const sap_tree* tree, const sap_rows* q, int bits, sap_cuda_queries* out) {
    int cells_count = 1 << bits;
    int* cells = (int*)sap_cuda_take(call, ((size_t)cells_count + 1) * sizeof(int));
    int* cell = (int*)sap_cuda_take(call, (size_t)q->count * sizeof(int));
    int* number = (int*)sap_cuda_take(call, (size_t)q->count * sizeof(int));
    int32_t* rows = (int32_t*)sap_cuda_take(call, (size_t)q->count * sizeof(int32_t));
    sap_cuda_fill(call, cells, 0, ((size_t)cells_count + 1) * sizeof(int));
    sap_cuda_grid each = sap_cuda_grid_for(q->count, ORDER_THREADS);
    sap_cuda_grid place = sap_cuda_grid_for(cells_count, PLACE_THREADS);
    place.shared = sizeof(place_shared);
    if (call->status != SAP_OK) return;
    sap_cuda_grid count = sap_cuda_grid_for(q->count, CELL_THREADS);
    if (count.blocks > 4 * (int64_t)call->cuda->multiprocessors)
        count.blocks = 4 * (int64_t)call->cuda->multiprocessors;
    count.shared = sizeof(top_levels<real>);
    sap_cuda_launch(call, count_cells<real>, count, *tree, (const int64_t*)sap_cuda_tree_of(tree)->bad,
                    (const real*)q->coords, q->count, q->stride, bits, cell, number, cells);
    sap_cuda_launch(call, place_cells, place, cells, cells_count, cells + cells_count);
    sap_cuda_launch(call, list_queries, each, q->count, (const int*)cell, (const int*)number, (const int*)cells, rows);
    out->rows = rows;
    out->by_row = true;
}

sap_cuda_queries sap_cuda_queries_order(sap_cuda_call* call, const sap_tree* tree, const sap_rows* rows, bool ordered) {
    sap_cuda_queries out = {rows->coords, NULL, rows->count, rows->stride, false};
    const sap_tree_shape* s = &tree->shape;
    if (call->status != SAP_OK || ordered || rows->count < ORDER_FEW || s->count == 0) return out;
    int bits = 0, most = s->kind == SAP_TREE_BALANCED ? s->depth : ORDER_MOST_BITS;
    while (bits < most && bits < ORDER_MOST_BITS && rows->count >> bits > ORDER_PER_CELL) bits++;
    if (bits == 0) return out;
    if (rows->real_bits == 32)
        order<float>(call, tree, rows, bits, &out);
    else
        order<double>(call, tree, rows, bits, &out);
    return out;
}

// ---- The tree's own points

// One thread for each slot of a balanced tree's leaves.
template <typename real>
static __global__ void __launch_bounds__(ORDER_THREADS)
    points_of_leaves(sap_tree tree, const int64_t* bad, real* coords, int32_t* rows) {
    const sap_tree_shape& s = tree.shape;
    int64_t slot = (int64_t)blockIdx.x * ORDER_THREADS + threadIdx.x;
    if (slot >= s.slots || *bad != INT64_MAX) return;
    SAP_ASSERT(s.kind == SAP_TREE_BALANCED && s.stride > 0);
    int64_t leaf = slot / s.stride, at = slot % s.stride, first = sap_cuda_leaf_rank(s, leaf);
    if (at >= sap_cuda_leaf_rank(s, leaf + 1) - first) return;
    const size_t slot_bytes = (size_t)s.dims * sizeof(real) + sizeof(int32_t);
    const real* block = (const real*)(tree.arrays + s.block_at + (size_t)(leaf * s.stride) * slot_bytes);
    for (int a = 0; a < s.dims; a++) coords[(first + at) * s.dims + a] = block[a * s.stride + at];
    rows[first + at] = ((const int32_t*)(block + (int64_t)s.dims * s.stride))[at];
}

// One thread for each node of an explicit tree: leaves write their slots, those without a point with row -1.
template <typename real>
static __global__ void __launch_bounds__(ORDER_THREADS)
    points_of_nodes(sap_tree tree, const int64_t* bad, real* coords, int32_t* rows) {
    const sap_tree_shape& s = tree.shape;
    int64_t node = (int64_t)blockIdx.x * ORDER_THREADS + threadIdx.x;
    if (node >= s.nodes || *bad != INT64_MAX) return;
    const typename sap_node_of<real>::type leaf = sap_node_at<real>(tree, node);
    if (!sap_link_is_leaf(leaf.link)) return;
    const int64_t first = (int64_t)leaf.bits;
    const int count = sap_link_count(leaf.link), stride = sap_explicit_slots<real>(count);
    SAP_ASSERT(first + stride <= s.slots);
    const real* block = sap_explicit_block<real>(tree, first);
    for (int i = 0; i < stride; i++) {
        for (int a = 0; a < s.dims; a++) coords[(first + i) * s.dims + a] = block[a * stride + i];
        rows[first + i] = i < count ? ((const int32_t*)(block + (int64_t)s.dims * stride))[i] : -1;
    }
}

static sap_cuda_queries points_of(sap_cuda_call* call, const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    int64_t count = s->kind == SAP_TREE_BALANCED ? s->count : s->slots;
    sap_cuda_queries out = {NULL, NULL, count, s->dims, false};
    void* coords = sap_cuda_take(call, (size_t)count * (size_t)s->dims * sap_real_bytes(s));
    int32_t* rows = (int32_t*)sap_cuda_take(call, (size_t)count * sizeof(int32_t));
    const int64_t* bad = sap_cuda_tree_of(tree)->bad;
    out.coords = coords;
    out.rows = rows;
    if (call->status != SAP_OK || s->count == 0) return out;
    // Nothing is asked of a tree that turns out not to have been built.
    if (call->cuda->caller_stream) sap_cuda_fill(call, rows, 0xff, (size_t)count * sizeof *rows);
    sap_cuda_grid grid = sap_cuda_grid_for(s->kind == SAP_TREE_BALANCED ? s->slots : s->nodes, ORDER_THREADS);
    if (s->real_bits == 32 && s->kind == SAP_TREE_BALANCED)
        sap_cuda_launch(call, points_of_leaves<float>, grid, *tree, bad, (float*)coords, rows);
    else if (s->real_bits == 32)
        sap_cuda_launch(call, points_of_nodes<float>, grid, *tree, bad, (float*)coords, rows);
    else if (s->kind == SAP_TREE_BALANCED)
        sap_cuda_launch(call, points_of_leaves<double>, grid, *tree, bad, (double*)coords, rows);
    else
        sap_cuda_launch(call, points_of_nodes<double>, grid, *tree, bad, (double*)coords, rows);
    return out;
}

sap_cuda_queries sap_cuda_queries_from(sap_cuda_call* call, const sap_tree* from, const sap_tree* tree) {
    sap_cuda_queries queries = points_of(call, from);
    if (from == tree || call->status != SAP_OK) return queries;
    const sap_tree_shape* s = &from->shape;
    const sap_rows rows = {queries.coords, queries.count, s->dims, s->dims, s->real_bits};
    queries.coords = sap_cuda_rows_within(call, tree, &rows).coords;
    return queries;
}
