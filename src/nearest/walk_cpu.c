// One query at a time through the shared walks, on trees of both kinds: the plain way, and the reference for the fast
// one. Queries are shared out among threads; each is answered alone.
#include "nearest/walk_cpu.h"
#include "base/assert.h"
#include "base/team.h"
#include "device/memory.h"
#include "math/dialect.h"
#include "nearest/nearest_cpu.h"
#include "tree/leaves.h"
#include "tree/periods.h"
#include <math.h>

#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "nearest/walk_instances.h"
#include "math/specialise_all.h"

#if defined(__EMSCRIPTEN__) // where code is downloaded
#define ANSWERS(bits, axes)                                                                                            \
    { answer_f##bits##_##axes##_0, answer_f##bits##_##axes##_0 }
#else
#define ANSWERS(bits, axes)                                                                                            \
    { answer_f##bits##_##axes##_1, answer_f##bits##_##axes##_0 }
#endif

sap_answer_function sap_answer_choose(const sap_tree_shape* shape, int32_t k) {
    static const sap_answer_function answers[2][4][2] = {
        {SAP_EACH_AXES_32(ANSWERS)},
        {SAP_EACH_AXES_64(ANSWERS)},
    };
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return answers[shape->real_bits == 64][axes][k > 1];
}

enum {
    LOCAL_LIST = 512, // lists of so many distances lie on the stack where the caller wants none
    GRAIN = 16        // units that are worth a thread
};

// The state of a search. Its units are queries, or leaves of the tree's own points, in any order.
typedef struct walk_search {
    sap_answer_job job;
    const sap_nearest_job* asked;
    sap_answer_function answer;
    unsigned char* distance2; // one list a thread, where the caller wants no distances and LOCAL_LIST is too short
    size_t list_bytes;
} walk_search;

static void answer_row(const walk_search* search, const void* query, int32_t without, int64_t row, int32_t worker,
                       sap_search_stats* stats) {
    const size_t real_bytes = sap_real_bytes(&search->job.tree->shape);
    const int64_t first = row * search->job.row_length;
    unsigned char* distance2;
    double local[LOCAL_LIST];
    SAP_ASSERT(row >= 0 && row < search->asked->queries.count);
    if (search->asked->distance2) {
        distance2 = (unsigned char*)search->asked->distance2 + (size_t)first * real_bytes;
    } else if (search->distance2) {
        distance2 = search->distance2 + (size_t)worker * search->list_bytes;
    } else {
        SAP_ASSERT(search->job.row_length <= LOCAL_LIST);
        distance2 = (unsigned char*)local;
    }
    sap_answer_job job = search->job;
    if (job.told) {
        job.limit2 = sap_told_limit_of(job.tree, job.told, job.limit2, row);
        job.k = job.limit2 < 0 ? 0 : sap_told_k_of(job.told, job.k, row);
    }
    search->answer(&job, query, without, search->asked->ids + first, distance2, stats);
}

// Answers query number `unit`, or the queries that stand in the leaf at that place.
static void answer_unit(const walk_search* search, int64_t unit, int32_t worker, sap_search_stats* stats) {
    const sap_nearest_job* asked = search->asked;
    if (!asked->self) {
        const size_t stride_bytes = (size_t)asked->queries.stride * sap_real_bytes(&search->job.tree->shape);
        answer_row(search, (const unsigned char*)asked->queries.coords + (size_t)unit * stride_bytes,
                   asked->without ? asked->without[unit] : -1, unit, worker, stats);
        return;
    }
    const sap_leaf_block leaf = sap_leaf_block_at(search->job.tree, unit);
    for (int32_t slot = 0; slot < leaf.count; ++slot) {
        double point[SAP_MAX_DIMS];
        sap_leaf_point(search->job.tree, &leaf, slot, point);
        const int32_t id = leaf.ids[slot];
        answer_row(search, point, asked->search.with_self ? -1 : id, id, worker, stats);
    }
}

typedef struct walk_run {
    const walk_search* search;
    int64_t begin; // its first unit
    sap_search_stats* total;
} walk_run;

static void answer_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const walk_run* run = context;
    sap_search_stats done = {0, 0, 0};
    for (int64_t i = from; i < to; i++) answer_unit(run->search, run->begin + i, worker, &done);
    __atomic_add_fetch(&run->total->nodes, done.nodes, __ATOMIC_RELAXED);
    __atomic_add_fetch(&run->total->leaves, done.leaves, __ATOMIC_RELAXED);
    __atomic_add_fetch(&run->total->points, done.points, __ATOMIC_RELAXED);
}

// Answers all units in runs, and calls the progress callback between two of them.
static sap_status answer_units(const walk_search* search, int64_t units, sap_search_stats* total) {
    const sap_device* device = search->job.tree->device;
    const int64_t run = units / 100 > 1024 ? units / 100 : 1024;
    for (int64_t begin = 0; begin < units; begin += run) {
        if (begin > 0 && !sap_progress_report(device, (double)begin / (double)units))
            return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
        walk_run part = {search, begin, total};
        sap_team_loop(device->options.threads, units - begin < run ? units - begin : run, GRAIN, answer_range, &part);
    }
    return SAP_OK;
}

static sap_answer_function choose_answer(const sap_answer_job* job) {
    if (!job->told) return sap_answer_choose(&job->tree->shape, job->k);
#if !defined(__EMSCRIPTEN__) // what a page downloads has one walk for both: open axes have an infinite period
    if (!sap_is_periodic(&job->tree->options)) return sap_answer_choose_told(&job->tree->shape);
#endif
    return sap_answer_choose_periodic(&job->tree->shape);
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
        .is_stackless = job->search.walk == SAP_WALK_STACKLESS && !(job->told && job->told->widen > 1),
        .told = job->told || !sap_is_periodic(&tree->options) ? job->told : &sap_told_nothing,
    };
    search.answer = choose_answer(&search.job);
    sap_scratch scratch = {NULL, 0};
    if (!job->distance2 && job->search.k > LOCAL_LIST) {
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
