// Rows of neighbours on the GPU, sorted in place by (distance, id). One warp sorts a short row in shared memory, one
// block a long row where it lies. Both by Batcher's bitonic merging in the form in which every comparison puts the
// lesser first: then a row of any length behaves as if it were filled up with neighbours greater than all, which never
// move.
#include "base/assert.h"
#include "radius/radius_cuda.h"

enum { SORT_WARPS = 8, SHORT_ROW = 256, LONG_THREADS = 1024 };

typedef struct sort_job {
    const int64_t* offsets;
    int64_t rows;
    int32_t* ids;
    void* distance2; // real
    int32_t* longer; // the rows that blocks sort; the first number is how many
} sort_job;

template <typename real> struct sort_shared {
    real distance2[SORT_WARPS][SHORT_ROW];
    int32_t ids[SORT_WARPS][SHORT_ROW];
};

// Puts two neighbours in order.
template <typename real>
static __device__ __forceinline__ void compare(real* distance2, int32_t* ids, int64_t low, int64_t high) {
    const real a = distance2[low], b = distance2[high];
    const int32_t id_a = ids[low], id_b = ids[high];
    if (a < b || (a == b && id_a < id_b)) return;
    distance2[low] = b;
    distance2[high] = a;
    ids[low] = id_b;
    ids[high] = id_a;
}

template <bool whole_block> static __device__ __forceinline__ void wait_for_all(void) {
    if (whole_block)
        __syncthreads();
    else
        __syncwarp();
}

// Sorts a row, thread number `thread` of `threads` that work on it. Merges runs of 2^(bits - 1) into runs of 2^bits:
// first each place is compared with its mirror image in the run, then with the place half as far, and so on.
template <typename real, bool whole_block>
static __device__ void sort_row(real* distance2, int32_t* ids, int64_t count, int thread, int threads) {
    for (int bits = 1; (int64_t)1 << (bits - 1) < count; bits++) {
        for (int step = bits - 1; step >= 0; step--) {
            const int64_t half = (int64_t)1 << step, pairs = (count + 2 * half - 1) >> (step + 1) << step;
            for (int64_t i = thread; i < pairs; i += threads) {
                const int64_t run = i >> step << (step + 1), within = i & (half - 1), low = run + within;
                const int64_t high = step == bits - 1 ? run + 2 * half - 1 - within : low + half;
                if (high < count) compare(distance2, ids, low, high);
            }
            wait_for_all<whole_block>();
        }
    }
}

template <typename real> static __global__ void sort_short_rows(const sort_job job) {
    typedef sort_shared<real> all_shared;
    SAP_CUDA_SHARED(all_shared, shared);
    const int warp = (int)threadIdx.x / SAP_WARP, lane = (int)threadIdx.x % SAP_WARP;
    const int64_t row = (int64_t)blockIdx.x * SORT_WARPS + warp;
    if (row >= job.rows) return;
    const int64_t start = job.offsets[row], count = job.offsets[row + 1] - start;
    if (count > SHORT_ROW) {
        if (lane == 0) {
            const int32_t place = atomicAdd(job.longer, 1);
            SAP_ASSERT(place < job.rows);
            job.longer[1 + place] = (int32_t)row;
        }
        return;
    }
    if (count < 2) return;
    real *there = (real*)job.distance2 + start, *here = shared->distance2[warp];
    int32_t *ids_there = job.ids + start, *ids_here = shared->ids[warp];
    for (int64_t i = lane; i < count; i += SAP_WARP) {
        here[i] = there[i];
        ids_here[i] = ids_there[i];
    }
    __syncwarp();
    sort_row<real, false>(here, ids_here, count, lane, SAP_WARP);
    for (int64_t i = lane; i < count; i += SAP_WARP) {
        there[i] = here[i];
        ids_there[i] = ids_here[i];
    }
}

template <typename real> static __global__ void __launch_bounds__(LONG_THREADS) sort_long_rows(const sort_job job) {
    for (int i = (int)blockIdx.x; i < job.longer[0]; i += (int)gridDim.x) {
        const int32_t row = job.longer[1 + i];
        SAP_ASSERT(row >= 0 && row < job.rows);
        const int64_t start = job.offsets[row], count = job.offsets[row + 1] - start;
        sort_row<real, true>((real*)job.distance2 + start, job.ids + start, count, (int)threadIdx.x, LONG_THREADS);
    }
}

template <typename real> static void sort_rows(sap_cuda_call* call, const sort_job* job) {
    sap_cuda_grid grid = {(job->rows + SORT_WARPS - 1) / SORT_WARPS, SORT_WARPS * SAP_WARP, sizeof(sort_shared<real>),
                          false};
    sap_cuda_launch(call, sort_short_rows<real>, grid, *job);
    grid.blocks = 2 * call->cuda->multiprocessors;
    grid.threads = LONG_THREADS;
    grid.shared = 0;
    sap_cuda_launch(call, sort_long_rows<real>, grid, *job);
}

sap_status sap_neighbors_sort_cuda(sap_device* device, const sap_neighbors* rows) {
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    sort_job job = {rows->offsets, rows->count, (int32_t*)(uintptr_t)rows->ids, NULL, NULL};
    job.longer = (int32_t*)sap_cuda_take(&call, (size_t)(rows->count + 1) * sizeof *job.longer);
    sap_cuda_fill(&call, job.longer, 0, sizeof *job.longer);
    if (rows->distance2) {
        job.distance2 = (void*)(uintptr_t)rows->distance2;
        sort_rows<float>(&call, &job);
    } else if (!rows->distance2_f64) { // points in boxes: by id alone, as if all were at one distance
        int64_t all = 0;
        sap_cuda_fetch(&call, &all, rows->offsets + rows->count, sizeof all);
        job.distance2 = sap_cuda_take(&call, (size_t)all * sizeof(float) + 1);
        sap_cuda_fill(&call, job.distance2, 0, (size_t)all * sizeof(float));
        sort_rows<float>(&call, &job);
    } else {
        job.distance2 = (void*)(uintptr_t)rows->distance2_f64;
        sort_rows<double>(&call, &job);
    }
    return sap_cuda_end(&call, SAP_OK);
}
