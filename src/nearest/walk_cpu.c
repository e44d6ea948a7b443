// One query at a time through the shared walks, on trees of both kinds: the plain way, and the reference for the fast
// one. Queries are shared out among threads; each is answered alone.
#include "base/assert.h"
#include "base/threads.h"
#include "device/memory.h"
#include "math/dialect.h"
#include "nearest/nearest_cpu.h"
#include "tree/leaves.h"
#include <math.h>

// What every query of a job has in common.
typedef struct sap_answer_job {
    const sap_tree* tree;
    double limit2;
    int32_t k;          // candidates a query can have: the caller's k, but no more than there are points
    int32_t row_length; // the caller's k
    bool is_stackless;
} sap_answer_job;

// Answers one query: ids[row_length] and distance2[row_length]. The latter may be NULL for at most one candidate.
typedef void (*answer_function)(const sap_answer_job* job, const void* query, int32_t without, int32_t* ids,
                                void* distance2, sap_search_stats* stats);

#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "nearest/walk_instances.h"
#include "math/specialise_all.h"

#define ANSWERS(bits, axes)                                                                                            \
    { answer_f##bits##_##axes##_1, answer_f##bits##_##axes##_0 }

static answer_function choose_answer(const sap_tree_shape* shape, int32_t k) {
    static const answer_function answers[2][4][2] = {
        {SAP_EACH_AXES_32(ANSWERS)},
        {SAP_EACH_AXES_64(ANSWERS)},
    };
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return answers[shape->real_bits == 64][axes][k > 1];
}

enum { LOCAL_LIST = 512 }; // lists of so many distances lie on the stack where the caller wants none

// The state of a search. Its units are queries, or leaves of the tree's own points, in any order.
typedef struct walk_search {
    sap_answer_job job;
    const sap_nearest_job* asked;
    answer_function answer;
    unsigned char* distance2; // one list a thread, where the caller wants no distances and LOCAL_LIST is too short
    size_t list_bytes;
} walk_search;

static void answer_row(const walk_search* search, const void* query, int32_t without, int64_t row,
                       sap_search_stats* stats) {
    const size_t real_bytes = sap_real_bytes(&search->job.tree->shape);
    const int64_t first = row * search->job.row_length;
    unsigned char* distance2 = NULL;
    double local[LOCAL_LIST];
    SAP_ASSERT(row >= 0 && row < search->asked->queries.count);
    if (search->asked->distance2) {
        distance2 = (unsigned char*)search->asked->distance2 + (size_t)first * real_bytes;
    } else if (search->distance2) {
        distance2 = search->distance2 + (size_t)sap_thread_number() * search->list_bytes;
    } else if (search->job.k > 1) {
        SAP_ASSERT(search->job.row_length <= LOCAL_LIST);
        distance2 = (unsigned char*)local;
    }
    search->answer(&search->job, query, without, search->asked->ids + first, distance2, stats);
}

// Answers query number `unit`, or the queries that stand in the leaf at that place.
static void answer_unit(const walk_search* search, int64_t unit, sap_search_stats* stats) {
    const sap_nearest_job* asked = search->asked;
    if (!asked->self) {
        const size_t stride_bytes = (size_t)asked->queries.stride * sap_real_bytes(&search->job.tree->shape);
        answer_row(search, (const unsigned char*)asked->queries.coords + (size_t)unit * stride_bytes, -1, unit, stats);
        return;
    }
    const sap_leaf_block leaf = sap_leaf_block_at(search->job.tree, unit);
    for (int32_t slot = 0; slot < leaf.count; ++slot) {
        double point[SAP_MAX_DIMS];
        sap_leaf_point(search->job.tree, &leaf, slot, point);
        const int32_t id = leaf.ids[slot];
        answer_row(search, point, asked->search.with_self ? -1 : id, id, stats);
    }
}

// Answers all units in runs, and calls the progress callback between two of them.
static sap_status answer_units(const walk_search* search, int64_t units, sap_search_stats* total) {
    const sap_device* device = search->job.tree->device;
    const int64_t run = units / 100 > 1024 ? units / 100 : 1024;
    for (int64_t begin = 0; begin < units; begin += run) {
        if (begin > 0 && !sap_progress_report(device, (double)begin / (double)units))
            return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
        const int64_t end = units - begin < run ? units : begin + run;
        int64_t nodes = 0, leaves = 0, points = 0;
#pragma omp parallel for if (end - begin > 1) num_threads(device->options.threads) schedule(dynamic, 16)               \
    reduction(+ : nodes, leaves, points)
        for (int64_t unit = begin; unit < end; ++unit) {
            sap_search_stats done = {0, 0, 0};
            answer_unit(search, unit, &done);
            nodes += done.nodes;
            leaves += done.leaves;
            points += done.points;
        }
        total->nodes += nodes;
        total->leaves += leaves;
        total->points += points;
    }
    return SAP_OK;
}

sap_status sap_nearest_walk_cpu(const sap_tree* tree, const sap_nearest_job* job) {
    const sap_tree_shape* shape = &tree->shape;
    sap_device* device = tree->device;
    walk_search search = {.asked = job};
    search.job = (sap_answer_job){
        .tree = tree,
        .limit2 = job->limit2,
        .k = job->search.k < shape->count ? job->search.k : (int32_t)shape->count,
        .row_length = job->search.k,
        .is_stackless = job->search.walk == SAP_WALK_STACKLESS,
    };
    search.answer = choose_answer(shape, search.job.k);
    sap_scratch scratch = {NULL, 0};
    if (!job->distance2 && search.job.k > 1 && job->search.k > LOCAL_LIST) {
        size_t bytes;
        search.list_bytes = sap_align((size_t)job->search.k * sap_real_bytes(shape)); // no line has two threads
        if (!sap_size_multiply((uint64_t)device->options.threads, search.list_bytes, &bytes) ||
            !sap_scratch_take(device, bytes, &scratch))
            return sap_fail(device, SAP_ERROR_MEMORY, "search.k: no memory for lists of %d distances",
                            (int)job->search.k);
        search.distance2 = scratch.memory;
    }
    if (job->self && shape->count < shape->source_count) sap_nearest_clear(tree, job);
    const int64_t places = shape->count == 0 ? 0 : sap_leaf_places(tree);
    sap_search_stats total = {0, 0, 0};
    const sap_status status = answer_units(&search, job->self ? places : job->queries.count, &total);
    sap_scratch_give(device, &scratch);
    if (status == SAP_OK && job->search.stats) {
        job->search.stats->nodes += total.nodes;
        job->search.stats->leaves += total.leaves;
        job->search.stats->points += total.points;
    }
    return status;
}
