// Compaction on the GPU beside CUB's: sap_compact and sap_unique through the public API (arrays and count on the GPU,
// in the caller's stream) and cub::DeviceSelect on the same data, in turns. Times are the GPU's own, by events: a
// kernel that waits keeps the GPU busy while the host prepares a call, so that launches are not part of them.
//
// Rows: "flagged" is sap_compact beside Select::Flagged; "if" is the same call of ours beside Select::If, which is
// given a number to compare with instead of flags and so reads a fifth less; "unique" is sap_unique beside
// Select::Unique. The floor is what has to be read and written once, at the rate of a device copy measured in the same
// run.
#ifndef BENCH_COMPACT_CUB_CUH
#define BENCH_COMPACT_CUB_CUH

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>

#include "sapwood/sapwood.h"

enum { COMPACT_CUB_WARM_UPS = 2, COMPACT_CUB_SAMPLES = 11, COMPACT_CUB_ROWS = 18 };

typedef enum compact_cub_work { COMPACT_CUB_FLAGGED, COMPACT_CUB_IF, COMPACT_CUB_UNIQUE } compact_cub_work;

typedef struct compact_cub_row {
    const char* work;
    int64_t n;
    double keep, ours_ms, cub_ms, floor_ms;
} compact_cub_row;

typedef struct compact_cub {
    sap_device* device;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float *items, *out, *cub_out;
    uint8_t* keep;
    int64_t *count, *cub_count; // of kept items
    unsigned long long* wrong;
    void* scratch;
    size_t scratch_bytes;
    double bytes_a_ms; // of a device copy, read and written
    int64_t n;
    float limit; // items below it are kept
} compact_cub;

static inline void compact_cub_check(int failed, const char* what) {
    if (!failed) return;
    fprintf(stderr, "compact_cub: %s failed (%d)\n", what, failed);
    exit(1);
}

#define COMPACT_CUB_TRY(call) compact_cub_check((int)(call), #call)

struct compact_cub_below {
    float limit;
    __device__ bool operator()(float x) const { return x < limit; }
};

static __device__ unsigned compact_cub_hash(uint64_t i) {
    i = (i ^ i >> 31) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 29) * 0xbf58476d1ce4e5b9u;
    return (unsigned)(i >> 32);
}

// Random items of [0, 1) and the flags of those below the limit.
static __global__ void compact_cub_fill(float* items, uint8_t* keep, int64_t n, float limit) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        items[i] = (float)(compact_cub_hash((uint64_t)i) >> 8) * 0x1p-24f;
        keep[i] = items[i] < limit;
    }
}

// Random items in runs: an item begins one with the probability `limit`. It is a hash of where its run began.
static __global__ void compact_cub_fill_runs(float* items, int64_t n, float limit) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        int64_t start = i;
        while (start > 0 && (float)(compact_cub_hash((uint64_t)start) >> 8) * 0x1p-24f >= limit) start--;
        items[i] = 1.0f + (float)(compact_cub_hash((uint64_t)start + ((uint64_t)1 << 40)) >> 9) * 0x1p-23f;
    }
}

static __global__ void compact_cub_compare(const float* a, const float* b, const int64_t* count_a,
                                           const int64_t* count_b, unsigned long long* wrong) {
    if (*count_a != *count_b) *wrong = ~0ull;
    const unsigned *x = (const unsigned*)a, *y = (const unsigned*)b;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < *count_a; i += (int64_t)gridDim.x * blockDim.x)
        if (x[i] != y[i]) atomicAdd(wrong, 1ull);
}

static __global__ void compact_cub_idle(long long cycles) {
    for (long long start = clock64(); clock64() - start < cycles;) {}
}

// ---- The contenders

static inline void compact_cub_ours(compact_cub* c, compact_cub_work work) {
    if (work == COMPACT_CUB_UNIQUE)
        COMPACT_CUB_TRY(sap_unique(c->device, c->items, c->n, sizeof(float), c->out, c->count));
    else
        COMPACT_CUB_TRY(sap_compact(c->device, c->items, c->n, sizeof(float), c->keep, c->out, c->count));
}

static inline cudaError_t compact_cub_select(compact_cub* c, compact_cub_work work, void* scratch, size_t* bytes) {
    switch (work) {
    case COMPACT_CUB_FLAGGED:
        return cub::DeviceSelect::Flagged(scratch, *bytes, c->items, c->keep, c->cub_out, c->cub_count, c->n,
                                          c->stream);
    case COMPACT_CUB_IF:
        return cub::DeviceSelect::If(scratch, *bytes, c->items, c->cub_out, c->cub_count, c->n,
                                     compact_cub_below{c->limit}, c->stream);
    case COMPACT_CUB_UNIQUE: break;
    }
    return cub::DeviceSelect::Unique(scratch, *bytes, c->items, c->cub_out, c->cub_count, c->n, c->stream);
}

static inline void compact_cub_theirs(compact_cub* c, compact_cub_work work) {
    COMPACT_CUB_TRY(compact_cub_select(c, work, c->scratch, &c->scratch_bytes));
}

static inline void compact_cub_prepare(compact_cub* c, compact_cub_work work) {
    size_t bytes = 0;
    COMPACT_CUB_TRY(compact_cub_select(c, work, NULL, &bytes));
    if (bytes > c->scratch_bytes) {
        COMPACT_CUB_TRY(cudaFree(c->scratch));
        COMPACT_CUB_TRY(cudaMalloc(&c->scratch, bytes));
        c->scratch_bytes = bytes;
    }
}

static inline double compact_cub_time(compact_cub* c, compact_cub_work work,
                                      void (*contender)(compact_cub* c, compact_cub_work work)) {
    float ms = 0;
    compact_cub_idle<<<1, 1, 0, c->stream>>>(200000); // about 0.1 ms
    COMPACT_CUB_TRY(cudaEventRecord(c->begin, c->stream));
    contender(c, work);
    COMPACT_CUB_TRY(cudaEventRecord(c->end, c->stream));
    COMPACT_CUB_TRY(cudaEventSynchronize(c->end));
    COMPACT_CUB_TRY(cudaEventElapsedTime(&ms, c->begin, c->end));
    return (double)ms;
}

// ---- A row

static inline void compact_cub_verify(compact_cub* c) {
    unsigned long long wrong = 0;
    COMPACT_CUB_TRY(cudaMemsetAsync(c->wrong, 0, sizeof wrong, c->stream));
    compact_cub_compare<<<1056, 256, 0, c->stream>>>(c->out, c->cub_out, c->count, c->cub_count, c->wrong);
    COMPACT_CUB_TRY(cudaMemcpyAsync(&wrong, c->wrong, sizeof wrong, cudaMemcpyDefault, c->stream));
    COMPACT_CUB_TRY(cudaStreamSynchronize(c->stream));
    if (wrong) fprintf(stderr, "compact_cub: %llu items differ from CUB's\n", wrong);
    COMPACT_CUB_TRY(wrong != 0);
}

static inline compact_cub_row compact_cub_measure(compact_cub* c, compact_cub_work work, int64_t n, double keep) {
    static const char* const names[] = {"flagged", "if", "unique"};
    static const double read[] = {5, 4, 4}; // bytes an item
    double ours[COMPACT_CUB_SAMPLES], cub_times[COMPACT_CUB_SAMPLES];
    int64_t kept = 0;
    c->n = n;
    c->limit = (float)keep;
    if (work == COMPACT_CUB_UNIQUE)
        compact_cub_fill_runs<<<1056, 256, 0, c->stream>>>(c->items, n, c->limit);
    else
        compact_cub_fill<<<1056, 256, 0, c->stream>>>(c->items, c->keep, n, c->limit);
    COMPACT_CUB_TRY(cudaMemsetAsync(c->out, 0xa5, (size_t)n * sizeof(float), c->stream));
    COMPACT_CUB_TRY(cudaMemsetAsync(c->cub_out, 0x5a, (size_t)n * sizeof(float), c->stream));
    compact_cub_prepare(c, work);
    for (int i = -COMPACT_CUB_WARM_UPS; i < COMPACT_CUB_SAMPLES; i++) {
        double mine = compact_cub_time(c, work, compact_cub_ours),
               theirs = compact_cub_time(c, work, compact_cub_theirs);
        if (i < 0) continue;
        ours[i] = mine;
        cub_times[i] = theirs;
    }
    compact_cub_verify(c);
    COMPACT_CUB_TRY(cudaMemcpy(&kept, c->count, sizeof kept, cudaMemcpyDefault));
    std::sort(ours, ours + COMPACT_CUB_SAMPLES);
    std::sort(cub_times, cub_times + COMPACT_CUB_SAMPLES);
    double bytes = read[work] * (double)n + 4.0 * (double)kept;
    return {names[work],          n, keep, ours[COMPACT_CUB_SAMPLES / 2], cub_times[COMPACT_CUB_SAMPLES / 2],
            bytes / c->bytes_a_ms};
}

// ---- All rows

static inline void compact_cub_open(compact_cub* c, cudaStream_t stream, int64_t most) {
    sap_device_options options = {};
    options.processor = SAP_CUDA;
    options.stream = (void*)stream;
    c->stream = stream;
    COMPACT_CUB_TRY(sap_device_open(&options, &c->device));
    COMPACT_CUB_TRY(cudaEventCreate(&c->begin));
    COMPACT_CUB_TRY(cudaEventCreate(&c->end));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->items, (size_t)most * sizeof(float)));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->out, (size_t)most * sizeof(float)));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->cub_out, (size_t)most * sizeof(float)));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->keep, (size_t)most));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->count, sizeof(int64_t)));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->cub_count, sizeof(int64_t)));
    COMPACT_CUB_TRY(cudaMalloc((void**)&c->wrong, sizeof(unsigned long long)));
    double best = 1e30;
    for (int i = 0; i < 7; i++) {
        float ms = 0;
        COMPACT_CUB_TRY(cudaEventRecord(c->begin, stream));
        COMPACT_CUB_TRY(cudaMemcpyAsync(c->out, c->items, (size_t)most * sizeof(float), cudaMemcpyDefault, stream));
        COMPACT_CUB_TRY(cudaEventRecord(c->end, stream));
        COMPACT_CUB_TRY(cudaEventSynchronize(c->end));
        COMPACT_CUB_TRY(cudaEventElapsedTime(&ms, c->begin, c->end));
        if (ms > 0 && ms < best) best = ms;
    }
    c->bytes_a_ms = 2.0 * (double)most * sizeof(float) / best;
}

static inline void compact_cub_close(compact_cub* c) {
    sap_device_close(c->device);
    void* const arrays[] = {c->items, c->out, c->cub_out, c->keep, c->count, c->cub_count, c->wrong, c->scratch};
    for (void* array : arrays) COMPACT_CUB_TRY(cudaFree(array));
    COMPACT_CUB_TRY(cudaEventDestroy(c->begin));
    COMPACT_CUB_TRY(cudaEventDestroy(c->end));
}

// Measures all rows in a stream (not the legacy default one) and says how many they are.
static inline int compact_cub_rows(cudaStream_t stream, compact_cub_row rows[COMPACT_CUB_ROWS]) {
    static const int64_t sizes[] = {16777216, 268435456};
    static const double keeps[] = {0.1, 0.5, 0.9};
    compact_cub c = {};
    int count = 0;
    compact_cub_open(&c, stream, sizes[1]);
    for (int work = COMPACT_CUB_FLAGGED; work <= COMPACT_CUB_UNIQUE; work++)
        for (int64_t n : sizes)
            for (double keep : keeps) rows[count++] = compact_cub_measure(&c, (compact_cub_work)work, n, keep);
    compact_cub_close(&c);
    return count;
}

// A table for people, then the same as CSV.
static inline void compact_cub_print(FILE* to, const compact_cub_row* rows, int count) {
    fprintf(to, "%-8s %10s %5s %9s %9s %6s %9s\n", "work", "n", "keep", "ours ms", "CUB ms", "ratio", "floor ms");
    for (const compact_cub_row* r = rows; r < rows + count; r++)
        fprintf(to, "%-8s %10lld %4.0f%% %9.4f %9.4f %6.3f %9.4f\n", r->work, (long long)r->n, 100 * r->keep,
                r->ours_ms, r->cub_ms, r->ours_ms / r->cub_ms, r->floor_ms);
    fprintf(to, "\nwork,n,keep,ours_ms,cub_ms,ratio,floor_ms\n");
    for (const compact_cub_row* r = rows; r < rows + count; r++)
        fprintf(to, "%s,%lld,%g,%.5f,%.5f,%.4f,%.5f\n", r->work, (long long)r->n, r->keep, r->ours_ms, r->cub_ms,
                r->ours_ms / r->cub_ms, r->floor_ms);
}

#endif
