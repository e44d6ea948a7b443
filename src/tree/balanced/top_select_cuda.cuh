// The builder's top: histograms that narrow each node's candidates for the median.
#ifndef SAPWOOD_TREE_BALANCED_TOP_SELECT_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_SELECT_CUDA_CUH

#include "tree/balanced/top_node_cuda.cuh"

// Sums of all warps before this one, of a number each.
template <typename real, int dims>
static __device__ __forceinline__ int top_warps_before(const top_block<real, dims>& k, int own) {
    const int warp = (int)threadIdx.x / SAP_WARP;
    if (sap_lane() == 0) k.shared->scan[warp] = own;
    __syncthreads();
    int sum = sap_lane() < warp ? k.shared->scan[sap_lane()] : 0;
    for (int step = SAP_WARP / 2; step; step /= 2) sum += __shfl_xor_sync(SAP_ALL_LANES, sum, step);
    return sum;
}

// Reads a node's histogram: all threads of the block search for the bin of the median, and the shared node gets it.
template <typename real, int dims>
static __device__ void top_narrow(const top_block<real, dims>& k, int64_t index, int axis, const int* counts) {
    enum { EACH = (TOP_BINS + 4 * TOP_THREADS - 1) / (4 * TOP_THREADS) };
    top_shared<real, dims>* s = k.shared;
    const int bins = k.bins(), each = (bins + 4 * TOP_THREADS - 1) / (4 * TOP_THREADS);
    const int first = (int)threadIdx.x * 4 * each;
    int4 own[EACH];
    int sum = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        own[i] = make_int4(0, 0, 0, 0);
        if (i < each && first + 4 * i < bins) own[i] = *(const int4*)(counts + first + 4 * i);
        sum += own[i].x + own[i].y + own[i].z + own[i].w;
    }
    int before = sum;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const int other = __shfl_up_sync(SAP_ALL_LANES, before, (unsigned int)step);
        if (sap_lane() >= step) before += other;
    }
    const int warp_sum = __shfl_sync(SAP_ALL_LANES, before, SAP_WARP - 1);
    sap_median<real> median = s->node.median; // before the warps meet, since one thread will change it
    before += top_warps_before(k, warp_sum) - sum;
    const int64_t middle = sap_rank(*k.build, k.level + 1, 2 * index + 1) - k.rank(index);
    const int rank = (int)(middle - median.below);
    const unsigned int found = __ballot_sync(SAP_ALL_LANES, rank >= before && rank < before + sum);
    if (found) { // one lane of one warp
        int bin = first, inside = 0;
#pragma unroll
        for (int i = 0; i < 4 * EACH; i++) {
            const int4 four = own[i / 4];
            const int count = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
            if (inside == 0 && rank < before + count) {
                inside = count;
                bin = first + i;
            }
            if (inside == 0) before += count;
        }
        const int finder_lane = __ffs((int)found) - 1;
        bin = __shfl_sync(SAP_ALL_LANES, bin, finder_lane);
        before = __shfl_sync(SAP_ALL_LANES, before, finder_lane);
        inside = __shfl_sync(SAP_ALL_LANES, inside, finder_lane);
        sap_median_take(&median, bin, bins, before, inside);
        if (inside > TOP_RANKED && median.low == median.high && median.component < k.axes()) {
            const int64_t heap = k.heap(index);
            if (sap_lane() == 0) k.work->pivot[heap * k.axes() + median.component] = median.low;
            sap_median_next(&median, axis, k.axes(), k.work->lower + heap * k.axes(), k.work->upper + heap * k.axes());
        }
        if (sap_lane() == 0) s->node.median = median;
    }
    __syncthreads();
}

// top_fill_bins when later components decide. That is rare: to unroll this, too, would double the kernel.
template <typename real, int dims>
static __device__ void top_fill_bins_tied(const top_block<real, dims>& k, const sap_median<real>& median,
                                          const typename sap_ordinal<real>::type* pivot, int axis, int shift,
                                          unsigned int from, unsigned int to) {
#pragma unroll 1
    for (unsigned int i = from + threadIdx.x; i < to; i += TOP_THREADS) {
        const top_point<real, dims> p = {&k, i};
        typename sap_ordinal<real>::type key;
        if (top_class(median, pivot, axis, k.axes(), p, p.coordinate(axis), &key) == TOP_AMONG)
            atomicAdd(&k.shared->bins[(int)((key - median.low) >> shift)], 1);
    }
}

// Fills the block's histogram with the keys of ranks [from, to) of a node.
template <typename real, int dims>
static __device__ void top_fill_bins(const top_block<real, dims>& k, int axis,
                                     const typename sap_ordinal<real>::type* pivot, unsigned int from,
                                     unsigned int to) {
    int* counts = k.shared->bins;
    const int bins = k.bins();
    const sap_median<real> median = k.shared->node.median;
    const int shift = sap_median_shift(median, bins);
    for (int i = (int)threadIdx.x; i < bins; i += TOP_THREADS) counts[i] = 0;
    __syncthreads();
    if (median.component > 0) top_fill_bins_tied(k, median, pivot, axis, shift, from, to);
    for (unsigned int tile = from; tile < to && median.component == 0; tile += TOP_KEYS * TOP_THREADS) {
        real x[TOP_KEYS];
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) x[j] = *k.at(axis, min(tile + j * TOP_THREADS + threadIdx.x, to - 1));
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) {
            const unsigned int i = tile + j * TOP_THREADS + threadIdx.x;
            if (i >= to) continue;
            x[j] = x[j] + 0;
            const typename sap_ordinal<real>::type key = sap_ordinal_of(x[j]);
            if (median.scale > 0)
                atomicAdd(&counts[sap_median_bin(median, x[j], bins)], 1);
            else if (key >= median.low && key <= median.high)
                atomicAdd(&counts[(int)((key - median.low) >> shift)], 1);
        }
    }
    __syncthreads();
}

// Adds the keys of ranks [from, to) of a node to its histogram.
template <typename real, int dims>
static __device__ void top_count(const top_block<real, dims>& k, int64_t index, int axis,
                                 const typename sap_ordinal<real>::type* pivot, unsigned int from, unsigned int to) {
    const int bins = k.bins(), *counts = k.shared->bins;
    int* sums = k.work->bins[k.phase % 3] + index * bins;
    top_fill_bins(k, axis, pivot, from, to);
    for (int i = (int)threadIdx.x; i < bins; i += TOP_THREADS)
        if (counts[i]) atomicAdd(&sums[i], counts[i]);
    __syncthreads();
}

#endif
