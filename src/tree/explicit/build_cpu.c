// The builder of explicit trees on the CPU. Large nodes are split breadth-first by all threads together; what remains
// are subtrees, each laid out in preorder by one thread. The tree does not depend on where the subtrees begin.
#include "base/assert.h"
#include "base/team.h"
#include "device/cpu.h"
#include "tree/explicit/build.h"
#include <string.h>

enum {
    SUBTREES_PER_THREAD = 8,
    SMALLEST_CUT = 65536, // nodes of fewer points are not worth more than one thread
    TOP_NODES_PER_THREAD = 64
};

static void fail(sap_explicit_build* b, sap_status status) {
    sap_status none = SAP_OK;
    __atomic_compare_exchange_n(&b->status, &none, status, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool failed(sap_explicit_build* b) { return __atomic_load_n(&b->status, __ATOMIC_RELAXED) != SAP_OK; }

// ---- Subtrees

static bool reserve_draft(sap_device* device, sap_explicit_draft* d, int64_t capacity) {
    sap_scratch larger;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)capacity, sizeof(sap_explicit_node), &bytes) ||
        !sap_scratch_take(device, bytes, &larger))
        return false;
    if (d->count) memcpy(larger.memory, d->memory.memory, (size_t)d->count * sizeof(sap_explicit_node));
    sap_scratch_give(device, &d->memory);
    d->memory = larger;
    d->capacity = capacity;
    return true;
}

// Moves a leaf's points to buffer 0, from where they are written once the tree's arrays are there.
static void keep_leaf(const sap_explicit_build* b, const sap_explicit_cell* at) {
    if (at->buffer == 0) return;
    size_t bytes = (size_t)b->parts.real_bits / 8, first = (size_t)at->begin;
    for (int32_t a = 0; a < b->parts.dims; a++) {
        size_t from = ((size_t)a * (size_t)b->build.pitch + first) * bytes;
        memcpy((unsigned char*)b->build.coords[0] + from, (unsigned char*)b->build.coords[1] + from,
               (size_t)(at->end - at->begin) * bytes);
    }
    memcpy(b->build.ids[0] + first, b->build.ids[1] + first, (size_t)(at->end - at->begin) * sizeof(int32_t));
}

static void add_leaf(const sap_explicit_build* b, sap_explicit_top* root, sap_explicit_node* node,
                     const sap_explicit_cell* at) {
    int32_t count = (int32_t)(at->end - at->begin);
    SAP_ASSERT(at->end - at->begin <= SAP_LEAF_MAX_EQUAL);
    keep_leaf(b, at);
    *node = (sap_explicit_node){.link = (uint32_t)count << 5 | SAP_NODE_LEAF};
    root->leaves++;
    root->slots += sap_leaf_stride(count, b->parts.real_bits);
    if (at->depth > root->deepest) root->deepest = at->depth;
    if (count > root->fullest) root->fullest = count;
}

// A right side that waits for the left one to be finished.
typedef struct waiting {
    sap_explicit_cell at;
    int64_t parent; // in the draft
} waiting;

static void build_subtree(sap_explicit_build* b, sap_explicit_top* root, const sap_explicit_cell* cell,
                          int32_t worker) {
    waiting stack[SAP_MAX_DEPTH];
    int height = 0;
    root->draft = worker;
    sap_explicit_draft* d = &b->parts.drafts[root->draft];
    SAP_ASSERT(root->draft >= 0 && root->draft < b->parts.threads);
    root->draft_at = d->count;
    root->first = cell->begin;
    sap_explicit_cell at = *cell;
    for (bool more = true; more && !failed(b);) {
        if (d->count == d->capacity && !reserve_draft(b->parts.tree->device, d, 2 * d->capacity)) {
            fail(b, SAP_ERROR_MEMORY);
            return;
        }
        sap_explicit_node* node = sap_explicit_draft_nodes(d) + d->count++;
        sap_explicit_plane plane;
        if (at.end - at.begin > b->leaf_size && sap_explicit_find_plane(b, &at, false, &plane)) {
            SAP_ASSERT(height < SAP_MAX_DEPTH);
            sap_explicit_cell left;
            sap_explicit_divide(b, &at, &plane, false, &left, &stack[height].at);
            *node = (sap_explicit_node){.split = plane.split, .link = (uint32_t)plane.axis};
            stack[height++].parent = d->count - 1;
            at = left;
            continue;
        }
        add_leaf(b, root, node, &at);
        more = height > 0;
        if (!more) break;
        const waiting* next = &stack[--height];
        int64_t offset = d->count - next->parent;
        SAP_ASSERT(next->parent >= root->draft_at && offset >= 2);
        if (offset >> 27) fail(b, SAP_ERROR_RANGE);
        sap_explicit_draft_nodes(d)[next->parent].link |= (uint32_t)offset << 5;
        at = next->at;
    }
    root->nodes = d->count - root->draft_at;
    SAP_ASSERT(failed(b) || root->nodes == 2 * root->leaves - 1);
}

static void build_part(void* context, int64_t i, int32_t worker) {
    sap_explicit_build* b = context;
    sap_explicit_top* root = &b->parts.top[i];
    const sap_explicit_cell* cell = &b->cells[i];
    if (root->left >= 0 || failed(b)) return;
    build_subtree(b, root, cell, worker);
    int64_t done = __atomic_add_fetch(&b->done, cell->end - cell->begin, __ATOMIC_RELAXED);
    if (worker == 0 && !sap_progress_report(b->parts.tree->device, (double)done / ((double)b->count + 1)))
        fail(b, SAP_ERROR_CANCELLED);
}

// ---- The nodes above the subtrees

static void add_top(sap_explicit_build* b, const sap_explicit_cell* cell) {
    SAP_ASSERT(b->parts.top_count < b->parts.top_capacity);
    b->cells[b->parts.top_count] = *cell;
    b->parts.top[b->parts.top_count++] = (sap_explicit_top){.left = -1, .right = -1};
}

static void build_top(sap_explicit_build* b, const sap_explicit_cell* root) {
    int64_t cut_above = b->count / ((int64_t)b->parts.threads * SUBTREES_PER_THREAD);
    if (cut_above < SMALLEST_CUT) cut_above = SMALLEST_CUT;
    add_top(b, root);
    for (int64_t i = 0; i < b->parts.top_count && b->parts.top_count + 2 <= b->parts.top_capacity; i++) {
        sap_explicit_top* node = &b->parts.top[i];
        sap_explicit_cell *cell = &b->cells[i], left, right;
        sap_explicit_plane plane;
        if (cell->end - cell->begin <= cut_above || !sap_explicit_find_plane(b, cell, true, &plane)) continue;
        sap_explicit_divide(b, cell, &plane, true, &left, &right);
        node->split = plane.split;
        node->axis = plane.axis;
        node->left = b->parts.top_count;
        node->right = b->parts.top_count + 1;
        add_top(b, &left);
        add_top(b, &right);
    }
}

// ---- The call

typedef struct loading {
    const sap_explicit_build* build;
    int64_t bad; // the first bad row
} loading;

static void load_range(void* context, int64_t from, int64_t to, int32_t worker) {
    loading* l = context;
    (void)worker;
    const int64_t found = l->build->kernels->load(&l->build->build, from, to);
    if (found >= 0) sap_team_lower(&l->bad, found);
}

// Loads the points into buffer 0; the first bad row, or -1.
static int64_t load(const sap_explicit_build* b) {
    loading l = {b, INT64_MAX};
    sap_team_loop(b->parts.threads, b->count, SMALLEST_CUT, load_range, &l);
    return l.bad == INT64_MAX ? -1 : l.bad;
}

static sap_status build_loaded(sap_explicit_build* b, sap_tree_shape* shape) {
    sap_device* device = b->parts.tree->device;
    sap_explicit_cell root = {.begin = 0, .end = b->count};
    sap_explicit_extent(b, &root, true, root.lower, root.upper);
    build_top(b, &root);
    sap_team_run(b->parts.threads, b->parts.top_count, build_part, b);
    if (!failed(b) && !sap_explicit_place(&b->parts, shape)) fail(b, SAP_ERROR_RANGE);
    if (!failed(b) && !sap_shape_explicit(shape)) fail(b, SAP_ERROR_RANGE);
    switch (b->status) {
    case SAP_OK: break;
    case SAP_ERROR_MEMORY: return sap_fail(device, b->status, "no memory for the tree's nodes");
    case SAP_ERROR_CANCELLED: return sap_fail(device, b->status, "the build was cancelled");
    default: return sap_fail(device, b->status, "points: the tree has too many nodes; take a larger leaf_size");
    }
    sap_status status = sap_tree_reserve(b->parts.tree, shape);
    if (status == SAP_OK) sap_explicit_write(&b->parts);
    return status;
}

// Takes the memory of a build and divides it into arrays. False if there is not enough.
static bool take_memory(sap_explicit_build* b, sap_scratch* scratch) {
    b->build.pitch = sap_column_pitch(b->count, b->parts.real_bits);
    b->parts.top_capacity = (int64_t)b->parts.threads * TOP_NODES_PER_THREAD;
    size_t column = (size_t)b->build.pitch * ((size_t)b->parts.real_bits / 8), columns, buffer, both;
    size_t drafts = sap_align((size_t)b->parts.threads * sizeof(sap_explicit_draft));
    size_t top = sap_align((size_t)b->parts.top_capacity * sizeof(sap_explicit_top));
    size_t cells = sap_align((size_t)b->parts.top_capacity * sizeof(sap_explicit_cell));
    if (!sap_size_multiply(column, (size_t)b->parts.dims, &columns) ||
        !sap_size_add(columns, (size_t)b->build.pitch * sizeof(int32_t), &buffer) ||
        !sap_size_multiply(sap_align(buffer), 2, &both) || both > SIZE_MAX / 2 ||
        !sap_scratch_take(b->parts.tree->device, both + drafts + top + cells, scratch))
        return false;
    for (int i = 0; i < 2; i++) {
        unsigned char* start = scratch->memory + (size_t)i * sap_align(buffer);
        b->build.coords[i] = start;
        b->build.ids[i] = (int32_t*)(void*)(start + columns);
    }
    b->parts.drafts = (sap_explicit_draft*)(void*)(scratch->memory + both);
    b->parts.top = (sap_explicit_top*)(void*)(scratch->memory + both + drafts);
    b->cells = (sap_explicit_cell*)(void*)(scratch->memory + both + drafts + top);
    memset(b->parts.drafts, 0, drafts);
    b->parts.coords = b->build.coords[0];
    b->parts.ids = b->build.ids[0];
    b->parts.pitch = b->build.pitch;
    // Leaves of a third of leaf_size would need this much; drafts grow where it is too little.
    int64_t nodes = b->count / b->leaf_size * 6;
    if (nodes > 2 * b->count) nodes = 2 * b->count;
    for (int32_t i = 0; i < b->parts.threads; i++)
        if (!reserve_draft(b->parts.tree->device, &b->parts.drafts[i], nodes / b->parts.threads + 64)) return false;
    return true;
}

static void give_memory(sap_explicit_build* b, sap_scratch* scratch) {
    for (int32_t i = 0; b->parts.drafts && i < b->parts.threads; i++)
        sap_scratch_give(b->parts.tree->device, &b->parts.drafts[i].memory);
    sap_scratch_give(b->parts.tree->device, scratch);
}

sap_status sap_tree_build_explicit_cpu(sap_tree* tree, const sap_rows* points, const int32_t* keep, int64_t kept) {
    sap_device* device = tree->device;
    sap_explicit_build b = {.parts = {.tree = tree,
                                      .dims = points->dims,
                                      .real_bits = points->real_bits,
                                      .threads = kept < SMALLEST_CUT ? 1 : device->options.threads},
                            .build = {.tree = tree, .rows = points, .keep = keep},
                            .kernels = sap_cpu_kernels_of(device, points->real_bits)->build,
                            .count = kept,
                            .leaf_size = tree->options.leaf_size,
                            .halving_depth = sap_halving_depth(kept)};
    sap_tree_shape shape = {
        .count = kept, .source_count = points->count, .dims = points->dims, .real_bits = points->real_bits};
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
