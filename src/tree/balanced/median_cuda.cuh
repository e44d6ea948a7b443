// The search for a node's exact median through histograms, as the top and the bottom of the balanced builder do it.
//
// First come bins of equal width of the coordinate, then, while too many candidates are left, bins of their keys:
// ordinals of the coordinate; when all candidates share one, ordinals of the next component of the total order; ids at
// last. What is left are always the points of the node whose keys lie in [low, high] and whose earlier components are
// the pivot's.
#ifndef SAPWOOD_TREE_BALANCED_MEDIAN_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_MEDIAN_CUDA_CUH

#include "tree/balanced/build_cuda.cuh"

template <typename real> struct sap_median {
    typename sap_ordinal<real>::type low, high; // keys among which the median lies
    real origin, scale;                         // bin of a coordinate: (x - origin) * scale; scale 0: bins of keys
    int component;                              // of the total order along the axis, to which the keys belong
    int below, candidates;                      // points before the candidates; candidates
    int axis;                                   // of the node
};

// Begins with the bounds of `count` points along the axis. For bins alone, the bounds of a sample will do: points beyond
// them belong to the bins at the ends.
template <typename real>
static __device__ void sap_median_begin(sap_median<real>* m, typename sap_ordinal<real>::type lower,
                                        typename sap_ordinal<real>::type upper, int count, int bins) {
    m->low = lower;
    m->high = upper;
    m->origin = sap_real_of(lower);
    m->scale = (real)bins / (sap_real_of(upper) - m->origin);
    // If the extent is zero, or so small that its inverse overflows, bins of keys are used.
    if (!(m->scale > 0 && m->scale < (real)FLT_MAX)) m->scale = 0;
    m->component = 0;
    m->below = 0;
    m->candidates = count;
}

template <typename real>
static __device__ __forceinline__ int sap_median_bin(const sap_median<real>& m, real x, int bins) {
    SAP_ASSERT(m.scale > 0);
    const real place = (x - m.origin) * m.scale;
    return place > 0 ? place < (real)bins ? (int)place : bins - 1 : 0;
}

// Keys are shifted right by so much to become bins. `bins`: a power of two.
template <typename real> static __device__ __forceinline__ int sap_median_shift(const sap_median<real>& m, int bins) {
    const int shift = sap_bits_between(m.low, m.high) - (31 - __clz(bins));
    return shift > 0 ? shift : 0;
}

// The last keys in [from, to] whose coordinates lie in bins below `bin`, and in `bin` or below it, or from - 1: bins do not
// decrease as keys increase. By all lanes of a warp, half of which look for each.
template <typename real>
static __device__ __forceinline__ void
sap_last_keys_below(const sap_median<real>& m, int bin, int bins, typename sap_ordinal<real>::type from,
                    typename sap_ordinal<real>::type to, typename sap_ordinal<real>::type* below,
                    typename sap_ordinal<real>::type* up_to) {
    typedef typename sap_ordinal<real>::type ordinal;
    enum { HALF = SAP_WARP / 2 };
    const int half = sap_lane() / HALF;
    bool looks = from <= to;
    while (__any_sync(SAP_ALL_LANES, looks)) {
        const ordinal step = looks ? (to - from) / HALF + 1 : 1, ahead = (ordinal)(sap_lane() % HALF) * step;
        const bool is_below =
            looks && ahead <= to - from && sap_median_bin(m, sap_real_of(from + ahead), bins) < bin + half;
        const unsigned int votes = __ballot_sync(SAP_ALL_LANES, is_below) >> half * HALF & ((1u << HALF) - 1);
        const ordinal count = (ordinal)__popc(votes), last = from + (count * step - 1);
        looks = looks && count > 0;
        if (!looks) continue;
        from += (count - 1) * step + 1;
        to = last < to ? last : to;
        looks = from <= to;
    }
    *below = __shfl_sync(SAP_ALL_LANES, from - 1, 0);
    *up_to = __shfl_sync(SAP_ALL_LANES, from - 1, HALF);
}

// Narrows the candidates to those of one bin. By all lanes of a warp.
template <typename real>
static __device__ __forceinline__ void sap_median_take(sap_median<real>* m, int bin, int bins, int before, int inside) {
    typedef typename sap_ordinal<real>::type ordinal;
    SAP_ASSERT(bin >= 0 && bin < bins && inside > 0 && inside <= m->candidates);
    m->below += before;
    m->candidates = inside;
    if (m->scale > 0) {
        // The bin's keys lie between these two: half a bin more is far more than what rounding of the bin can do, and
        // rounding of the borders keeps their order with any coordinate.
        const ordinal first = sap_ordinal_of(m->origin + ((real)bin - (real)0.5) / m->scale);
        const ordinal last = sap_ordinal_of(m->origin + ((real)bin + (real)1.5) / m->scale);
        const ordinal from = bin > 0 && first > m->low ? first : m->low,
                      to = bin < bins - 1 && last < m->high ? last : m->high;
        sap_last_keys_below(*m, bin, bins, from, to, &m->low, &m->high);
        m->low++;
        m->scale = 0;
        return;
    }
    const int shift = sap_median_shift(*m, bins);
    const ordinal first = m->low + ((ordinal)bin << shift), last = first + (((ordinal)1 << shift) - 1);
    m->low = first;
    m->high = last < m->high ? last : m->high;
}

// The greatest coordinate that a candidate can have, to be compared as a real. No point has minus zero: the next number
// below replaces it.
template <typename real> static __device__ __forceinline__ real sap_median_last(const sap_median<real>& m) {
    return sap_real_of(m.high == sap_ordinal_of((real)0) - 1 ? m.high - 1 : m.high);
}

// When too many candidates share their only key, the next component tells them apart; `lower` and `upper`: the node's.
template <typename real>
static __device__ void sap_median_next(sap_median<real>* m, int dims, const typename sap_ordinal<real>::type* lower,
                                       const typename sap_ordinal<real>::type* upper) {
    SAP_ASSERT(m->component < dims);
    m->component++;
    const bool ids = m->component == dims;
    const int next = sap_next_axis(m->axis, ids ? 0 : m->component, dims);
    m->low = ids ? 0 : lower[next];
    m->high = ids ? (typename sap_ordinal<real>::type)INT32_MAX : upper[next];
}

#endif
