// Prepared searches on the CPU: which code answers them, and the memory it needs.
#include "device/cpu.h"
#include "nearest/nearest.h"
#include "nearest/nearest_cpu.h"
#include "nearest/periodic_cpu.h"
#include "nearest/query.h"
#include "nearest/walk_cpu.h"
#include "tree/periods.h"
#include "tree/queries.h"

// Ends a row of which `found` places are taken.
static int32_t end_row(const sap_query* query, int32_t found, int32_t* ids, void* distance2) {
    for (int32_t i = found; i < query->search.k; i++) ids[i] = -1;
    if (!distance2) return found;
    for (int32_t i = found; i < query->search.k; i++)
        if (query->tree->shape.real_bits == 32)
            ((float*)distance2)[i] = __builtin_inff();
        else
            ((double*)distance2)[i] = (double)__builtin_inff();
    return found;
}

static int32_t answer_none(const sap_query* query, const void* point, int32_t* ids, void* distance2) {
    (void)point;
    return end_row(query, 0, ids, distance2);
}

static void add_stats(const sap_query* query, const sap_search_stats* done) {
    sap_search_stats* stats = query->search.stats;
    if (!stats) return;
    stats->nodes += done->nodes;
    stats->leaves += done->leaves;
    stats->points += done->points;
}

// Through the shared walks: trees that are not balanced, and walks asked for by name.
static int32_t answer_walk(const sap_query* query, const void* point, int32_t* ids, void* distance2) {
    const sap_answer_job job = {.tree = query->tree,
                                .limit2 = query->limit2,
                                .k = query->k,
                                .row_length = query->k,
                                .is_stackless = query->search.walk == SAP_WALK_STACKLESS,
                                .told = &sap_told_nothing};
    sap_search_stats done = {0, 0, 0};
    query->walk(&job, point, -1, ids, distance2 ? distance2 : query->keys, &done);
    add_stats(query, &done);
    int32_t found = 0;
    while (found < query->k && ids[found] >= 0) found++;
    return end_row(query, found, ids, distance2);
}

// A tree with periods, through the shared walk.
static int32_t answer_wrapped_walk(const sap_query* query, const void* point, int32_t* ids, void* distance2) {
    double wrapped[SAP_MAX_DIMS];
    sap_periods_wrap(query->tree, point, wrapped);
    return answer_walk(query, wrapped, ids, distance2);
}

// A balanced tree with periods: as if it had none, then again if the query reaches around. Distances that the caller does
// not want lie behind the keys.
static int32_t answer_wrapped(const sap_query* query, const void* point, int32_t* ids, void* distance2) {
    const sap_tree* tree = query->tree;
    const sap_cpu_kernels* kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    double wrapped[SAP_MAX_DIMS];
    sap_periods_wrap(tree, point, wrapped);
    sap_nearest_run run = {.tree = tree,
                           .queries = wrapped,
                           .count = 1,
                           .stride = tree->shape.dims,
                           .k = query->k,
                           .row_length = query->k,
                           .limit2 = query->limit2,
                           .ids = ids,
                           .distance2 = distance2 ? distance2 : (unsigned char*)query->keys + (size_t)query->k * 16,
                           .heap = query->keys};
    if (distance2) {
        const int32_t found = query->plain(query, wrapped, ids, distance2);
        if (!sap_nearest_is_asked_again(&run, wrapped, 0)) return found;
        run.again = true;
        run.told = &sap_told_nothing;
        kernels->nearest_periodic[SAP_METRIC_L2]->search(&run);
    } else {
        sap_nearest_run_periodic(kernels->nearest, kernels->nearest_periodic[SAP_METRIC_L2], &run);
    }
    add_stats(query, &run.stats);
    int32_t found = query->k;
    while (found > 0 && ids[found - 1] < 0) found--;
    return end_row(query, found, ids, distance2);
}

// Makes room for `bytes` of keys. What there was is lost.
static bool reserve_keys(sap_query* query, size_t bytes) {
    const sap_device* device = query->tree->device;
    if (bytes <= query->keys_bytes) return true;
    void* keys = sap_memory_allocate(device, bytes);
    if (!keys) return false;
    sap_memory_release(device, query->keys, query->keys_bytes);
    query->keys = keys;
    query->keys_bytes = bytes;
    return true;
}

sap_status sap_query_prepare_cpu(sap_query* query) {
    const sap_tree* tree = query->tree;
    const sap_tree_shape* shape = &tree->shape;
    const sap_walk walk = query->search.walk;
    const sap_status status = sap_walk_check_cpu(tree, walk);
    if (status != SAP_OK) return status;
    const bool is_shared = walk != SAP_WALK_AUTO || shape->kind == SAP_TREE_EXPLICIT;
    const bool is_periodic = sap_is_periodic(&tree->options);
    const int32_t k = query->search.k < shape->count ? query->search.k : (int32_t)shape->count;
    const uint64_t key_bytes = is_periodic ? 16 + sizeof(double) : 16; // and a distance behind the keys
    size_t bytes = 0;
    if ((k > SAP_LIST_MAX || is_shared || is_periodic) &&
        (!sap_size_multiply((uint64_t)k, key_bytes, &bytes) || !reserve_keys(query, bytes)))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a list of %d neighbours", (int)k);
    query->k = k;
    query->within = sap_query_within_cpu;
    query->arrays = tree->arrays;
    query->count = shape->count;
    if (shape->count == 0) {
        query->answer = answer_none;
    } else if (is_shared) {
        query->walk = is_periodic ? sap_answer_choose_periodic(shape) : sap_answer_choose(shape, k);
        query->answer = is_periodic ? answer_wrapped_walk : answer_walk;
    } else {
        sap_cpu_kernels_of(tree->device, shape->real_bits)->one->prepare(query);
        query->plain = query->answer;
        if (is_periodic) query->answer = answer_wrapped;
    }
    return SAP_OK;
}
