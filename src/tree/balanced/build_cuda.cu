// The balanced builder on CUDA: its memory and its launches, as many of them as follow from the number of points.
#include "tree/balanced/bottom_cuda.cuh"
#include "tree/balanced/bounds_cuda.cuh"
#include "tree/balanced/sorted_cuda.cuh"
#include "tree/balanced/top_move_cuda.cuh"
#include "tree/balanced/top_resolve_cuda.cuh"

// How the subtrees are built: from sorted lists, of floats with these dimensions, or else by selection.
template <typename real, int dims> static constexpr bool has_sorted(void) {
    return dims > 0 && sizeof(real) == sizeof(float);
}

static int64_t divided(int64_t count, int levels) { return (count + ((int64_t)1 << levels) - 1) >> levels; }

// Whether a block can build the subtrees below so many levels, and with how much room for points.
template <typename real, int dims>
static bool bottom_fits(const sap_cuda* cuda, const sap_cuda_build& b, const sap_tree_shape& shape, int levels,
                        int* capacity, size_t* bytes) {
    if constexpr (has_sorted<real, dims>()) {
        // A subtree of a slice, or a node within it, can have a point more than its even share.
        const bool even = shape.slice.whole == 0 || levels == 0;
        const int64_t points = divided(b.count, levels) + !even;
        if (points > (even ? SORTED_POINTS : SORTED_POINTS - SORTED_WARPS)) return false;
        *capacity = (int)(points + 3) / 4 * 4;
        *bytes = sorted_bytes<dims>(*capacity, (int64_t)1 << (b.depth - levels));
        return *bytes <= cuda->shared_bytes;
    } else {
        const size_t slot = sizeof(int32_t) + (size_t)b.dims * sizeof(real), fixed = bottom_bytes<real>(b.dims, 0);
        const size_t fit = (cuda->shared_bytes - fixed) / slot / 4 * 4;
        *capacity = fit < BOTTOM_POINTS ? (int)fit : BOTTOM_POINTS;
        if (divided(b.count, levels) > *capacity) return false;
        if (levels == 0) *capacity = (int)((b.count + 3) / 4 * 4);
        *bytes = bottom_bytes<real>(b.dims, *capacity);
        return true;
    }
}

// The most bins that the histograms of a level's children have together.
static int64_t most_bins(const sap_cuda_build& b, size_t real_bytes) {
    const int levels = b.top, moves = top_moves(levels, b.dims, real_bytes);
    int64_t most = 0;
    for (int move = 0; move < moves; move++) {
        const int root = levels * move / moves, end = levels * (move + 1) / moves;
        for (int level = move == 0 ? -1 : root; level < end; level++) {
            const int64_t bins = (int64_t)(top_bins(b.count, b.dims, level, level - root, b.counts) * b.dims)
                                 << (level + 1);
            if (bins > most && level + 1 < levels) most = bins;
        }
    }
    return most;
}

// Divides one piece of memory into arrays.
static void* next_array(unsigned char** at, int64_t count, size_t bytes) {
    void* array = *at;
    *at += ((size_t)count * bytes + 255) / 256 * 256;
    return array;
}

// Lays the work's arrays out from `memory` on (NULL: only to measure); returns the bytes.
template <typename real>
static size_t lay_out_work(top_work<real>* w, int64_t count, int dims, int levels, int64_t bins,
                           unsigned char* memory) {
    typedef typename sap_ordinal<real>::type ordinal;
    unsigned char* at = memory;
    int64_t nodes = (int64_t)2 << levels;
    w->bins_total = bins;
    w->lower = (ordinal*)next_array(&at, nodes * dims, sizeof(ordinal));
    w->upper = (ordinal*)next_array(&at, nodes * dims, sizeof(ordinal));
    w->pivot = (ordinal*)next_array(&at, nodes * dims, sizeof(ordinal));
    w->pivot_id = (int*)next_array(&at, nodes, sizeof(int));
    w->min_id = (int*)next_array(&at, nodes, sizeof(int));
    w->node = (sap_median<real>*)next_array(&at, nodes, sizeof(sap_median<real>));
    w->listed = (int*)next_array(&at, nodes, sizeof(int));
    w->moved = (int*)next_array(&at, nodes, sizeof(int));
    w->noted = (unsigned char*)next_array(&at, count, 1);
    for (int i = 0; i < 2; i++) w->bins[i] = (int*)next_array(&at, bins, sizeof(int));
    w->meeting = (top_meeting<real>*)next_array(&at, 1, sizeof(top_meeting<real>));
    return (size_t)(at - memory);
}

// What the levels above the subtrees need beside the tree. It lies where the walk boxes will be, as far as there is room:
// the work, if all of it fits, and the last ids of buffer 0, which the subtrees read before there are walk boxes.
typedef struct level_memory {
    int64_t bins;
    size_t work, scratch; // bytes; the latter of other memory
    bool work_is_spare;
    int64_t spare_ids;
    unsigned char *own, *spare; // the other memory, and that of the walk boxes
} level_memory;

template <typename real> static level_memory plan_levels(const sap_cuda_build& b, const sap_tree_shape& shape) {
    level_memory m;
    top_work<real> measured;
    memset((void*)&m, 0, sizeof m);
    m.bins = most_bins(b, sizeof(real));
    m.work = lay_out_work<real>(&measured, b.count, b.dims, b.top, m.bins, NULL);
    size_t spare = sap_cuda_walk_bytes(&shape);
    m.work_is_spare = m.work <= spare;
    if (m.work_is_spare) spare -= m.work;
    m.spare_ids = (int64_t)(spare / sizeof(int32_t));
    if (m.spare_ids > b.points.pitch) m.spare_ids = b.points.pitch;
    m.scratch = (m.work_is_spare ? 0 : m.work) + (size_t)b.points.pitch * (size_t)b.dims * sizeof(real) +
                (size_t)(b.points.pitch - m.spare_ids) * sizeof(int32_t);
    return m;
}

// Buffer 1 lies where the leaves will be: the last move above the subtrees writes buffer 0.
template <typename real> static void lay_out_points(sap_cuda_build* b, const level_memory& m) {
    const size_t coords = (size_t)b->points.pitch * (size_t)b->dims * sizeof(real);
    unsigned char *own = m.own + (m.work_is_spare ? 0 : m.work), *leaves = b->tree.arrays + b->tree.shape.block_at;
    unsigned char* rest = m.spare + (m.work_is_spare ? m.work : 0);
    const sap_cuda_ids ids[2] = {{(int32_t*)(own + coords), (int32_t*)rest, (uint32_t)(b->points.pitch - m.spare_ids)},
                                 {(int32_t*)(leaves + coords), NULL, UINT32_MAX}};
    for (int i = 0; i < 2; i++) {
        b->points.coords[i] = i ? leaves : own;
        b->points.ids[i] = ids[i];
    }
}

// How many counts a block has room for in shared memory: for all its histograms while it counts; for those of listed points
// while it resolves nodes.
template <typename real, int dims> static int room_to_count(const sap_cuda* cuda) {
    constexpr size_t more = (TOP_COUNTS_MOST - TOP_COUNTS) * sizeof(int);
    return sizeof(top_counting<real, dims>) + more <= cuda->shared_bytes ? TOP_COUNTS_MOST : TOP_COUNTS;
}
template <typename real, int dims> static int room_to_resolve(const sap_cuda_build& b, const sap_cuda* cuda) {
    const size_t fit = (cuda->shared_bytes - sizeof(top_teams<real, dims>)) / sizeof(int), whole = 4 * TOP_TEAMS;
    return (int)((fit < (size_t)b.counts ? fit : (size_t)b.counts) / whole * whole); // loads of four for each team
}
template <typename real, int dims> static size_t count_bytes(const sap_cuda_build& b) {
    return sizeof(top_counting<real, dims>) + (size_t)(b.counts - TOP_COUNTS) * sizeof(int);
}

// Blocks that share all points among them, as many as run at once.
static int64_t top_blocks(sap_cuda_call* call, const void* kernel, int64_t count, size_t shared) {
    const int64_t most = sap_cuda_resident(call, kernel, TOP_THREADS, shared),
                  grains = (count + TOP_GRAIN - 1) / TOP_GRAIN;
    return most < grains ? most : grains;
}

// Shares all points out among blocks.
template <typename real> static void share_out(const sap_cuda_build& b, int64_t blocks, top_stage<real>* stage) {
    const int64_t grains = (b.count + TOP_GRAIN - 1) / TOP_GRAIN;
    if (blocks == 0) return; // nothing runs after a failure
    stage->share = (unsigned int)(grains / blocks);
    stage->rest = (unsigned int)(grains % blocks);
    stage->roots = (float)((double)((int64_t)1 << stage->root_level) / (double)b.count);
}

// Splits the nodes of a level; level -1: begins the tree's root. `rows`: points lie as the caller gave them, with
// which kernels for any number of dimensions need no code of their own.
template <typename real, int dims>
static void launch_level(sap_cuda_call* call, const sap_cuda_build& b, const top_work<real>& work,
                         top_stage<real> stage, bool rows, int64_t blocks) {
    const int64_t nodes = stage.level < 0 ? 1 : (int64_t)1 << stage.level;
    const int64_t multiprocessors = call->cuda->multiprocessors;
    share_out(b, blocks, &stage);
    const sap_cuda_grid count = {blocks, TOP_THREADS, count_bytes<real, dims>(b), false, true};
    const int below = stage.level - stage.root_level;
    stage.bins = stage.level + 1 < b.top ? top_bins(b.count, b.dims, stage.level, below, b.counts) : 0;
    if (dims && rows)
        sap_cuda_launch(call, build_count<real, dims, dims != 0>, count, b, work, stage);
    else
        sap_cuda_launch(call, build_count<real, dims, false>, count, b, work, stage);
    stage.teams = nodes > 2 * multiprocessors ? TOP_TEAMS : 1;
    stage.together = stage.level >= 0 && nodes <= multiprocessors && b.count >> stage.level > TOP_ALL_LISTED;
    stage.room = room_to_resolve<real, dims>(b, call->cuda);
    const sap_cuda_grid resolve = {
        stage.together ? multiprocessors : (nodes + stage.teams - 1) / stage.teams, TOP_TEAMS * SAP_WARP,
        sizeof(top_teams<real, dims>) + (size_t)stage.room * sizeof(int), stage.together, true};
    stage.from = stage.to; // where the candidates are listed
    stage.row_step = 1;
    stage.axis_step = b.points.pitch;
    stage.from_ids = stage.to_ids;
    sap_cuda_launch(call, build_resolve<real, dims>, resolve, b, work, stage);
}

// Launches the levels above the subtrees.
template <typename real, int dims>
static void launch_top(sap_cuda_call* call, const sap_cuda_build& b, const top_work<real>& work) {
    constexpr size_t counting = sizeof(top_counting<real, dims>), tile = sizeof(top_tile<real, dims>);
    constexpr size_t larger = counting > tile ? counting : tile;
    static_assert(dims > 0 || (larger <= 65536 && sizeof(top_teams<real, dims>) <= 65536),
                  "every GPU has room for them");
    // If this GPU has no room for them, the kernels for any number of dimensions, which need less, are used.
    if constexpr (dims > 0)
        if (larger > call->cuda->shared_bytes) return launch_top<real, 0>(call, b, work);
    const int64_t counters =
        top_blocks(call, (const void*)build_count<real, dims, false>, b.count, count_bytes<real, dims>(b));
    const sap_cuda_grid movers = {top_blocks(call, (const void*)build_move<real, dims, false>, b.count, tile),
                                  TOP_THREADS, tile, false, true};
    const int moves = top_moves(b.top, b.dims, sizeof(real));
    for (int move = 0; move < moves; move++) {
        // The last move writes buffer 0, from which the subtrees are built.
        const int target = (moves - 1 - move) & 1;
        const bool rows = move == 0 && !b.points.keep;
        top_stage<real> stage;
        memset(&stage, 0, sizeof stage);
        stage.most = (real)sap_largest_coordinate(b.tree.shape.real_bits, b.dims);
        stage.to = (real*)b.points.coords[target];
        stage.to_ids = b.points.ids[target];
        stage.from = (const real*)(rows ? b.points.rows : b.points.coords[target ^ 1]);
        stage.row_step = rows ? b.points.stride : 1;
        stage.axis_step = rows ? 1 : b.points.pitch;
        stage.packed = rows && b.points.stride == b.dims && (uintptr_t)b.points.rows % (TOP_ITEMS * sizeof(real)) == 0;
        if (!rows) stage.from_ids = b.points.ids[target ^ 1];
        stage.root_level = b.top * move / moves;
        const int end = b.top * (move + 1) / moves;
        for (stage.level = move == 0 ? -1 : stage.root_level; stage.level < end; stage.level++) {
            stage.ahead = move == 0 ? stage.level >= 0 || !b.points.keep : stage.level > stage.root_level;
            launch_level<real, dims>(call, b, work, stage, rows, counters);
        }
        share_out(b, movers.blocks, &stage);
        if (dims && rows)
            sap_cuda_launch(call, build_move<real, dims, dims != 0>, movers, b, work, stage);
        else
            sap_cuda_launch(call, build_move<real, dims, false>, movers, b, work, stage);
    }
}

// Launches of all that comes before the subtrees, in the memory given.
template <typename real, int dims>
static void build_levels(sap_cuda_call* call, sap_cuda_build* b, const level_memory& m) {
    top_work<real> work;
    lay_out_work<real>(&work, b->count, b->dims, b->top, m.bins, m.work_is_spare ? m.spare : m.own);
    lay_out_points<real>(b, m);
    sap_cuda_grid prepare = {4 * (int64_t)call->cuda->multiprocessors, BOUNDS_THREADS, sizeof(bounds_shared<real>),
                             false};
    sap_cuda_launch(call, build_prepare<real>, prepare, *b, work, sap_cuda_clearing_of(&b->tree));
    if (b->points.keep) // into the buffer that the first move does not write
        sap_cuda_launch(call, build_gather<real>, sap_cuda_grid_for(b->count, BOUNDS_THREADS), *b,
                        top_moves(b->top, b->dims, sizeof(real)) & 1);
    launch_top<real, dims>(call, *b, work);
}

// Takes all memory first, so that a failure leaves the old tree as it was.
template <typename real, int dims>
static void build(sap_cuda_call* call, sap_tree* tree, const sap_tree_shape* shape, sap_cuda_build* b) {
    const real most = (real)sap_largest_coordinate(shape->real_bits, b->dims);
    int capacity = 0;
    size_t bytes = 0;
    b->top = 0;
    while (!bottom_fits<real, dims>(call->cuda, *b, *shape, b->top, &capacity, &bytes)) b->top++;
    b->counts = room_to_count<real, dims>(call->cuda);
    level_memory memory = plan_levels<real>(*b, *shape);
    if (b->top > 0) memory.own = (unsigned char*)sap_cuda_take(call, memory.scratch);
    sap_cuda_tree_reserve(call, tree, shape);
    if (call->status != SAP_OK) return;
    memory.spare = (unsigned char*)sap_cuda_tree_of(tree)->boxes;
    b->tree = *tree;
    b->bad = sap_cuda_tree_of(tree)->bad;
    b->device_bad = call->waits ? NULL : call->cuda->bad;
    if (b->top > 0)
        build_levels<real, dims>(call, b, memory);
    else
        sap_cuda_tree_clear(call, tree);
    const int64_t subtrees = (int64_t)1 << b->top;
    if constexpr (has_sorted<real, dims>()) {
        const sap_cuda_grid grid = {subtrees, SORTED_THREADS, bytes, false, true};
        sap_cuda_launch(call, build_sorted<dims>, grid, *b, capacity, most);
    } else {
        const sap_cuda_grid grid = {subtrees, BOTTOM_THREADS, bytes, false, true};
        sap_cuda_launch(call, build_bottom<real, dims>, grid, *b, capacity, most);
    }
}

static void build_dims(sap_cuda_call* call, sap_tree* tree, const sap_tree_shape* shape, sap_cuda_build* b) {
    switch (b->dims) {
    case 2: build<float, 2>(call, tree, shape, b); break;
    case 3: build<float, 3>(call, tree, shape, b); break;
    case 4: build<float, 4>(call, tree, shape, b); break;
    default: build<float, 0>(call, tree, shape, b);
    }
}

void sap_cuda_build_balanced(sap_cuda_call* call, sap_tree* tree, const sap_rows* rows, const int32_t* keep,
                             int64_t kept) {
    sap_tree_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.count = kept;
    shape.source_count = rows->count;
    shape.dims = rows->dims;
    shape.real_bits = rows->real_bits;
    shape.slice = tree->shape.slice;
    if (call->status != SAP_OK) return;
    if (!sap_shape_balanced(&shape, tree->options.leaf_size)) {
        call->status = sap_fail(call->device, SAP_ERROR_RANGE,
                                "points: %lld points of %d dimensions need more memory than can be addressed",
                                (long long)kept, (int)rows->dims);
        return;
    }
    sap_cuda_build b;
    memset((void*)&b, 0, sizeof b);
    b.dims = rows->dims;
    b.depth = shape.depth;
    b.count = kept;
    b.points.rows = rows->coords;
    b.points.stride = rows->stride;
    b.points.keep = keep;
    // Columns begin at whole sectors of memory, if the place of the leaves, where one buffer lies, is large enough.
    const int64_t slots = (int64_t)shape.stride << shape.depth;
    b.points.pitch = (kept + 7) / 8 * 8 <= slots ? (kept + 7) / 8 * 8 : (kept + 3) / 4 * 4;
    // Kernels exist for the dimensions that are common: each takes seconds to compile.
    if (rows->real_bits == 32)
        build_dims(call, tree, &shape, &b);
    else if (b.dims == 3)
        build<double, 3>(call, tree, &shape, &b);
    else
        build<double, 0>(call, tree, &shape, &b);
}

static void build_rows(sap_cuda_call* call, sap_tree* tree, const sap_rows* rows, const int32_t* keep, int64_t kept) {
    if (tree->options.split == SAP_SPLIT_MEDIAN)
        sap_cuda_build_balanced(call, tree, rows, keep, kept);
    else
        sap_cuda_build_explicit(call, tree, rows, keep, kept);
    sap_cuda_tree_boxes(call, tree);
}

// After a failure in the middle of a rebuild the arrays are half of the old tree and half of the new one: a tree of no
// points takes their place. If the GPU cannot build that either, the shape of an empty tree alone keeps searches from
// reading the arrays.
static void make_empty(sap_tree* tree) {
    const sap_rows none = {NULL, 0, tree->shape.dims, tree->shape.dims, tree->shape.real_bits};
    sap_cuda_call call;
    sap_status status = SAP_ERROR_DEVICE_LOST;
    tree->shape.slice.whole = 0; // a slice's leaves would have to hold points
    tree->shape.slice.first_leaf = 0;
    tree->shape.slice.root_depth = 0;
    if (!sap_cuda_of(tree->device)->lost) {
        sap_cuda_begin(&call, tree->device);
        call.quiet = true; // what failed before has been said
        build_rows(&call, tree, &none, NULL, 0);
        status = sap_cuda_end(&call, SAP_OK);
    }
    if (status == SAP_OK) return;
    tree->shape.count = tree->shape.source_count = tree->shape.not_finite = 0;
    (void)sap_shape_balanced(&tree->shape, tree->options.leaf_size);
}

sap_status sap_tree_build_cuda(sap_tree* tree, const sap_rows* points) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_rows rows = sap_cuda_rows_within(&call, tree, points);
    int32_t* keep = NULL;
    int64_t kept = points->count, not_finite = 0;
    const bool balanced = tree->options.split == SAP_SPLIT_MEDIAN, had = tree->arrays != NULL;
    const sap_tree_shape shape = tree->shape;
    // A failed rebuild must keep the old tree. The builder of explicit trees checks the points itself before it changes the
    // tree; the old one of a slice is not asked for any more.
    if (balanced && had && call.waits && !tree->shape.slice.whole) sap_cuda_rows_check(&call, &tree->options, &rows);
    if (tree->options.drop_duplicates || tree->options.drop_nonfinite) {
        keep = (int32_t*)sap_cuda_take(&call, (size_t)points->count * sizeof(int32_t));
        sap_cuda_keep(&call, &tree->options, &rows, keep, &kept, &not_finite);
        if (kept == points->count) keep = NULL;
    }
    build_rows(&call, tree, &rows, keep, kept);
    sap_cuda_tree_built(&call, tree, &rows);
    const sap_status status = sap_cuda_end(&call, SAP_OK);
    if (status == SAP_OK) tree->shape.not_finite = not_finite;
    if (status == SAP_OK || !had || !call.reserved) return status;
    if (call.captured) // nothing has run
        tree->shape = shape;
    else
        make_empty(tree);
    return status;
}
