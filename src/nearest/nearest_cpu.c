// The batch search on the CPU: queries are ordered a slab at a time, and threads take them in short runs.
#include "nearest/nearest_cpu.h"
#include "base/assert.h"
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "nearest/nearest.h"
#include "nearest/periodic_cpu.h"
#include "nearest/walk_cpu.h"
#include "tree/leaves.h"
#include "tree/periods.h"
#include "tree/queries.h"

enum {
    LOCAL_KEYS = 512, // longest heap that a single run keeps on the stack
    LEAVES_RUN = 32   // leaves whose points a thread asks for at a time
};

#if defined(__EMSCRIPTEN__) // where code is downloaded, a tree's own points ask as any queries do
enum { OWN_KERNELS = 0 };
#else
enum { OWN_KERNELS = 1 };
#endif

typedef struct nearest_search {
    const sap_tree* tree;
    const sap_nearest_job* job;
    const sap_nearest_kernels* kernels;
    const sap_nearest_kernels* periodic; // for queries that reach around a tree with periods; else NULL
    bool by_leaves;                      // the kernels take whole leaves: first_row and count are leaves
    sap_query_order order;
    sap_scratch heaps; // k keys of 16 bytes for each thread, or nothing
    sap_progress_state progress;
} nearest_search;

// No query has more neighbours than there are points.
static int32_t sought(const nearest_search* search) {
    int64_t count = search->tree->shape.count, k = search->job->search.k;
    return (int32_t)(k < count ? k : count > 0 ? count : 1);
}

static void run_one(nearest_search* search, sap_nearest_run* run, int32_t worker) {
    const sap_nearest_job* job = search->job;
    unsigned char local[LOCAL_KEYS * 16] __attribute__((aligned(16)));
    run->tree = search->tree;
    run->k = sought(search);
    run->row_length = job->search.k;
    run->skip_self = job->self && !job->search.with_self;
    run->without = job->without;
    run->limit2 = job->limit2;
    run->told = job->told;
    run->ids = job->ids;
    run->distance2 = job->distance2;
    run->heap = search->heaps.memory ? search->heaps.memory + (size_t)worker * (size_t)run->k * 16 : local;
    SAP_ASSERT(run->k >= 1 && run->k <= run->row_length);
    SAP_ASSERT(search->heaps.memory ? (size_t)(worker + 1) * (size_t)run->k * 16 <= search->heaps.bytes
                                    : run->k <= LOCAL_KEYS);
    if (search->periodic)
        sap_nearest_run_periodic(search->kernels, search->periodic, run);
    else
        search->kernels->search(run);
    sap_search_stats* stats = job->search.stats;
    if (stats) {
        __atomic_add_fetch(&stats->nodes, run->stats.nodes, __ATOMIC_RELAXED);
        __atomic_add_fetch(&stats->leaves, run->stats.leaves, __ATOMIC_RELAXED);
        __atomic_add_fetch(&stats->points, run->stats.points, __ATOMIC_RELAXED);
    }
}

typedef struct whole_search {
    nearest_search* search;
    const sap_nearest_run* whole;
} whole_search;

static void run_range(void* context, int64_t from, int64_t to, int32_t worker) {
    nearest_search* search = ((whole_search*)context)->search;
    const sap_nearest_run* whole = ((whole_search*)context)->whole;
    const size_t row = (size_t)whole->stride * sap_real_bytes(&search->tree->shape);
    if (!sap_progress_add(&search->progress, 0)) return;
    sap_nearest_run run = *whole;
    run.count = to - from;
    run.queries = (const unsigned char*)whole->queries + (size_t)from * row;
    run.first_row = from;
    if (whole->rows) run.rows = whole->rows + from;
    if (whole->home) run.home = whole->home + from;
    SAP_ASSERT(run.count >= 1 && to <= whole->count);
    run_one(search, &run, worker);
    sap_progress_add(&search->progress, run.count);
}

// Answers the queries of `whole`; threads take them in short runs.
static void run_all(nearest_search* search, const sap_nearest_run* whole) {
    whole_search all = {search, whole};
    sap_team_loop(search->tree->device->options.threads, whole->count, SAP_QUERY_RUN, run_range, &all);
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

// Points of leaves that make a slab of queries.
static int64_t slab_points(const sap_tree_shape* s) {
    const int64_t most = s->count < SAP_QUERY_SLAB ? s->count : SAP_QUERY_SLAB;
    SAP_ASSERT(s->capacity <= most);
    return most;
}

// The points of leaves [from, to) ask, leaf by leaf.
static void run_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    nearest_search* search = context;
    const sap_tree_shape* s = &search->tree->shape;
    if (!sap_progress_add(&search->progress, 0)) return;
    sap_nearest_run run = {.first_row = from, .count = to - from};
    run_one(search, &run, worker);
    sap_progress_add(&search->progress, sap_leaf_rank(s, to) - sap_leaf_rank(s, from));
}

static void search_self(nearest_search* search) {
    const sap_tree_shape* s = &search->tree->shape;
    if (s->count < s->source_count) sap_nearest_clear(search->tree, search->job);
    const int64_t places = s->count ? sap_leaf_places(search->tree) : 0;
    if (OWN_KERNELS && search->by_leaves) {
        sap_team_loop(search->tree->device->options.threads, places, LEAVES_RUN, run_leaves, search);
        return;
    }
    for (int64_t first = 0, count; first < places && !search->progress.cancelled; first += count) {
        count = sap_queries_places(search->tree, first, slab_points(s));
        sap_queries_of_leaves(search->tree, first, count, &search->order);
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
    if (OWN_KERNELS && search->by_leaves) return SAP_OK;
    if (job->self)
        most = slab_points(&search->tree->shape);
    else if (count < SAP_QUERY_FEW || job->search.ordered)
        return SAP_OK;
    // A first look at the home leaf pays for one neighbour only: with more, the order of finding matters more.
    return sap_queries_reserve(search->tree, most, k == 1, &search->order);
}

sap_status sap_walk_check_cpu(const sap_tree* tree, sap_walk walk) {
    if (walk == SAP_WALK_WARP || walk == SAP_WALK_PACKET)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "search.walk: this walk needs a GPU device");
    if (walk == SAP_WALK_STACKLESS && tree->shape.kind == SAP_TREE_EXPLICIT)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "search.walk: only balanced trees can be walked without a stack");
    return SAP_OK;
}

// The vector kernels for the tree and for what a search is told, or NULL: the shared text answers.
static const sap_nearest_kernels* kernels_of(const sap_tree* tree, const sap_told* told) {
    const sap_cpu_kernels* all = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    if (tree->shape.kind == SAP_TREE_EXPLICIT) return told || !tree->beside ? NULL : all->nearest_explicit;
    if (!told) return all->nearest;
    return sap_told_in_vectors(told) ? all->nearest_told[told->metric] : NULL;
}

// Those that know periods, for what kernels_of gives kernels for.
static const sap_nearest_kernels* periodic_kernels_of(const sap_tree* tree, const sap_told* told) {
    if (!sap_is_periodic(&tree->options)) return NULL;
    const sap_cpu_kernels* all = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    if (tree->shape.kind == SAP_TREE_EXPLICIT) return all->nearest_explicit_periodic;
    return all->nearest_periodic[told ? told->metric : SAP_METRIC_L2];
}

// A run through the shared texts.
static void run_walk(sap_nearest_run* run) {
    const sap_tree_shape* s = &run->tree->shape;
    const size_t real = sap_real_bytes(s);
    const bool is_periodic = sap_is_periodic(&run->tree->options);
    const sap_answer_job job = {.tree = run->tree,
                                .limit2 = run->limit2,
                                .k = run->k,
                                .row_length = run->row_length,
                                .told = is_periodic ? &sap_told_nothing : NULL};
    const sap_answer_function answer_one = is_periodic ? sap_answer_choose_periodic(s) : sap_answer_choose(s, run->k);
    for (int64_t i = 0; i < run->count; i++) {
        const int64_t row = run->rows ? run->rows[i] : run->first_row + i;
        answer_one(&job, (const unsigned char*)run->queries + (size_t)(i * run->stride) * real,
                   run->without ? run->without[row] : -1, run->ids + row * run->row_length,
                   (unsigned char*)run->distance2 + (size_t)(row * run->row_length) * real, &run->stats);
    }
}

void sap_nearest_run_cpu(sap_nearest_run* run) {
    const sap_nearest_kernels* kernels = kernels_of(run->tree, NULL);
    const sap_nearest_kernels* periodic = periodic_kernels_of(run->tree, NULL);
    SAP_ASSERT(run->distance2 && !run->told && !run->skip_self && run->k >= 1 && run->k <= run->tree->shape.count);
    if (!kernels)
        run_walk(run);
    else if (periodic)
        sap_nearest_run_periodic(kernels, periodic, run);
    else
        kernels->search(run);
}

const sap_nearest_kernels* sap_nearest_self_kernels_of(const sap_tree* tree, int32_t k) {
    const sap_tree_shape* s = &tree->shape;
    if (!OWN_KERNELS || sap_is_periodic(&tree->options) || s->kind != SAP_TREE_BALANCED) return NULL;
    // A point's own leaf must fill its list, or that and its sibling.
    if (k < 2 || k > SAP_LIST_MAX || (s->count >> s->depth) * (s->depth ? 2 : 1) <= k) return NULL;
    return sap_cpu_kernels_of(tree->device, s->real_bits)->nearest_self;
}

static sap_status answer(const sap_tree* tree, const sap_nearest_job* job) {
    sap_walk walk = job->search.walk;
    sap_status status = sap_walk_check_cpu(tree, walk);
    if (status != SAP_OK) return status;
    const sap_nearest_kernels* kernels = kernels_of(tree, job->told);
    if (walk != SAP_WALK_AUTO || !kernels) return sap_nearest_walk_cpu(tree, job);
    nearest_search search = {.tree = tree,
                             .job = job,
                             .kernels = kernels,
                             .periodic = periodic_kernels_of(tree, job->told),
                             .progress = sap_progress_begin(tree->device, job->queries.count)};
    const sap_nearest_kernels* self = job->self && !job->told ? sap_nearest_self_kernels_of(tree, job->search.k) : NULL;
    if (self) {
        search.kernels = self;
        search.by_leaves = true;
    }
    status = reserve(&search);
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

static sap_status answer_any(const sap_tree* tree, const sap_nearest_job* job) {
    return sap_is_periodic(&tree->options) ? sap_nearest_periodic_cpu(tree, job, answer) : answer(tree, job);
}

// Who wants no ids gets them in scratch memory: lists are made in rows.
sap_status sap_nearest_cpu(const sap_tree* tree, const sap_nearest_job* job) {
    const int64_t answers = job->queries.count * job->search.k;
    if (job->ids || !answers) return answer_any(tree, job);
    sap_nearest_job with_ids = *job;
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(tree->device, (size_t)answers * sizeof *job->ids, &scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the ids of %lld neighbours", (long long)answers);
    with_ids.ids = (int32_t*)(void*)scratch.memory;
    const sap_status status = answer_any(tree, &with_ids);
    sap_scratch_give(tree->device, &scratch);
    return status;
}
