// Sums of weights of pairs on CUDA. The host makes the boxes, the sums of weights below nodes and the tasks, as for a
// CPU; a warp works on each task. It visits pairs of nodes in the CPU's order and adds to the task's bins in the CPU's
// order, so that the sums are the same bits. Within a step nothing waits for anything else: lanes are points of a when
// bins are sought, points of b when distances are computed, and then eight sums for each of four bins, as in
// pairs/count_simd.h. A bin is always added to by the same lane.
#include "device/cpu.h"
#include "pairs/pairs.h"
#include "pairs/pairs_cuda.h"
#include "pairs/periods_cuda.cuh"
#include "tree/periods.h"
#include "tree/tree_cuda.h"

enum {
    WEIGH_SUMS = 8,                    // of a bin: one for each point modulo eight
    WEIGH_BINS = SAP_WARP / WEIGH_SUMS // at a time; as many points as each of the sums has
};

// A tree, in GPU memory.
template <typename real> struct weigh_side {
    const sap_boxed_node* nodes;
    const real* boxes;            // [nodes][2][axes]
    const double *sums, *weights; // NULL: 1 for each point
    const unsigned char* blocks;
};

template <typename real> struct weigh_job {
    weigh_side<real> a, b;
    const real* limits2;        // [bins]
    real periods[SAP_MAX_DIMS]; // infinite on open axes
    const sap_node_pair* tasks;
    double* sums; // [tasks][bins + 1]
    int bins, axes;
};

// The state of a warp's walk. "lane:" marks what differs between lanes. `dims` 0: known at run time only, as job.axes.
template <typename real, int dims, bool around> struct weigh_walk {
    const weigh_job<real>* job;
    double* sums; // of the task
    int axes, lane;
    double weights[WEIGH_BINS];  // lane: of those points of b that its sum is for
    real point[dims ? dims : 1]; // lane: of b
};

// A point of a before a leaf of b; its bins are from … to.
typedef struct weigh_facing {
    int from, to;
    double weight;
} weigh_facing;

// The first of bins from … to whose limit is not below a squared distance; `to` if there is none before it.
template <typename real> static __device__ int weigh_bin(const real* limits2, int from, int to, real distance2) {
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (limits2[middle] < distance2)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// Narrows bins from … to down to those of distances between two boxes. Corners lie `step` reals apart; 0: points.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void weigh_narrow(const weigh_walk<real, dims, around>& walk, const real* a,
                                                    int stride_a, int step_a, const real* b, int* from, int* to) {
    real nearest2 = 0, farthest2 = 0;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : walk.axes); axis++) {
        const real low_a = a[axis * stride_a], high_a = a[axis * stride_a + step_a], low_b = b[axis],
                   high_b = b[walk.axes + axis];
        real gap = max(max(low_a - high_b, low_b - high_a), (real)0), span = max(high_a - low_b, high_b - low_a);
        if (around) sap_pairs_around(walk.job->periods[axis], &gap, &span);
        nearest2 = axis ? nearest2 + gap * gap : gap * gap;
        farthest2 = axis ? farthest2 + span * span : span * span;
    }
    *from = weigh_bin(walk.job->limits2, *from, *to, nearest2);
    *to = weigh_bin(walk.job->limits2, *from, *to, farthest2);
}

template <typename real> static __device__ double weigh_below(const weigh_side<real>& side, uint32_t node) {
    return side.sums ? side.sums[node] : (double)side.nodes[node].count;
}

// Adds to a bin; behind the last one nothing is kept.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void weigh_add(const weigh_walk<real, dims, around>& walk, int bin, double sum) {
    if (bin < walk.job->bins && walk.lane == bin % WEIGH_BINS * WEIGH_SUMS) walk.sums[bin] += sum;
}

// Makes each lane the point of b's leaf at `first` + lane, and loads the weights that its sum needs.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void weigh_load(weigh_walk<real, dims, around>& walk, const sap_boxed_node& leaf,
                                                  const real* coords, int first) {
    const int slot = min(first + walk.lane, leaf.count - 1);
    SAP_UNROLL
    for (int axis = 0; axis < dims; axis++) walk.point[axis] = coords[axis * leaf.stride + slot];
    for (int i = 0; i < WEIGH_BINS && walk.job->b.weights; i++) {
        const int at = first + i * WEIGH_SUMS + walk.lane % WEIGH_SUMS;
        walk.weights[i] = at < leaf.count ? walk.job->b.weights[leaf.slot + at] : 0;
    }
}

// The weight of those of a warp's points of b that are in a mask, which is one for each group of WEIGH_SUMS lanes.
template <typename real, int dims, bool around>
static __device__ __forceinline__ double weigh_mask(const weigh_walk<real, dims, around>& walk, uint32_t mask) {
    if (!walk.job->b.weights) return (double)__popc(mask);
    double sum = 0;
    SAP_UNROLL
    for (int i = 0; i < WEIGH_BINS; i++)
        sum += mask >> (i * WEIGH_SUMS + walk.lane % WEIGH_SUMS) & 1 ? walk.weights[i] : 0.0;
    for (int step = WEIGH_SUMS / 2; step; step /= 2) sum += __shfl_xor_sync(SAP_ALL_LANES, sum, step);
    return sum;
}

// Adds the warp's points of b, of which there are those in `all`, to the bins of their distances from a point of a.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void weigh_chunk(const weigh_walk<real, dims, around>& walk,
                                                   const weigh_facing& facing, real distance2, uint32_t all) {
    const real* limits2 = walk.job->limits2;
    const int group = walk.lane / WEIGH_SUMS;
    uint32_t before = 0;
    for (int first = facing.from / WEIGH_BINS * WEIGH_BINS; first <= facing.to && first < walk.job->bins;
         first += WEIGH_BINS) {
        uint32_t in = 0;
        SAP_UNROLL
        for (int i = 0; i < WEIGH_BINS; i++) {
            const int bin = first + i;
            uint32_t up_to = bin < facing.from ? 0 : all;
            if (bin >= facing.from && bin < facing.to)
                up_to = __ballot_sync(SAP_ALL_LANES, distance2 <= limits2[bin]) & all;
            if (i == group) in = up_to & ~before;
            before = up_to;
        }
        if (!__any_sync(SAP_ALL_LANES, in != 0)) continue;
        const double sum = weigh_mask(walk, in);
        if (in) weigh_add(walk, first + group, facing.weight * sum);
    }
}

template <typename real, int dims, bool around>
static __device__ __forceinline__ real weigh_distance2(const weigh_walk<real, dims, around>& walk, const real* point_a,
                                                       int stride_a, const real* point_b, int stride_b) {
    real sum = 0;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : walk.axes); axis++) {
        real offset = point_a[axis * stride_a] - (dims ? walk.point[dims ? axis : 0] : point_b[axis * stride_b]);
        if (around) offset = sap_pairs_shorter(walk.job->periods[axis], offset);
        sum = axis ? sum + offset * offset : offset * offset;
    }
    return sum;
}

// A leaf of each tree, and where its points are.
template <typename real> struct weigh_pair {
    sap_boxed_node a, b;
    const real *coords_a, *coords_b;
    double below; // weight of b's points
};

// A point of a, number `at` of its leaf, before all points of b, 32 at a time. `loaded`: the first that lanes are now.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void weigh_point(weigh_walk<real, dims, around>& walk, const weigh_pair<real>& leaves,
                                                   int at, const weigh_facing& facing, int* loaded) {
    const sap_boxed_node& b = leaves.b;
    if (facing.from >= facing.to) {
        weigh_add(walk, facing.from, facing.weight * leaves.below);
        return;
    }
    for (int first = 0; first < b.count; first += SAP_WARP) {
        if (*loaded != first) weigh_load(walk, b, leaves.coords_b, first);
        *loaded = first;
        const int points = min(b.count - first, (int)SAP_WARP), lane = min(walk.lane, points - 1);
        const real distance2 =
            weigh_distance2(walk, leaves.coords_a + at, leaves.a.stride, leaves.coords_b + first + lane, b.stride);
        weigh_chunk(walk, facing, distance2, SAP_ALL_LANES >> (SAP_WARP - points));
    }
}

// Leaf against leaf: the points of a in order.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void weigh_leaves(weigh_walk<real, dims, around>& walk, const sap_node_pair& pair) {
    const weigh_job<real>& job = *walk.job;
    const size_t slot_bytes = (size_t)walk.axes * sizeof(real) + sizeof(int32_t);
    const real* box = job.b.boxes + (size_t)pair.b * 2 * (size_t)walk.axes;
    weigh_pair<real> leaves = {job.a.nodes[pair.a], job.b.nodes[pair.b], NULL, NULL, weigh_below(job.b, pair.b)};
    leaves.coords_a = (const real*)(const void*)(job.a.blocks + (size_t)leaves.a.slot * slot_bytes);
    leaves.coords_b = (const real*)(const void*)(job.b.blocks + (size_t)leaves.b.slot * slot_bytes);
    int loaded = -1;
    for (int first = 0; first < leaves.a.count; first += SAP_WARP) {
        const int points = min(leaves.a.count - first, (int)SAP_WARP), own = first + min(walk.lane, points - 1);
        int from = pair.from, to = pair.to;
        weigh_narrow(walk, leaves.coords_a + own, leaves.a.stride, 0, box, &from, &to);
        const double weight = job.a.weights ? job.a.weights[leaves.a.slot + own] : 1;
        for (int i = 0; i < points; i++) {
            const weigh_facing facing = {__shfl_sync(SAP_ALL_LANES, from, i), __shfl_sync(SAP_ALL_LANES, to, i),
                                         __shfl_sync(SAP_ALL_LANES, weight, i)};
            weigh_point(walk, leaves, first + i, facing, &loaded);
        }
    }
}

// Divides a pair of which one node at least is inner: *pair becomes its first part, *other its second. As
// sap_node_pair_divide does for two trees.
template <typename real>
static __device__ __forceinline__ void weigh_divide(const weigh_job<real>& job, sap_node_pair* pair,
                                                    sap_node_pair* other) {
    const sap_boxed_node &a = job.a.nodes[pair->a], &b = job.b.nodes[pair->b];
    *other = *pair;
    if (a.upper && (!b.upper || a.count >= b.count)) {
        other->a = a.upper;
        pair->a++;
    } else {
        SAP_ASSERT(b.upper);
        other->b = b.upper;
        pair->b++;
    }
}

template <typename real, int dims, bool around>
static __global__ void __launch_bounds__(SAP_WARP)
    weigh_pairs(const __grid_constant__ weigh_job<real> job, int places) {
    SAP_CUDA_SHARED(sap_node_pair, waiting);
    weigh_walk<real, dims, around> walk;
    walk.job = &job;
    walk.axes = dims ? dims : job.axes;
    walk.lane = (int)threadIdx.x;
    walk.sums = job.sums + (int64_t)blockIdx.x * (job.bins + 1);
    sap_node_pair pair = job.tasks[blockIdx.x];
    int size = 0;
    for (;;) {
        weigh_narrow(walk, job.a.boxes + (size_t)pair.a * 2 * (size_t)walk.axes, 1, walk.axes,
                     job.b.boxes + (size_t)pair.b * 2 * (size_t)walk.axes, &pair.from, &pair.to);
        if (pair.from < pair.to && (job.a.nodes[pair.a].upper || job.b.nodes[pair.b].upper)) {
            sap_node_pair other;
            weigh_divide(job, &pair, &other);
            SAP_ASSERT(size < places);
            if (walk.lane == 0) waiting[size] = other;
            size++;
            __syncwarp();
            continue;
        }
        if (pair.from < pair.to)
            weigh_leaves(walk, pair);
        else
            weigh_add(walk, pair.from, weigh_below(job.a, pair.a) * weigh_below(job.b, pair.b));
        if (!size) return;
        pair = waiting[--size];
        __syncwarp();
    }
}

// ---- The host side

typedef struct weighing {
    const sap_tree *a, *b; // in GPU memory
    sap_cuda_call call;
} weighing;

template <typename real>
static weigh_side<real> weigh_side_in(sap_cuda_call* call, const sap_tree* tree, const sap_boxed* boxed) {
    const unsigned char *here = boxed->memory.memory,
                        *there = (const unsigned char*)sap_cuda_in(call, here, boxed->bytes);
    weigh_side<real> side = {};
    if (call->status != SAP_OK) return side;
    side.nodes = (const sap_boxed_node*)(const void*)there;
    side.boxes = (const real*)(const void*)(there + ((const unsigned char*)boxed->boxes - here));
    if (boxed->sums) {
        side.sums = (const double*)(const void*)(there + ((const unsigned char*)boxed->sums - here));
        side.weights = (const double*)(const void*)(there + ((const unsigned char*)boxed->weights - here));
    }
    side.blocks = sap_block(tree, 0);
    return side;
}

template <typename real, int dims, bool around> static void weigh_with(weighing* w, const sap_count_tasks* tasks) {
    sap_cuda_call* call = &w->call;
    const size_t bins = (size_t)tasks->run.bins, sums = (size_t)tasks->count * (bins + 1) * sizeof(double);
    const int places = w->a->shape.depth + w->b->shape.depth;
    weigh_job<real> job = {};
    job.a = weigh_side_in<real>(call, w->a, tasks->run.a);
    job.b = weigh_side_in<real>(call, w->b, tasks->run.b);
    job.limits2 = (const real*)sap_cuda_in(call, tasks->run.limits2, bins * sizeof(real));
    job.tasks = (const sap_node_pair*)sap_cuda_in(call, tasks->tasks, (size_t)tasks->count * sizeof *tasks->tasks);
    job.sums = (double*)sap_cuda_take(call, sums);
    job.bins = (int)bins;
    job.axes = w->a->shape.dims;
    sap_pairs_periods(w->a, job.periods);
    sap_cuda_fill(call, job.sums, 0, sums);
    const sap_cuda_grid grid = {tasks->count, SAP_WARP, ((size_t)places + 1) * sizeof(sap_node_pair), false};
    sap_cuda_launch(call, weigh_pairs<real, dims, around>, grid, job, places);
    sap_cuda_fetch(call, tasks->sums, job.sums, sums);
}

static sap_status weigh_tasks(void* context, const sap_count_tasks* tasks) {
    weighing* w = (weighing*)context;
    if (!tasks->count) return SAP_OK;
    sap_cuda_begin(&w->call, w->b->device);
    const bool is_wide = w->a->shape.real_bits == 64, is_3d = w->a->shape.dims == 3;
    if (sap_is_periodic(&w->a->options))
        (is_wide ? weigh_with<double, 0, true>
         : is_3d ? weigh_with<float, 3, true>
                 : weigh_with<float, 0, true>)(w, tasks);
    else
        (is_wide ? weigh_with<double, 0, false>
         : is_3d ? weigh_with<float, 3, false>
                 : weigh_with<float, 0, false>)(w, tasks);
    return sap_cuda_end(&w->call, SAP_OK);
}

// Counts over the copies of both trees in host memory.
static sap_status weigh_views(const sap_pair_counts_job* job, const sap_tree* a, const sap_tree* b) {
    const bool is_wide = a->shape.real_bits == 64;
    weighing w = {};
    w.a = job->a;
    w.b = job->b;
    sap_pair_counts_job here = *job;
    here.a = a;
    here.b = b;
    return sap_pairs_count_by(&here, &sap_cpu_kernels_built(SAP_SIMD_PORTABLE)[is_wide], weigh_tasks, &w);
}

sap_status sap_pairs_weigh_cuda(const sap_pair_counts_job* job) {
    sap_host_view a, b;
    sap_status status = sap_pairs_view_cuda(job->a, &a);
    if (status != SAP_OK) return status;
    if (job->a == job->b) {
        status = weigh_views(job, &a.tree, &a.tree);
    } else {
        status = sap_pairs_view_cuda(job->b, &b);
        if (status == SAP_OK) {
            status = weigh_views(job, &a.tree, &b.tree);
            sap_host_view_close(&b);
        }
    }
    sap_host_view_close(&a);
    return status;
}
