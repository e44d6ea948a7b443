// Kernels of searches over ranks on GPUs: which rank a query goes to, rows that are named and merged, and rows that reach
// beyond the part of their own rank.
#ifndef SAPWOOD_CLUSTER_NEAR_CUDA_CUH
#define SAPWOOD_CLUSTER_NEAR_CUDA_CUH

#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

enum { NEAR_THREADS = 256 };

// The boxes of all subtrees, and whose they are: ascending.
template <typename real> struct near_top {
    const real* boxes; // [count][2][dims]
    const int32_t* owners;
    int count, dims;
    // As the distance of points is computed, so that no point of a box is nearer than the box. Infinite or NaN where
    // nothing can be a neighbour.
    __device__ __forceinline__ real distance2(int subtree, const real* query) const {
        const real *lower = boxes + (int64_t)subtree * 2 * dims, *upper = lower + dims;
        real sum = 0;
        for (int a = 0; a < dims; a++) {
            const real q = query[a], offset = q < lower[a] ? q - lower[a] : q > upper[a] ? q - upper[a] : q - q;
            sum += offset * offset;
        }
        return sum;
    }
};

// Rows of neighbours.
template <typename real> struct near_rows {
    int64_t* ids;
    real* distance2;
    int k;
};

// Queries on the GPU, one after another: row i of the answers is theirs.
template <typename real> struct near_queries {
    const real* coords;
    int64_t count, stride;
    const int32_t* home; // the rank that was asked first, or -1
    __device__ __forceinline__ int64_t row(int64_t i) const { return i; }
    __device__ __forceinline__ int home_of(int64_t i) const { return home[i]; }
    __device__ __forceinline__ void read(int64_t i, int dims, real* to) const {
        for (int a = 0; a < dims; a++) to[a] = coords[i * stride + a];
    }
};

// The points of a balanced tree, leaf by leaf; their ids are the rows.
template <typename real> struct near_points {
    sap_tree tree;
    int64_t count; // slots
    int rank;
    __device__ __forceinline__ const real* block(int64_t i) const {
        const sap_tree_shape& s = tree.shape;
        const size_t slot_bytes = (size_t)s.dims * sizeof(real) + sizeof(int32_t);
        return (const real*)(tree.arrays + s.block_at + (size_t)(i / s.stride * s.stride) * slot_bytes);
    }
    __device__ __forceinline__ int64_t row(int64_t i) const {
        const int stride = tree.shape.stride;
        return ((const int32_t*)(block(i) + (int64_t)tree.shape.dims * stride))[i % stride];
    }
    __device__ __forceinline__ int home_of(int64_t) const { return rank; }
    __device__ __forceinline__ void read(int64_t i, int dims, real* to) const {
        const real* from = block(i);
        for (int a = 0; a < dims; a++) to[a] = from[a * tree.shape.stride + i % tree.shape.stride];
    }
};

// The same once they have been listed.
template <typename real> struct near_leaves {
    const real* coords;
    const int32_t* rows;
    int64_t count;
    int rank;
    __device__ __forceinline__ int64_t row(int64_t i) const { return rows[i]; }
    __device__ __forceinline__ int home_of(int64_t) const { return rank; }
    __device__ __forceinline__ void read(int64_t i, int dims, real* to) const {
        for (int a = 0; a < dims; a++) to[a] = coords[i * dims + a];
    }
};

// Queries that reach beyond their own rank.
template <typename real> struct near_border {
    real* coords;
    int32_t *row, *home;
    real* bound;
    int64_t count;
};

// ---- Round 1

// The rank that holds the nearest subtree, or -1 if none is at a finite distance; counts[rank] of them.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_home(const near_top<real> top, const real* coords, int64_t count, int64_t stride, int32_t* home,
              unsigned long long* counts) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= count) return;
    real least = (real)INFINITY;
    int found = -1;
    for (int t = 0; t < top.count; t++) {
        const real own = top.distance2(t, coords + i * stride);
        if (!(own < least)) continue;
        least = own;
        found = top.owners[t];
    }
    home[i] = found;
    if (found >= 0) atomicAdd(&counts[found], 1ull);
}

// Packs queries rank by rank; next[rank] is where the next one goes.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_pack_home(const real* coords, int64_t count, int64_t stride, int dims, const int32_t* home,
                   unsigned long long* next, real* out, int32_t* query) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= count || home[i] < 0) return;
    const unsigned long long at = atomicAdd(&next[home[i]], 1ull);
    query[at] = (int32_t)i;
    for (int a = 0; a < dims; a++) out[(int64_t)at * dims + a] = coords[i * stride + a];
}

// ---- Rows

// Rows without neighbours.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS) near_clear(const near_rows<real> rows, int64_t cells) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= cells) return;
    rows.ids[i] = -1;
    rows.distance2[i] = (real)INFINITY;
}

// Global ids instead of a subtree's own.
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_name(const int32_t* places, int64_t cells, const int64_t* ids, int64_t* named) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i < cells) named[i] = places[i] < 0 ? -1 : ids[places[i]];
}

// Puts each row of `found` where its query's is.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_put(const near_rows<real> found, const int32_t* query, int64_t count, const near_rows<real> rows) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x, k = rows.k;
    if (i >= count * k) return;
    const int64_t to = query[i / k] * k + i % k;
    rows.ids[to] = found.ids[i];
    rows.distance2[to] = found.distance2[i];
}

// Merges each row of `found`, ascending, into its query's; row[query[i]] is that one, NULL: its own number.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_merge(const near_rows<real> found, const int32_t* query, const int32_t* row, int64_t count,
               const near_rows<real> rows) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= count) return;
    const int k = rows.k;
    const int64_t q = query ? query[i] : i, at = (row ? row[q] : q) * k;
    int64_t* ids = rows.ids + at;
    real* distance2 = rows.distance2 + at;
    for (int j = 0; j < k; j++) {
        const int64_t id = found.ids[i * k + j];
        const real own = found.distance2[i * k + j];
        if (id < 0) return;
        int to = k;
        while (to > 0 && (ids[to - 1] < 0 || own < distance2[to - 1] || (own == distance2[to - 1] && id < ids[to - 1])))
            to--;
        if (to == k) return;
        for (int m = k - 1; m > to; m--) {
            ids[m] = ids[m - 1];
            distance2[m] = distance2[m - 1];
        }
        ids[to] = id;
        distance2[to] = own;
    }
}

// ---- Borders

// The distance2 within which a row may still find something.
template <typename real>
static __device__ __forceinline__ real near_bound(const near_rows<real>& rows, int64_t row, bool is_short,
                                                  real limit2) {
    return is_short ? limit2 : rows.distance2[row * rows.k + rows.k - 1];
}

// Marks the queries whose rows may have to be merged with those of other ranks: a bit each; how many. Rows of `places`, if
// there are any, are given their global ids on the way: those that follow one another have neighbours in common.
template <typename real, typename source>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_mark(const near_top<real> top, const source from, const int32_t* places, const int64_t* ids,
              const near_rows<real> rows, real limit2, uint32_t* marks, unsigned long long* marked) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    const int64_t row = i < from.count ? from.row(i) : -1;
    const int home = row >= 0 ? from.home_of(i) : -1;
    bool crosses = false;
    if (home >= 0) {
        const int64_t at = row * rows.k;
        bool is_short;
        if (places) {
            is_short = places[at + rows.k - 1] < 0;
            for (int j = 0; j < rows.k && rows.ids; j++)
                rows.ids[at + j] = places[at + j] < 0 ? -1 : ids[places[at + j]];
        } else {
            is_short = rows.ids[at + rows.k - 1] < 0;
        }
        const real bound = near_bound(rows, row, is_short, limit2);
        real query[SAP_MAX_DIMS];
        from.read(i, top.dims, query);
        for (int t = 0; t < top.count && !crosses; t++) {
            if (top.owners[t] == home) continue;
            const real own = top.distance2(t, query);
            crosses = own <= bound && own < (real)INFINITY;
        }
    }
    const uint32_t lanes = __ballot_sync(SAP_ALL_LANES, crosses);
    if (sap_lane() != 0 || i >= from.count) return;
    marks[i / SAP_WARP] = lanes;
    if (lanes) atomicAdd(marked, (unsigned long long)__popc(lanes));
}

// Lists the queries that are marked.
template <typename real, typename source>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_list(const source from, int dims, const uint32_t* marks, const near_rows<real> rows, real limit2,
              unsigned long long* next, const near_border<real> border) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= from.count || !(marks[i / SAP_WARP] >> i % SAP_WARP & 1u)) return;
    const int64_t at = (int64_t)atomicAdd(next, 1ull), row = from.row(i);
    const real last = rows.distance2[row * rows.k + rows.k - 1];
    border.row[at] = (int32_t)row;
    border.home[at] = from.home_of(i);
    border.bound[at] = last < (real)INFINITY ? last : limit2;
    from.read(i, dims, border.coords + at * dims);
}

// For each rank but a query's own that holds a box within its bound: counts it, or packs the query for it.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_others(const near_top<real> top, const near_border<real> border, unsigned long long* next, real* out,
                int32_t* query) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= border.count) return;
    const real* coords = border.coords + i * top.dims;
    int before = -1;
    for (int t = 0; t < top.count; t++) {
        const int owner = top.owners[t];
        if (owner == border.home[i] || owner == before) continue;
        const real own = top.distance2(t, coords);
        if (!(own <= border.bound[i] && own < (real)INFINITY)) continue;
        const unsigned long long at = atomicAdd(&next[owner], 1ull);
        before = owner;
        if (!query) continue;
        query[at] = (int32_t)i;
        for (int a = 0; a < top.dims; a++) out[(int64_t)at * top.dims + a] = coords[a];
    }
}

// ---- Points held

// Coordinates in the order of a subtree's own ids.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS) near_list_points(const near_points<real> from, real* coords) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= from.count) return;
    const int64_t row = from.row(i);
    if (row >= 0) from.read(i, from.tree.shape.dims, coords + row * from.tree.shape.dims);
}

// Rows of one neighbour less, from which the points themselves, or the last, are left out.
template <typename real>
static __global__ void __launch_bounds__(NEAR_THREADS)
    near_leave_out(const near_rows<real> from, const int64_t* own, int64_t count, const near_rows<real> to) {
    const int64_t i = (int64_t)blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= count) return;
    int at = 0;
    for (int j = 0; j < from.k && at < to.k; j++) {
        if (from.ids[i * from.k + j] == own[i]) continue;
        if (to.ids) to.ids[i * to.k + at] = from.ids[i * from.k + j];
        if (to.distance2) to.distance2[i * to.k + at] = from.distance2[i * from.k + j];
        at++;
    }
}

#endif
