// Sums over the neighbours of a point on a GPU, by a thread that is shown one neighbour after another: a sibling of
// cloud/moments_simd.h, whose lanes are the axes of one neighbour. The operations and their order are the same.
#ifndef SAPWOOD_CLOUD_MOMENTS_CUDA_CUH
#define SAPWOOD_CLOUD_MOMENTS_CUDA_CUH

#include "device/cuda.h"

#include "cloud/axes.h"
#include "cloud/ops.h"
#include "tree/layout.h"

// What a neighbour counts.
typedef struct cloud_near {
    const float* weights; // on the GPU, by id; or NULL
    double radius;        // of the falloff
    bool falls;
} cloud_near;

static inline cloud_near cloud_near_of(sap_cuda_call* call, const sap_tree* tree, const sap_neighborhoods* given) {
    const size_t bytes = (size_t)tree->shape.source_count * sizeof(float);
    const cloud_near near = {given->weights ? (const float*)sap_cuda_in(call, given->weights, bytes) : NULL,
                             given->radius, given->falloff == SAP_FALLOFF_BIWEIGHT};
    return near;
}

static __device__ __forceinline__ double cloud_weight(const cloud_near& near, int id, double distance2, double radius) {
    double weight = near.weights ? (double)near.weights[id] : 1.0;
    if (near.falls) {
        const double part = 1 - distance2 * (1 / (radius * radius));
        weight = part > 0 ? weight * (part * part) : 0.0;
    }
    return weight;
}

// The weighted sums of 1, d and d d^T, d being the difference to the point itself: xx, yy, zz; xy, yz, zx. Where nothing
// is weighted the products with 1 change nothing.
typedef struct cloud_moments {
    double weight;
    double first[3], squares[3], products[3];
} cloud_moments;

static __device__ __forceinline__ void cloud_clear(cloud_moments* m) {
    m->weight = 0;
#pragma unroll
    for (int a = 0; a < 3; a++) m->first[a] = m->squares[a] = m->products[a] = 0;
}

static __device__ __forceinline__ void cloud_add(cloud_moments* m, const double (&d)[3], double weight) {
    const double term[3] = {d[0] * weight, d[1] * weight, d[2] * weight};
    m->weight += weight;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        m->first[a] += term[a];
        m->squares[a] += term[a] * d[a];
        m->products[a] += term[a] * d[(a + 1) % 3];
    }
}

static __device__ __forceinline__ sap_symmetric cloud_covariance(const cloud_moments& m) {
    const double one = m.weight > 0 ? m.weight : 1;
    double mean[3], squares[3], products[3];
#pragma unroll
    for (int a = 0; a < 3; a++) mean[a] = m.first[a] / one;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        squares[a] = m.squares[a] / one - mean[a] * mean[a];
        products[a] = m.products[a] / one - mean[a] * mean[(a + 1) % 3];
        if (squares[a] < 0) squares[a] = 0;
    }
    sap_symmetric c;
    c.xx = squares[0], c.yy = squares[1], c.zz = squares[2];
    c.xy = products[0], c.yz = products[1], c.xz = products[2];
    return c;
}

#endif
