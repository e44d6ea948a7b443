// The box search on the CPU. Counting writes its answers at once; what is collected goes through radius/hits_cpu.h.
#include "base/assert.h"
#include "base/team.h"
#include "box/box.h"
#include "box/ops.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "radius/neighbors.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <string.h>

typedef struct box_search {
    const sap_tree* tree;
    const sap_box_job* job;
    sap_hits_search* search;
    int64_t* counts;
    sap_hits hits;
    sap_progress_state progress;
    int failed; // a thread found no memory
} box_search;

typedef struct whole_search {
    box_search* state;
    const sap_box_run* whole;
    struct sap_hits_segment* current[SAP_TEAM_MOST]; // of each worker
} whole_search;

static void run_range(void* context, int64_t from, int64_t to, int32_t worker) {
    whole_search* all = context;
    box_search* state = all->state;
    const size_t row = (size_t)all->whole->lower_stride * sap_real_bytes(&state->tree->shape);
    bool is_done = true;
    if (__atomic_load_n(&state->failed, __ATOMIC_RELAXED) || !sap_progress_add(&state->progress, 0)) return;
    sap_box_run run = *all->whole;
    run.lower = (const unsigned char*)run.lower + (size_t)from * row;
    run.hits.count = to - from;
    run.hits.first_row = from;
    if (run.hits.rows) run.hits.rows += from;
    if (state->job->counts)
        state->search(&run.hits);
    else
        is_done = sap_hits_collect(&state->hits, &run.hits, state->search, &all->current[worker]);
    if (is_done)
        sap_progress_add(&state->progress, run.hits.count);
    else
        __atomic_store_n(&state->failed, 1, __ATOMIC_RELAXED);
}

// Answers the boxes of `whole`; threads take them in short runs.
static sap_status run_all(box_search* state, const sap_box_run* whole) {
    sap_device* device = state->tree->device;
    const int32_t threads = whole->hits.count > SAP_QUERY_RUN ? device->options.threads : 1;
    whole_search all;
    all.state = state;
    all.whole = whole;
    for (int32_t i = 0; i < threads; i++) all.current[i] = NULL;
    sap_team_loop(threads, whole->hits.count, SAP_QUERY_RUN, run_range, &all);
    if (state->failed) return sap_fail(device, SAP_ERROR_MEMORY, "no memory to collect the points in the boxes");
    if (state->progress.total > SAP_QUERY_RUN && !sap_progress_finish(&state->progress))
        return sap_fail(device, SAP_ERROR_CANCELLED, "the search was cancelled");
    return SAP_OK;
}

// Makes the rows and moves all hits there.
static sap_status finish_found(const box_search* state) {
    sap_neighbors* out;
    const sap_status status =
        sap_neighbors_create(state->tree->device, state->job->lower.count, 0, state->counts, &out);
    if (status != SAP_OK) return status;
    sap_hits_move(&state->hits, out->offsets, (int32_t*)(uintptr_t)out->ids, out->offsets[out->count]);
    *state->job->found = out;
    return SAP_OK;
}

// Moves the hits to the caller's rows.
static void finish_into(const box_search* state) {
    const sap_box_rows* rows = state->job->into;
    int64_t sum = 0;
    for (int64_t i = 0; i < state->job->lower.count; i++) {
        rows->offsets[i] = sum;
        sum += state->counts[i];
    }
    rows->offsets[state->job->lower.count] = sum;
    sap_hits_move(&state->hits, rows->offsets, rows->ids, rows->capacity);
}

// Orders the boxes by their lower corners where that pays, and searches.
static sap_status search(box_search* state) {
    const sap_rows *lower = &state->job->lower, *upper = &state->job->upper;
    const sap_tree* tree = state->tree;
    sap_query_order order = {.count = 0};
    sap_box_run whole = {.hits = {.count = lower->count, .counts = state->counts},
                         .tree = tree,
                         .lower = lower->coords,
                         .upper = upper->coords,
                         .lower_stride = lower->stride,
                         .upper_stride = upper->stride};
    sap_status status = SAP_OK;
    if (lower->count >= SAP_QUERY_FEW) {
        status = sap_queries_reserve(tree, lower->count, false, &order);
        if (status != SAP_OK) return status;
        sap_queries_order(tree, lower, 0, lower->count, &order);
        whole.lower = order.coords;
        whole.lower_stride = tree->shape.dims;
        whole.hits.rows = order.rows;
    }
    status = run_all(state, &whole);
    if (status == SAP_OK && state->job->found) status = finish_found(state);
    if (status == SAP_OK && state->job->into) finish_into(state);
    sap_scratch_give(tree->device, &order.scratch);
    return status;
}

// There is no room for any id: offsets are sums of counts.
static sap_status count_into(const sap_tree* tree, const sap_box_job* job) {
    int64_t* offsets = job->into->offsets;
    const sap_box_job count = {.lower = job->lower, .upper = job->upper, .counts = offsets + 1};
    const sap_status status = sap_box_cpu(tree, &count);
    if (status != SAP_OK) return status;
    offsets[0] = 0;
    for (int64_t i = 0; i < job->lower.count; i++) offsets[i + 1] += offsets[i];
    return SAP_OK;
}

// The vector kernels, or where there are none the shared text.
static sap_hits_search* search_of(const sap_tree* tree) {
    const sap_cpu_kernels* all = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    const bool is_balanced = tree->shape.kind == SAP_TREE_BALANCED;
    if (sap_is_periodic(&tree->options)) return is_balanced ? sap_box_search_periodic : sap_box_walk_cpu;
    if (is_balanced) return all->box->search;
    return tree->beside && all->box_explicit ? all->box_explicit->search : sap_box_walk_cpu;
}

static sap_status answer(const sap_tree* tree, const sap_box_job* job) {
    box_search state = {.tree = tree,
                        .job = job,
                        .search = search_of(tree),
                        .counts = job->counts,
                        .hits = {tree->device, NULL},
                        .progress = sap_progress_begin(tree->device, job->lower.count)};
    sap_scratch counts = {NULL, 0};
    int64_t only = 0; // a single box needs no memory for its count
    if (job->into && job->lower.count == 1) {
        state.counts = &only;
    } else if (!job->counts) {
        const size_t bytes = (size_t)job->lower.count * 8;
        if (!sap_scratch_take(tree->device, bytes + 1, &counts))
            return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to count the points in %lld boxes",
                            (long long)job->lower.count);
        state.counts = (int64_t*)(void*)counts.memory;
    }
    const sap_status status = search(&state);
    sap_hits_free(&state.hits);
    sap_scratch_give(tree->device, &counts);
    return status;
}

sap_status sap_box_cpu(const sap_tree* tree, const sap_box_job* job) {
    if (job->into && job->into->capacity == 0) return count_into(tree, job);
    if (!sap_is_periodic(&tree->options)) return answer(tree, job);
    sap_box_job inside = *job;
    sap_box_corners corners;
    sap_status status = sap_box_corners_make(tree, &job->lower, &job->upper, &corners);
    if (status != SAP_OK) return status;
    inside.lower = corners.lower;
    inside.upper = corners.upper;
    status = answer(tree, &inside);
    sap_scratch_give(tree->device, &corners.scratch);
    return status;
}
