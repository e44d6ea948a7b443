// What a search was told, as kernels take it: the CUDA form of math/metric.h, whose operations these are.
#ifndef SAPWOOD_TREE_TOLD_CUDA_CUH
#define SAPWOOD_TREE_TOLD_CUDA_CUH

#include "device/cuda.h"
#include "tree/layout.h"
#include "tree/limit.h"
#include "tree/told.h"

template <typename real> struct sap_cuda_told {
    real weight[SAP_MAX_DIMS];
    uint64_t roots;
    int power;
    bool is_largest;     // LINF
    const uint8_t* keep; // by id, or NULL
    const real* limits;  // by row, negative: finds nothing; or NULL
    const int32_t* ks;   // by row, or NULL
};

// The term of an axis.
template <typename real>
static __device__ __forceinline__ real sap_told_along(const sap_cuda_told<real>& told, int axis, real offset) {
    real length = (real)fabs((double)offset); // of -0, too
    real term = told.weight[axis] * length;
    for (int factor = 1; factor < told.power; factor++) term = term * length;
    for (uint64_t left = told.roots; left != 0; left <<= 1) {
        length = (real)sqrt((double)length);
        if (left >> 63) term = term * length;
    }
    return term;
}

template <typename real>
static __device__ __forceinline__ real sap_told_join(const sap_cuda_told<real>& told, real sum, real term) {
    return !told.is_largest ? sum + term : term > sum ? term : sum;
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

// Brings what a search of `rows` queries was told to the GPU. `told` NULL: squared Euclidean distances, all points.
template <typename real>
static sap_cuda_told<real> sap_cuda_told_of(sap_cuda_call* call, const sap_tree* tree, const sap_told* told,
                                            int64_t rows) {
    sap_cuda_told<real> on = {};
    for (int a = 0; a < SAP_MAX_DIMS; a++)
        on.weight[a] = told && told->weights && a < tree->shape.dims ? (real)told->weights[a] : (real)1;
    on.power = told ? told->power : 2;
    if (!told) return on;
    on.roots = told->roots;
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
