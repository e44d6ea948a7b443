// The balanced builder on the CPU: all threads split the top nodes one at a time, then each thread splits nodes of its
// own, then each thread builds whole subtrees. Medians are exact and partitions stable, so the bytes do not depend on
// which thread does what.
#include "device/cpu.h"
#include "device/progress.h"
#include "tree/balanced/build.h"
#include <math.h>
#include <string.h>

enum { MOST_CHUNKS = 256, SERIAL_BELOW = 65536, SUBTREES_PER_THREAD_BITS = 3, FEWEST_SUBTREES_BITS = 6 };

// What the parts of one build share.
typedef struct builder {
    const sap_build* build;
    const sap_build_kernels* kernels;
    int threads;
} builder;

typedef union box_values {
    float f32[SAP_MAX_DIMS];
    double f64[SAP_MAX_DIMS];
} box_values;

static int64_t chunk_start(int64_t from, int64_t to, int chunk, int chunks) {
    return from + (to - from) * chunk / chunks;
}

static void widen(const sap_build* b, box_values* lower, box_values* upper, const box_values* low,
                  const box_values* high) {
    for (int a = 0; a < b->rows->dims; a++) {
        if (b->rows->real_bits == 32) {
            if (low->f32[a] < lower->f32[a]) lower->f32[a] = low->f32[a];
            if (high->f32[a] > upper->f32[a]) upper->f32[a] = high->f32[a];
        } else {
            if (low->f64[a] < lower->f64[a]) lower->f64[a] = low->f64[a];
            if (high->f64[a] > upper->f64[a]) upper->f64[a] = high->f64[a];
        }
    }
}

// Splits one large node with all threads.
static void split_together(const builder* c, sap_build_node* node) {
    const sap_build* b = c->build;
    const sap_build_kernels* k = c->kernels;
    int buffer = node->buffer, chunks = c->threads;
    SAP_ASSERT(chunks <= MOST_CHUNKS);
    box_values low[MOST_CHUNKS], high[MOST_CHUNKS];
    int64_t less[MOST_CHUNKS + 1] = {0};
    memset(&low[0], 0, sizeof low[0]);
    memset(&high[0], 0, sizeof high[0]);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < chunks; i++)
        k->extent(b, buffer, chunk_start(node->low, node->high, i, chunks),
                  chunk_start(node->low, node->high, i + 1, chunks), &low[i], &high[i]);
    for (int i = 1; i < chunks; i++) widen(b, &low[0], &high[0], &low[i], &high[i]);
    k->begin_node(b, node, &low[0], &high[0]);
    sap_pivot pivot = k->find_pivot(b, node);
    k->write_split(b, node, &pivot);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < chunks; i++)
        less[i + 1] = k->count_smaller(b, node, &pivot, chunk_start(node->low, node->high, i, chunks),
                                       chunk_start(node->low, node->high, i + 1, chunks));
    for (int i = 0; i < chunks; i++) less[i + 1] += less[i];
    SAP_ASSERT(pivot.components == 0 || less[chunks] == node->middle - node->low);
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < chunks; i++) {
        int64_t from = chunk_start(node->low, node->high, i, chunks),
                to = chunk_start(node->low, node->high, i + 1, chunks);
        int64_t greater = node->middle + from - node->low - less[i], more = to - from - (less[i + 1] - less[i]);
        k->partition(b, node, &pivot, from, to, node->low + less[i], node->low + less[i + 1], greater, greater + more);
    }
}

static void split_alone(const builder* c, sap_build_node* node) {
    const sap_build* b = c->build;
    box_values lower, upper;
    c->kernels->extent(b, node->buffer, node->low, node->high, &lower, &upper);
    c->kernels->begin_node(b, node, &lower, &upper);
    sap_pivot pivot = c->kernels->find_pivot(b, node);
    c->kernels->write_split(b, node, &pivot);
    c->kernels->partition(b, node, &pivot, node->low, node->high, node->low, node->middle, node->middle, node->high);
}

// The smallest depth with at least `count` nodes.
static int32_t depth_with(int count) {
    int32_t depth = 0;
    while (1 << depth < count) depth++;
    return depth;
}

// Builds all nodes and leaves. False if the progress callback asked to stop.
static bool build_nodes(const builder* c) {
    const sap_tree_shape* s = &c->build->tree->shape;
    int32_t together = depth_with(c->threads), alone = together + SUBTREES_PER_THREAD_BITS;
    if (alone < FEWEST_SUBTREES_BITS) alone = FEWEST_SUBTREES_BITS;
    if (s->count < SERIAL_BELOW || alone > s->depth) together = alone = 0;
    SAP_ASSERT(together <= alone && alone <= s->depth);
    int64_t subtrees = (int64_t)1 << alone;
    sap_progress_state progress = sap_progress_begin(c->build->tree->device, subtrees * (s->depth + 1));
    for (int32_t depth = 0; depth < together; depth++) {
        for (int64_t i = 0; i < (int64_t)1 << depth; i++) {
            sap_build_node node = sap_build_node_at(s, depth, i);
            split_together(c, &node);
        }
        if (!sap_progress_add(&progress, subtrees)) return false;
    }
    for (int32_t depth = together; depth < alone; depth++) {
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int64_t i = 0; i < (int64_t)1 << depth; i++) {
            sap_build_node node = sap_build_node_at(s, depth, i);
            split_alone(c, &node);
        }
        if (!sap_progress_add(&progress, subtrees)) return false;
    }
#pragma omp parallel for num_threads(c->threads) schedule(dynamic) if (subtrees > 1)
    for (int64_t i = 0; i < subtrees; i++) {
        if (!sap_progress_add(&progress, 0)) continue;
        c->kernels->subtree(c->build, alone, i);
        sap_progress_add(&progress, s->depth + 1 - alone);
    }
    return sap_progress_finish(&progress);
}

// Marks the unused boxes of the first level as empty if it has fewer than 16 nodes.
static void clear_first_boxes(const sap_tree* t) {
    const sap_tree_shape* s = &t->shape;
    if (s->level_depth[0] >= SAP_GROUP_BITS) return;
    unsigned char* box = t->arrays + s->box_at[0];
    for (int i = 0; i < 2 * s->dims * SAP_GROUP; i++) {
        double empty = i / SAP_GROUP % 2 ? -(double)__builtin_inff() : (double)__builtin_inff();
        if (s->real_bits == 32)
            ((float*)(void*)box)[i] = (float)empty;
        else
            ((double*)(void*)box)[i] = empty;
    }
    for (int i = 0; i < SAP_GROUP; i++) ((int32_t*)(void*)(t->arrays + s->min_id_at[0]))[i] = INT32_MAX;
}

// Loads all rows into buffer 0; the number of the first bad row, or -1.
static int64_t load_all(const builder* c, int64_t count) {
    int chunks = count < SERIAL_BELOW ? 1 : c->threads;
    int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(chunks) schedule(static) reduction(min : bad)
    for (int i = 0; i < chunks; i++) {
        int64_t found =
            c->kernels->load(c->build, chunk_start(0, count, i, chunks), chunk_start(0, count, i + 1, chunks));
        if (found >= 0 && found < bad) bad = found;
    }
    return bad == INT64_MAX ? -1 : bad;
}

sap_status sap_build_refuse(const sap_build* b, int64_t row) {
    const unsigned char* coords = b->rows->coords;
    size_t real = (size_t)b->rows->real_bits / 8;
    return sap_point_refuse(b->tree->device, coords + (size_t)(row * b->rows->stride) * real, b->rows->dims,
                            b->rows->real_bits, row);
}

static void make_empty(sap_tree* tree) {
    sap_tree_shape shape = tree->shape;
    shape.count = shape.source_count = 0;
    sap_shape_balanced(&shape, tree->options.leaf_size);
    tree->shape = shape;
    memset(tree->arrays, 0, shape.bytes);
    clear_first_boxes(tree);
}

static sap_status build_balanced(sap_tree* tree, const sap_rows* points, const int32_t* keep, int64_t count) {
    sap_device* device = tree->device;
    sap_tree_shape shape = {
        .count = count, .source_count = points->count, .dims = points->dims, .real_bits = points->real_bits};
    int64_t pitch = sap_column_pitch(count, points->real_bits);
    size_t column, buffer;
    if (!sap_shape_balanced(&shape, tree->options.leaf_size) ||
        !sap_size_multiply((uint64_t)pitch, sap_slot_bytes(&shape), &buffer) || buffer > SIZE_MAX / 4)
        return sap_fail(device, SAP_ERROR_RANGE,
                        "points: %lld points of %d dimensions need more memory than can be addressed", (long long)count,
                        (int)points->dims);
    column = (size_t)pitch * sap_real_bytes(&shape);
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(device, 2 * sap_align(buffer), &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to build over %lld points", (long long)count);
    sap_build build = {.tree = tree, .rows = points, .keep = keep, .pitch = pitch};
    for (int i = 0; i < 2; i++) {
        unsigned char* start = scratch.memory + (size_t)i * sap_align(buffer);
        build.coords[i] = start;
        build.ids[i] = (int32_t*)(void*)(start + column * (size_t)points->dims);
    }
    builder c = {&build, sap_cpu_kernels_of(device, points->real_bits)->build, device->options.threads};
    if (c.threads > MOST_CHUNKS) c.threads = MOST_CHUNKS;
    int64_t bad = load_all(&c, count);
    sap_status status = SAP_OK;
    if (bad >= 0) status = sap_build_refuse(&build, bad);
    if (status == SAP_OK) status = sap_tree_reserve(tree, &shape);
    if (status == SAP_OK) {
        clear_first_boxes(tree);
        if (!build_nodes(&c)) {
            make_empty(tree);
            status = sap_fail(device, SAP_ERROR_CANCELLED, "the build was cancelled");
        }
    }
    sap_scratch_give(device, &scratch);
    return status;
}

sap_status sap_tree_build_cpu(sap_tree* tree, const sap_rows* points) {
    sap_device* device = tree->device;
    sap_scratch keep = {NULL, 0};
    int64_t kept = points->count;
    sap_status status = SAP_OK;
    if (tree->options.drop_duplicates) {
        if (!sap_scratch_take(device, (size_t)points->count * sizeof(int32_t) + 1, &keep))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory to find duplicates of %lld points",
                            (long long)points->count);
        status = sap_duplicates_cpu(device, points, (int32_t*)(void*)keep.memory, &kept);
    }
    const int32_t* rows = (const int32_t*)(const void*)keep.memory;
    if (status == SAP_OK && tree->options.split == SAP_SPLIT_SLIDING_MIDPOINT)
        status = sap_tree_build_sliding_cpu(tree, points, rows, kept);
    else if (status == SAP_OK)
        status = build_balanced(tree, points, rows, kept);
    sap_scratch_give(device, &keep);
    return status;
}
