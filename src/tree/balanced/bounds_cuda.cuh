// Before the balanced builder's top: empty work, the bounds of a sample, and points to build over as columns.
#ifndef SAPWOOD_TREE_BALANCED_BOUNDS_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_BOUNDS_CUDA_CUH

#include "tree/balanced/top_node_cuda.cuh"

enum { BOUNDS_THREADS = 256, BOUNDS_ITEMS = 8, BOUNDS_SAMPLED = BOUNDS_THREADS * BOUNDS_ITEMS };

template <typename real> struct bounds_shared {
    typename sap_ordinal<real>::type low[SAP_MAX_DIMS], high[SAP_MAX_DIMS];
};

// Takes the bounds of a sample, by a block: a point of each of 2,048 parts of the ranks, anywhere in it, since points of
// grids repeat themselves in step.
template <typename real>
static __device__ __forceinline__ void bounds_sample(const sap_cuda_build& b, const top_work<real>& w,
                                                     bounds_shared<real>* s) {
    typedef typename sap_ordinal<real>::type ordinal;
    const sap_cuda_points& p = b.points;
    if (threadIdx.x < SAP_MAX_DIMS) {
        s->low[threadIdx.x] = sap_ordinal_highest<real>();
        s->high[threadIdx.x] = sap_ordinal_lowest<real>();
    }
    __syncthreads();
    int64_t row[BOUNDS_ITEMS];
#pragma unroll
    for (int j = 0; j < BOUNDS_ITEMS; j++) {
        const int part = j * BOUNDS_THREADS + (int)threadIdx.x;
        const int64_t from = b.count * part / BOUNDS_SAMPLED, to = b.count * (part + 1) / BOUNDS_SAMPLED;
        const uint64_t place = (uint32_t)(part + 1) * 0x9e3779b9u; // of 2^32 (Knuth's multiplicative hashing)
        const int64_t rank = from + (int64_t)(place * (uint64_t)(to - from) >> 32);
        row[j] = p.keep ? p.keep[rank] : rank;
    }
    for (int a = 0; a < b.dims; a++) {
        ordinal low = sap_ordinal_highest<real>(), high = sap_ordinal_lowest<real>();
        real x[BOUNDS_ITEMS];
#pragma unroll
        for (int j = 0; j < BOUNDS_ITEMS; j++) x[j] = ((const real*)p.rows)[row[j] * p.stride + a];
#pragma unroll
        for (int j = 0; j < BOUNDS_ITEMS; j++) {
            low = min(low, sap_ordinal_of(x[j] + 0));
            high = max(high, sap_ordinal_of(x[j] + 0));
        }
        low = sap_warp_min(low);
        high = sap_warp_max(high);
        if (sap_lane() == 0) atomicMin(&s->low[a], low);
        if (sap_lane() == 0) atomicMax(&s->high[a], high);
    }
    __syncthreads();
    if ((int)threadIdx.x < b.dims) {
        w.lower[TOP_SAMPLED * b.dims + (int)threadIdx.x] = s->low[threadIdx.x];
        w.upper[TOP_SAMPLED * b.dims + (int)threadIdx.x] = s->high[threadIdx.x];
    }
    if (threadIdx.x == 0) w.min_id[1] = p.keep ? p.keep[0] : 0;
}

// Gathers the rows to build over, as columns, for the first level to read.
template <typename real>
static __global__ void __launch_bounds__(BOUNDS_THREADS) build_gather(sap_cuda_build b, int buffer) {
    const sap_cuda_points& p = b.points;
    const int64_t rank = (int64_t)blockIdx.x * BOUNDS_THREADS + threadIdx.x;
    if (rank >= b.count) return;
    const int32_t row = p.keep[rank];
    for (int a = 0; a < b.dims; a++)
        ((real*)p.coords[buffer])[a * p.pitch + rank] = ((const real*)p.rows)[row * p.stride + a] + 0;
    p.ids[buffer][rank] = row;
}

// Clears the tree and sets the work up: bounds of nothing but a sample, empty histograms.
template <typename real>
static __global__ void __launch_bounds__(BOUNDS_THREADS)
    build_prepare(const __grid_constant__ sap_cuda_build b, const __grid_constant__ top_work<real> w,
                  const __grid_constant__ sap_cuda_clearing clearing) {
    SAP_CUDA_SHARED(bounds_shared<real>, s);
    sap_cuda_await_before(); // so that the first pass may begin; before this launch may come the caller's
    int64_t step = (int64_t)gridDim.x * BOUNDS_THREADS, first = (int64_t)blockIdx.x * BOUNDS_THREADS + threadIdx.x;
    int64_t nodes = (int64_t)2 << b.top;
    for (int64_t i = first; i < nodes * b.dims; i += step) {
        w.lower[i] = sap_ordinal_highest<real>();
        w.upper[i] = sap_ordinal_lowest<real>();
    }
    for (int64_t i = first; i < nodes; i += step) {
        w.min_id[i] = INT32_MAX;
        w.listed[i] = w.moved[i] = 0;
    }
    for (int64_t i = first; i < w.bins_total; i += step) w.bins[0][i] = 0;
    if (first < SAP_MAX_DEPTH) w.meeting->arrived[first] = 0;
    if (blockIdx.x == 0)
        bounds_sample(b, w, s); // after this block has emptied the same entries
    else if (blockIdx.x == 1)   // there are several blocks on any GPU
        sap_cuda_clear<real>(clearing, threadIdx.x, BOUNDS_THREADS);
}

#endif
