// The whole-structure check on a GPU: what the checks of both kinds of trees share. They only say whether a tree is
// valid; verify_cpu.c names what is wrong. The arrays may hold anything: no value from them is an index before it has
// been checked.
#ifndef SAPWOOD_TREE_VERIFY_CUDA_CUH
#define SAPWOOD_TREE_VERIFY_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"
#include "tree/layout.h"

enum { VERIFY_THREADS = 256, GAP_THREADS = 64 };

typedef struct verdict {
    unsigned long long ids; // that differ
    int32_t wrong;
} verdict;

// What a tree's points are checked against.
template <typename real> struct point_check {
    real most;            // magnitude of a coordinate
    int32_t source_count; // ids are below
    int32_t dims;
    uint32_t* ids; // a bit for each
};

// Equal to the bit. NaN is never the same: no valid tree has it.
template <typename real> static __device__ __forceinline__ bool same(real x, real y) {
    return x == y && signbit(x) == signbit(y);
}

// The points of a leaf, by `width` lanes: ids in range and ascending, coordinates within the limit, unused slots as
// they must be.
template <typename real>
static __device__ bool wrong_points(const point_check<real>& c, const real* coords, int32_t stride, int32_t count,
                                    int lane, int width) {
    const int32_t* ids = (const int32_t*)(const void*)(coords + (int64_t)c.dims * stride);
    bool wrong = false;
    for (int i = lane; i < stride; i += width) {
        const bool used = i < count;
        const int32_t id = ids[i], id_before = i > 0 ? ids[i - 1] : -1;
        for (int a = 0; a < c.dims; ++a) {
            const real x = coords[(int64_t)a * stride + i];
            const bool good = x >= -c.most && x <= c.most && !(x == 0 && signbit(x));
            wrong |= used ? !good : !(isinf(x) && x > 0);
        }
        const bool in_range = id >= 0 && id < c.source_count;
        wrong |= used ? !in_range || id <= id_before : id != -1;
        if (used && in_range) atomicOr(&c.ids[id / 32], 1u << id % 32);
    }
    return wrong;
}

typedef struct gaps {
    sap_gap gap[SAP_MOST_ARRAYS];
} gaps;

// The bytes between arrays, a block for each.
static __global__ void __launch_bounds__(GAP_THREADS)
    check_gaps(const unsigned char* arrays, const gaps unused, verdict* found) {
    const sap_gap gap = unused.gap[blockIdx.x];
    SAP_ASSERT(gap.bytes < SAP_ALIGNMENT && gap.bytes <= GAP_THREADS);
    if (threadIdx.x < gap.bytes && arrays[gap.at + threadIdx.x] != 0) found->wrong = 1;
}

static __global__ void __launch_bounds__(VERIFY_THREADS) count_ids(const uint32_t* ids, int64_t words, verdict* found) {
    unsigned long long number = 0;
    for (int64_t i = (int64_t)blockIdx.x * VERIFY_THREADS + threadIdx.x; i < words;
         i += (int64_t)gridDim.x * VERIFY_THREADS)
        number += (unsigned)__popc(ids[i]);
    for (int step = SAP_WARP / 2; step > 0; step /= 2) number += __shfl_xor_sync(SAP_ALL_LANES, number, step);
    if (threadIdx.x % SAP_WARP == 0) atomicAdd(&found->ids, number);
}

// Takes what the checks write to and checks the gaps.
template <typename real>
static point_check<real> begin_check(sap_cuda_call* call, const sap_tree* tree, verdict** found) {
    const sap_tree_shape* s = &tree->shape;
    const size_t id_bytes = ((size_t)s->source_count + 31) / 32 * sizeof(uint32_t);
    const point_check<real> points = {(real)sap_largest_coordinate(s->real_bits, s->dims), (int32_t)s->source_count,
                                      s->dims, (uint32_t*)sap_cuda_take(call, id_bytes)};
    *found = (verdict*)sap_cuda_take(call, sizeof **found);
    sap_cuda_fill(call, points.ids, 0, id_bytes);
    sap_cuda_fill(call, *found, 0, sizeof **found);
    gaps unused;
    const sap_cuda_grid grid = {sap_shape_gaps(s, unused.gap), GAP_THREADS, 0, false};
    sap_cuda_launch(call, check_gaps, grid, tree->arrays, unused, *found);
    return points;
}

// Counts the ids and brings the verdict.
static void end_check(sap_cuda_call* call, const uint32_t* ids, int64_t source_count, const verdict* there,
                      verdict* found) {
    const int64_t words = (source_count + 31) / 32, blocks = (words + VERIFY_THREADS - 1) / VERIFY_THREADS;
    const sap_cuda_grid grid = {blocks < 1024 ? blocks : 1024, VERIFY_THREADS, 0, false};
    sap_cuda_launch(call, count_ids, grid, ids, words, (verdict*)(uintptr_t)there);
    sap_cuda_fetch(call, found, there, sizeof *found);
}

// ---- tree/verify_explicit_cuda.cu
void sap_cuda_verify_explicit(sap_cuda_call* call, const sap_tree* tree, verdict* found);

#endif
