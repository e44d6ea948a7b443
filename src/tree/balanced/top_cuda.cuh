// The upper levels of the balanced builder: all blocks of one cooperative kernel split the nodes of a level together.
//
// Every block owns a range of ranks, for the whole build, and works on the parts of nodes that lie in it; within a
// part, every warp has an equal share. A level is a few phases with a barrier of the whole grid behind each:
//   select     a histogram (shared memory, then global) narrows each node's candidates for the median: first of the
//              coordinates over the node's extent, then, while a node has more than TOP_CANDIDATES, of their keys
//              (top_select_cuda.cuh);
//   partition  the phase after a node's last histogram: points before all candidates go left, those after them right,
//              the candidates in between, and bounds of both sides are taken on the way. A warp counts its share first,
//              and then moves it without waiting for any other (top_partition_cuda.cuh). The block that ends a
//              node puts its candidates in their places and begins its children (top_resolve_cuda.cuh).
// Nothing returns to the host, whatever the points: the number of phases is decided on the GPU.
#ifndef SAPWOOD_TREE_BALANCED_TOP_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_CUDA_CUH

#include "tree/balanced/top_resolve_cuda.cuh"

// Moves the block's part of a node; the last block to do so completes the node.
template <typename real, int dims>
static __device__ void top_place_part(const top_block<real, dims>& k, int64_t index, int axis,
                                      const typename sap_ordinal<real>::type* pivot, int64_t from, int64_t to) {
    top_shared<real, dims>* s = k.shared;
    top_partition(k, index, axis, pivot, (unsigned int)from, (unsigned int)to);
    if (threadIdx.x == 0) {
        const int part = (int)(to - from), count = (int)(k.rank(index + 1) - k.rank(index));
        __threadfence();
        s->is_last = part == count || atomicAdd(&k.work->moved[k.level & 1][4 * index + 3], part) + part == count;
        __threadfence();
    }
    __syncthreads();
    if (s->is_last) top_resolve(k, index);
}

// One phase of one node's part: reads the last histogram, then fills the next or moves the points.
template <typename real, int dims>
static __device__ void top_phase(const top_block<real, dims>& k, int64_t index, bool first_phase, int64_t from,
                                 int64_t to, bool owner) {
    const top_work<real>& w = *k.work;
    top_shared<real, dims>* s = k.shared;
    const int axis = w.axis[k.heap(index)];
    const typename sap_ordinal<real>::type* pivot = w.pivot + k.heap(index) * k.axes();
    __syncthreads();
    if (threadIdx.x == 0) s->node = first_phase ? w.start[k.level & 1][index] : w.node[(k.phase + 1) & 1][index];
    __syncthreads();
    const int before = s->node.state;
    if (before == TOP_COUNTED) top_narrow(k, index, axis, w.bins[(k.phase + 2) % 3] + index * k.bins());
    const bool ready = s->node.median.candidates <= TOP_CANDIDATES;
    if (owner && threadIdx.x == 0) {
        top_node<real> node = s->node;
        node.state = ready ? TOP_PLACED : TOP_COUNTED;
        w.node[k.phase & 1][index] = node;
        if (!ready) atomicAdd(&w.pending[k.phase % 3], 1);
    }
    if (before == TOP_PLACED) return;
    if (ready)
        top_place_part(k, index, axis, pivot, from, to);
    else
        top_count(k, index, axis, pivot, (unsigned int)from, (unsigned int)to);
}

// A level's phases over the block's ranks, until all nodes are complete.
template <typename real, int dims>
static __device__ void top_split(top_block<real, dims>* k, int64_t from, int64_t to) {
    const sap_cuda_build& b = *k->build;
    const top_work<real>& w = *k->work;
    for (bool first = true;; first = false, k->phase++) {
        int* clear = w.bins[(k->phase + 1) % 3];
        for (int64_t i = (int64_t)blockIdx.x * TOP_THREADS + threadIdx.x; i < w.bins_total;
             i += (int64_t)gridDim.x * TOP_THREADS)
            clear[i] = 0;
        if (blockIdx.x == 0 && threadIdx.x == 0) w.pending[(k->phase + 1) % 3] = 0;
        int64_t index = from < to ? (from << k->level) / b.count : 0;
        while (from < to && k->rank(index + 1) <= from) index++;
        for (int64_t at = from; at < to; index++) {
            const int64_t end = min(k->rank(index + 1), to);
            top_phase(*k, index, first, at, end, k->rank(index) == at);
            at = end;
        }
        sap_cuda_meet(k->work->arrived, &k->rounds);
        if (*(volatile int*)&w.pending[k->phase % 3] == 0) return;
    }
}

// Copies of 16 bytes also read the columns' unused ends.
template <typename real, int dims> static __device__ void top_clear_ends(const top_block<real, dims>& k) {
    const sap_cuda_points& p = k.build->points;
    const int64_t rank = k.build->count + threadIdx.x;
    if (rank >= p.pitch) return;
    for (int buffer = 0; buffer < 2; buffer++) {
        for (int a = 0; a < k.axes(); a++) ((real*)p.coords[buffer])[a * p.pitch + rank] = 0;
        p.ids[buffer][rank] = 0;
    }
}

template <typename real, int dims>
static __global__ void __launch_bounds__(TOP_THREADS)
    build_top(const __grid_constant__ sap_cuda_build b, const __grid_constant__ top_work<real> w) {
    typedef top_shared<real, dims> shared_type;
    SAP_CUDA_SHARED(shared_type, shared);
    if (threadIdx.x == 0) shared->is_bad = sap_build_is_bad(b);
    __syncthreads();
    if (shared->is_bad) return;
    const int64_t grains = (b.count + TOP_GRAIN - 1) / TOP_GRAIN;
    const int64_t from = min(grains * blockIdx.x / gridDim.x * TOP_GRAIN, b.count);
    const int64_t to = min(grains * (blockIdx.x + 1) / gridDim.x * TOP_GRAIN, b.count);
    top_block<real, dims> k;
    k.build = &b;
    k.work = &w;
    k.shared = shared;
    k.pitch = b.points.pitch;
    k.phase = 0;
    k.rounds = 0;
    if (blockIdx.x == 0) top_clear_ends(k);
    if (blockIdx.x == 0 && threadIdx.x == 0) top_begin(k, 0, 0, w.lower + k.axes(), w.upper + k.axes(), w.min_id[1]);
    sap_cuda_meet(k.work->arrived, &k.rounds);
    for (k.level = 0; k.level < b.top; k.level++) {
        // The last level writes buffer 0, from which the subtrees are built.
        const int target = (b.top - 1 - k.level) & 1;
        k.to = (real*)b.points.coords[target];
        k.to_ids = b.points.ids[target];
        const bool rows = k.level == 0 && !b.points.keep;
        k.from = (const real*)(rows ? b.points.rows : b.points.coords[target ^ 1]);
        k.row_step = rows ? b.points.stride : 1;
        k.axis_step = rows ? 1 : b.points.pitch;
        k.from_ids = rows ? NULL : b.points.ids[target ^ 1];
        top_split(&k, from, to);
        k.phase++;
    }
}

#endif
