// One tree over several GPUs of one host, beside the same tree on one of them: builds, rebuilds, and the nearest points of
// all points. The points of each rank are anywhere in the unit cube, so that half of them, on two GPUs, have to move; before
// a rebuild some of those that a rank holds jump, so that one in twenty changes sides. All answers are compared by a sum
// over their bits. --engine nccl: messages go through NCCL (libnccl.so.2, where the loader looks) instead of copies between
// threads.
#include "sapwood/cluster.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
#include <time.h>
#include <vector>

enum { MOST_GPUS = 16 };

static int64_t points_in_all = 200000000;
static int dims = 3, gpus = 2, runs = 7, neighbours = 8;
static bool by_nccl = false;
static sap_nccl_id nccl_id;

static double now() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void expect(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "gpu_several: %s\n", what);
    exit(1);
}
#define GPU(call) expect((call) == cudaSuccess, #call)
#define SAP(call) expect((call) == SAP_OK, #call)

static double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static __host__ __device__ uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static __global__ void make_points(float* coords, int64_t first, int64_t count, int dims) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count * dims;
         i += (int64_t)gridDim.x * blockDim.x)
        coords[i] = (float)(mixed((uint64_t)(first * dims + i)) >> 40) * 0x1p-24f;
}

// Puts some points anywhere, so many of 2^32.
static __global__ void jump(float* coords, const int64_t* ids, int64_t count, int dims, uint64_t turn, uint64_t some) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t chance = mixed((uint64_t)ids[i] ^ mixed(turn));
        if (chance >> 32 >= some) continue;
        for (int a = 0; a < dims; a++) coords[i * dims + a] = (float)((chance = mixed(chance)) >> 40) * 0x1p-24f;
    }
}

template <typename id>
static __global__ void add_up(const int64_t* own, const id* ids, const float* distance2, int64_t rows, int k,
                              unsigned long long* sum) {
    unsigned long long part = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < rows * k;
         i += (int64_t)gridDim.x * blockDim.x) {
        const uint64_t row = own ? (uint64_t)own[i / k] : (uint64_t)(i / k);
        part += mixed(mixed(row * (uint64_t)k + (uint64_t)(i % k)) ^ mixed((uint64_t)ids[i]) ^
                      __float_as_uint(distance2[i]));
    }
    atomicAdd(sum, part);
}

typedef struct times {
    double build, rebuild, self, reduction;
    double moved; // points that changed sides in a rebuild, on this rank
    unsigned long long sum;
} times;

static float* points_on(int gpu, int64_t first, int64_t count) {
    float* coords;
    GPU(cudaSetDevice(gpu));
    GPU(cudaMalloc(&coords, (size_t)count * (size_t)dims * sizeof *coords));
    make_points<<<2048, 256>>>(coords, first, count, dims);
    GPU(cudaDeviceSynchronize());
    return coords;
}

template <typename id>
static unsigned long long sum_of(const int64_t* own, const id* ids, const float* distance2, int64_t rows) {
    unsigned long long *there, here = 0;
    GPU(cudaMalloc(&there, sizeof here));
    GPU(cudaMemset(there, 0, sizeof here));
    add_up<<<2048, 256>>>(own, ids, distance2, rows, neighbours, there);
    GPU(cudaMemcpy(&here, there, sizeof here, cudaMemcpyDefault));
    GPU(cudaFree(there));
    return here;
}

static sap_device* device_on(int gpu) {
    sap_device_options options = {};
    sap_device* device = NULL;
    options.processor = SAP_CUDA;
    options.ordinal = gpu;
    SAP(sap_device_open(&options, &device));
    return device;
}

// One GPU, with so many points.
static times one_gpu(int64_t count, bool self) {
    times result = {};
    sap_device* device = device_on(0);
    float *coords = points_on(0, 0, count), *distance2 = NULL;
    int32_t* ids = NULL;
    sap_tree* tree = NULL;
    const sap_points points = {coords, count, dims, 0};
    std::vector<double> built, rebuilt, searched;
    for (int i = 0; i < runs + 2; i++) {
        sap_tree_free(tree);
        const double begin = now();
        SAP(sap_tree_build(device, points, NULL, &tree));
        built.push_back(now() - begin);
    }
    for (int i = 0; i < runs + 1; i++) {
        const double begin = now();
        SAP(sap_tree_rebuild(tree, points));
        rebuilt.push_back(now() - begin);
    }
    result.build = median(std::vector<double>(built.begin() + 2, built.end()));
    result.rebuild = median(std::vector<double>(rebuilt.begin() + 1, rebuilt.end()));
    if (self) {
        sap_search search = {};
        search.k = neighbours;
        GPU(cudaMalloc(&ids, (size_t)count * (size_t)neighbours * sizeof *ids));
        GPU(cudaMalloc(&distance2, (size_t)count * (size_t)neighbours * sizeof *distance2));
        for (int i = 0; i < runs + 1; i++) {
            const double begin = now();
            SAP(sap_nearest_self(tree, &search, ids, distance2));
            searched.push_back(now() - begin);
        }
        result.self = median(std::vector<double>(searched.begin() + 1, searched.end()));
        result.sum = sum_of<int32_t>(NULL, ids, distance2, count);
    }
    sap_tree_free(tree);
    sap_device_close(device);
    GPU(cudaFree(coords));
    GPU(cudaFree(ids));
    GPU(cudaFree(distance2));
    return result;
}

static pthread_barrier_t barrier;

// Rebuilds over the points held, each time after some have jumped: seconds each.
static std::vector<double> time_rebuilds(sap_cluster_tree* tree, double* moved) {
    std::vector<double> rebuilt;
    sap_cluster_info info;
    SAP(sap_cluster_describe(tree, &info));
    const int64_t most = info.count_here + info.count_here / 8 + 1024;
    float* coords;
    int64_t* ids;
    GPU(cudaMalloc(&coords, (size_t)most * (size_t)dims * sizeof *coords));
    GPU(cudaMalloc(&ids, (size_t)most * sizeof *ids));
    for (int i = 0; i < runs + 2; i++) {
        SAP(sap_cluster_points(tree, ids, coords));
        const uint64_t some = gpus > 1 ? (uint64_t)(0x1p32 / 20 * gpus / (gpus - 1)) : 0;
        jump<<<2048, 256>>>(coords, ids, info.count_here, dims, (uint64_t)i + 1, some);
        GPU(cudaDeviceSynchronize());
        const sap_points held = {coords, info.count_here, dims, 0};
        pthread_barrier_wait(&barrier);
        const double begin = now();
        SAP(sap_cluster_rebuild(tree, held, ids));
        pthread_barrier_wait(&barrier);
        rebuilt.push_back(now() - begin);
        SAP(sap_cluster_describe(tree, &info));
        expect(info.count_here <= most, "a rank holds more than its share");
    }
    *moved = (double)info.moved;
    GPU(cudaFree(coords));
    GPU(cudaFree(ids));
    return rebuilt;
}

typedef struct member {
    pthread_t thread;
    int rank;
    sap_comm* comm;
    times found;
} member;

// What one number of each rank takes to become one.
static double time_reduction(sap_comm* comm) {
    enum { REDUCTIONS = 200 };
    std::vector<double> reduced;
    for (int i = 0; i < REDUCTIONS; i++) {
        uint64_t value = 1;
        const double begin = now();
        SAP(sap_comm_all_reduce(comm, SAP_REDUCE_SUM, &value, 1));
        reduced.push_back(now() - begin);
    }
    return median(reduced);
}

static void* run_rank(void* argument) {
    member* m = (member*)argument;
    const int rank = m->rank;
    const int64_t first = points_in_all * rank / gpus, count = points_in_all * (rank + 1) / gpus - first;
    sap_device* device = device_on(rank);
    if (by_nccl) SAP(sap_comm_open_nccl(device, &nccl_id, rank, gpus, NULL, &m->comm));
    float *coords = points_on(rank, first, count), *distance2 = NULL;
    int64_t *ids = NULL, *own = NULL;
    const sap_points points = {coords, count, dims, 0};
    sap_cluster_tree* tree = NULL;
    sap_cluster_info info;
    std::vector<double> built, searched;
    for (int i = 0; i < runs + 2; i++) {
        sap_cluster_free(tree);
        pthread_barrier_wait(&barrier);
        const double begin = now();
        SAP(sap_cluster_build(m->comm, device, points, NULL, NULL, &tree));
        pthread_barrier_wait(&barrier);
        built.push_back(now() - begin);
    }
    sap_search search = {};
    search.k = neighbours;
    SAP(sap_cluster_describe(tree, &info));
    const size_t cells = (size_t)info.count_here * (size_t)neighbours;
    GPU(cudaMalloc(&ids, cells * sizeof *ids));
    GPU(cudaMalloc(&own, (size_t)info.count_here * sizeof *own));
    GPU(cudaMalloc(&distance2, cells * sizeof *distance2));
    for (int i = 0; i < runs + 1; i++) {
        pthread_barrier_wait(&barrier);
        const double begin = now();
        SAP(sap_cluster_nearest_self(tree, &search, ids, distance2));
        pthread_barrier_wait(&barrier);
        searched.push_back(now() - begin);
    }
    SAP(sap_cluster_points(tree, own, NULL));
    m->found.build = median(std::vector<double>(built.begin() + 2, built.end()));
    m->found.self = median(std::vector<double>(searched.begin() + 1, searched.end()));
    m->found.sum = sum_of<int64_t>(own, ids, distance2, info.count_here);
    m->found.reduction = time_reduction(m->comm);
    GPU(cudaFree(coords));
    GPU(cudaFree(ids));
    GPU(cudaFree(own));
    GPU(cudaFree(distance2));
    const std::vector<double> rebuilt = time_rebuilds(tree, &m->found.moved);
    m->found.rebuild = median(std::vector<double>(rebuilt.begin() + 2, rebuilt.end()));
    sap_cluster_free(tree);
    sap_comm_close(m->comm);
    sap_device_close(device);
    return NULL;
}

static times several_gpus() {
    sap_comm* comms[MOST_GPUS];
    member ranks[MOST_GPUS] = {};
    times result = {};
    if (by_nccl) {
        sap_device* device = device_on(0);
        expect(sap_comm_nccl_id(device, NULL, &nccl_id) == SAP_OK, "there is no NCCL");
        sap_device_close(device);
    } else {
        SAP(sap_comm_open_threads(gpus, NULL, comms));
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)gpus);
    for (int r = 0; r < gpus; r++) {
        ranks[r].rank = r;
        ranks[r].comm = by_nccl ? NULL : comms[r];
        expect(!pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]), "no thread");
    }
    for (int r = 0; r < gpus; r++) {
        pthread_join(ranks[r].thread, NULL);
        result.build = std::max(result.build, ranks[r].found.build);
        result.rebuild = std::max(result.rebuild, ranks[r].found.rebuild);
        result.self = std::max(result.self, ranks[r].found.self);
        result.reduction = std::max(result.reduction, ranks[r].found.reduction);
        result.moved += ranks[r].found.moved;
        result.sum += ranks[r].found.sum;
    }
    pthread_barrier_destroy(&barrier);
    return result;
}

int main(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const long long value = atoll(argv[i + 1]);
        if (!strcmp(argv[i], "--count")) points_in_all = value;
        if (!strcmp(argv[i], "--dims")) dims = (int)value;
        if (!strcmp(argv[i], "--gpus")) gpus = (int)value;
        if (!strcmp(argv[i], "--runs")) runs = (int)value;
        if (!strcmp(argv[i], "-k")) neighbours = (int)value;
        if (!strcmp(argv[i], "--engine")) {
            by_nccl = !strcmp(argv[i + 1], "nccl");
            expect(by_nccl || !strcmp(argv[i + 1], "threads"), "--engine: threads or nccl");
        }
    }
    int count = 0;
    GPU(cudaGetDeviceCount(&count));
    expect(gpus >= 1 && gpus <= MOST_GPUS && gpus <= count, "there are not so many GPUs");
    const times part = one_gpu(points_in_all / gpus, false), one = one_gpu(points_in_all, true);
    const times many = several_gpus();
    printf("%lld points in %d dimensions, medians of %d, milliseconds\n", (long long)points_in_all, dims, runs);
    printf("  one GPU, 1/%d of the points: build %.2f, rebuild %.2f\n", gpus, 1e3 * part.build, 1e3 * part.rebuild);
    printf("  one GPU:  build %.2f, rebuild %.2f, the %d nearest of all points %.2f\n", 1e3 * one.build,
           1e3 * one.rebuild, neighbours, 1e3 * one.self);
    printf("  %d GPUs, %s: build %.2f (%.2f x), the %d nearest of all points %.2f (%.2f x), both %.2f x\n", gpus,
           by_nccl ? "NCCL" : "threads", 1e3 * many.build, one.build / many.build, neighbours, 1e3 * many.self,
           one.self / many.self, (one.build + one.self) / (many.build + many.self));
    printf("  %d GPUs, %s: rebuild, of which %.1f %% change sides, %.2f (%.2f x)\n", gpus, by_nccl ? "NCCL" : "threads",
           100 * many.moved / (double)points_in_all, 1e3 * many.rebuild, one.rebuild / many.rebuild);
    printf("  a reduction of one number: %.1f microseconds\n", 1e6 * many.reduction);
    expect(many.sum == one.sum, "the answers differ");
    printf("  the answers are the same bits\n");
    return 0;
}
