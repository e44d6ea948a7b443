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
    __device__ __forceinline__ void finish(const state& s, int64_t row, int found) const {
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
    __device__ __forceinline__ void finish(const state& s, int64_t row, int found) const {
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
        const double part = 1 - (double)distance2 / radius2;
        s.sum += part > 0 ? part * part : 0;
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t row, int) const { sums[row] = factor * s.sum; }
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

static __global__ void __launch_bounds__(SHOW_THREADS)
    counts_to_flags(const int64_t* counts, int64_t rows, int k, uint8_t* keep) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < rows) keep[i] = counts[i] > k;
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
        sap_cuda_launch(&call, counts_to_densities, sap_cuda_grid_for(rows, SHOW_THREADS), (const int64_t*)counts, rows,
                        densities);
    } else if (call.status == SAP_OK) {
        (job->tree->shape.real_bits == 64 ? find_densities<double> : find_densities<float>)(&call, job, densities);
    }
    return sap_cuda_end(&call, status);
}

// ---- Outliers

template <typename real>
static void find_means(sap_cuda_call* call, const sap_outliers_job* job, double* means, uint8_t* keep) {
    const cloud_asking asking = ask_own(call, job->tree, job->options.k, (double)INFINITY);
    const mean_sink<real> sink = {means, keep};
    if (call->status == SAP_OK) cloud_show_nearest<real>(call, asking, (const real*)NULL, sink);
}

// Marks the points of the tree and finds their mean distances; the sums over them go by id, and so are the host's.
static sap_status find_statistical(sap_cuda_call* call, sap_outliers_job* job, uint8_t* host_keep, double* host_means) {
    const sap_tree_shape* s = &job->tree->shape;
    const size_t n = (size_t)s->source_count;
    double* means = (double*)sap_cuda_take(call, n * sizeof *means);
    uint8_t* keep = (uint8_t*)sap_cuda_take(call, n);
    sap_cuda_fill(call, keep, 0, n);
    if (call->status == SAP_OK && s->count)
        (s->real_bits == 64 ? find_means<double> : find_means<float>)(call, job, means, keep);
    sap_cuda_fetch(call, host_keep, keep, n);
    sap_cuda_fetch(call, host_means, means, n * sizeof *means);
    return call->status;
}

static sap_status find_sparse(sap_cuda_call* call, sap_outliers_job* job, uint8_t* host_keep) {
    const int64_t rows = job->tree->shape.source_count;
    int64_t* counts = (int64_t*)sap_cuda_take(call, (size_t)rows * sizeof *counts);
    uint8_t* keep = (uint8_t*)sap_cuda_take(call, (size_t)rows);
    sap_status status = call->status;
    if (status == SAP_OK) status = count_near(job->tree, job->options.radius, counts);
    sap_cuda_launch(call, counts_to_flags, sap_cuda_grid_for(rows, SHOW_THREADS), (const int64_t*)counts, rows,
                    job->options.k, keep);
    sap_cuda_fetch(call, host_keep, keep, (size_t)rows);
    return status == SAP_OK ? call->status : status;
}

sap_status sap_cloud_outliers_cuda(sap_outliers_job* job) {
    const sap_tree* tree = job->tree;
    const size_t n = (size_t)tree->shape.source_count, means = n * sizeof(double);
    uint8_t* const wanted = job->keep;
    sap_scratch memory = {NULL, 0};
    sap_cuda_call call;
    if (n == 0) return SAP_OK;
    if (!sap_scratch_take(tree->device, means + n, &memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the mean distances of %lld points",
                        (long long)n);
    sap_status status = sap_cuda_begin(&call, tree->device);
    job->keep = memory.memory + means;
    if (status == SAP_OK && job->options.kind == SAP_OUTLIERS_STATISTICAL) {
        status = find_statistical(&call, job, job->keep, (double*)(void*)memory.memory);
        if (status == SAP_OK) sap_outliers_judge(job, (const double*)(const void*)memory.memory);
    } else if (status == SAP_OK) {
        status = find_sparse(&call, job, job->keep);
    }
    for (size_t i = 0; status == SAP_OK && i < n; i++) job->info.kept += job->keep[i];
    if (status == SAP_OK && sap_cuda_on_device(&call, wanted)) {
        sap_cuda_copy(&call, wanted, job->keep, n);
        call.waits = true; // the copy reads memory that is given back
    } else if (status == SAP_OK) {
        memcpy(wanted, job->keep, n);
    }
    job->keep = wanted;
    status = sap_cuda_end(&call, status);
    sap_scratch_give(tree->device, &memory);
    return status;
}
