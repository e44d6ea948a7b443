// What a search was told, as kernels take it: the CUDA form of math/metric.h, whose operations these are.
#ifndef SAPWOOD_TREE_TOLD_CUDA_CUH
#define SAPWOOD_TREE_TOLD_CUDA_CUH

#include "device/cuda.h"
#include "tree/layout.h"
#include "tree/limit.h"
#include "tree/periods.h"
#include "tree/told.h"

// How a kernel measures distances. Each is compiled for what it has to know and no more.
typedef enum sap_cuda_measure {
    SAP_CUDA_L2,     // squared Euclidean distances
    SAP_CUDA_L1,     // with weights
    SAP_CUDA_LINF,   // the same
    SAP_CUDA_AROUND, // squared Euclidean distances by the shorter way around axes with periods
    SAP_CUDA_POWER,  // lengths to a power, without weights and periods
    SAP_CUDA_ANY,    // all that a search can be told, and periods
    SAP_CUDA_IMAGE,  // squared Euclidean distances by one way around: a step of searches by SAP_CUDA_AROUND
    SAP_CUDA_NEAR    // squared Euclidean distances, for answers that are near enough
} sap_cuda_measure;

template <typename real> struct sap_cuda_told {
    sap_cuda_measure measure; // the cheapest that will do
    real weight[SAP_MAX_DIMS];
    real period[SAP_MAX_DIMS]; // infinite: none
    uint64_t roots;
    int power;
    real root, spread;   // SAP_CUDA_POWER: sap_told_squares
    real widen, narrow;  // SAP_CUDA_NEAR: bounds are as many times as far; limits of planes at least so much less
    bool is_largest;     // LINF
    const uint8_t* keep; // by id, or NULL
    // The same for the slots of a balanced tree's leaves, a bit each, the lowest first; or NULL. Words of a leaf.
    const uint32_t* kept;
    int kept_words;
    int32_t* again;            // [queries] room for those that are to be looked at again; or NULL
    unsigned int* again_count; // how many they are
    const real* limits;        // by row, negative: finds nothing; or NULL
    const int32_t* ks;         // by row, or NULL
};

#define SAP_CUDA_GOES_AROUND(measure) ((measure) == SAP_CUDA_AROUND || (measure) == SAP_CUDA_ANY)

static __device__ __forceinline__ float sap_told_least(float a, float b) { return fminf(a, b); }
static __device__ __forceinline__ double sap_told_least(double a, double b) { return fmin(a, b); }
static __device__ __forceinline__ float sap_told_most(float a, float b) { return fmaxf(a, b); }
static __device__ __forceinline__ double sap_told_most(double a, double b) { return fmax(a, b); }
static __device__ __forceinline__ float sap_told_size(float x) { return fabsf(x); } // +0 of -0
static __device__ __forceinline__ double sap_told_size(double x) { return fabs(x); }
static __device__ __forceinline__ float sap_told_root(float x) { return sqrtf(x); } // rounded once
static __device__ __forceinline__ double sap_told_root(double x) { return sqrt(x); }

// A length to the power.
template <int measure, typename real>
static __device__ __forceinline__ real sap_told_raise(const sap_cuda_told<real>& told, int axis, real length) {
    if (measure == SAP_CUDA_L2 || measure == SAP_CUDA_AROUND || measure == SAP_CUDA_NEAR) return length * length;
    real term = measure == SAP_CUDA_POWER ? length : told.weight[axis] * length; // times 1
    if constexpr (measure == SAP_CUDA_ANY || measure == SAP_CUDA_POWER) {
        for (int factor = 1; factor < told.power; factor++) term = term * length;
        for (uint64_t left = told.roots; left != 0; left <<= 1) {
            length = sap_told_root(length);
            if (left >> 63) term = term * length;
        }
    }
    return term;
}

// Several lengths to a power without weights, by the operations of sap_told_raise: all take a step together, and none
// waits for another's roots.
template <typename real, int count>
static __device__ __forceinline__ void sap_told_raise_all(const sap_cuda_told<real>& told, real (&length)[count],
                                                          real (&term)[count]) {
#pragma unroll
    for (int i = 0; i < count; i++) term[i] = length[i];
    for (int factor = 1; factor < told.power; factor++) {
#pragma unroll
        for (int i = 0; i < count; i++) term[i] = term[i] * length[i];
    }
    for (uint64_t left = told.roots; left != 0; left <<= 1) {
#pragma unroll
        for (int i = 0; i < count; i++) length[i] = sap_told_root(length[i]);
        if (!(left >> 63)) continue;
#pragma unroll
        for (int i = 0; i < count; i++) term[i] = term[i] * length[i];
    }
}

static __device__ __forceinline__ float sap_told_to_the(float x, float exponent) { return powf(x, exponent); }
static __device__ __forceinline__ double sap_told_to_the(double x, double exponent) { return pow(x, exponent); }

// The square of a length that no point within a limit exceeds along any axis, where lengths are raised to a power p:
// plain squares then rule out what is too far away, and only what is left is raised to the power. The sum of all its
// squares is at most `spread` times as much: dims^(1 - 2/p), by the inequality of power means, or 1 where p is below 2.
//
// A term is computed from the length l by P - 1 products with l and R up to 52 with roots of it, which are wrong by at
// most epsilon. Where l is 1 or more, no product is less than l; where it is less, no product enlarges an error. So the
// term is at least l^p (1 - (P + 3 R) epsilon / 2) - (P + R) d, where d is the smallest denormal number, and a sum of
// up to 16 terms is wrong by 16 epsilon / 2: the sum of the powers exceeds the limit by less than the margin here,
// which is four times as wide, and the least normal number. The root is wrong by the rounding of its exponent, epsilon
// / 2 times the largest logarithm there is (89; 745 for doubles), and by a few units in the last place: by less than
// 512 epsilon.
template <typename real>
static __device__ __forceinline__ real sap_told_squares(const sap_cuda_told<real>& told, real limit) {
    const real epsilon = sizeof(real) == 4 ? (real)FLT_EPSILON : (real)DBL_EPSILON;
    const real least = sizeof(real) == 4 ? (real)FLT_MIN : (real)DBL_MIN;
    const real above = (limit + least) * (1 + 2 * (real)(told.power + 172) * epsilon);
    const real length = sap_told_to_the(above, told.root) * (1 + 512 * epsilon);
    return length * length * (1 + 4 * epsilon) + least;
}

// The term of an axis. The way around has no length below 0, but for the places of a leaf that hold no point: their
// coordinates are infinite.
template <int measure, typename real>
static __device__ __forceinline__ real sap_told_along(const sap_cuda_told<real>& told, int axis, real offset) {
    real length = sap_told_size(offset);
    if (SAP_CUDA_GOES_AROUND(measure)) length = sap_told_least(length, sap_told_size(told.period[axis] - length));
    return sap_told_raise<measure>(told, axis, length);
}

// The least and the greatest term that a point within an interval of the axis may have, of which one end is `near` and
// the other `far` away; near is negative from within.
template <int measure, typename real>
static __device__ __forceinline__ real sap_told_nearest(const sap_cuda_told<real>& told, int axis, real near,
                                                        real far) {
    if (SAP_CUDA_GOES_AROUND(measure)) near = sap_told_least(near, told.period[axis] - far);
    return sap_told_raise<measure>(told, axis, sap_told_most(near, (real)0));
}
template <int measure, typename real>
static __device__ __forceinline__ real sap_told_farthest(const sap_cuda_told<real>& told, int axis, real near,
                                                         real far) {
    if (SAP_CUDA_GOES_AROUND(measure)) {
        far = sap_told_least(far, told.period[axis] - sap_told_most(near, (real)0));
        far = sap_told_least(far, told.period[axis] / 2);
    }
    return sap_told_raise<measure>(told, axis, far);
}

template <int measure, typename real>
static __device__ __forceinline__ real sap_told_join(const sap_cuda_told<real>& told, real sum, real term) {
    const bool is_largest = measure == SAP_CUDA_LINF || (measure == SAP_CUDA_ANY && told.is_largest);
    return !is_largest ? sum + term : term > sum ? term : sum;
}

// The least length that the way around an axis may have from a coordinate to any point: as sap_reaches_around has it.
template <typename real>
static __device__ __forceinline__ real sap_told_around(const sap_cuda_told<real>& told, int axis, real at) {
    const real up = told.period[axis] - at;
    return sap_told_least(up, told.period[axis] - up);
}

template <typename real>
static __device__ __forceinline__ bool sap_told_keeps(const sap_cuda_told<real>& told, int id) {
    return !told.keep || told.keep[id] != 0;
}

// ---- On the host

enum { SAP_TOLD_THREADS = 256 };

template <typename real>
static __global__ void __launch_bounds__(SAP_TOLD_THREADS)
    sap_told_limits(const double* radii, int64_t count, bool is_euclidean, int power, uint64_t roots, real* limits) {
    const int64_t i = (int64_t)blockIdx.x * SAP_TOLD_THREADS + threadIdx.x;
    const int bits = (int)sizeof(real) * 8;
    if (i >= count) return;
    const double radius = radii[i];
    limits[i] = !(radius >= 0) ? (real)-1
                : is_euclidean ? (real)sap_limit2_of(radius, bits)
                               : (real)sap_limit_of(radius, power, roots, bits);
}

static sap_cuda_measure sap_cuda_measure_of(const sap_told* told, bool is_periodic) {
    if (told->metric == SAP_METRIC_LP && !told->weights && !is_periodic) return SAP_CUDA_POWER;
    if (told->metric == SAP_METRIC_L2 && !told->weights) return is_periodic ? SAP_CUDA_AROUND : SAP_CUDA_L2;
    if (told->metric == SAP_METRIC_L1 && !is_periodic) return SAP_CUDA_L1;
    if (told->metric == SAP_METRIC_LINF && !is_periodic) return SAP_CUDA_LINF;
    return SAP_CUDA_ANY;
}

// Brings what a search of `rows` queries was told to the GPU. `told` NULL: squared Euclidean distances, all points.
template <typename real>
static sap_cuda_told<real> sap_cuda_told_of(sap_cuda_call* call, const sap_tree* tree, const sap_told* given,
                                            int64_t rows) {
    const sap_told* told = given ? given : &sap_told_nothing;
    sap_cuda_told<real> on = {};
    on.measure = sap_cuda_measure_of(told, sap_is_periodic(&tree->options));
    for (int a = 0; a < SAP_MAX_DIMS; a++) {
        const double period = tree->options.period[a];
        on.weight[a] = told->weights && a < tree->shape.dims ? (real)told->weights[a] : (real)1;
        on.period[a] = period > 0 ? (real)period : (real)INFINITY;
    }
    on.power = told->power;
    on.roots = told->roots;
    const double p = told->power + ldexp((double)told->roots, -64);
    on.root = (real)(1 / p);
    on.spread = (real)(p > 2 ? pow(tree->shape.dims, 1 - 2 / p) : 1);
    on.widen = (real)told->widen;
    on.narrow = (real)((1 + 8 * (sizeof(real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON)) / (double)on.widen);
    on.is_largest = told->metric == SAP_METRIC_LINF;
    if (told->keep) on.keep = (const uint8_t*)sap_cuda_in(call, told->keep, (size_t)tree->shape.source_count);
    if (told->ks) on.ks = (const int32_t*)sap_cuda_in(call, told->ks, (size_t)rows * sizeof *on.ks);
    if (!told->radii) return on;
    const double* radii = (const double*)sap_cuda_in(call, told->radii, (size_t)rows * sizeof *radii);
    real* limits = (real*)sap_cuda_take(call, (size_t)rows * sizeof *limits);
    sap_cuda_launch(call, sap_told_limits<real>, sap_cuda_grid_for(rows, SAP_TOLD_THREADS), radii, rows,
                    told->metric == SAP_METRIC_L2, told->power, told->roots, limits);
    on.limits = limits;
    return on;
}

#endif
