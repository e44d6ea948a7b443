// The benchmark on a GPU: what its parts share. Data and answers lie on the device, times are those of events in the
// caller's stream around whole calls (medians after warm-ups), and every answer is compared with the CPU's.
#ifndef BENCH_GPU_CUH
#define BENCH_GPU_CUH

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <vector>

#include "sapwood/sapwood.h"

enum { GPU_WARM_UPS = 2, GPU_LEAST_REPS = 7, GPU_MOST_REPS = 99, GPU_SAMPLED = 1000, GPU_MOST_RIVALS = 200 };

// One measured work. What it is found by in the lists of targets and rivals: work, n, dims, k, order.
typedef struct gpu_row {
    char work[32];
    int64_t n, queries; // 0: none
    int dims, k;        // 0: none
    char order[16];     // of the queries, or what else tells rows apart; "": none
    const char* walk;   // "": none
    int leaf, depth;    // 0: none
    const char* unit;   // of what is called ms here: "ms", "GB/s" or "x" (a multiple)
    double ms, least, most, target, stretch, rival_ms, floor_ms; // 0: none
    char rival[64];
} gpu_row;

typedef struct gpu_times {
    double median, least, most;
} gpu_times;

typedef struct gpu_rival { // a line of gpu_rivals.csv
    gpu_row row;           // its key, and ms
    char name[64];
} gpu_rival;

typedef struct gpu_bench {
    bool quick, cpu; // sizes up to a million only; the CPU beside the GPU
    int reps;
    const char* only;   // comma-separated beginnings of works; NULL: all
    const char* data;   // a folder of scans, or NULL
    const char* rivals; // the file of the rivals' figures
    FILE* csv;          // or NULL
    cudaStream_t stream;
    cudaEvent_t begin, end;
    sap_device *device, *host;
    double bytes_a_ms;         // of a device copy, read and written
    int64_t checked, wrong;    // answers compared with the CPU's
    int reached, missed, rows; // targets; rows reported
    double uniform[3][2];      // measured, by k and order, which other data must not exceed by more than a tenth
    int rival_count;
    gpu_rival rival[GPU_MOST_RIVALS];
} gpu_bench;

// ---- Failing

static inline void gpu_cuda_check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "gpu: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static inline void gpu_sap_check(sap_status status, const char* what) {
    if (status == SAP_OK) return;
    fprintf(stderr, "gpu: %s: %s\n", what, sap_status_string(status));
    exit(1);
}

#define GPU_CUDA(call) gpu_cuda_check(call, #call)
#define GPU_SAP(call)  gpu_sap_check(call, #call)

// ---- gpu_data.cu: points and meshes on the device

typedef enum gpu_kind { GPU_UNIFORM, GPU_CLUSTERED, GPU_SURFACE } gpu_kind;
extern const char* const gpu_kind_names[3];

typedef struct gpu_cloud {
    float* coords; // on the device
    int64_t count;
    int dims;
} gpu_cloud;

void* gpu_memory(size_t bytes); // on the device
void* gpu_upload(const void* from, size_t bytes);
sap_mesh gpu_mesh_upload(const sap_mesh* mesh);
void gpu_mesh_free(const sap_mesh* mesh); // on the device
gpu_cloud gpu_cloud_make(gpu_bench* b, gpu_kind kind, int64_t count, int dims, unsigned seed);
gpu_cloud gpu_cloud_upload(const float* coords, int64_t count, int dims);
float* gpu_cloud_download(const gpu_cloud* cloud);   // to be freed
gpu_cloud gpu_cloud_ordered(const gpu_cloud* cloud); // a copy along a Morton curve, sorted on the host
void gpu_cloud_free(gpu_cloud* cloud);
static inline sap_points gpu_points(const gpu_cloud* c) { return sap_points{c->coords, c->count, c->dims, 0}; }

// ---- gpu_scan.cu: the clouds of a folder, and queries for them; false if it has none that can be read

bool gpu_scan_read(gpu_bench* b, gpu_cloud* points, gpu_cloud* queries);
// The bytes of a file, unpacked if its name ends in .xz; empty if it cannot be read.
std::vector<char> gpu_read_bytes(const std::string& path);
sap_mesh_file* gpu_mesh_read(gpu_bench* b, const char* name); // a PLY, its name without the suffix; NULL: not there
// A bumpy torus of 2 * side * side triangles, whose memory the lists hold.
sap_mesh gpu_torus(int side, std::vector<float>* vertices, std::vector<int32_t>* triangles);

// ---- gpu_report.cu

// Whether a work is asked for; n is its size.
bool gpu_wanted(const gpu_bench* b, const char* work, int64_t n);
void gpu_rivals_read(gpu_bench* b);
void gpu_heading(void);
gpu_row gpu_row_of(const char* work, const char* data, int64_t n, int dims);
// Finds target and rivals, prints the row and writes it to the CSV.
void gpu_report(gpu_bench* b, gpu_row row, gpu_times times);
double gpu_rival_ms(const gpu_bench* b, const gpu_row* row, const char* beginning); // of a rival so called; 0: none

// ---- gpu_check.cu: the CPU's answers

// `count` rows of `width` on the device, each the step-th after the one before.
template <typename type>
static std::vector<type> gpu_sampled(const type* from, int64_t count, int64_t step = 1, size_t width = 1) {
    std::vector<type> to((size_t)count * width);
    const size_t bytes = width * sizeof(type);
    if (count)
        GPU_CUDA(
            cudaMemcpy2D(to.data(), bytes, from, bytes * (size_t)step, bytes, (size_t)count, cudaMemcpyDeviceToHost));
    return to;
}

// Counts answers that were compared with the CPU's.
void gpu_compared(gpu_bench* b, int64_t count, int64_t wrong, const char* what);
// The same tree on the CPU.
sap_tree* gpu_host_tree(gpu_bench* b, const sap_tree* tree);
void gpu_verify(gpu_bench* b, sap_tree* tree, const char* what);
void gpu_check_nearest(gpu_bench* b, const sap_tree* host, const gpu_cloud* queries, int k, const int32_t* ids,
                       const float* distance2, const gpu_row* row);
void gpu_check_radius(gpu_bench* b, const sap_tree* host, const gpu_cloud* queries, double radius,
                      const sap_neighbors* found, const int64_t* counts);
void gpu_check_bytes(gpu_bench* b, int64_t count, size_t bytes, const void* got, const void* expected,
                     const char* what);
template <typename type>
static void gpu_check_same(gpu_bench* b, const std::vector<type>& got, const std::vector<type>& expected,
                           const char* what) {
    gpu_check_bytes(b, (int64_t)got.size(), sizeof(type), got.data(), expected.data(), what);
}
// First hits of the rays, and whether the shadow rays meet anything. All arrays lie on the device.
void gpu_check_rays(gpu_bench* b, const sap_mesh_tree* tree, int64_t count, const sap_ray* rays, const sap_hit* hits,
                    const sap_ray* shadows, const uint8_t* dark);

// ---- The groups of rows

void gpu_ceilings(gpu_bench* b);
void gpu_builds(gpu_bench* b);
void gpu_published(gpu_bench* b);
void gpu_peaks(gpu_bench* b);
void gpu_searches(gpu_bench* b);
void gpu_large(gpu_bench* b);
void gpu_leaves(gpu_bench* b);
void gpu_splits(gpu_bench* b);
void gpu_radii(gpu_bench* b);
void gpu_compaction(gpu_bench* b);
void gpu_meshes(gpu_bench* b);
void gpu_rays(gpu_bench* b);
void gpu_frames(gpu_bench* b);
void gpu_moving(gpu_bench* b);
void gpu_surfaces(gpu_bench* b);
void gpu_sets(gpu_bench* b);
void gpu_told(gpu_bench* b);
void gpu_pairs(gpu_bench* b);
void gpu_clouds(gpu_bench* b);
void gpu_skin(gpu_bench* b);
void gpu_subdivide(gpu_bench* b);
void gpu_photons(gpu_bench* b);
double gpu_build_floor(const gpu_bench* b, int64_t n, int dims);

// ---- Time

static inline gpu_times gpu_times_of(double* samples, int count) {
    std::sort(samples, samples + count);
    double median = 0.5 * (samples[count / 2] + samples[(count - 1) / 2]);
    return gpu_times{median, samples[0], samples[count - 1]};
}

// Times a work by events in the stream.
template <typename function> static gpu_times gpu_measure(gpu_bench* b, function work) {
    double samples[GPU_MOST_REPS];
    for (int i = -GPU_WARM_UPS; i < b->reps; i++) {
        float ms = 0;
        GPU_CUDA(cudaEventRecord(b->begin, b->stream));
        work();
        GPU_CUDA(cudaEventRecord(b->end, b->stream));
        GPU_CUDA(cudaEventSynchronize(b->end));
        GPU_CUDA(cudaEventElapsedTime(&ms, b->begin, b->end));
        if (i >= 0) samples[i] = (double)ms;
    }
    GPU_SAP(sap_device_wait(b->device));
    return gpu_times_of(samples, b->reps);
}

// Times a work by the host's clock, from an idle stream to an idle stream; `between` is not timed.
template <typename function, typename other>
static gpu_times gpu_measure_on_host(gpu_bench* b, int warm_ups, function work, other between) {
    double samples[GPU_MOST_REPS];
    for (int i = -warm_ups; i < b->reps; i++) {
        GPU_CUDA(cudaStreamSynchronize(b->stream));
        auto start = std::chrono::steady_clock::now();
        work();
        GPU_CUDA(cudaStreamSynchronize(b->stream));
        std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
        if (i >= 0) samples[i] = ms.count();
        between();
    }
    return gpu_times_of(samples, b->reps);
}

#endif
