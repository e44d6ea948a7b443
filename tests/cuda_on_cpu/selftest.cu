// Tests of the stand-in for CUDA itself, and how fast it is. Launches go through device/cuda.h, whose
// sap_cuda_launch_list is replaced by the one here.
#include "device/cuda.h"
#include "sanitizers.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failures;

#define CHECK(truth)                                                                                                   \
    do {                                                                                                               \
        if (!(truth)) {                                                                                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #truth);                                                         \
            ++failures;                                                                                                \
        }                                                                                                              \
    } while (0)

static const sap_cuda_calls* const gpu = &sap_cuda_runtime;

void sap_cuda_launch_list(sap_cuda_call*, const void* kernel, sap_cuda_grid grid, void** arguments) {
    cudaError_t status = gpu->launch(kernel, dim3((unsigned)grid.blocks), dim3((unsigned)grid.threads), arguments,
                                     grid.shared, NULL, grid.together, grid.early);
    CHECK(status == cudaSuccess);
}

static void* take(size_t bytes) {
    void* memory = NULL;
    cudaMemPool_t pool = NULL;
    CHECK(gpu->create_pool(&pool, 0) == cudaSuccess);
    CHECK(gpu->allocate(&memory, bytes, pool, NULL) == cudaSuccess && memory != NULL);
    return memory;
}

static void give(void* memory) { CHECK(gpu->release(memory, NULL) == cudaSuccess); }

// ---- Blocks and shared memory.

typedef struct sums {
    float warp[32];
    int reversed[1024];
} sums;

__global__ static void __launch_bounds__(1024) reduce(const int* items, int count, float* sum, int* reversed) {
    SAP_CUDA_SHARED(sums, shared);
    int thread = (int)threadIdx.x, at = (int)(blockIdx.x * blockDim.x) + thread;
    float value = at < count ? (float)items[at] : 0.0f;
    for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down_sync(SAP_ALL_LANES, value, step);
    if (thread % warpSize == 0) shared->warp[thread / warpSize] = value;
    shared->reversed[thread] = at;
    __syncthreads();
    if (at < count) reversed[at] = shared->reversed[blockDim.x - 1 - threadIdx.x];
    if (thread >= warpSize) return;
    value = thread < (int)blockDim.x / warpSize ? shared->warp[thread] : 0.0f;
    for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_xor_sync(SAP_ALL_LANES, value, step);
    if (thread == 0) atomicAdd(sum, value);
}

static void test_reduce(void) {
    enum { COUNT = 5000 };
    int* items = (int*)take(COUNT * sizeof(int));
    int* reversed = (int*)take(COUNT * sizeof(int));
    float* sum = (float*)take(sizeof(float));
    for (int i = 0; i < COUNT; ++i) items[i] = i % 100;
    gpu->fill(sum, 0, sizeof *sum, NULL);
    sap_cuda_grid grid = sap_cuda_grid_for(COUNT, 512);
    grid.shared = sizeof(sums);
    sap_cuda_launch(NULL, reduce, grid, items, (int)COUNT, sum, reversed);
    CHECK(*sum == 50 * 4950.0f && reversed[0] == 511 && reversed[600] == 512 + 511 - 88);
    give(items), give(reversed), give(sum);
}

// ---- Warps.

__global__ static void warps(int* wrong) {
    int lane = (int)threadIdx.x % 32;
    unsigned odd = 0xaaaaaaaau, mine = lane % 2 ? odd : ~odd;
    int bad = 0;
    if (lane % 2) { // other numbers of collectives on the two sides
        bad += __reduce_add_sync(odd, lane) != 256;
        bad += __shfl_sync(odd, lane, 31) != 31;
        bad += __ballot_sync(odd, lane > 15) != 0xaaaa0000u;
    } else {
        bad += __shfl_up_sync(~odd, (double)lane, 2) != (lane < 2 ? lane : lane - 2);
    }
    bad += __reduce_max_sync(mine, lane) != 30 + lane % 2;
    __syncwarp();
    if (lane < 7) bad += __all_sync(0x7fu, lane < 7) != 1 || __any_sync(0x7fu, lane == 9) != 0;
    if (lane >= 7 && lane < 9) bad += __reduce_min_sync(0x180u, (unsigned)lane) != 7;
    bad += __shfl_sync(SAP_ALL_LANES, (long long)lane << 40, 3, 8) != (long long)(lane / 8 * 8 + 3) << 40;
    bad += __shfl_up_sync(SAP_ALL_LANES, lane, 3, 8) != (lane % 8 < 3 ? lane : lane - 3);
    bad += __shfl_down_sync(SAP_ALL_LANES, (unsigned)lane, 3, 8) != (unsigned)(lane % 8 > 4 ? lane : lane + 3);
    bad += __shfl_xor_sync(SAP_ALL_LANES, lane, 5, 16) != (lane ^ 5);
    bad += __match_any_sync(SAP_ALL_LANES, lane / 4) != 0xfu << lane / 4 * 4;
    bad += __reduce_xor_sync(SAP_ALL_LANES, 1u << lane) != SAP_ALL_LANES;
    bad += __reduce_or_sync(SAP_ALL_LANES, 1u << lane) != SAP_ALL_LANES;
    bad += __reduce_and_sync(SAP_ALL_LANES, ~(1u << lane)) != 0;
    bad += __reduce_add_sync(SAP_ALL_LANES, -lane) != -496 || __reduce_min_sync(SAP_ALL_LANES, -lane) != -31;
    bad += __syncthreads_count(lane == 0) != (int)blockDim.x / 32;
    bad += __syncthreads_or(threadIdx.x == 40) != 1 || __syncthreads_or(0) != 0;
    bad += __syncthreads_and(1) != 1 || __syncthreads_and(threadIdx.x != 40) != 0;
    if (bad != 0) atomicAdd(wrong, bad);
    if (threadIdx.x >= 64) return; // barriers count them as arrived
    __syncthreads();
    if (__syncthreads_count(1) != 64) atomicAdd(wrong, 1);
}

static void test_warps(void) {
    int* wrong = (int*)take(sizeof(int));
    *wrong = 0;
    sap_cuda_launch(NULL, warps, sap_cuda_grid{3, 128, 0, false}, wrong);
    CHECK(*wrong == 0);
    give(wrong);
}

// ---- Blocks that wait for blocks.

__global__ static void prefix(const int* items, volatile int* flags, volatile int* totals, int* sums_before) {
    int sum = __reduce_add_sync(SAP_ALL_LANES, items[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x != 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (flags[blockIdx.x - 1] == 0) SAP_CUDA_SPIN();
        __threadfence();
        before = totals[blockIdx.x - 1];
    }
    sums_before[blockIdx.x] = before;
    totals[blockIdx.x] = before + sum;
    __threadfence();
    flags[blockIdx.x] = 1;
}

static void test_look_back(void) {
    enum { BLOCKS = 500 };
    int* memory = (int*)take(BLOCKS * 35 * sizeof(int));
    int *flags = memory + 32 * BLOCKS, *totals = flags + BLOCKS, *before = totals + BLOCKS;
    gpu->fill(flags, 0, BLOCKS * sizeof(int), NULL);
    for (int i = 0; i < 32 * BLOCKS; ++i) memory[i] = i;
    sap_cuda_launch(NULL, prefix, sap_cuda_grid{BLOCKS, 32, 0, false}, memory, flags, totals, before);
    for (int i = 0; i < BLOCKS; ++i) CHECK(before[i] == 32 * i * (32 * i - 1) / 2);
    give(memory);
}

__global__ static void together(unsigned* arrived, int* turns, int rounds) {
    SAP_CUDA_SHARED(int, shared);
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x == 0) {
            *shared = round + (int)blockIdx.x;
            atomicAdd(&turns[round], 1);
            __threadfence();
            atomicAdd(arrived, 1u);
            while (atomicAdd(arrived, 0u) < gridDim.x * (unsigned)(round + 1)) SAP_CUDA_SPIN();
        }
        __syncthreads();
        if (turns[round] != (int)gridDim.x || *shared != round + (int)blockIdx.x) __trap();
        __syncthreads();
    }
}

static void test_together(void) {
    int* memory = (int*)take(101 * sizeof(int));
    gpu->fill(memory, 0, 101 * sizeof(int), NULL);
    sap_cuda_launch(NULL, together, sap_cuda_grid{3, 1024, 64, true}, (unsigned*)memory, memory + 1, 100);
    CHECK(memory[0] == 300);
    give(memory);
}

// ---- The table, numbers, several host threads.

__global__ static void copy_shared(char* to, int bytes) {
    SAP_CUDA_SHARED(char, shared);
    for (int i = (int)threadIdx.x; i < bytes; i += (int)blockDim.x) shared[i] = (char)i;
    __syncthreads();
    if (threadIdx.x == 0) *to = shared[bytes - 1];
    if ((uintptr_t)shared % 16 != 0) __trap();
}

static void test_table(void) {
    int ordinal = 7, value = 0;
    char* memory = (char*)take(100);
    CHECK(gpu->on_device(memory + 99, &ordinal) == cudaSuccess && ordinal == 0);
    CHECK(gpu->on_device(&value, &ordinal) == cudaSuccess && ordinal == -1);
    CHECK((unsigned char)memory[50] == 0xA5 && cuda_on_cpu_blocks() == 1);
    char rows[6] = {1, 2, 3, 4, 5, 6}, back[4];
    CHECK(gpu->copy(memory, 50, rows, 3, 2, 2, NULL) == cudaSuccess && memory[50] == 4 && memory[51] == 5);
    CHECK(gpu->copy(back, 2, memory, 50, 2, 2, NULL) == cudaSuccess && back[3] == 5);
    CHECK(gpu->attribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess && value == 232448);
    void* none = memory;
    CHECK(gpu->allocate(&none, (size_t)1 << 40, NULL, NULL) == cudaErrorMemoryAllocation && none == NULL);
    void* list[] = {&memory, &value, NULL};
    const void* kernel = (const void*)copy_shared;
    cuda_on_cpu_kernel = &cuda_on_cpu_call<char*, int>;
    CHECK(gpu->launch(kernel, 1, 64, list, 232448, NULL, false, false) == cudaErrorInvalidValue);
    CHECK(gpu->launch(kernel, 1, 1025, list, 0, NULL, false, false) == cudaErrorInvalidConfiguration);
    CHECK(gpu->launch(kernel, 4, 32, list, 0, NULL, true, false) == cudaErrorCooperativeLaunchTooLarge);
    CHECK(gpu->allow_shared(kernel, 232448) == cudaSuccess);
    CHECK(gpu->launch(kernel, 1, 64, list, 232448, NULL, false, false) == cudaSuccess && *memory == (char)232447);
    give(memory);
}

static void test_numbers(void) {
    CHECK(__clz(0) == 32 && __clz(1) == 31 && __clzll(1) == 63 && __ffs(8) == 4 && __ffsll(0) == 0);
    CHECK(__brev(1) == 0x80000000u && __popc(255) == 8 && __popcll(~0ull) == 64);
    CHECK(__byte_perm(0x33221180, 0x77665544, 0x7408) == 0x774480ffu);
    CHECK(__funnelshift_l(0x80000001u, 2, 1) == 5 && __funnelshift_r(2, 1, 1) == 0x80000001u);
    CHECK(__funnelshift_l(1, 2, 32) == 2 && __umulhi(1u << 31, 4) == 2 && __umul64hi(1ull << 63, 4) == 2);
    CHECK(__int_as_float(__float_as_int(1.5f)) == 1.5f && __float_as_uint(1.0f) == 0x3f800000u);
    CHECK(__fadd_rd(1.0f, 1e-20f) == 1.0f && __fadd_ru(1.0f, 1e-20f) == 1.0f + FLT_EPSILON);
    CHECK(__dmul_rd(0.1, 0.1) <= 0.1 * 0.1 && __fadd_rd(FLT_MAX, FLT_MAX) == FLT_MAX);
    CHECK(__fmaf_rn(2, 3, 4) == 10 && __float2int_rd(-1.5f) == -2 && __float2int_ru(1e20f) == INT_MAX);
    CHECK(__float2int_rn(2.5f) == 2 && __double2uint_rz(-3.0) == 0 && __float2uint_rz(NAN) == 0);
    CHECK(min(-1, 1u) == 1u && max(1.0f, 2.0) == 2.0 && min(NAN, 3.0f) == 3.0f && max(-1LL, 3LL) == 3);
    unsigned long long wide = 5;
    CHECK(atomicCAS(&wide, 5ull, 6ull) == 5 && atomicMax(&wide, 9ull) == 6 && atomicExch(&wide, 1ull) == 9);
    float4 four = make_float4(1, 2, 3, 4);
    CHECK(__ldg(&four).w == 4 && __ldcg(&four).x == 1 && sizeof(float3) == 12 && alignof(double4) == 16);
    __stcs(&four.x, 7), __stcg(&four, make_float4(four.x, 0, 0, 0));
    CHECK(four.x == 7 && four.y == 0);
    __builtin_assume(four.x > 0);
}

static void* launch_often(void*) {
    for (int i = 0; i < 50; ++i) test_warps();
    return NULL;
}

static void test_host_threads(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, launch_often, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

#include "selftest_failures.h"
#include "selftest_speed.h"

int main(void) {
    test_numbers();
    test_table();
    for (int order = 0; order < 2; ++order) {
        test_reduce();
        test_warps();
        test_look_back();
        test_together();
        test_failures();
        test_host_threads();
        cuda_on_cpu_backwards = !cuda_on_cpu_backwards;
    }
    print_speed();
    CHECK(cuda_on_cpu_blocks() == 0);
    printf(failures == 0 ? "all passed\n" : "%d failures\n", failures);
    return failures != 0;
}
