// One query at a time through the shared radius walk, on trees of both kinds: how explicit trees are searched, and the
// reference for the fast way on balanced ones. Collecting counts first, then writes into rows of just that length.
#include "base/assert.h"
#include "base/team.h"
#include "device/memory.h"
#include "math/dialect.h"
#include "radius/neighbors.h"
#include "radius/radius_cpu.h"
#include "tree/leaves.h"
#include "tree/periods.h"

#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "radius/walk_instances.h"
#include "math/specialise_all.h"

sap_radius_answer sap_radius_answer_choose(const sap_tree_shape* shape, bool collect) {
    static const sap_radius_answer answers[2][4][2] = {
        {SAP_EACH_AXES_32(SAP_RADIUS_ANSWERS)},
        {SAP_EACH_AXES_64(SAP_RADIUS_ANSWERS)},
    };
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    return answers[shape->real_bits == 64][axes][collect];
}

// One pass over the queries: the first counts, the second writes to where the counts have made room.
typedef struct pass {
    const sap_tree* tree;
    const sap_radius_job* job;
    const sap_told* told; // the job's, or what a tree with periods has to be told
    sap_radius_answer answer;
    sap_radius_answer open;    // of a tree with periods: for queries that do not reach around; else NULL
    int64_t* counts;           // [rows], written by the first pass
    const sap_neighbors* rows; // room for the second pass, else NULL
    double begins, ends;       // this pass's part of the call's progress
} pass;

static sap_radius_answer choose_told(const sap_tree* tree, bool collect) {
#if defined(__EMSCRIPTEN__) // what a page downloads has one walk for both: open axes have an infinite period
    return sap_radius_answer_choose_periodic(&tree->shape, collect);
#else
    return sap_radius_answer_choose_told(&tree->shape, collect);
#endif
}

static sap_radius_answer choose_answer(const sap_tree* tree, const sap_radius_job* job, bool collect) {
    if (sap_is_periodic(&tree->options)) return sap_radius_answer_choose_periodic(&tree->shape, collect);
    return job->told ? choose_told(tree, collect) : sap_radius_answer_choose(&tree->shape, collect);
}

static void answer_row(const pass* p, const void* query, int32_t after, int64_t row) {
    SAP_ASSERT(row >= 0 && row < p->job->queries.count);
    const sap_told* told = p->told;
    const double limit2 = told ? sap_told_limit_of(p->tree, told, p->job->limit2, row) : p->job->limit2;
    if (limit2 < 0) return; // the rows of the first pass are empty
    const bool is_open = told && p->open && !sap_reaches_around(p->tree, told->metric, query, limit2);
    const sap_radius_answer answer = is_open ? p->open : p->answer;
    if (!p->rows) {
        p->counts[row] = answer(p->tree, told, query, limit2, after, NULL, NULL);
        return;
    }
    const int64_t first = p->rows->offsets[row];
    void* distance2 =
        p->rows->distance2 ? (void*)(p->rows->distance2 + first) : (void*)(p->rows->distance2_f64 + first);
    const int64_t found = answer(p->tree, told, query, limit2, after, (int32_t*)p->rows->ids + first, distance2);
    SAP_ASSERT(found == p->rows->offsets[row + 1] - first); // as the first pass has counted
    (void)found;
}

// Answers query number `unit`, or the queries that stand in the leaf at that place.
static void answer_unit(const pass* p, int64_t unit) {
    const sap_rows* queries = &p->job->queries;
    if (!p->job->self) {
        const size_t stride_bytes = (size_t)queries->stride * sap_real_bytes(&p->tree->shape);
        answer_row(p, (const unsigned char*)queries->coords + (size_t)unit * stride_bytes, -1, unit);
        return;
    }
    const sap_leaf_block leaf = sap_leaf_block_at(p->tree, unit);
    for (int32_t slot = 0; slot < leaf.count; ++slot) {
        double point[SAP_MAX_DIMS];
        sap_leaf_point(p->tree, &leaf, slot, point);
        answer_row(p, point, leaf.ids[slot], leaf.ids[slot]);
    }
}

enum { GRAIN = 16 }; // units that are worth a thread

typedef struct pass_run {
    const pass* pass;
    int64_t begin; // its first unit
} pass_run;

static void answer_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const pass_run* run = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) answer_unit(run->pass, run->begin + i);
}

// Answers all units in runs, between which the progress callback is asked.
static sap_status run_pass(const pass* p) {
    const sap_device* device = p->tree->device;
    const int64_t places = p->tree->shape.count == 0 ? 0 : sap_leaf_places(p->tree);
    const int64_t units = p->job->self ? places : p->tree->shape.count == 0 ? 0 : p->job->queries.count;
    const int64_t run = units / 100 > 1024 ? units / 100 : 1024;
    for (int64_t begin = 0; begin < units; begin += run) {
        const double done = p->begins + (p->ends - p->begins) * (double)begin / (double)units;
        if (begin > 0 && !sap_progress_report(device, done))
            return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
        pass_run part = {p, begin};
        sap_team_loop(device->options.threads, units - begin < run ? units - begin : run, GRAIN, answer_range, &part);
    }
    return SAP_OK;
}

static const sap_told* told_of(const sap_tree* tree, const sap_radius_job* job) {
    return job->told || !sap_is_periodic(&tree->options) ? job->told : &sap_told_nothing;
}

// Which walk answers queries that do not reach around a tree with periods: weights and powers may make a way around
// shorter than it looks.
static sap_radius_answer choose_open(const sap_tree* tree, const sap_radius_job* job, bool collect) {
    if (!sap_is_periodic(&tree->options) || (job->told && !sap_told_in_vectors(job->told))) return NULL;
    return job->told ? choose_told(tree, collect) : sap_radius_answer_choose(&tree->shape, collect);
}

static sap_status count_rows(const sap_tree* tree, const sap_radius_job* job, int64_t* counts, double ends) {
    // Dropped duplicates stand in no leaf, and an empty tree has none: their rows stay empty.
    for (int64_t row = 0; row < job->queries.count; ++row) counts[row] = 0;
    const pass count = {.tree = tree,
                        .job = job,
                        .told = told_of(tree, job),
                        .answer = choose_answer(tree, job, false),
                        .open = choose_open(tree, job, false),
                        .counts = counts,
                        .ends = ends};
    return run_pass(&count);
}

static sap_status collect_rows(const sap_tree* tree, const sap_radius_job* job, int64_t* counts) {
    sap_status status = count_rows(tree, job, counts, 0.5);
    if (status != SAP_OK) return status;
    sap_neighbors* found = NULL;
    status = sap_neighbors_create(tree->device, job->queries.count, tree->shape.real_bits, counts, &found);
    if (status != SAP_OK) return status;
    const pass fill = {.tree = tree,
                       .job = job,
                       .told = told_of(tree, job),
                       .answer = choose_answer(tree, job, true),
                       .open = choose_open(tree, job, true),
                       .rows = found,
                       .begins = 0.5,
                       .ends = 1};
    status = run_pass(&fill);
    if (status != SAP_OK) {
        sap_neighbors_free(found);
        return status;
    }
    *job->found = found;
    return SAP_OK;
}

sap_status sap_radius_walk_cpu(const sap_tree* tree, const sap_radius_job* job) {
    if (!job->found) return count_rows(tree, job, job->counts, 1);
    sap_device* device = tree->device;
    sap_scratch scratch = {NULL, 0};
    size_t bytes;
    if (!sap_size_multiply((uint64_t)job->queries.count, sizeof(int64_t), &bytes) ||
        !sap_scratch_take(device, bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to count the neighbours of %lld queries",
                        (long long)job->queries.count);
    const sap_status status = collect_rows(tree, job, (int64_t*)(void*)scratch.memory);
    sap_scratch_give(device, &scratch);
    return status;
}
