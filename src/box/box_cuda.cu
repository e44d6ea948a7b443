// The box search on a CUDA device: the walk of the radius search. Not the shared text, whose stack of cells would take
// kilobytes of each thread's memory.
#include "box/ops.h"
#include "box/wrap.h"
#include "radius/hits_cuda.h"
#include "radius/radius_kernels_cuda.cuh"

typedef struct box_search {
    sap_hits_cuda hits; // first: passes are handed this member
    const sap_box_job* job;
    sap_radius_corners corners;
} box_search;

// ---- Passes

template <typename real, int dims> static void launch_box_pass(box_search* b, bool collect) {
    sap_hits_cuda* h = &b->hits;
    sap_radius_launch<real, dims, SAP_RADIUS_BOX>(&h->call, h->tree, h->pass, b->corners, collect);
}

static void run_box_pass(sap_hits_cuda* hits, bool collect) {
    box_search* b = (box_search*)(void*)hits;
    const sap_tree_shape* shape = &hits->tree->shape;
    if (shape->real_bits == 64)
        launch_box_pass<double, 0>(b, collect);
    else if (shape->dims == 3)
        launch_box_pass<float, 3>(b, collect);
    else if (shape->dims == 2)
        launch_box_pass<float, 2>(b, collect);
    else
        launch_box_pass<float, 0>(b, collect);
}

// ---- Periods

enum { BOX_WRAP_THREADS = 256 };

template <typename real> struct box_wrap_task {
    const real *lower, *upper;
    int64_t lower_stride, upper_stride, count;
    real *to_lower, *to_upper; // [count][dims]
    int dims;
    real period[SAP_MAX_DIMS]; // 0: none
};

// As box/periodic_cpu.c does. What is no box becomes NaN.
template <typename real>
static __global__ void __launch_bounds__(BOX_WRAP_THREADS)
    wrap_boxes(const __grid_constant__ box_wrap_task<real> task) {
    const int64_t i = (int64_t)blockIdx.x * BOX_WRAP_THREADS + threadIdx.x;
    if (i >= task.count) return;
    const real *lowers = task.lower + i * task.lower_stride, *uppers = task.upper + i * task.upper_stride;
    bool is_box = true;
    for (int a = 0; a < task.dims; a++)
        is_box = is_box && lowers[a] <= uppers[a] && lowers[a] < (real)INFINITY && uppers[a] > -(real)INFINITY;
    for (int a = 0; a < task.dims; a++) {
        double lower = is_box ? (double)lowers[a] : (double)NAN, upper = is_box ? (double)uppers[a] : (double)NAN;
        if (is_box && task.period[a] > 0)
            sap_box_wrap_interval(&lower, &upper, (double)task.period[a], (int)sizeof(real) * 8);
        task.to_lower[i * task.dims + a] = (real)lower;
        task.to_upper[i * task.dims + a] = (real)upper;
    }
}

// Wraps boxes that lie on the GPU.
template <typename real> static void wrap_corners(box_search* b, sap_rows* lower, sap_rows* upper) {
    const size_t bytes = sap_align((size_t)lower->count * (size_t)lower->dims * sizeof(real));
    unsigned char* memory = (unsigned char*)sap_cuda_take(&b->hits.call, 2 * bytes);
    if (!memory) return;
    box_wrap_task<real> task = {};
    task.lower = (const real*)lower->coords;
    task.upper = (const real*)upper->coords;
    task.lower_stride = lower->stride;
    task.upper_stride = upper->stride;
    task.count = lower->count;
    task.dims = lower->dims;
    task.to_lower = (real*)(void*)memory;
    task.to_upper = (real*)(void*)(memory + bytes);
    for (int a = 0; a < lower->dims; a++) task.period[a] = (real)b->hits.tree->options.period[a];
    sap_cuda_launch(&b->hits.call, wrap_boxes<real>, sap_cuda_grid_for(task.count, BOX_WRAP_THREADS), task);
    lower->coords = task.to_lower;
    upper->coords = task.to_upper;
    lower->stride = upper->stride = lower->dims;
}

// ---- The search

// Sets up the boxes and what both passes share.
static void prepare_boxes(box_search* b) {
    sap_hits_cuda* h = &b->hits;
    const sap_tree* tree = h->tree;
    const sap_cuda_tree* beside = sap_cuda_tree_of(tree);
    sap_radius_pass* pass = &h->pass;
    if (tree->shape.count == 0 || pass->all_rows == 0) return; // no box holds a point
    sap_rows lower = sap_cuda_rows_in(&h->call, &b->job->lower), upper = sap_cuda_rows_in(&h->call, &b->job->upper);
    b->corners.around = sap_is_periodic(&tree->options);
    if (b->corners.around && tree->shape.real_bits == 64) wrap_corners<double>(b, &lower, &upper);
    if (b->corners.around && tree->shape.real_bits == 32) wrap_corners<float>(b, &lower, &upper);
    const sap_cuda_queries order = sap_cuda_queries_order(&h->call, tree, &lower, false);
    pass->queries = order.coords;
    pass->rows = order.rows;
    pass->by_row = order.by_row;
    pass->count = order.count;
    pass->stride = order.stride;
    pass->boxes = beside->boxes;
    pass->bad = beside->bad;
    b->corners.upper = upper.coords;
    b->corners.stride = upper.stride;
    sap_radius_spread(&h->call, &tree->shape, pass);
}

sap_status sap_box_cuda(const sap_tree* tree, const sap_box_job* job) {
    box_search b = {};
    sap_hits_cuda* h = &b.hits;
    b.job = job;
    h->tree = tree;
    h->run = run_box_pass;
    h->counts_all = tree->shape.count > 0;
    h->pass.all_rows = job->lower.count;
    h->pass.share = 1;
    if (sap_cuda_begin(&h->call, tree->device) == SAP_OK) prepare_boxes(&b);
    if (job->into) {
        const sap_radius_rows rows = {job->into->offsets, job->into->capacity, job->into->ids, NULL};
        return sap_hits_collect_into_cuda(h, &rows);
    }
    if (!job->found) return sap_hits_count_cuda(h, job->counts);
    h->on_device = sap_cuda_on_device(&h->call, job->lower.coords);
    return sap_hits_collect_cuda(h, job->found);
}
