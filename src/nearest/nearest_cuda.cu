// The nearest-neighbour search on CUDA, its host side: queries are copied in and ordered, answers are copied out.
#include "base/assert.h"
#include "nearest/nearest_cuda.h"
#include "tree/periods.h"

static sap_status check_walk(const sap_tree* tree, const sap_nearest_job* job) {
    const sap_walk walk = job->search.walk;
    bool together = walk == SAP_WALK_WARP || walk == SAP_WALK_PACKET;
    if (walk == SAP_WALK_STACKLESS && tree->shape.kind == SAP_TREE_EXPLICIT)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "search.walk: only balanced trees can be walked without a stack");
    if (together && (job->told || job->without || sap_is_periodic(&tree->options)))
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "search.walk: a warp that walks together knows squared Euclidean distances to all points only, "
                        "and no periods");
    return SAP_OK;
}

enum { CLEAR_THREADS = 256 };

// Rows of points that are not in the tree, because they were duplicates, answer "none".
template <typename real>
static __global__ void __launch_bounds__(CLEAR_THREADS) clear_rows(int32_t* ids, real* distance2, int64_t count) {
    int64_t i = (int64_t)blockIdx.x * CLEAR_THREADS + threadIdx.x;
    if (i >= count) return;
    ids[i] = -1;
    if (distance2) distance2[i] = (real)INFINITY;
}

static void clear(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const sap_tree_shape* s = &tree->shape;
    int64_t answers = s->source_count * plan->row_length;
    sap_cuda_grid grid = sap_cuda_grid_for(answers, CLEAR_THREADS);
    if (s->real_bits == 32)
        sap_cuda_launch(call, clear_rows<float>, grid, plan->ids, (float*)plan->distance2, answers);
    else
        sap_cuda_launch(call, clear_rows<double>, grid, plan->ids, (double*)plan->distance2, answers);
}

static bool run_special(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    switch (tree->shape.dims) {
    case 2: return sap_nearest_2d_f32(call, tree, plan);
    case 3: return sap_nearest_3d_f32(call, tree, plan);
    case 4: return sap_nearest_4d_f32(call, tree, plan);
    case 8: return sap_nearest_8d_f32(call, tree, plan);
    default: return false;
    }
}

void sap_nearest_run_cuda(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    if (plan->told && plan->told->widen > 1) {
        if (!sap_nearest_told_near(call, tree, plan)) sap_nearest_walk_told(call, tree, plan);
    } else if (plan->told || plan->without)
        (tree->shape.real_bits == 64 ? sap_nearest_told_f64 : sap_nearest_told_f32)(call, tree, plan);
    else if (tree->shape.real_bits == 64)
        sap_nearest_f64(call, tree, plan);
    else if (!sap_nearest_long_f32(call, tree, plan) && !run_special(call, tree, plan))
        sap_nearest_general_f32(call, tree, plan);
}

static void take_stats(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan,
                       sap_search_stats* stats) {
    unsigned long long visits[2] = {0, 0};
    if (!plan->visits) return;
    sap_cuda_fetch(call, visits, plan->visits, sizeof visits);
    if (call->status != SAP_OK) return;
    stats->nodes += (int64_t)visits[0];
    stats->leaves += (int64_t)visits[1];
    stats->points += (int64_t)visits[1] * tree->shape.capacity;
}

sap_status sap_nearest_cuda(const sap_tree* tree, const sap_nearest_job* job) {
    const sap_tree_shape* s = &tree->shape;
    sap_nearest_plan plan;
    sap_cuda_call call;
    memset(&plan, 0, sizeof plan);
    plan.walk = job->search.walk;
    plan.k = job->search.k < s->count ? job->search.k : (int)s->count;
    plan.row_length = job->search.k;
    plan.skip_self = job->self && !job->search.with_self;
    plan.limit2 = job->limit2;
    plan.told = job->told || !sap_is_periodic(&tree->options) ? job->told : &sap_told_nothing;
    plan.rows = job->queries.count;
    sap_status status = check_walk(tree, job);
    if (status != SAP_OK) return status;
    SAP_ASSERT(plan.k >= 0 && plan.k <= plan.row_length);
    sap_cuda_begin(&call, tree->device);
    size_t answers = (size_t)job->queries.count * (size_t)job->search.k, real = sap_real_bytes(s);
    plan.ids = (int32_t*)(job->ids ? sap_cuda_out(&call, job->ids, answers * sizeof(int32_t))
                                   : sap_cuda_take(&call, answers * sizeof(int32_t)));
    plan.distance2 = sap_cuda_out(&call, job->distance2, answers * real);
    // A heap keeps its distances in the rows; those of a tree with periods are looked at again.
    const bool is_exact = !plan.told || plan.told->widen == 1;
    const bool is_long = plan.k > (is_exact ? SAP_NEAREST_LIST_MAX_CUDA : SAP_NEAREST_WALK_LIST_MAX);
    if (!plan.distance2 && (is_long || sap_is_periodic(&tree->options)))
        plan.distance2 = sap_cuda_take(&call, answers * real);
    if (job->without)
        plan.without = (const int32_t*)sap_cuda_in(&call, job->without, (size_t)plan.rows * sizeof *plan.without);
    if (job->search.stats) {
        plan.visits = (unsigned long long*)sap_cuda_take(&call, 2 * sizeof *plan.visits);
        sap_cuda_fill(&call, plan.visits, 0, 2 * sizeof *plan.visits);
    }
    const sap_tree* from = job->self ? tree : job->from;
    if (from) {
        if (from->shape.count < from->shape.source_count) clear(&call, from, &plan);
        plan.queries = sap_cuda_queries_from(&call, from, tree);
    } else {
        sap_rows rows = sap_cuda_rows_within(&call, tree, &job->queries);
        plan.queries = sap_cuda_queries_order(&call, tree, &rows, job->search.ordered);
    }
    if (call.status == SAP_OK) sap_nearest_run_cuda(&call, tree, &plan);
    if (job->search.stats) take_stats(&call, tree, &plan, job->search.stats);
    return sap_cuda_end(&call, SAP_OK);
}
