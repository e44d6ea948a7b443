// Points and queries wrapped into the periods of a tree, on the GPU.
#include "tree/periods.h"
#include "tree/tree_cuda.h"
#include "tree/wrap.h"

enum { WRAP_THREADS = 256 };

template <typename real> struct wrap_task {
    const real* from;
    real* to; // [count][dims], or `from` itself
    int64_t count, stride;
    int dims;
    real period[SAP_MAX_DIMS]; // 0: none
};

template <typename real>
static __global__ void __launch_bounds__(WRAP_THREADS) wrap_rows(const __grid_constant__ wrap_task<real> task) {
    const int64_t i = (int64_t)blockIdx.x * WRAP_THREADS + threadIdx.x;
    const int bits = (int)sizeof(real) * 8;
    if (i >= task.count) return;
    for (int a = 0; a < task.dims; a++) {
        const real x = task.from[i * task.stride + a], period = task.period[a];
        task.to[i * task.dims + a] = period > 0 ? (real)sap_period_wrap((double)x, (double)period, bits) : x;
    }
}

template <typename real>
static void launch_wrap(sap_cuda_call* call, const sap_tree* tree, const sap_rows* from, const void* to) {
    wrap_task<real> task = {};
    task.from = (const real*)from->coords;
    task.to = (real*)(uintptr_t)to;
    task.count = from->count;
    task.stride = from->stride;
    task.dims = from->dims;
    for (int a = 0; a < from->dims; a++) task.period[a] = (real)tree->options.period[a];
    sap_cuda_launch(call, wrap_rows<real>, sap_cuda_grid_for(from->count, WRAP_THREADS), task);
}

sap_rows sap_cuda_rows_within(sap_cuda_call* call, const sap_tree* tree, const sap_rows* rows) {
    sap_rows in = sap_cuda_rows_in(call, rows);
    if (call->status != SAP_OK || !in.count || !sap_is_periodic(&tree->options)) return in;
    sap_rows within = in;
    if (in.coords == rows->coords) { // the caller's own, on the GPU
        within.stride = in.dims;
        within.coords = sap_cuda_take(call, (size_t)in.count * (size_t)in.dims * (size_t)in.real_bits / 8);
    }
    if (call->status != SAP_OK) return in;
    if (in.real_bits == 64)
        launch_wrap<double>(call, tree, &in, within.coords);
    else
        launch_wrap<float>(call, tree, &in, within.coords);
    return within;
}
