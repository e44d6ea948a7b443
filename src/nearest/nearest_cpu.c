// The batch search on the CPU: queries are ordered a slab at a time, and threads take them in short runs.
#include "nearest/nearest_cpu.h"
#include "base/assert.h"
#include "base/threads.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "nearest/nearest.h"
#include "tree/queries.h"

enum { LOCAL_KEYS = 512 }; // longest heap that a single run keeps on the stack

typedef struct nearest_search {
    const sap_tree* tree;
    const sap_nearest_job* job;
    const sap_nearest_kernels* kernels;
    sap_query_order order;
    sap_scratch heaps; // k keys of 16 bytes for each thread, or nothing
    sap_progress_state progress;
} nearest_search;

// No query has more neighbours than there are points.
static int32_t sought(const nearest_search* search) {
    int64_t count = search->tree->shape.count, k = search->job->search.k;
    return (int32_t)(k < count ? k : count > 0 ? count : 1);
}

static void run_one(nearest_search* search, sap_nearest_run* run) {
    const sap_nearest_job* job = search->job;
    unsigned char local[LOCAL_KEYS * 16] __attribute__((aligned(16)));
    run->tree = search->tree;
    run->k = sought(search);
    run->row_length = job->search.k;
    run->skip_self = job->self && !job->search.with_self;
    run->limit2 = job->limit2;
    run->ids = job->ids;
    run->distance2 = job->distance2;
    run->heap = search->heaps.memory ? search->heaps.memory + (size_t)sap_thread_number() * (size_t)run->k * 16 : local;
    SAP_ASSERT(run->k >= 1 && run->k <= run->row_length);
    SAP_ASSERT(search->heaps.memory ? (size_t)(sap_thread_number() + 1) * (size_t)run->k * 16 <= search->heaps.bytes
                                    : run->k <= LOCAL_KEYS);
    search->kernels->search(run);
    sap_search_stats* stats = job->search.stats;
    if (stats) {
        __atomic_add_fetch(&stats->nodes, run->stats.nodes, __ATOMIC_RELAXED);
        __atomic_add_fetch(&stats->leaves, run->stats.leaves, __ATOMIC_RELAXED);
        __atomic_add_fetch(&stats->points, run->stats.points, __ATOMIC_RELAXED);
    }
}

// Answers the queries of `whole`; threads take them in short runs.
static void run_all(nearest_search* search, const sap_nearest_run* whole) {
    int64_t runs = (whole->count + SAP_QUERY_RUN - 1) / SAP_QUERY_RUN;
    size_t row = (size_t)whole->stride * sap_real_bytes(&search->tree->shape);
#pragma omp parallel for num_threads(search->tree->device->options.threads) schedule(dynamic) if (runs > 1)
    for (int64_t i = 0; i < runs; i++) {
        if (!sap_progress_add(&search->progress, 0)) continue;
        int64_t from = i * SAP_QUERY_RUN, left = whole->count - from;
        sap_nearest_run run = *whole;
        run.count = left < SAP_QUERY_RUN ? left : SAP_QUERY_RUN;
        run.queries = (const unsigned char*)whole->queries + (size_t)from * row;
        run.first_row = from;
        if (whole->rows) run.rows = whole->rows + from;
        if (whole->home) run.home = whole->home + from;
        SAP_ASSERT(run.count >= 1 && from + run.count <= whole->count);
        run_one(search, &run);
        sap_progress_add(&search->progress, run.count);
    }
}

static void run_ordered(nearest_search* search) {
    sap_nearest_run whole = {.queries = search->order.coords,
                             .count = search->order.count,
                             .stride = search->tree->shape.dims,
                             .rows = search->order.rows,
                             .home = search->order.home};
    run_all(search, &whole);
}

static void search_queries(nearest_search* search) {
    const sap_rows* q = &search->job->queries;
    if (!search->order.coords) {
        sap_nearest_run whole = {.queries = q->coords, .count = q->count, .stride = q->stride};
        run_all(search, &whole);
        return;
    }
    for (int64_t first = 0; first < q->count && !search->progress.cancelled; first += SAP_QUERY_SLAB) {
        int64_t left = q->count - first;
        sap_queries_order(search->tree, q, first, left < SAP_QUERY_SLAB ? left : SAP_QUERY_SLAB, &search->order);
        SAP_ASSERT(search->order.count <= SAP_QUERY_SLAB && search->order.count <= left);
        run_ordered(search);
    }
}

// Rows of points that are not in the tree, because they were duplicates, answer "none".
void sap_nearest_clear(const sap_tree* tree, const sap_nearest_job* job) {
    int64_t answers = job->queries.count * job->search.k;
    for (int64_t i = 0; i < answers; i++) job->ids[i] = -1;
    if (!job->distance2) return;
    for (int64_t i = 0; i < answers; i++)
        if (tree->shape.real_bits == 32)
            ((float*)job->distance2)[i] = __builtin_inff();
        else
            ((double*)job->distance2)[i] = (double)__builtin_inff();
}

// Leaves whose points make a slab of queries.
static int64_t slab_leaves(const sap_tree_shape* s) {
    int64_t leaves = SAP_QUERY_SLAB / (s->capacity > 0 ? s->capacity : 1);
    SAP_ASSERT(leaves > 0); // a leaf has fewer points than a slab has queries
    return leaves < s->leaves ? leaves : s->leaves;
}

static void search_self(nearest_search* search) {
    const sap_tree_shape* s = &search->tree->shape;
    if (s->count < s->source_count) sap_nearest_clear(search->tree, search->job);
    int64_t step = slab_leaves(s);
    for (int64_t first = 0; first < s->leaves && !search->progress.cancelled; first += step) {
        sap_queries_of_leaves(search->tree, first, s->leaves - first < step ? s->leaves - first : step, &search->order);
        run_ordered(search);
    }
}

// Takes all memory that the search needs, before the first answer is written.
static sap_status reserve(nearest_search* search) {
    const sap_nearest_job* job = search->job;
    sap_device* device = search->tree->device;
    int64_t count = job->queries.count, k = sought(search), most = count < SAP_QUERY_SLAB ? count : SAP_QUERY_SLAB;
    bool many = job->self || count > SAP_QUERY_RUN;
    if (k > LOCAL_KEYS || (k > SAP_LIST_MAX && many)) {
        size_t bytes;
        if (!sap_size_multiply((uint64_t)k * 16, (size_t)device->options.threads, &bytes) ||
            !sap_scratch_take(device, bytes, &search->heaps))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory for lists of %lld neighbours", (long long)k);
    }
    if (job->self)
        most = slab_leaves(&search->tree->shape) * search->tree->shape.capacity;
    else if (count < SAP_QUERY_FEW || job->search.ordered)
        return SAP_OK;
    // A first look at the home leaf pays for one neighbour only: with more, the order of finding matters more.
    return sap_queries_reserve(search->tree, most, k == 1, &search->order);
}

sap_status sap_nearest_cpu(const sap_tree* tree, const sap_nearest_job* job) {
    sap_walk walk = job->search.walk;
    if (walk == SAP_WALK_WARP || walk == SAP_WALK_PACKET)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "search.walk: this walk needs a GPU device");
    if (walk == SAP_WALK_STACKLESS && tree->shape.kind == SAP_TREE_EXPLICIT)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "search.walk: only balanced trees can be walked without a stack");
    if (walk != SAP_WALK_AUTO || tree->shape.kind == SAP_TREE_EXPLICIT) return sap_nearest_walk_cpu(tree, job);
    nearest_search search = {.tree = tree,
                             .job = job,
                             .kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->nearest,
                             .progress = sap_progress_begin(tree->device, job->queries.count)};
    sap_status status = reserve(&search);
    if (status == SAP_OK) {
        if (job->self)
            search_self(&search);
        else
            search_queries(&search);
        // A single query is not worth a report.
        if (job->queries.count > SAP_QUERY_RUN && !sap_progress_finish(&search.progress))
            status = sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    }
    sap_scratch_give(tree->device, &search.order.scratch);
    sap_scratch_give(tree->device, &search.heaps);
    return status;
}
