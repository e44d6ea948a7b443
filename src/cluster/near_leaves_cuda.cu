// The search of all points of a subtree for rows over ranks: the walk of nearest/nearest_cuda.cuh, one query a lane, with
// rows of its own. The global ids are asked for while other warps walk, where a pass of its own over the rows would wait for
// them; and the row's last distance, which tells whether other ranks are asked, is still in a register.
#include "cluster/near_leaves_cuda.h"
#include "nearest/nearest_cuda.cuh"

template <typename real, int dims> struct leaves_task {
    walk_tree<real> tree;
    const real* queries;
    const int32_t* rows;
    int64_t count;
    int k, row_length; // neighbours to find; length of a row
    bool skip_self;
    real limit2;
    const int64_t* names;
    int64_t* ids;
    real* distance2;
    real lower[dims], upper[dims];
    uint32_t* marks;
    unsigned long long* marked;
};

template <typename real, int dims, int capacity>
static __device__ __forceinline__ void leaves_write(const leaves_task<real, dims>& task, int64_t row,
                                                    const sap_list<real, capacity>& best) {
    enum { WIDTH = 16 / sizeof(real) };
    int64_t* ids = task.ids + row * task.row_length;
    real* distance2 = task.distance2 + row * task.row_length;
    long long name[capacity];
    real near2[capacity];
#pragma unroll
    for (int i = 0; i < capacity; i++) {
        const int id = sap_key_id(best.key[i]);
        const bool is_found = i >= capacity - task.k && id != SAP_NO_ID;
        name[i] = is_found ? (long long)task.names[id] : -1;
        near2[i] = is_found ? sap_key_distance2(best.key[i]) : (real)INFINITY;
    }
    if (task.k == capacity && task.row_length == capacity && ((uintptr_t)task.ids & 15) == 0 &&
        ((uintptr_t)task.distance2 & 15) == 0) { // whole rows are written 16 bytes at a time
#pragma unroll
        for (int i = 0; i < capacity; i += 2) *(longlong2*)(ids + i) = make_longlong2(name[i], name[i + 1]);
#pragma unroll
        for (int i = 0; i < capacity; i += WIDTH) store_reals(near2 + i, distance2 + i);
        return;
    }
#pragma unroll
    for (int i = 0; i < capacity; i++) {
        const int at = i - (capacity - task.k);
        if (at < 0) continue;
        ids[at] = name[i];
        distance2[at] = near2[i];
    }
    for (int i = task.k; i < task.row_length; i++) {
        ids[i] = -1;
        distance2[i] = (real)INFINITY;
    }
}

// Whether a ball leaves the cell: distances to planes are rounded as those to boxes and points behind them are, and each
// rounding keeps order.
template <typename real, int dims>
static __device__ __forceinline__ bool leaves_crosses(const leaves_task<real, dims>& task,
                                                      const walk_query<real, dims>& q, real bound) {
    bool crosses = false;
#pragma unroll
    for (int a = 0; a < dims; a++) {
        const real below = q.at[a] - task.lower[a], above = task.upper[a] - q.at[a];
        crosses = crosses || below * below <= bound || above * above <= bound;
    }
    return crosses;
}

template <typename real, int dims, int capacity>
static __global__ void __launch_bounds__(NEAREST_THREADS, NEAREST_BLOCKS(real, dims, capacity, WALK_STACKLESS))
    leaves_nearest(const __grid_constant__ leaves_task<real, dims> task) {
    const int64_t i = (int64_t)blockIdx.x * NEAREST_THREADS + threadIdx.x;
    const int64_t row = i < task.count ? task.rows[i] : -1;
    const int without = task.skip_self ? (int)row : -1;
    walk_query<real, dims> q;
    sap_list<real, capacity> best;
    walk_stackless<real, dims> way;
    // Points of a tree are finite, so that each has a row.
    bool asks = row >= 0 && walk_load(task.tree, task.queries + i * dims, &q), crosses = false;
    const bool asked = asks;
    if (asked) {
        best.begin(task.k, task.limit2);
        way.begin(task.tree, q);
    }
    while (walk_any(asks)) asks = way.round(task.tree, q, asks, without, &best);
    if (asked) {
        crosses = leaves_crosses(task, q, task.k < task.row_length ? task.limit2 : best.limit2());
        leaves_write(task, row, best);
    }
    const uint32_t lanes = __ballot_sync(SAP_ALL_LANES, crosses);
    if (sap_lane() != 0 || i >= task.count) return;
    task.marks[i / SAP_WARP] = lanes;
    if (lanes) atomicAdd(task.marked, (unsigned long long)__popc(lanes));
}

template <typename real, int dims, int capacity>
static void launch_leaves(sap_cuda_call* call, const sap_near_leaves* l) {
    leaves_task<real, dims> task;
    memset((void*)&task, 0, sizeof task);
    task.tree = walk_tree_of<real>(l->tree);
    task.queries = (const real*)l->queries.coords;
    task.rows = l->queries.rows;
    task.count = l->queries.count;
    task.k = l->k < l->tree->shape.count ? l->k : (int)l->tree->shape.count;
    task.row_length = l->k;
    task.skip_self = !l->with_self;
    task.limit2 = (real)l->limit2;
    task.names = l->names;
    task.ids = l->ids;
    task.distance2 = (real*)l->distance2;
    for (int a = 0; a < dims; a++) {
        task.lower[a] = ((const real*)l->cell)[a];
        task.upper[a] = ((const real*)l->cell)[dims + a];
    }
    task.marks = l->marks;
    task.marked = l->marked;
    sap_cuda_launch(call, leaves_nearest<real, dims, capacity>, sap_cuda_grid_for(task.count, NEAREST_THREADS), task);
}

template <typename real, int dims> static void launch_some(sap_cuda_call* call, const sap_near_leaves* l) {
    if (l->k <= 8)
        launch_leaves<real, dims, 8>(call, l);
    else
        launch_leaves<real, dims, SAP_NEAR_LEAVES_MOST>(call, l);
}

void sap_near_leaves_cuda(sap_cuda_call* call, const sap_near_leaves* l) {
    if (call->status != SAP_OK) return;
    SAP_ASSERT(sap_near_leaves_fits(l->tree, l->k) && l->queries.stride == l->tree->shape.dims && !l->queries.by_row);
    switch (l->tree->shape.dims) {
    case 2: launch_some<float, 2>(call, l); break;
    case 3: launch_some<float, 3>(call, l); break;
    default: launch_some<float, 4>(call, l);
    }
}
