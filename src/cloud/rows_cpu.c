// Threads take a few leaves at a time, gather their points into batches, and search for each batch at once.
#include "cloud/rows_cpu.h"
#include "base/team.h"
#include "nearest/nearest_cpu.h"
#include "radius/radius_cpu.h"
#include "tree/leaves.h"
#include "tree/queries.h"

enum {
    GRAIN = 64,              // places of leaves that are worth a thread
    BATCH_HITS = 1 << 14,    // neighbours that a batch should have at most
    FIRST_ROOM = 1 << 15,    // hits of a radius search that a worker has room for at first
    REGISTER = SAP_ALIGNMENT // bytes that kernels may write beyond the last hit
};

// What a thread works with.
typedef struct bench {
    int64_t count; // points gathered
    int32_t* ids;
    int64_t place, places; // whole leaves gathered
    uint32_t* homes;       // the leaf of each point, where it pays to look there first; else NULL
    unsigned char* coords;
    int64_t *starts, *found;
    int32_t* neighbors;
    unsigned char *distance2, *heap;
    int64_t room;      // hits of a radius search
    sap_scratch space; // of these hits
} bench;

typedef struct state {
    const sap_cloud_search* search;
    int32_t k;                            // no point has more neighbours than there are points
    int64_t batch;                        // points
    const sap_nearest_kernels* by_leaves; // that take whole leaves, or NULL
    bench* benches;
    sap_query_order order; // a slab of queries
    int failed;            // a thread found no memory
} state;

static void search_nearest(state* s, bench* b) {
    const sap_cloud_search* search = s->search;
    sap_nearest_run run = {.tree = search->tree,
                           .queries = b->coords,
                           .count = b->count,
                           .stride = search->tree->shape.dims,
                           .k = s->k,
                           .row_length = s->k,
                           .home = b->homes,
                           .without = search->with_self || search->queries ? NULL : b->ids,
                           .limit2 = search->limit2,
                           .ids = b->neighbors,
                           .distance2 = b->distance2,
                           .heap = b->heap};
    if (s->by_leaves) {
        run.first_row = b->place;
        run.count = b->places;
        run.skip_self = !search->with_self;
        run.in_turn = true;
        s->by_leaves->search(&run);
    } else {
        sap_nearest_run_cpu(&run);
    }
    for (int64_t i = 0; i < b->count; i++) {
        int64_t found = s->k;
        while (found > 0 && b->neighbors[i * s->k + found - 1] < 0) found--;
        b->starts[i] = i * s->k;
        b->found[i] = found;
    }
}

static void show(const state* s, const bench* b, int64_t from, int64_t to, int32_t worker) {
    const sap_cloud_search* search = s->search;
    const size_t row = (size_t)search->tree->shape.dims * sap_real_bytes(&search->tree->shape);
    if (from == to) return;
    const sap_cloud_rows rows = {.count = to - from,
                                 .ids = b->ids + from,
                                 .coords = b->coords + (size_t)from * row,
                                 .starts = b->starts + from,
                                 .found = b->found + from,
                                 .neighbors = search->count_only ? NULL : b->neighbors,
                                 .distance2 = b->distance2};
    search->consume(search->context, &rows, worker);
}

// Room for so many hits, in place of what was there.
static bool make_room(const sap_tree* tree, bench* b, int64_t room) {
    const size_t ids = sap_align((size_t)room * 4) + REGISTER, distances = (size_t)room * 8 + REGISTER;
    sap_scratch_give(tree->device, &b->space);
    b->room = 0;
    if (!sap_scratch_take(tree->device, ids + distances, &b->space)) return false;
    b->room = room;
    b->neighbors = (int32_t*)(void*)b->space.memory;
    b->distance2 = b->space.memory + ids;
    return true;
}

// Shows hits as often as there is no more room for them.
static void search_radius(state* s, bench* b, int32_t worker) {
    const sap_cloud_search* search = s->search;
    const bool collect = !search->count_only;
    sap_radius_run run = {.tree = search->tree,
                          .queries = b->coords,
                          .count = b->count,
                          .stride = search->tree->shape.dims,
                          .limit2 = search->limit2,
                          .counts = b->found};
    if (collect && !b->room && !make_room(search->tree, b, FIRST_ROOM)) {
        __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    while (run.done < b->count) {
        const int64_t before = run.done;
        run.ids = collect ? b->neighbors : NULL;
        run.distance2 = collect ? b->distance2 : NULL;
        run.used = 0;
        run.room = b->room;
        sap_radius_run_cpu(&run);
        int64_t at = 0;
        for (int64_t i = before; i < run.done; i++) {
            b->starts[i] = at;
            at += b->found[i];
        }
        show(s, b, before, run.done, worker);
        if (run.done == before && !make_room(search->tree, b, 2 * b->room)) {
            __atomic_store_n(&s->failed, 1, __ATOMIC_RELAXED);
            return;
        }
    }
}

static void finish_batch(state* s, bench* b, int32_t worker) {
    if (b->count && s->search->k > 0) {
        search_nearest(s, b);
        show(s, b, 0, b->count, worker);
    } else if (b->count) {
        search_radius(s, b, worker);
    }
    b->count = 0;
    b->places = 0;
}

// Adds points of a leaf to the batch, from slot `first` on: all of them, or as many as there is room for. Returns how many.
static int32_t gather_points(const state* s, const sap_leaf_block* leaf, int32_t first, bench* b) {
    const int32_t dims = s->search->tree->shape.dims;
    const int64_t room = s->batch - b->count;
    const int32_t count = leaf->count - first < room ? leaf->count - first : (int32_t)room;
    if (s->search->tree->shape.real_bits == 32) {
        const float* from = (const float*)(const void*)leaf->coords + first;
        float* to = (float*)(void*)b->coords + b->count * dims;
        for (int32_t a = 0; a < dims; a++)
            for (int32_t i = 0; i < count; i++) to[i * dims + a] = from[(int64_t)a * leaf->stride + i];
    } else {
        const double* from = (const double*)(const void*)leaf->coords + first;
        double* to = (double*)(void*)b->coords + b->count * dims;
        for (int32_t a = 0; a < dims; a++)
            for (int32_t i = 0; i < count; i++) to[i * dims + a] = from[(int64_t)a * leaf->stride + i];
    }
    memcpy(b->ids + b->count, leaf->ids + first, (size_t)count * sizeof *b->ids);
    b->count += count;
    return count;
}

static void run_places(void* context, int64_t from, int64_t to, int32_t worker) {
    state* s = context;
    bench* b = &s->benches[worker];
    const sap_tree* tree = s->search->tree;
    int64_t points = 0;
    if (__atomic_load_n(&s->failed, __ATOMIC_RELAXED) || !sap_progress_add(s->search->progress, 0)) return;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        if (s->by_leaves && b->count + leaf.count > s->batch) finish_batch(s, b, worker);
        if (!b->places++) b->place = place;
        for (int32_t i = 0; i < leaf.count;) {
            const int64_t before = b->count;
            i += gather_points(s, &leaf, i, b);
            for (int64_t j = before; b->homes && j < b->count; j++) b->homes[j] = (uint32_t)place;
            if (b->count == s->batch) finish_batch(s, b, worker);
        }
        points += leaf.count;
    }
    finish_batch(s, b, worker);
    sap_progress_add(s->search->progress, points);
}

static void run_queries(void* context, int64_t from, int64_t to, int32_t worker) {
    state* s = context;
    bench* b = &s->benches[worker];
    const sap_query_order* order = &s->order;
    const size_t row = (size_t)s->search->tree->shape.dims * sap_real_bytes(&s->search->tree->shape);
    if (__atomic_load_n(&s->failed, __ATOMIC_RELAXED) || !sap_progress_add(s->search->progress, 0)) return;
    for (int64_t at = from; at < to;) {
        b->count = to - at < s->batch ? to - at : s->batch;
        memcpy(b->coords, order->coords + (size_t)at * row, (size_t)b->count * row);
        memcpy(b->ids, order->rows + at, (size_t)b->count * sizeof *b->ids);
        at += b->count;
        finish_batch(s, b, worker);
    }
    sap_progress_add(s->search->progress, to - from);
}

static sap_status search_queries(state* s) {
    const sap_tree* tree = s->search->tree;
    const sap_rows* q = s->search->queries;
    const sap_status status =
        sap_queries_reserve(tree, q->count < SAP_QUERY_SLAB ? q->count : SAP_QUERY_SLAB, false, &s->order);
    for (int64_t first = 0; status == SAP_OK && first < q->count; first += SAP_QUERY_SLAB) {
        const int64_t left = q->count - first;
        sap_queries_order(tree, q, first, left < SAP_QUERY_SLAB ? left : SAP_QUERY_SLAB, &s->order);
        sap_team_loop(tree->device->options.threads, s->order.count, SAP_QUERY_RUN, run_queries, s);
    }
    sap_scratch_give(tree->device, &s->order.scratch);
    return status;
}

// Memory for all threads in one block: benches, then what each needs.
static sap_status reserve(state* s, sap_scratch* memory) {
    const sap_tree* tree = s->search->tree;
    sap_device* device = tree->device;
    const size_t threads = (size_t)device->options.threads, batch = (size_t)s->batch, k = (size_t)s->k;
    const size_t coords = sap_align(batch * (size_t)tree->shape.dims * sap_real_bytes(&tree->shape)) + REGISTER;
    const size_t small = 2 * sap_align(batch * 4) + 2 * sap_align(batch * 8);
    // A first look at the home leaf pays for one neighbour only: with more, the order of finding matters more.
    const bool has_homes = s->k == 1 && !s->search->queries && tree->shape.kind == SAP_TREE_BALANCED;
    const size_t rows = k ? sap_align(batch * k * 4) + sap_align(batch * k * 8) : 0;
    const size_t heap = s->k > SAP_LIST_MAX ? sap_align(k * 16) : 0;
    const size_t first = sap_align(threads * sizeof(bench)), each = coords + small + rows + heap;
    size_t bytes;
    if (!sap_size_multiply(threads, each, &bytes) || !sap_scratch_take(device, first + bytes, memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for lists of %d neighbours", (int)s->k);
    s->benches = (bench*)(void*)memory->memory;
    for (size_t i = 0; i < threads; i++) {
        unsigned char* at = memory->memory + first + i * each;
        bench* b = &s->benches[i];
        *b = (bench){.coords = at};
        at += coords;
        b->ids = (int32_t*)(void*)at;
        b->starts = (int64_t*)(void*)(at + sap_align(batch * 4));
        b->found = (int64_t*)(void*)(at + sap_align(batch * 4) + sap_align(batch * 8));
        b->homes = has_homes ? (uint32_t*)(void*)(at + sap_align(batch * 4) + 2 * sap_align(batch * 8)) : NULL;
        at += small;
        if (k) {
            b->neighbors = (int32_t*)(void*)at;
            b->distance2 = at + sap_align(batch * k * 4);
        }
        b->heap = heap ? at + rows : NULL;
    }
    return SAP_OK;
}

sap_status sap_cloud_search_cpu(const sap_cloud_search* search) {
    const sap_tree_shape* shape = &search->tree->shape;
    sap_device* device = search->tree->device;
    if (shape->count == 0 || (search->queries && search->queries->count == 0)) return SAP_OK;
    state s = {.search = search};
    s.k = search->k < shape->count ? search->k : (int32_t)shape->count;
    s.batch = s.k ? BATCH_HITS / s.k : SAP_CLOUD_BATCH;
    if (s.batch < 1) s.batch = 1;
    if (s.batch > SAP_CLOUD_BATCH) s.batch = SAP_CLOUD_BATCH;
    if (!search->queries && shape->capacity <= s.batch) s.by_leaves = sap_nearest_self_kernels_of(search->tree, s.k);
    sap_scratch memory = {NULL, 0};
    sap_status status = reserve(&s, &memory);
    if (status != SAP_OK) return status;
    if (search->queries)
        status = search_queries(&s);
    else
        sap_team_loop(device->options.threads, sap_leaf_places(search->tree), GRAIN, run_places, &s);
    for (int32_t i = 0; i < device->options.threads; i++) sap_scratch_give(device, &s.benches[i].space);
    sap_scratch_give(device, &memory);
    if (status != SAP_OK) return status;
    if (s.failed) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the points within a radius");
    if (sap_progress_add(search->progress, 0)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}
