// The batch search on the CPU: queries are ordered a slab at a time and dealt out to threads in short runs.
#include "nearest/nearest_cpu.h"
#include "base/threads.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "tree/queries.h"

enum { LOCAL_KEYS = 512 }; // longest heap that a single run keeps on the stack

typedef struct batch {
    const sap_tree* tree;
    const sap_nearest_job* job;
    const sap_nearest_kernels* kernels;
    sap_query_order order;
    sap_scratch heaps; // k keys of 16 bytes for each thread, or nothing
    sap_progress_state progress;
} batch;

// No query has more neighbours than there are points.
static int32_t sought(const batch* b) {
    int64_t count = b->tree->shape.count, k = b->job->search.k;
    return (int32_t)(k < count ? k : count > 0 ? count : 1);
}

static void run_one(batch* b, sap_nearest_run* run) {
    const sap_nearest_job* job = b->job;
    unsigned char local[LOCAL_KEYS * 16] __attribute__((aligned(16)));
    run->tree = b->tree;
    run->k = sought(b);
    run->row_length = job->search.k;
    run->skip_self = job->self && !job->search.with_self;
    run->limit2 = job->limit2;
    run->ids = job->ids;
    run->distance2 = job->distance2;
    run->heap = b->heaps.memory ? b->heaps.memory + (size_t)sap_thread_number() * (size_t)run->k * 16 : local;
    b->kernels->search(run);
    sap_search_stats* stats = job->search.stats;
    if (stats) {
        __atomic_add_fetch(&stats->nodes, run->stats.nodes, __ATOMIC_RELAXED);
        __atomic_add_fetch(&stats->leaves, run->stats.leaves, __ATOMIC_RELAXED);
        __atomic_add_fetch(&stats->points, run->stats.points, __ATOMIC_RELAXED);
    }
}

// Runs queries that lie in memory as `whole` says, in short runs dealt out to threads.
static void run_all(batch* b, const sap_nearest_run* whole) {
    int64_t runs = (whole->count + SAP_QUERY_RUN - 1) / SAP_QUERY_RUN;
    size_t row = (size_t)whole->stride * sap_real_bytes(&b->tree->shape);
#pragma omp parallel for num_threads(b->tree->device->options.threads) schedule(dynamic) if (runs > 1)
    for (int64_t i = 0; i < runs; i++) {
        if (!sap_progress_add(&b->progress, 0)) continue;
        int64_t from = i * SAP_QUERY_RUN, left = whole->count - from;
        sap_nearest_run run = *whole;
        run.count = left < SAP_QUERY_RUN ? left : SAP_QUERY_RUN;
        run.queries = (const unsigned char*)whole->queries + (size_t)from * row;
        run.first_row = from;
        if (whole->rows) run.rows = whole->rows + from;
        if (whole->home) run.home = whole->home + from;
        run_one(b, &run);
        sap_progress_add(&b->progress, run.count);
    }
}

static void run_ordered(batch* b) {
    sap_nearest_run whole = {.queries = b->order.coords,
                             .count = b->order.count,
                             .stride = b->tree->shape.dims,
                             .rows = b->order.rows,
                             .home = b->order.home};
    run_all(b, &whole);
}

static void search_queries(batch* b) {
    const sap_rows* q = &b->job->queries;
    if (!b->order.coords) {
        sap_nearest_run whole = {.queries = q->coords, .count = q->count, .stride = q->stride};
        run_all(b, &whole);
        return;
    }
    for (int64_t first = 0; first < q->count && !b->progress.cancelled; first += SAP_QUERY_SLAB) {
        int64_t left = q->count - first;
        sap_queries_order(b->tree, q, first, left < SAP_QUERY_SLAB ? left : SAP_QUERY_SLAB, &b->order);
        run_ordered(b);
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
    return leaves < s->leaves ? leaves : s->leaves;
}

static void search_self(batch* b) {
    const sap_tree_shape* s = &b->tree->shape;
    if (s->count < s->source_count) sap_nearest_clear(b->tree, b->job);
    int64_t step = slab_leaves(s);
    for (int64_t first = 0; first < s->leaves && !b->progress.cancelled; first += step) {
        sap_queries_of_leaves(b->tree, first, s->leaves - first < step ? s->leaves - first : step, &b->order);
        run_ordered(b);
    }
}

// Takes all memory that the search needs, before the first answer is written.
static sap_status reserve(batch* b) {
    const sap_nearest_job* job = b->job;
    sap_device* device = b->tree->device;
    int64_t count = job->queries.count, k = sought(b), most = count < SAP_QUERY_SLAB ? count : SAP_QUERY_SLAB;
    bool many = job->self || count > SAP_QUERY_RUN;
    if (k > LOCAL_KEYS || (k > SAP_LIST_MAX && many)) {
        size_t bytes;
        if (!sap_size_multiply((uint64_t)k * 16, (size_t)device->options.threads, &bytes) ||
            !sap_scratch_take(device, bytes, &b->heaps))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory for lists of %lld neighbours", (long long)k);
    }
    if (job->self)
        most = slab_leaves(&b->tree->shape) * b->tree->shape.capacity;
    else if (count < SAP_QUERY_FEW || job->search.ordered)
        return SAP_OK;
    // A first look at the home leaf pays for one neighbour only: with more, the order of finding matters more.
    return sap_queries_reserve(b->tree, most, k == 1, &b->order);
}

sap_status sap_nearest_cpu(const sap_tree* tree, const sap_nearest_job* job) {
    sap_walk walk = job->search.walk;
    if (walk == SAP_WALK_WARP || walk == SAP_WALK_PACKET)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "search.walk: this walk needs a GPU device");
    if (walk == SAP_WALK_STACKLESS && tree->shape.kind == SAP_TREE_EXPLICIT)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "search.walk: only balanced trees can be walked without a stack");
    if (walk != SAP_WALK_AUTO || tree->shape.kind == SAP_TREE_EXPLICIT) return sap_nearest_walks_cpu(tree, job);
    batch b = {.tree = tree,
               .job = job,
               .kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->nearest,
               .progress = sap_progress_begin(tree->device, job->queries.count)};
    sap_status status = reserve(&b);
    if (status == SAP_OK) {
        if (job->self)
            search_self(&b);
        else
            search_queries(&b);
        // A single query is not worth a report.
        if (job->queries.count > SAP_QUERY_RUN && !sap_progress_finish(&b.progress))
            status = sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    }
    sap_scratch_give(tree->device, &b.order.scratch);
    sap_scratch_give(tree->device, &b.heaps);
    return status;
}
