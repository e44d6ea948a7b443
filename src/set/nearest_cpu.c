// Batches of queries on a set: ordered by the cells of its largest level, and shared among threads in short runs.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "set/search.h"
#include "tree/queries.h"

enum { LOCAL_KEYS = 512 }; // longest heap that a single run keeps on the stack

typedef struct set_search {
    const sap_set* set;
    const sap_nearest_job* job;
    sap_nearest_run whole;
    sap_scratch heaps; // k keys of 16 bytes for each thread, or nothing
    sap_progress_state progress;
} set_search;

static void add_stats(const sap_nearest_job* job, const sap_search_stats* done) {
    sap_search_stats* stats = job->search.stats;
    if (!stats) return;
    __atomic_add_fetch(&stats->nodes, done->nodes, __ATOMIC_RELAXED);
    __atomic_add_fetch(&stats->leaves, done->leaves, __ATOMIC_RELAXED);
    __atomic_add_fetch(&stats->points, done->points, __ATOMIC_RELAXED);
}

static void run_range(void* context, int64_t from, int64_t to, int32_t worker) {
    set_search* search = context;
    const sap_set* set = search->set;
    unsigned char local[LOCAL_KEYS * 16] __attribute__((aligned(16)));
    if (!sap_progress_add(&search->progress, 0)) return;
    sap_nearest_run run = search->whole;
    run.count = to - from;
    run.queries = (const unsigned char*)run.queries + (size_t)(from * run.stride) * ((size_t)set->real_bits / 8);
    run.first_row += from;
    if (run.rows) run.rows += from;
    run.heap = search->heaps.memory ? search->heaps.memory + (size_t)worker * (size_t)run.k * 16 : local;
    sap_cpu_kernels_of(set->device, set->real_bits)->set->search(set, &run);
    add_stats(search->job, &run.stats);
    sap_progress_add(&search->progress, run.count);
}

static void run_all(set_search* search) {
    sap_team_loop(search->set->device->options.threads, search->whole.count, SAP_QUERY_RUN, run_range, search);
}

static void run_ordered(set_search* search, sap_query_order* order) {
    const sap_rows* q = &search->job->queries;
    for (int64_t first = 0; first < q->count && !search->progress.cancelled; first += SAP_QUERY_SLAB) {
        const int64_t left = q->count - first;
        sap_queries_order(&search->set->level[0]->tree, q, first, left < SAP_QUERY_SLAB ? left : SAP_QUERY_SLAB, order);
        search->whole.queries = order->coords;
        search->whole.stride = q->dims;
        search->whole.rows = order->rows;
        search->whole.count = order->count;
        run_all(search);
    }
}

// Takes all memory that the search needs, before the first answer is written.
static sap_status reserve(set_search* search, bool orders, sap_query_order* order) {
    const sap_set* set = search->set;
    const int64_t count = search->job->queries.count;
    const int32_t k = search->whole.k;
    if (k > LOCAL_KEYS || (k > SAP_LIST_MAX && count > SAP_QUERY_RUN)) {
        size_t bytes;
        if (!sap_size_multiply((uint64_t)k * 16, (size_t)set->device->options.threads, &bytes) ||
            !sap_scratch_take(set->device, bytes, &search->heaps))
            return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory for lists of %d neighbours", (int)k);
    }
    if (!orders) return SAP_OK;
    return sap_queries_reserve(&set->level[0]->tree, count < SAP_QUERY_SLAB ? count : SAP_QUERY_SLAB, false, order);
}

sap_status sap_set_nearest_cpu(const sap_set* set, const sap_nearest_job* job) {
    const sap_rows* q = &job->queries;
    const int64_t most = set->live > 0 ? set->live : 1; // no query has more neighbours
    set_search search = {.set = set,
                         .job = job,
                         .whole = {.queries = q->coords,
                                   .count = q->count,
                                   .stride = q->stride,
                                   .k = job->search.k < most ? job->search.k : (int32_t)most,
                                   .row_length = job->search.k,
                                   .without = job->without,
                                   .limit2 = job->limit2,
                                   .ids = job->ids,
                                   .distance2 = job->distance2},
                         .progress = sap_progress_begin(set->device, q->count)};
    const bool orders = set->levels > 0 && q->count >= SAP_QUERY_FEW && !job->search.ordered;
    sap_query_order order = {.count = 0};
    sap_status status = reserve(&search, orders, &order);
    if (status == SAP_OK) {
        if (orders)
            run_ordered(&search, &order);
        else
            run_all(&search);
        if (q->count > SAP_QUERY_RUN && !sap_progress_finish(&search.progress))
            status = sap_fail(set->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    }
    sap_scratch_give(set->device, &order.scratch);
    sap_scratch_give(set->device, &search.heaps);
    return status;
}
