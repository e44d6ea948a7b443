// The balanced builder on the CPU: all threads split the top nodes one at a time, then each thread splits nodes of its
// own, then each thread builds whole subtrees. Medians are exact and partitions stable, so the bytes do not depend on
// which thread does what.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "tree/balanced/build.h"
#include "tree/balanced/filled.h"
#include "tree/periods.h"
#include <math.h>
#include <string.h>

enum {
    MOST_CHUNKS = 256,
    CHUNKS_PER_THREAD = 8,
    SERIAL_BELOW = 65536,
    LONG_WORK = 1 << 20,  // points after which the host is asked whether to go on
    LONG_CHUNK = 1 << 18, // of a node that all threads split
    MOST_QUESTIONS = 128, // while points are loaded
    SUBTREES_PER_THREAD_BITS = 3,
    FEWEST_SUBTREES_BITS = 6
};

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

// A large node that all threads split, a chunk of its points at a time.
typedef struct split {
    const builder* builder;
    sap_progress_state* progress;
    sap_build_node* node;
    sap_pivot pivot;
    int chunks, buffer; // where the node's points lie at first
    box_values low[MOST_CHUNKS], high[MOST_CHUNKS];
    int64_t less[MOST_CHUNKS + 1]; // than the pivot: in chunk i - 1, then in all before chunk i
} split;

static int64_t split_start(const split* s, int64_t chunk) {
    return chunk_start(s->node->low, s->node->high, (int)chunk, s->chunks);
}

// Whether to work on a chunk. What is left undone once the host asked to stop, nobody looks at.
static bool goes_on(const split* s, int64_t chunk) {
    return split_start(s, chunk + 1) - split_start(s, chunk) < LONG_CHUNK || sap_progress_poll(s->progress);
}

static void extent_chunk(void* context, int64_t i, int32_t worker) {
    split* s = context;
    (void)worker;
    if (!goes_on(s, i)) return;
    s->builder->kernels->extent(s->builder->build, s->buffer, split_start(s, i), split_start(s, i + 1), &s->low[i],
                                &s->high[i]);
}

static void count_chunk(void* context, int64_t i, int32_t worker) {
    split* s = context;
    (void)worker;
    if (!goes_on(s, i)) return;
    s->less[i + 1] = s->builder->kernels->count_smaller(s->builder->build, s->node, &s->pivot, split_start(s, i),
                                                        split_start(s, i + 1));
}

static void partition_chunk(void* context, int64_t i, int32_t worker) {
    const split* s = context;
    if (!goes_on(s, i)) return;
    const sap_build_node* node = s->node;
    const int64_t from = split_start(s, i), to = split_start(s, i + 1), *less = s->less;
    const int64_t greater = node->middle + from - node->low - less[i], more = to - from - (less[i + 1] - less[i]);
    (void)worker;
    s->builder->kernels->partition(s->builder->build, node, &s->pivot, from, to, node->low + less[i],
                                   node->low + less[i + 1], greater, greater + more);
}

static void split_together(const builder* c, sap_build_node* node, sap_progress_state* progress) {
    const sap_build* b = c->build;
    const sap_build_kernels* k = c->kernels;
    const int chunks = c->threads < MOST_CHUNKS / CHUNKS_PER_THREAD ? c->threads * CHUNKS_PER_THREAD : MOST_CHUNKS;
    split s = {.builder = c, .progress = progress, .node = node, .chunks = chunks, .buffer = node->buffer};
    sap_team_run(c->threads, chunks, extent_chunk, &s);
    if (!sap_progress_add(progress, 0)) return;
    for (int i = 1; i < chunks; i++) widen(b, &s.low[0], &s.high[0], &s.low[i], &s.high[i]);
    k->begin_node(b, node, &s.low[0], &s.high[0]);
    s.pivot = k->find_pivot(b, node);
    k->write_split(b, node, &s.pivot);
    sap_team_run(c->threads, chunks, count_chunk, &s);
    if (!sap_progress_add(progress, 0)) return;
    for (int i = 0; i < chunks; i++) s.less[i + 1] += s.less[i];
    SAP_ASSERT(s.pivot.components == 0 || s.less[chunks] == node->middle - node->low);
    sap_team_run(c->threads, chunks, partition_chunk, &s);
}

static void split_alone(const builder* c, sap_build_node* node, sap_progress_state* progress) {
    const sap_build* b = c->build;
    const bool is_long = node->high - node->low >= LONG_WORK;
    box_values lower, upper;
    if (!sap_progress_add(progress, 0)) return;
    c->kernels->extent(b, node->buffer, node->low, node->high, &lower, &upper);
    if (is_long && !sap_progress_poll(progress)) return;
    c->kernels->begin_node(b, node, &lower, &upper);
    sap_pivot pivot = c->kernels->find_pivot(b, node);
    c->kernels->write_split(b, node, &pivot);
    if (is_long && !sap_progress_poll(progress)) return;
    c->kernels->partition(b, node, &pivot, node->low, node->high, node->low, node->middle, node->middle, node->high);
}

// The smallest depth with at least `count` nodes.
static int32_t depth_with(int count) {
    int32_t depth = 0;
    while (1 << depth < count) depth++;
    return depth;
}

typedef struct level {
    const builder* builder;
    int32_t depth;
    sap_progress_state* progress;
} level;

static void split_node(void* context, int64_t i, int32_t worker) {
    const level* l = context;
    sap_build_node node = sap_build_node_at(&l->builder->build->tree->shape, l->depth, i);
    (void)worker;
    split_alone(l->builder, &node, l->progress);
}

static void build_subtree(void* context, int64_t i, int32_t worker) {
    const level* l = context;
    (void)worker;
    if (!sap_progress_add(l->progress, 0)) return;
    l->builder->kernels->subtree(l->builder->build, l->depth, i);
    sap_progress_add(l->progress, l->builder->build->tree->shape.depth + 1 - l->depth);
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
            split_together(c, &node, &progress);
        }
        if (!sap_progress_add(&progress, subtrees)) return false;
    }
    for (int32_t depth = together; depth < alone; depth++) {
        level nodes = {c, depth, &progress};
        sap_team_run(c->threads, (int64_t)1 << depth, split_node, &nodes);
        if (!sap_progress_add(&progress, subtrees)) return false;
    }
    level last = {c, alone, &progress};
    sap_team_run(c->threads, subtrees, build_subtree, &last);
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

typedef struct loading {
    const builder* builder;
    sap_progress_state progress;
    int64_t step; // parts from one question to the host to the next
    int64_t bad;  // the first bad row
} loading;

static void load_range(void* context, int64_t from, int64_t to, int32_t worker) {
    loading* l = context;
    (void)worker;
    const bool ask = from / SERIAL_BELOW % l->step == l->step - 1;
    if (!(ask ? sap_progress_poll(&l->progress) : sap_progress_add(&l->progress, 0))) return;
    const int64_t found = l->builder->kernels->load(l->builder->build, from, to);
    if (found >= 0) sap_team_lower(&l->bad, found);
}

sap_status sap_build_refuse(const sap_build* b, int64_t row) {
    const unsigned char* coords = b->rows->coords;
    size_t real = (size_t)b->rows->real_bits / 8;
    return sap_point_refuse(b->tree->device, coords + (size_t)(row * b->rows->stride) * real, b->rows->dims,
                            b->rows->real_bits, row);
}

// Loads all rows into buffer 0.
static sap_status load_all(const builder* c, int64_t count) {
    const sap_device* device = c->build->tree->device;
    const int64_t least = LONG_WORK / SERIAL_BELOW, step = count / SERIAL_BELOW / MOST_QUESTIONS;
    loading l = {c, sap_progress_begin(device, 1), step > least ? step : least, INT64_MAX};
    sap_team_loop(c->threads, count, SERIAL_BELOW, load_range, &l);
    if (!sap_progress_add(&l.progress, 0)) return sap_fail(device, SAP_ERROR_CANCELLED, "the build was cancelled");
    return l.bad == INT64_MAX ? SAP_OK : sap_build_refuse(c->build, l.bad);
}

static void make_empty(sap_tree* tree) {
    sap_tree_shape shape = tree->shape;
    shape.count = shape.source_count = shape.not_finite = 0;
    shape.slice = (sap_slice){0};
    sap_shape_balanced(&shape, tree->options.leaf_size);
    tree->shape = shape;
    memset(tree->arrays, 0, shape.bytes);
    clear_first_boxes(tree);
}

// Room for a tree that may grow by an eighth; memory of which it needs less than a quarter is given back. What lay there
// is lost, unless this fails.
static sap_status make_room(sap_tree* tree, const sap_tree_shape* shape) {
    enum { WORTH_GIVING_BACK = 1 << 20 };
    const size_t most = shape->bytes + shape->bytes / 8;
    sap_tree_memory smaller = {0};
    unsigned char* arrays = NULL;
    if (shape->bytes + SAP_ALIGNMENT > tree->memory.allocated)
        return sap_tree_memory_grow(tree->device, &tree->memory, &tree->arrays, most);
    if (tree->memory.allocated < WORTH_GIVING_BACK || tree->memory.allocated / 4 < most ||
        sap_tree_memory_grow(tree->device, &smaller, &arrays, most) != SAP_OK)
        return SAP_OK;
    sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
    tree->memory = smaller;
    tree->arrays = arrays;
    return SAP_OK;
}

// Builds over rows, or over what `filler` puts into the columns: at most `count` points, of a tree that may grow.
static sap_status build_balanced(sap_tree* tree, const sap_rows* points, const int32_t* keep, int64_t count,
                                 const sap_filler* filler, bool grows) {
    sap_device* device = tree->device;
    sap_tree_shape shape = {.count = count,
                            .source_count = points->count,
                            .dims = points->dims,
                            .real_bits = points->real_bits,
                            .slice = tree->shape.slice};
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
    sap_status status = SAP_OK;
    if (filler) {
        shape.count = shape.source_count =
            filler->fill(filler->context, &(sap_columns){build.coords[0], build.ids[0], pitch});
        SAP_ASSERT(shape.count <= count);
        sap_shape_balanced(&shape, tree->options.leaf_size); // no larger than before
        if (grows) status = make_room(tree, &shape);
    } else {
        status = load_all(&c, count);
    }
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

sap_status sap_tree_build_filled_cpu(sap_tree* tree, int64_t most, const sap_filler* filler) {
    const sap_rows rows = {NULL, most, tree->shape.dims, tree->shape.dims, tree->shape.real_bits};
    return build_balanced(tree, &rows, NULL, most, filler, true);
}

sap_status sap_tree_build_slice_filled_cpu(sap_tree* tree, int64_t count, const sap_filler* filler) {
    const sap_rows rows = {NULL, count, tree->shape.dims, tree->shape.dims, tree->shape.real_bits};
    return build_balanced(tree, &rows, NULL, count, filler, false);
}

static sap_status build_over(sap_tree* tree, const sap_rows* points) {
    sap_device* device = tree->device;
    sap_kept kept;
#if defined(__EMSCRIPTEN__)
    if (tree->options.split == SAP_SPLIT_VVH)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "options.split: not in what pages download");
#endif
    sap_status status = sap_kept_find_cpu(tree, points, &kept);
    if (status == SAP_OK && tree->options.split != SAP_SPLIT_MEDIAN)
        status = sap_tree_build_explicit_cpu(tree, points, kept.rows, kept.count);
    else if (status == SAP_OK)
        status = build_balanced(tree, points, kept.rows, kept.count, NULL, false);
    if (status == SAP_OK) tree->shape.not_finite = kept.not_finite;
    sap_scratch_give(device, &kept.scratch);
    return status;
}

sap_status sap_tree_build_cpu(sap_tree* tree, const sap_rows* points) {
    sap_wrapped wrapped;
    sap_status status = sap_wrapped_open(tree, points, &wrapped);
    if (status != SAP_OK) return status;
    status = build_over(tree, &wrapped.rows);
    sap_wrapped_close(tree, &wrapped);
    return status;
}
