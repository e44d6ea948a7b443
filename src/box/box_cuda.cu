// The box search on a CUDA device: the walk of the radius search. Collecting takes two passes over the boxes: the first
// counts, the counts become offsets, the second writes the ids to their rows. Not the shared text, whose stack of cells
// would take kilobytes of each thread's memory.
#include "base/assert.h"
#include "box/ops.h"
#include "box/wrap.h"
#include "compact/prefix_sum_cuda.h"
#include "radius/neighbors.h"
#include "radius/radius_kernels_cuda.cuh"

typedef struct box_search {
    sap_cuda_call call;
    const sap_tree* tree;
    const sap_box_job* job;
    sap_radius_pass pass;
    sap_radius_corners corners;
    bool on_device; // the rows stay on the GPU
    sap_neighbors_home home;
} box_search;

// ---- Passes

template <typename real, int dims> static void launch_box_pass(box_search* b, bool collect) {
    sap_radius_launch<real, dims, SAP_RADIUS_BOX>(&b->call, b->tree, b->pass, b->corners, collect);
}

static void run_box_pass(box_search* b, bool collect) {
    const sap_tree_shape* shape = &b->tree->shape;
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
    unsigned char* memory = (unsigned char*)sap_cuda_take(&b->call, 2 * bytes);
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
    for (int a = 0; a < lower->dims; a++) task.period[a] = (real)b->tree->options.period[a];
    sap_cuda_launch(&b->call, wrap_boxes<real>, sap_cuda_grid_for(task.count, BOX_WRAP_THREADS), task);
    lower->coords = task.to_lower;
    upper->coords = task.to_upper;
    lower->stride = upper->stride = lower->dims;
}

// ---- Counting

// Sets up the boxes and what both passes share.
static void prepare_boxes(box_search* b) {
    const sap_tree* tree = b->tree;
    const sap_cuda_tree* beside = sap_cuda_tree_of(tree);
    sap_radius_pass* pass = &b->pass;
    if (tree->shape.count == 0 || pass->all_rows == 0) return; // no box holds a point
    sap_rows lower = sap_cuda_rows_in(&b->call, &b->job->lower), upper = sap_cuda_rows_in(&b->call, &b->job->upper);
    b->corners.around = sap_is_periodic(&tree->options);
    if (b->corners.around && tree->shape.real_bits == 64) wrap_corners<double>(b, &lower, &upper);
    if (b->corners.around && tree->shape.real_bits == 32) wrap_corners<float>(b, &lower, &upper);
    const sap_cuda_queries order = sap_cuda_queries_order(&b->call, tree, &lower, false);
    pass->queries = order.coords;
    pass->rows = order.rows;
    pass->by_row = order.by_row;
    pass->count = order.count;
    pass->stride = order.stride;
    pass->boxes = beside->boxes;
    pass->bad = beside->bad;
    b->corners.upper = upper.coords;
    b->corners.stride = upper.stride;
    sap_radius_spread(&b->call, &tree->shape, pass);
}

// Counts the points of all boxes.
static void count_boxes(box_search* b, int64_t* counts) {
    b->pass.counts = counts;
    if (b->pass.count == 0) sap_cuda_fill(&b->call, counts, 0, (size_t)b->pass.all_rows * sizeof *counts);
    run_box_pass(b, false);
}

// The same, and where each row begins.
static void count_rows_of_boxes(box_search* b, int64_t* offsets) {
    b->pass.offsets = offsets;
    count_boxes(b, offsets + 1);
    sap_prefix_sum_cuda(&b->call, offsets, b->pass.all_rows);
}

static sap_status count_job(box_search* b) {
    count_boxes(b, (int64_t*)sap_cuda_out(&b->call, b->job->counts, (size_t)b->pass.all_rows * sizeof(int64_t)));
    return sap_cuda_end(&b->call, SAP_OK);
}

// ---- Collecting

static void* take_for_rows(box_search* b, sap_scratch* block, size_t bytes) {
    if (!b->on_device) return sap_cuda_take(&b->call, bytes);
    block->memory = (unsigned char*)sap_cuda_allocate(&b->call, bytes);
    block->bytes = bytes;
    return block->memory;
}

// Fills rows on the GPU; how many hits there are.
static int64_t fill_rows_of_boxes(box_search* b) {
    const int64_t rows = b->pass.all_rows;
    int64_t total = 0;
    int64_t* offsets = (int64_t*)take_for_rows(b, &b->home.offsets, (size_t)(rows + 1) * sizeof *offsets);
    if (!offsets) return 0;
    count_rows_of_boxes(b, offsets);
    sap_cuda_fetch(&b->call, &total, offsets + rows, sizeof total);
    if (b->call.status != SAP_OK) return 0;
    b->pass.ids = (int32_t*)take_for_rows(b, &b->home.hits, (size_t)total * sizeof(int32_t) + 1);
    b->pass.room = total;
    if (b->call.status == SAP_OK) run_box_pass(b, true);
    return total;
}

// Copies rows to host memory.
static sap_status bring_boxes_down(box_search* b, int64_t total, sap_neighbors** out) {
    const int64_t rows = b->pass.all_rows;
    const sap_status status = sap_neighbors_reserve(b->call.device, rows, 0, total, out);
    if (status != SAP_OK) return status;
    b->call.waits = true;
    sap_cuda_copy(&b->call, (void*)(uintptr_t)(*out)->offsets, b->pass.offsets, (size_t)(rows + 1) * sizeof(int64_t));
    sap_cuda_copy(&b->call, (void*)(uintptr_t)(*out)->ids, b->pass.ids, (size_t)total * sizeof(int32_t));
    return SAP_OK;
}

static sap_status keep_boxes(box_search* b, sap_neighbors** out) {
    sap_neighbors rows = {};
    rows.count = b->pass.all_rows;
    rows.offsets = b->pass.offsets;
    rows.ids = b->pass.ids;
    b->home.release = sap_cuda_release;
    b->home.sort = sap_neighbors_sort_cuda;
    return sap_neighbors_adopt(b->call.device, &rows, &b->home, out);
}

static sap_status collect_job(box_search* b) {
    sap_neighbors* made = NULL;
    b->on_device = sap_cuda_on_device(&b->call, b->job->lower.coords);
    const int64_t total = fill_rows_of_boxes(b);
    sap_status status = b->call.status;
    if (status == SAP_OK) status = b->on_device ? keep_boxes(b, &made) : bring_boxes_down(b, total, &made);
    status = sap_cuda_end(&b->call, status);
    if (status == SAP_OK) {
        *b->job->found = made;
        return SAP_OK;
    }
    if (!made) {
        sap_cuda_release(b->call.device, b->home.offsets.memory, b->home.offsets.bytes);
        sap_cuda_release(b->call.device, b->home.hits.memory, b->home.hits.bytes);
    }
    sap_neighbors_free(made);
    return status;
}

// ---- Collecting into the caller's memory

static sap_status collect_boxes_into(box_search* b) {
    const sap_box_rows* rows = b->job->into;
    const bool ids_there = sap_cuda_on_device(&b->call, rows->ids);
    int64_t* offsets =
        (int64_t*)sap_cuda_out(&b->call, rows->offsets, (size_t)(b->pass.all_rows + 1) * sizeof *offsets);
    if (b->call.status != SAP_OK) return sap_cuda_end(&b->call, SAP_OK);
    count_rows_of_boxes(b, offsets);
    b->pass.room = rows->capacity;
    b->pass.ids = rows->ids;
    b->pass.cut = true;
    if (rows->capacity > 0 && !ids_there) { // ids go to the host, as many as there are
        int64_t total = 0;
        sap_cuda_fetch(&b->call, &total, offsets + b->pass.all_rows, sizeof total);
        if (total < b->pass.room) b->pass.room = total;
        b->pass.ids = (int32_t*)sap_cuda_out(&b->call, rows->ids, (size_t)b->pass.room * sizeof(int32_t));
    }
    if (b->pass.room > 0 && b->call.status == SAP_OK) run_box_pass(b, true);
    return sap_cuda_end(&b->call, SAP_OK);
}

sap_status sap_box_cuda(const sap_tree* tree, const sap_box_job* job) {
    box_search b = {};
    b.tree = tree;
    b.job = job;
    b.pass.all_rows = job->lower.count;
    b.pass.share = 1;
    if (sap_cuda_begin(&b.call, tree->device) == SAP_OK) prepare_boxes(&b);
    if (job->into) return collect_boxes_into(&b);
    return job->found ? collect_job(&b) : count_job(&b);
}
