// At most so many neighbours a row, on the GPU.
#include "compact/prefix_sum_cuda.h"
#include "radius/radius_cuda.h"

enum { SHORTEN_THREADS = 256, SHORTEN_WARPS = SHORTEN_THREADS / SAP_WARP };

static __global__ void __launch_bounds__(SHORTEN_THREADS) cut_counts(int64_t* counts, int64_t rows, int64_t most) {
    const int64_t row = (int64_t)blockIdx.x * SHORTEN_THREADS + threadIdx.x;
    if (row < rows && counts[row] > most) counts[row] = most;
}

static __global__ void __launch_bounds__(SHORTEN_THREADS)
    count_rows(const int64_t* offsets, int64_t rows, int64_t most, int64_t* counts) {
    const int64_t row = (int64_t)blockIdx.x * SHORTEN_THREADS + threadIdx.x;
    if (row < rows) counts[row] = min(offsets[row + 1] - offsets[row], most);
}

// A warp moves the first places of a row.
template <typename type>
static __global__ void __launch_bounds__(SHORTEN_THREADS)
    move_rows(const type* from, const int64_t* from_offsets, int64_t rows, const int64_t* offsets, type* to) {
    const int64_t row = (int64_t)blockIdx.x * SHORTEN_WARPS + threadIdx.x / SAP_WARP;
    if (row >= rows) return;
    const int64_t begin = offsets[row], count = offsets[row + 1] - begin;
    for (int64_t i = threadIdx.x % SAP_WARP; i < count; i += SAP_WARP) to[begin + i] = from[from_offsets[row] + i];
}

sap_status sap_radius_cut_counts_cuda(sap_device* device, int64_t* counts, int64_t rows, int64_t most) {
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    if (!sap_cuda_on_device(&call, counts)) {
        for (int64_t i = 0; call.status == SAP_OK && i < rows; i++)
            if (counts[i] > most) counts[i] = most;
    } else {
        sap_cuda_launch(&call, cut_counts, sap_cuda_grid_for(rows, SHORTEN_THREADS), counts, rows, most);
    }
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_neighbors_shorten_cuda(sap_device* device, const sap_neighbors* neighbors, int32_t most) {
    sap_cuda_call call;
    const int64_t rows = neighbors->count;
    const sap_cuda_grid grid = {(rows + SHORTEN_WARPS - 1) / SHORTEN_WARPS, SHORTEN_THREADS, 0, false};
    int64_t all = 0, *offsets = (int64_t*)(uintptr_t)neighbors->offsets;
    sap_cuda_begin(&call, device);
    sap_cuda_fetch(&call, &all, offsets + rows, sizeof all);
    const size_t real = neighbors->distance2 ? sizeof(float) : sizeof(double);
    void* distance2 =
        neighbors->distance2 ? (void*)(uintptr_t)neighbors->distance2 : (void*)(uintptr_t)neighbors->distance2_f64;
    int64_t* from = (int64_t*)sap_cuda_take(&call, (size_t)(rows + 1) * sizeof *from);
    int32_t* ids = (int32_t*)sap_cuda_take(&call, (size_t)all * sizeof *ids + 1);
    void* distances = sap_cuda_take(&call, (size_t)all * real + 1);
    sap_cuda_copy(&call, from, offsets, (size_t)(rows + 1) * sizeof *from);
    sap_cuda_copy(&call, ids, neighbors->ids, (size_t)all * sizeof *ids);
    sap_cuda_copy(&call, distances, distance2, (size_t)all * real);
    sap_cuda_launch(&call, count_rows, sap_cuda_grid_for(rows, SHORTEN_THREADS), from, rows, (int64_t)most,
                    offsets + 1);
    sap_prefix_sum_cuda(&call, offsets, rows);
    sap_cuda_launch(&call, move_rows<int32_t>, grid, ids, from, rows, offsets, (int32_t*)(uintptr_t)neighbors->ids);
    if (real == sizeof(float))
        sap_cuda_launch(&call, move_rows<float>, grid, (const float*)distances, from, rows, offsets, (float*)distance2);
    else
        sap_cuda_launch(&call, move_rows<double>, grid, (const double*)distances, from, rows, offsets,
                        (double*)distance2);
    return sap_cuda_end(&call, SAP_OK);
}
