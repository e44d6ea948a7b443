// The builder of explicit trees on CUDA devices: memory and launches. See build_cuda.cuh.
#include "tree/sliding/move_cuda.cuh"
#include "tree/sliding/write_cuda.cuh"

// ---- Memory

// Hands out parts of a block; counts first, while there is no block yet.
typedef struct scratch {
    unsigned char* memory;
    size_t used;
} scratch;

template <typename type> static void carve(scratch* s, type** part, int64_t count) {
    *part = s->memory ? (type*)(void*)(s->memory + s->used) : NULL;
    s->used += ((size_t)count * sizeof(type) + 255) / 256 * 256;
}

static int64_t bits_of(int64_t count) { return count > 0 ? 64 - __builtin_clzll((unsigned long long)count) : 0; }

// Levels that can have nodes of more than `small` points: those above the halving depth, and each then halves them.
static int64_t levels_of(int64_t halving_depth, int64_t count, int64_t small) {
    return halving_depth + bits_of(count / small) + 2;
}

// Bytes of what has to be zero at the start, which comes first.
template <typename real> static size_t carve_all(sap_sliding_job<real>* j, scratch* s) {
    const int64_t count = j->count, most = count / (j->small + 1) + 1, dims = j->dims;
    const int64_t tiles = count / SAP_TILE + 1 + most;
    int64_t inner = levels_of(j->halving_depth, count, j->small) * most;
    if (inner > count) inner = count;
    int64_t small = count / (j->leaf_size + 1) + 1;
    if (small > inner + 1) small = inner + 1;
    j->parts = most;
    carve(s, &j->state, 1);
    carve(s, &j->tile_left, tiles);
    carve(s, &j->boxes, 2 * most * 4 * dims);
    const size_t zero = s->used;
    carve(s, &j->coords, 2 * dims * j->pitch);
    carve(s, &j->ids, 2 * j->pitch);
    carve(s, &j->nodes, 2 * inner + 1);
    carve(s, &j->bottoms, inner + 1 + count / SAP_PIECE);
    carve(s, &j->small_cells, small * 2 * dims);
    carve(s, &j->part, 2 * most);
    carve(s, &j->cells, 2 * most * 2 * dims);
    carve(s, &j->planes, 2 * most * dims);
    carve(s, &j->ranked, most);
    carve(s, &j->tile_part, tiles);
    carve(s, &j->below, j->vvh ? most * dims * SAP_VVH_PARTS : 0);
    return zero;
}

template <typename real>
static sap_sliding_job<real> job_of(const sap_tree* tree, const sap_rows* rows, const int32_t* keep, int64_t kept) {
    sap_sliding_job<real> j = {};
    int small = SAP_SMALL_BYTES / (rows->dims * (int)sizeof(real) + 4) / SAP_WARP * SAP_WARP;
    if (small > SAP_SMALL_MOST) small = SAP_SMALL_MOST;
    if (small < SAP_SMALL_LEAST) small = SAP_SMALL_LEAST;
    j.rows = (const real*)rows->coords;
    j.keep = keep;
    j.stride = rows->stride;
    j.pitch = (kept + 63) / 64 * 64;
    j.largest = (real)sap_largest_coordinate(rows->real_bits, rows->dims);
    j.count = (int32_t)kept;
    j.dims = rows->dims;
    j.leaf_size = tree->options.leaf_size;
    j.small = small;
    j.halving_depth = sap_sliding_halving_depth(kept);
    j.cycle = tree->options.axis == SAP_AXIS_CYCLE;
    j.vvh = tree->options.split == SAP_SPLIT_VVH;
    j.radius = tree->options.query_radius;
    return j;
}

// ---- Launches

// Enough blocks to fill the GPU, and no more than there is work for.
static sap_cuda_grid filling(sap_cuda_call* call, const void* kernel, int threads, size_t shared, int64_t work) {
    int64_t blocks = sap_cuda_resident(call, kernel, threads, shared);
    if (blocks > work) blocks = work;
    sap_cuda_grid grid = {blocks, threads, shared, false};
    return grid;
}

// Divides the points and counts nodes and slots; waits for the numbers.
template <typename real> static sap_sliding_state divide(sap_cuda_call* call, sap_sliding_job<real>* j) {
    scratch all = {NULL, 0};
    sap_sliding_state state = {};
    carve_all(j, &all);
    all.memory = (unsigned char*)sap_cuda_take(call, all.used);
    all.used = 0;
    if (call->status != SAP_OK) return state;
    sap_cuda_fill(call, all.memory, 0, carve_all(j, &all));
    sap_cuda_grid grid = filling(call, (const void*)sap_top_build<real>, SAP_TOP_THREADS, sizeof(sap_top_shared<real>),
                                 j->count / SAP_TILE + 1);
    grid.together = true;
    sap_cuda_launch(call, sap_top_build<real>, grid, *j);
    grid = filling(call, (const void*)sap_small_build<real, false>, SAP_WARP,
                   sap_small_bytes(j->dims, j->small, sizeof(real)), (int64_t)j->count / 64 + 1);
    sap_cuda_launch(call, sap_small_build<real, false>, grid, *j);
    sap_cuda_fetch(call, &state, j->state, sizeof state);
    return state;
}

// Makes room for the tree, or says why it cannot be.
static void reserve(sap_cuda_call* call, sap_tree* tree, sap_tree_shape* shape, const sap_sliding_state* state) {
    shape->nodes = state->total_nodes;
    shape->leaves = (state->total_nodes + 1) / 2;
    shape->slots = state->total_slots;
    shape->depth = state->deepest;
    shape->capacity = state->fullest;
    if (call->status != SAP_OK) return;
    if (state->far || (shape->real_bits == 32 && shape->slots > (int64_t)UINT32_MAX) || !sap_shape_explicit(shape))
        call->status =
            sap_fail(call->device, SAP_ERROR_RANGE, "points: the tree has too many nodes; take a larger leaf_size");
    sap_cuda_tree_reserve(call, tree, shape);
    sap_cuda_tree_clear(call, tree);
}

template <typename real>
static void build(sap_cuda_call* call, sap_tree* tree, const sap_rows* rows, const int32_t* keep, int64_t kept) {
    sap_tree_shape shape = {};
    shape.count = kept;
    shape.source_count = rows->count;
    shape.dims = rows->dims;
    shape.real_bits = rows->real_bits;
    sap_sliding_job<real> j = job_of<real>(tree, rows, keep, kept);
    sap_sliding_state state = divide(call, &j);
    if (state.bad) sap_cuda_rows_check(call, &tree->options, rows);
    reserve(call, tree, &shape, &state);
    if (call->status != SAP_OK) return;
    j.out_nodes = tree->arrays + tree->shape.node_at;
    j.out_least = (int32_t*)(void*)(tree->arrays + tree->shape.node_min_id_at);
    j.out_blocks = tree->arrays + tree->shape.block_at;
    const int64_t nodes = 1 + (int64_t)state.nodes;
    sap_cuda_launch(call, sap_top_place<real>, sap_cuda_grid_for(nodes, SAP_TOP_THREADS), j, nodes);
    sap_cuda_grid grid = filling(call, (const void*)sap_small_build<real, true>, SAP_WARP,
                                 sap_small_bytes(j.dims, j.small, sizeof(real)), state.bottoms);
    sap_cuda_launch(call, sap_small_build<real, true>, grid, j);
}

void sap_cuda_build_explicit(sap_cuda_call* call, sap_tree* tree, const sap_rows* rows, const int32_t* keep,
                             int64_t kept) {
    if (rows->real_bits == 64)
        build<double>(call, tree, rows, keep, kept);
    else
        build<float>(call, tree, rows, keep, kept);
}
