// Most queries are so far from the ends of the periods that no way around is shorter than what they find without: those
// are answered by the kernels of all other trees.
#include "nearest/periodic_cpu.h"
#include "base/assert.h"
#include "tree/periods.h"
#include <string.h>

enum {
    AGAIN = 64,      // queries that are asked again at a time
    LOCAL_LIST = 512 // distances of a single query that lie on the stack
};

// Queries that are asked again.
typedef struct asked_again {
    unsigned char coords[AGAIN * SAP_MAX_DIMS * sizeof(double)] __attribute__((aligned(8)));
    int32_t rows[AGAIN];
    int64_t count;
} asked_again;

static void ask_again(const sap_nearest_kernels* kernels, sap_nearest_run* run, asked_again* again) {
    if (!again->count) return;
    sap_nearest_run part = *run;
    part.queries = again->coords;
    part.count = again->count;
    part.stride = run->tree->shape.dims;
    part.rows = again->rows;
    part.home = NULL;
    part.told = run->told ? run->told : &sap_told_nothing;
    part.again = true;
    kernels->search(&part);
    run->stats = part.stats; // which began with those so far
    again->count = 0;
}

bool sap_nearest_is_asked_again(const sap_nearest_run* run, const void* query, int64_t row) {
    const sap_told* told = run->told;
    const int32_t wanted = told ? sap_told_k_of(told, run->k, row) : run->k;
    const double limit = told ? sap_told_limit_of(run->tree, told, run->limit2, row) : run->limit2;
    if (wanted < 1 || limit < 0) return false;
    const int64_t last = row * run->row_length + wanted - 1;
    const double found = run->tree->shape.real_bits == 64 ? ((const double*)run->distance2)[last]
                                                          : (double)((const float*)run->distance2)[last];
    return sap_reaches_around(run->tree, told ? told->metric : SAP_METRIC_L2, query, found < limit ? found : limit);
}

void sap_nearest_run_periodic(const sap_nearest_kernels* plain, const sap_nearest_kernels* periodic,
                              sap_nearest_run* run) {
    const size_t real = sap_real_bytes(&run->tree->shape), row_bytes = (size_t)run->tree->shape.dims * real;
    const unsigned char* query = run->queries;
    asked_again again;
    again.count = 0;
    SAP_ASSERT(run->distance2);
    plain->search(run);
    for (int64_t i = 0; i < run->count; i++, query += (size_t)run->stride * real) {
        const int64_t row = run->rows ? run->rows[i] : run->first_row + i;
        if (!sap_nearest_is_asked_again(run, query, row)) continue;
        memcpy(again.coords + (size_t)again.count * row_bytes, query, row_bytes);
        again.rows[again.count++] = (int32_t)row;
        if (again.count == AGAIN) ask_again(periodic, run, &again);
    }
    ask_again(periodic, run, &again);
}

sap_status sap_nearest_periodic_cpu(const sap_tree* tree, const sap_nearest_job* job,
                                    sap_status (*answer)(const sap_tree* tree, const sap_nearest_job* job)) {
    const int64_t answers = job->queries.count * job->search.k;
    sap_nearest_job inside = *job;
    sap_scratch scratch = {NULL, 0};
    sap_wrapped wrapped;
    double local[LOCAL_LIST];
    if (!job->distance2 && answers <= LOCAL_LIST) {
        inside.distance2 = local;
    } else if (!job->distance2) {
        if (!sap_scratch_take(tree->device, (size_t)answers * sap_real_bytes(&tree->shape), &scratch))
            return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the distances of %lld neighbours",
                            (long long)answers);
        inside.distance2 = scratch.memory;
    }
    sap_status status = sap_wrapped_open(tree, &job->queries, &wrapped);
    if (status == SAP_OK) {
        inside.queries = wrapped.rows;
        status = answer(tree, &inside);
        sap_wrapped_close(tree, &wrapped);
    }
    sap_scratch_give(tree->device, &scratch);
    return status;
}
