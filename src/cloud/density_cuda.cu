// Densities and outliers on a GPU: a number for each point from its neighbours, as they are found.
#include "cloud/count_cuda.h"
#include "cloud/density.h"
#include "cloud/show_cuda.cuh"

// ---- What is made of the neighbours of a point: see cloud/show_cuda.cuh

// The distance to the k-th.
template <typename real> struct last_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = true, CHOOSES_NODES = false };
    int k;
    double* distances;

    struct state {
        real last2;
    };
    __device__ __forceinline__ void begin(state&, int64_t, const real (&)[3]) const {}
    __device__ __forceinline__ void look(state& s, int, real last2) const { s.last2 = last2; }
    __device__ __forceinline__ void take(state&, int, real, const real (&)[3]) const {}
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int found) const {
        if (found == k) distances[row] = sqrt((double)s.last2);
    }
};

// The mean distance.
template <typename real> struct mean_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = false };
    double* means;
    uint8_t* keep;

    struct state {
        double sum;
    };
    __device__ __forceinline__ void begin(state& s, int64_t, const real (&)[3]) const { s.sum = 0; }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int, real distance2, const real (&)[3]) const {
        s.sum += sqrt((double)distance2);
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int found) const {
        means[row] = found ? s.sum / (double)found : 0;
        keep[row] = 1;
    }
};

// The sum of (1 - d^2 / r^2)^2, times a factor.
template <typename real> struct kernel_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = false };
    double radius2, factor;
    double* sums;

    struct state {
        double sum;
    };
    __device__ __forceinline__ void begin(state& s, int64_t, const real (&)[3]) const { s.sum = 0; }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int, real distance2, const real (&)[3]) const {
        const double part = 1 - (double)distance2 * (1 / radius2);
        s.sum += part > 0 ? part * part : 0;
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int) const {
        sums[row] = factor * s.sum;
    }
};

// Whether there are more than k within the radius. Who has seen enough goes no further.
template <typename real> struct enough_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = true };
    int k;
    uint8_t* keep;

    struct state {
        int seen;
    };
    __device__ __forceinline__ void begin(state& s, int64_t, const real (&)[3]) const { s.seen = 0; }
    __device__ __forceinline__ bool enters(state& s, const walk_tree<real>&, const real*, unsigned int, real) const {
        return !has_enough(s);
    }
    __device__ __forceinline__ bool has_enough(const state& s) const { return s.seen > k; }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int, real, const real (&)[3]) const { s.seen++; }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int) const { keep[row] = s.seen > k; }
};

// ---- Counts

static sap_status count_near(const sap_tree* tree, double radius, int64_t* counts) {
    return cloud_count_within(tree, sap_limit2_of(radius, tree->shape.real_bits), counts);
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    counts_to_densities(const int64_t* counts, int64_t rows, double* densities) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < rows) densities[i] = counts[i] > 0 ? (double)(counts[i] - 1) : 0;
}

// ---- Densities

static __global__ void __launch_bounds__(SHOW_THREADS) set_all(double* values, int64_t count, double value) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < count) values[i] = value;
}

static cloud_asking ask_own(sap_cuda_call* call, const sap_tree* tree, int32_t k, double radius) {
    const cloud_asking asking = {tree, sap_cuda_queries_from(call, tree, tree), k, true,
                                 sap_limit2_of(radius, tree->shape.real_bits)};
    return asking;
}

template <typename real>
static void find_densities(sap_cuda_call* call, const sap_density_job* job, double* densities) {
    const sap_density_options* o = &job->options;
    const sap_tree* tree = job->tree;
    const int64_t rows = tree->shape.source_count;
    sap_cuda_launch(call, set_all, sap_cuda_grid_for(rows, SHOW_THREADS), densities, rows,
                    o->kind == SAP_DENSITY_DISTANCE ? (double)INFINITY : 0.0);
    if (tree->shape.count == 0) return;
    if (o->kind == SAP_DENSITY_DISTANCE) {
        const cloud_asking asking = ask_own(call, tree, o->k, (double)INFINITY);
        const last_sink<real> sink = {o->k, densities};
        if (call->status == SAP_OK) cloud_show_nearest<real>(call, asking, (const real*)NULL, sink);
    } else {
        const cloud_asking asking = ask_own(call, tree, 0, o->radius);
        const kernel_sink<real> sink = {o->radius * o->radius, sap_density_factor(o->dims, o->radius), densities};
        if (call->status == SAP_OK) cloud_show_ball<real>(call, asking, sink);
    }
}

sap_status sap_cloud_density_cuda(const sap_density_job* job) {
    const int64_t rows = job->tree->shape.source_count;
    sap_cuda_call call;
    sap_status status = sap_cuda_begin(&call, job->tree->device);
    double* densities = (double*)sap_cuda_out(&call, job->densities, (size_t)rows * sizeof *densities);
    if (job->options.kind == SAP_DENSITY_COUNT) {
        int64_t* counts = (int64_t*)sap_cuda_take(&call, (size_t)rows * sizeof *counts);
        if (call.status == SAP_OK) status = count_near(job->tree, job->options.radius, counts);
        if (status == SAP_OK)
            sap_cuda_launch(&call, counts_to_densities, sap_cuda_grid_for(rows, SHOW_THREADS), (const int64_t*)counts,
                            rows, densities);
    } else if (call.status == SAP_OK) {
        (job->tree->shape.real_bits == 64 ? find_densities<double> : find_densities<float>)(&call, job, densities);
    }
    return sap_cuda_end(&call, status);
}

// ---- Outliers

// The sum of a block of SAP_SUM_BLOCK points: of what their means are away from info->mean, or first of the means.
static __global__ void __launch_bounds__(SHOW_THREADS)
    outliers_sum(const double* means, const uint8_t* keep, int64_t points, const sap_outliers_info* info, bool squared,
                 double* sums) {
    const int64_t block = (int64_t)blockIdx.x * SHOW_WARPS + threadIdx.x / SAP_WARP, first = block * SAP_SUM_BLOCK;
    static_assert((int)SAP_SUM_LANES == (int)SAP_WARP, "a warp has a block of numbers");
    if (first >= points) return;
    const int64_t end = points - first < SAP_SUM_BLOCK ? points : first + SAP_SUM_BLOCK;
    const double from = squared ? info->mean : 0;
    double own = 0, sum = 0;
    for (int64_t i = first + sap_lane(); i < end; i += SAP_WARP) {
        const double d = keep[i] ? means[i] - from : 0;
        own += squared ? d * d : d;
    }
    for (int lane = 0; lane < SAP_WARP; lane++) sum += __shfl_sync(SAP_ALL_LANES, own, lane);
    if (sap_lane() == 0) sums[block] = sum;
}

// What the sums of all blocks say together, by one warp.
static __global__ void __launch_bounds__(SAP_WARP) outliers_tell(const double* sums, int64_t blocks, int64_t points,
                                                                 double ratio, bool squared, sap_outliers_info* info) {
    double sum = 0;
    for (int64_t first = 0; first < blocks; first += SAP_WARP) {
        const double own = first + sap_lane() < blocks ? sums[first + sap_lane()] : 0;
        for (int lane = 0; lane < SAP_WARP; lane++) sum += __shfl_sync(SAP_ALL_LANES, own, lane);
    }
    if (sap_lane() != 0) return;
    if (squared)
        sap_outliers_limit(info, points, sum, ratio);
    else
        sap_outliers_mean(info, points, sum);
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    outliers_judge(const double* means, int64_t points, const sap_outliers_info* info, uint8_t* keep) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < points) keep[i] = keep[i] && means[i] <= info->limit;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    outliers_count(const uint8_t* keep, int64_t points, sap_outliers_info* info) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    const unsigned int lanes = __ballot_sync(SAP_ALL_LANES, i < points && keep[i]);
    if (sap_lane() == 0 && lanes) atomicAdd((unsigned long long*)&info->kept, (unsigned long long)__popc(lanes));
}

template <typename real> static void find_means(sap_cuda_call* call, const sap_outliers_job* job, double* means) {
    const cloud_asking asking = ask_own(call, job->tree, job->options.k, (double)INFINITY);
    const mean_sink<real> sink = {means, job->keep};
    if (call->status == SAP_OK) cloud_show_nearest<real>(call, asking, (const real*)NULL, sink);
}

// Marks the points that are no outliers by their mean distances.
static void find_statistical(sap_cuda_call* call, const sap_outliers_job* job, sap_outliers_info* info) {
    const sap_tree_shape* s = &job->tree->shape;
    const int64_t rows = s->source_count, blocks = (rows + SAP_SUM_BLOCK - 1) / SAP_SUM_BLOCK;
    double* means = (double*)sap_cuda_take(call, (size_t)rows * sizeof *means);
    double* sums = (double*)sap_cuda_take(call, (size_t)blocks * sizeof *sums);
    sap_cuda_grid grid = sap_cuda_grid_for(blocks, SHOW_WARPS), one = sap_cuda_grid_for(1, 1);
    grid.threads = SHOW_THREADS;
    one.threads = SAP_WARP;
    if (call->status == SAP_OK && s->count)
        (s->real_bits == 64 ? find_means<double> : find_means<float>)(call, job, means);
    for (int squared = 0; squared < 2; squared++) {
        sap_cuda_launch(call, outliers_sum, grid, (const double*)means, (const uint8_t*)job->keep, rows,
                        (const sap_outliers_info*)info, squared == 1, sums);
        sap_cuda_launch(call, outliers_tell, one, (const double*)sums, blocks, s->count, job->options.ratio,
                        squared == 1, info);
    }
    sap_cuda_launch(call, outliers_judge, sap_cuda_grid_for(rows, SHOW_THREADS), (const double*)means, rows,
                    (const sap_outliers_info*)info, job->keep);
}

template <typename real> static void find_crowded(sap_cuda_call* call, const sap_outliers_job* job) {
    const cloud_asking asking = ask_own(call, job->tree, 0, job->options.radius);
    const enough_sink<real> sink = {job->options.k, job->keep};
    if (call->status == SAP_OK) cloud_show_ball<real>(call, asking, sink);
}

sap_status sap_cloud_outliers_cuda(sap_outliers_job* job) {
    const sap_tree* tree = job->tree;
    const int64_t rows = tree->shape.source_count;
    uint8_t* const wanted = job->keep;
    sap_cuda_call call;
    if (rows == 0) return SAP_OK;
    sap_cuda_begin(&call, tree->device);
    sap_outliers_info* info = (sap_outliers_info*)sap_cuda_take(&call, sizeof *info);
    job->keep = (uint8_t*)sap_cuda_out(&call, wanted, (size_t)rows);
    sap_cuda_fill(&call, job->keep, 0, (size_t)rows);
    sap_cuda_fill(&call, info, 0, sizeof *info);
    if (call.status == SAP_OK && job->options.kind == SAP_OUTLIERS_STATISTICAL)
        find_statistical(&call, job, info);
    else if (call.status == SAP_OK && tree->shape.count)
        (tree->shape.real_bits == 64 ? find_crowded<double> : find_crowded<float>)(&call, job);
    sap_cuda_launch(&call, outliers_count, sap_cuda_grid_for(rows, SHOW_THREADS), (const uint8_t*)job->keep, rows,
                    info);
    sap_cuda_fetch(&call, &job->info, info, sizeof *info);
    job->keep = wanted;
    return sap_cuda_end(&call, SAP_OK);
}
