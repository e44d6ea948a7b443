// Counts of pairs on CUDA. A warp takes a leaf of a through b's tree: the box of the leaf and that of a node of b bound
// all distances between them. Radii at least as long as the longest count all of the node's points; those below the
// shortest count none; with the radii between the walk goes on, down to the leaves of b. There each lane has a point of
// b and meets the points of a one after the other, and for each radius that is left the warp votes. The counts of all
// pairs within each radius are kept in the lanes: lane l has those of radii l and l + 32. Integers are added in any
// order, so the sums are the CPU's.
#include "base/assert.h"
#include "pairs/ops.h"
#include "pairs/pairs_cuda.h"
#include "pairs/periods_cuda.cuh"
#include "radius/nodes_cuda.cuh"
#include "tree/periods.h"
#include "tree/tree_cuda.h"

enum { COUNT_WARPS = 4, COUNT_THREADS = COUNT_WARPS * SAP_WARP, COUNT_RADII = 2 * SAP_WARP, COUNT_WARPS_EACH = 32 };

template <typename real> struct count_task {
    const void *boxes_a, *boxes_b; // walk boxes
    const int64_t *bad_a, *bad_b;
    real limits2[COUNT_RADII];  // ascending
    real periods[SAP_MAX_DIMS]; // infinite on open axes
    int radii;
    int64_t leaves;             // of a, or nodes of which only leaves do anything
    unsigned long long* counts; // [radii] within each
};

// A node of b that waits, and the radii between its shortest distance and its longest.
typedef struct __align__(16) count_waiting {
    uint32_t node, end;
    int from, to;
}
count_waiting;

// The state of a warp's walk. "lane:" marks what differs between lanes. `dims` 0: known at run time only, as `axes`.
template <typename real, int dims, bool around> struct count_walk {
    const count_task<real>* task;
    const real* own; // walk box of the leaf of a
    sap_radius_leaf leaf;
    const int32_t* ids;
    int points; // of the leaf
    int axes;
    int lane;                     // lane
    real limits2[2];              // lane: of its radii
    unsigned long long within[2]; // lane
};

// Narrows the radii [from, to) of a node of b; the number of points below it counts for those that hold all of it.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void narrow(count_walk<real, dims, around>& walk, const sap_tree& b,
                                              count_waiting& at) {
    const real* box = (const real*)walk.task->boxes_b +
                      (size_t)at.node * (size_t)sap_walk_box_reals(walk.axes, (int)sizeof(real) * 8);
    real nearest2 = 0, farthest2 = 0;
    SAP_UNROLL
    for (int axis = 0; axis < (dims ? dims : walk.axes); axis++) {
        const real low_a = walk.own[2 * axis], high_a = walk.own[2 * axis + 1], low_b = box[2 * axis],
                   high_b = box[2 * axis + 1];
        real apart = max(max(low_b - high_a, low_a - high_b), (real)0), across = max(high_b - low_a, high_a - low_b);
        if (around) sap_pairs_around(walk.task->periods[axis], &apart, &across);
        nearest2 = axis ? nearest2 + apart * apart : apart * apart;
        farthest2 = axis ? farthest2 + across * across : across * across;
    }
    const int old = at.to;
    int below = 0, above = 0;
    for (int half = 0; half < 2; half++) {
        const bool is_radius = half * SAP_WARP + walk.lane < walk.task->radii;
        below += __popc(__ballot_sync(SAP_ALL_LANES, is_radius && walk.limits2[half] < nearest2));
        above += __popc(__ballot_sync(SAP_ALL_LANES, is_radius && walk.limits2[half] < farthest2));
    }
    at.from = max(at.from, below);
    at.to = min(at.to, above);
    if (at.to == old) return;
    const int64_t pairs = (int64_t)walk.points * sap_radius_below<real>(b, at.node, at.end, walk.lane);
    for (int half = 0; half < 2; half++) {
        const int radius = half * SAP_WARP + walk.lane;
        if (radius >= at.to && radius < old) walk.within[half] += (unsigned long long)pairs;
    }
}

// Tests each point of a's leaf against each of a leaf of b.
template <typename real, int dims, bool around>
static __device__ __forceinline__ void count_leaf(count_walk<real, dims, around>& walk, const sap_radius_leaf& leaf,
                                                  int from, int to) {
    const real* own = (const real*)(const void*)walk.leaf.block;
    const real* coords = (const real*)(const void*)leaf.block;
    const int axes = dims ? dims : walk.axes;
    for (int first = 0; first < leaf.slots; first += SAP_WARP) {
        const bool is_slot = first + walk.lane < leaf.slots;
        const int slot = is_slot ? first + walk.lane : 0;
        real kept[dims ? dims : 1];
        SAP_UNROLL
        for (int axis = 0; axis < dims; axis++) kept[axis] = coords[axis * leaf.stride + slot];
        for (int point = 0; point < walk.points; point++) {
            real sum = 0;
            SAP_UNROLL
            for (int axis = 0; axis < axes; axis++) {
                const real x = dims ? kept[dims ? axis : 0] : coords[axis * leaf.stride + slot];
                real offset = own[axis * walk.leaf.stride + point] - x;
                if (around) offset = sap_pairs_shorter(walk.task->periods[axis], offset);
                sum = axis ? sum + offset * offset : offset * offset;
            }
            if (!is_slot) sum = (real)INFINITY;
            for (int radius = from; radius < to; radius++) {
                const int hits = __popc(__ballot_sync(SAP_ALL_LANES, sum <= walk.task->limits2[radius]));
                if (walk.lane == radius % SAP_WARP) walk.within[radius / SAP_WARP] += (unsigned long long)hits;
            }
        }
    }
}

template <typename real, int dims, bool around>
static __device__ __forceinline__ void walk_tree_of_b(count_walk<real, dims, around>& walk, const sap_tree& b,
                                                      count_waiting* stack) {
    sap_radius_pass pass;
    pass.merged = 0;
    count_waiting at = {b.shape.kind == SAP_TREE_BALANCED ? 1u : 0u, (uint32_t)b.shape.nodes, 0, walk.task->radii};
    int waiting = 0;
    narrow(walk, b, at);
    for (;;) {
        if (at.from < at.to) {
            const sap_radius_node node = sap_radius_node_at<real>(b, pass, at.node, 0, walk.axes);
            if (node.is_leaf) {
                count_leaf(walk, node.leaf, at.from, at.to);
            } else {
                count_waiting upper = {node.upper, at.end, at.from, at.to};
                at.node = node.lower;
                at.end = node.upper;
                narrow(walk, b, at);
                narrow(walk, b, upper);
                if (at.from >= at.to) {
                    at = upper;
                } else if (upper.from < upper.to) {
                    SAP_ASSERT(waiting < b.shape.depth);
                    if (walk.lane == 0) stack[waiting] = upper;
                    waiting++;
                    __syncwarp();
                }
                continue;
            }
        }
        if (!waiting) return;
        at = stack[--waiting];
        __syncwarp();
    }
}

template <typename real, int dims, bool around>
static __global__ void __launch_bounds__(COUNT_THREADS)
    count_pairs(const sap_tree a, const sap_tree b, const __grid_constant__ count_task<real> task) {
    SAP_CUDA_SHARED(count_waiting, stacks);
    const int warp = (int)threadIdx.x / SAP_WARP;
    count_walk<real, dims, around> walk;
    walk.task = &task;
    walk.axes = a.shape.dims;
    walk.lane = (int)threadIdx.x % SAP_WARP;
    if (*task.bad_a != INT64_MAX || *task.bad_b != INT64_MAX) return;
    for (int half = 0; half < 2; half++) {
        const int radius = half * SAP_WARP + walk.lane;
        walk.limits2[half] = task.limits2[radius];
        walk.within[half] = 0;
    }
    sap_radius_pass pass;
    pass.merged = 0;
    const uint32_t first = a.shape.kind == SAP_TREE_BALANCED ? (uint32_t)a.shape.leaves : 0;
    for (int64_t i = (int64_t)blockIdx.x * COUNT_WARPS + warp; i < task.leaves; i += (int64_t)gridDim.x * COUNT_WARPS) {
        const uint32_t node = first + (uint32_t)i;
        const sap_radius_node at = sap_radius_node_at<real>(a, pass, node, 0, walk.axes);
        if (!at.is_leaf) continue;
        walk.leaf = at.leaf;
        walk.points = sap_radius_below<real>(a, node, node + 1, walk.lane);
        walk.own =
            (const real*)task.boxes_a + (size_t)node * (size_t)sap_walk_box_reals(walk.axes, (int)sizeof(real) * 8);
        if (walk.points > 0) walk_tree_of_b(walk, b, stacks + warp * b.shape.depth);
    }
    for (int half = 0; half < 2; half++)
        if (walk.within[half]) atomicAdd(&task.counts[half * SAP_WARP + walk.lane], walk.within[half]);
}

// ---- The host side

// Counts the pairs within up to COUNT_RADII radii.
template <typename real, int dims, bool around>
static void count_some(sap_cuda_call* call, const sap_pair_counts_job* job, const double* limits2, int radii,
                       unsigned long long* counts) {
    const sap_tree_shape* s = &job->a->shape;
    count_task<real> task = {};
    task.boxes_a = sap_cuda_tree_of(job->a)->boxes;
    task.boxes_b = sap_cuda_tree_of(job->b)->boxes;
    task.bad_a = sap_cuda_tree_of(job->a)->bad;
    task.bad_b = sap_cuda_tree_of(job->b)->bad;
    task.radii = radii;
    task.leaves = s->kind == SAP_TREE_BALANCED ? s->leaves : s->nodes;
    task.counts = counts;
    for (int i = 0; i < radii; i++) task.limits2[i] = (real)limits2[i];
    sap_pairs_periods(job->a, task.periods);
    sap_cuda_grid grid = sap_cuda_grid_for(task.leaves, COUNT_WARPS);
    const int64_t most = (int64_t)call->cuda->multiprocessors * COUNT_WARPS_EACH / COUNT_WARPS;
    if (grid.blocks > most) grid.blocks = most;
    grid.threads = COUNT_THREADS;
    grid.shared = sizeof(count_waiting) * COUNT_WARPS * ((size_t)job->b->shape.depth + 1);
    sap_cuda_launch(call, count_pairs<real, dims, around>, grid, *job->a, *job->b, task);
}

template <bool around>
static void count_for(sap_cuda_call* call, const sap_pair_counts_job* job, const double* limits2, int radii,
                      unsigned long long* counts) {
    const sap_tree_shape* s = &job->a->shape;
    if (s->real_bits == 64)
        count_some<double, 0, around>(call, job, limits2, radii, counts);
    else if (s->dims == 3)
        count_some<float, 3, around>(call, job, limits2, radii, counts);
    else
        count_some<float, 0, around>(call, job, limits2, radii, counts);
}

sap_status sap_pairs_count_cuda(const sap_pair_counts_job* job) {
    const bool is_periodic = sap_is_periodic(&job->a->options);
    sap_cuda_call call;
    sap_status status = sap_pairs_meet_cuda(job->a, job->b);
    if (status != SAP_OK) return status;
    for (int i = 0; i < job->bins; i++) job->sums[i] = 0;
    if (!job->a->shape.count || !job->b->shape.count) return SAP_OK;
    if (job->weights_a || job->weights_b) return sap_pairs_weigh_cuda(job);
    sap_cuda_begin(&call, job->b->device);
    unsigned long long *there = (unsigned long long*)sap_cuda_take(&call, COUNT_RADII * sizeof *there),
                       within[COUNT_RADII], before = 0;
    for (int first = 0; first < job->bins && call.status == SAP_OK; first += COUNT_RADII) {
        const int radii = job->bins - first < COUNT_RADII ? job->bins - first : COUNT_RADII;
        sap_cuda_fill(&call, there, 0, COUNT_RADII * sizeof *there);
        (is_periodic ? count_for<true> : count_for<false>)(&call, job, job->limits2 + first, radii, there);
        sap_cuda_fetch(&call, within, there, (size_t)radii * sizeof *within);
        for (int i = 0; i < radii && call.status == SAP_OK; i++) {
            job->sums[first + i] = (double)(within[i] - before);
            before = within[i];
        }
    }
    return sap_cuda_end(&call, status);
}
