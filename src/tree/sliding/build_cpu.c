// The sliding-midpoint builder on the CPU. Large nodes are split breadth-first by all threads together; what remains
// are subtrees, which one thread each lays out in preorder. Where the subtrees are cut has no influence on the tree.
#include "base/threads.h"
#include "device/cpu.h"
#include "tree/sliding/build.h"
#include <string.h>

enum {
    SUBTREES_PER_THREAD = 8,
    SMALLEST_CUT = 65536, // nodes of fewer points are not worth more than one thread
    TOP_NODES_PER_THREAD = 64
};

static void fail(sap_sliding* b, sap_status status) {
    sap_status none = SAP_OK;
    __atomic_compare_exchange_n(&b->status, &none, status, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool failed(sap_sliding* b) { return __atomic_load_n(&b->status, __ATOMIC_RELAXED) != SAP_OK; }

// ---- Subtrees

static sap_draft_node* draft_nodes(const sap_draft* d) { return (sap_draft_node*)(void*)d->memory.memory; }

static bool reserve_draft(sap_device* device, sap_draft* d, int64_t capacity) {
    sap_scratch larger;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)capacity, sizeof(sap_draft_node), &bytes) ||
        !sap_scratch_take(device, bytes, &larger))
        return false;
    if (d->count) memcpy(larger.memory, d->memory.memory, (size_t)d->count * sizeof(sap_draft_node));
    sap_scratch_give(device, &d->memory);
    d->memory = larger;
    d->capacity = capacity;
    return true;
}

// Moves a leaf's points to buffer 0, from where they are written once the tree's arrays are there.
static void keep_leaf(const sap_sliding* b, const sap_sliding_cell* at) {
    if (at->buffer == 0) return;
    size_t bytes = (size_t)b->real_bits / 8, first = (size_t)at->begin;
    for (int32_t a = 0; a < b->dims; a++) {
        size_t from = ((size_t)a * (size_t)b->build.pitch + first) * bytes;
        memcpy((unsigned char*)b->build.coords[0] + from, (unsigned char*)b->build.coords[1] + from,
               (size_t)(at->end - at->begin) * bytes);
    }
    memcpy(b->build.ids[0] + first, b->build.ids[1] + first, (size_t)(at->end - at->begin) * sizeof(int32_t));
}

static void add_leaf(const sap_sliding* b, sap_top_node* root, sap_draft_node* node, const sap_sliding_cell* at) {
    int32_t count = (int32_t)(at->end - at->begin);
    keep_leaf(b, at);
    *node = (sap_draft_node){.link = (uint32_t)count << 5 | SAP_NODE_LEAF};
    root->leaves++;
    root->slots += sap_leaf_stride(count, b->real_bits);
    if (at->depth > root->deepest) root->deepest = at->depth;
    if (count > root->fullest) root->fullest = count;
}

// A right side that waits for the left one to be finished.
typedef struct waiting {
    sap_sliding_cell at;
    int64_t parent; // in the draft
} waiting;

static void build_subtree(sap_sliding* b, sap_top_node* root) {
    waiting stack[SAP_MAX_DEPTH];
    int height = 0;
    root->draft = sap_thread_number();
    sap_draft* d = &b->drafts[root->draft];
    root->draft_at = d->count;
    sap_sliding_cell at = root->at;
    for (bool more = true; more && !failed(b);) {
        if (d->count == d->capacity && !reserve_draft(b->tree->device, d, 2 * d->capacity)) {
            fail(b, SAP_ERROR_MEMORY);
            return;
        }
        sap_draft_node* node = draft_nodes(d) + d->count++;
        sap_sliding_plane cut;
        sap_sliding_cell left;
        if (at.end - at.begin > b->leaf_size && sap_sliding_split(b, &at, false, &cut, &left, &stack[height].at)) {
            *node = (sap_draft_node){.split = cut.split, .link = (uint32_t)cut.axis};
            stack[height++].parent = d->count - 1;
            at = left;
            continue;
        }
        add_leaf(b, root, node, &at);
        more = height > 0;
        if (!more) break;
        const waiting* next = &stack[--height];
        int64_t offset = d->count - next->parent;
        if (offset >> 27) fail(b, SAP_ERROR_RANGE);
        draft_nodes(d)[next->parent].link |= (uint32_t)offset << 5;
        at = next->at;
    }
    root->nodes = d->count - root->draft_at;
}

static void build_subtrees(sap_sliding* b) {
    sap_device* device = b->tree->device;
#pragma omp parallel for num_threads(b->threads) schedule(dynamic)
    for (int64_t i = 0; i < b->top_count; i++) {
        sap_top_node* root = &b->top[i];
        if (root->left >= 0 || failed(b)) continue;
        build_subtree(b, root);
        int64_t done = __atomic_add_fetch(&b->done, root->at.end - root->at.begin, __ATOMIC_RELAXED);
        if (sap_thread_number() == 0 && !sap_progress_report(device, (double)done / ((double)b->count + 1)))
            fail(b, SAP_ERROR_CANCELLED);
    }
}

// ---- The nodes above the subtrees

static void add_top(sap_sliding* b, const sap_sliding_cell* at) {
    b->top[b->top_count++] = (sap_top_node){.at = *at, .left = -1, .right = -1};
}

static void build_top(sap_sliding* b, const sap_sliding_cell* root) {
    int64_t cut_above = b->count / ((int64_t)b->threads * SUBTREES_PER_THREAD);
    if (cut_above < SMALLEST_CUT) cut_above = SMALLEST_CUT;
    add_top(b, root);
    for (int64_t i = 0; i < b->top_count && b->top_count + 2 <= b->top_capacity; i++) {
        sap_top_node* node = &b->top[i];
        if (node->at.end - node->at.begin <= cut_above) continue;
        sap_sliding_cell left, right;
        if (!sap_sliding_split(b, &node->at, true, &node->cut, &left, &right)) continue;
        node->left = b->top_count;
        node->right = b->top_count + 1;
        add_top(b, &left);
        add_top(b, &right);
    }
}

// ---- The call

// Loads the points into buffer 0; the first bad row, or -1.
static int64_t load(const sap_sliding* b) {
    sap_sliding_cell all = {.begin = 0, .end = b->count};
    int chunks = sap_sliding_chunks(b, &all);
    int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(b->threads) schedule(static) reduction(min : bad)
    for (int i = 0; i < chunks; i++) {
        int64_t found =
            b->kernels->load(&b->build, sap_sliding_chunk(&all, i, chunks), sap_sliding_chunk(&all, i + 1, chunks));
        if (found >= 0 && found < bad) bad = found;
    }
    return bad == INT64_MAX ? -1 : bad;
}

static sap_status build_loaded(sap_sliding* b, sap_tree_shape* shape) {
    sap_device* device = b->tree->device;
    sap_sliding_cell root = {.begin = 0, .end = b->count};
    sap_sliding_extent(b, &root, true, root.lower, root.upper);
    build_top(b, &root);
    build_subtrees(b);
    if (!failed(b) && !sap_sliding_place(b, shape)) fail(b, SAP_ERROR_RANGE);
    if (!failed(b) && !sap_shape_explicit(shape)) fail(b, SAP_ERROR_RANGE);
    switch (b->status) {
    case SAP_OK: break;
    case SAP_ERROR_MEMORY: return sap_fail(device, b->status, "no memory for the tree's nodes");
    case SAP_ERROR_CANCELLED: return sap_fail(device, b->status, "the build was cancelled");
    default: return sap_fail(device, b->status, "points: the tree has too many nodes; take a larger leaf_size");
    }
    sap_status status = sap_tree_reserve(b->tree, shape);
    if (status == SAP_OK) sap_sliding_write(b);
    return status;
}

// Lends the memory of a build and points into it; false if there is none.
static bool take_memory(sap_sliding* b, sap_scratch* scratch) {
    b->build.pitch = sap_column_pitch(b->count, b->real_bits);
    b->top_capacity = (int64_t)b->threads * TOP_NODES_PER_THREAD;
    size_t column = (size_t)b->build.pitch * ((size_t)b->real_bits / 8), columns, buffer, both;
    size_t drafts = sap_align((size_t)b->threads * sizeof(sap_draft));
    size_t top = sap_align((size_t)b->top_capacity * sizeof(sap_top_node));
    if (!sap_size_multiply(column, (size_t)b->dims, &columns) ||
        !sap_size_add(columns, (size_t)b->build.pitch * sizeof(int32_t), &buffer) ||
        !sap_size_multiply(sap_align(buffer), 2, &both) || both > SIZE_MAX / 2 ||
        !sap_scratch_take(b->tree->device, both + drafts + top, scratch))
        return false;
    for (int i = 0; i < 2; i++) {
        unsigned char* start = scratch->memory + (size_t)i * sap_align(buffer);
        b->build.coords[i] = start;
        b->build.ids[i] = (int32_t*)(void*)(start + columns);
    }
    b->drafts = (sap_draft*)(void*)(scratch->memory + both);
    b->top = (sap_top_node*)(void*)(scratch->memory + both + drafts);
    memset(b->drafts, 0, drafts);
    // Leaves of a third of leaf_size would need this much; drafts grow where it is too little.
    int64_t nodes = b->count / b->leaf_size * 6;
    if (nodes > 2 * b->count) nodes = 2 * b->count;
    for (int32_t i = 0; i < b->threads; i++)
        if (!reserve_draft(b->tree->device, &b->drafts[i], nodes / b->threads + 64)) return false;
    return true;
}

static void give_memory(sap_sliding* b, sap_scratch* scratch) {
    for (int32_t i = 0; b->drafts && i < b->threads; i++) sap_scratch_give(b->tree->device, &b->drafts[i].memory);
    sap_scratch_give(b->tree->device, scratch);
}

sap_status sap_tree_build_sliding_cpu(sap_tree* tree, const sap_rows* points, const int32_t* keep, int64_t kept) {
    sap_device* device = tree->device;
    sap_sliding b = {.tree = tree,
                     .build = {.tree = tree, .rows = points, .keep = keep},
                     .kernels = sap_cpu_kernels_of(device, points->real_bits)->build,
                     .count = kept,
                     .dims = points->dims,
                     .real_bits = points->real_bits,
                     .leaf_size = tree->options.leaf_size,
                     .halving_depth = sap_halving_depth(kept),
                     .threads = kept < SMALLEST_CUT ? 1 : device->options.threads};
    sap_tree_shape shape = {.count = kept, .source_count = points->count, .dims = b.dims, .real_bits = b.real_bits};
    sap_scratch scratch = {NULL, 0};
    sap_status status;
    if (!take_memory(&b, &scratch)) {
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory to build over %lld points", (long long)kept);
    } else {
        int64_t bad = load(&b);
        if (bad < 0)
            status = build_loaded(&b, &shape);
        else
            status = sap_build_refuse(&b.build, bad);
    }
    give_memory(&b, &scratch);
    return status;
}
