// How long launches and waits take on the stand-in for CUDA; part of selftest.cu.
#ifndef CUDA_ON_CPU_SELFTEST_SPEED_H
#define CUDA_ON_CPU_SELFTEST_SPEED_H

__global__ static void empty(void) {}

__global__ static void sync_often(int times) {
    for (int i = 0; i < times; ++i) __syncthreads();
}

__global__ static void shuffle_often(int times, int* cell) {
    unsigned value = threadIdx.x;
    for (int i = 0; i < times; ++i) value += __shfl_xor_sync(SAP_ALL_LANES, value, 1);
    if (value == 1) *cell = 1;
}

static double now(void) { return 1e-9 * (double)clock64(); }

static void print_speed(void) {
    int* cell = (int*)take(sizeof(int));
    sap_cuda_launch(NULL, sync_often, sap_cuda_grid{1, 1024, 0, false}, 1); // makes the fibers
    double start = now();
    for (int i = 0; i < 1000; ++i) sap_cuda_launch(NULL, empty, sap_cuda_grid{1, 1024, 0, false});
    printf("empty launch of 1024 threads: %.1f us\n", (now() - start) * 1e3);
    start = now();
    for (int i = 0; i < 1000; ++i) sap_cuda_launch(NULL, sync_often, sap_cuda_grid{1, 1024, 0, false}, 1);
    printf("launch of 1024 threads, one __syncthreads: %.1f us\n", (now() - start) * 1e3);
    for (int threads = 32; threads <= 1024; threads *= 32) {
        start = now();
        sap_cuda_launch(NULL, sync_often, sap_cuda_grid{1, threads, 0, false}, 1024000 / threads);
        printf("__syncthreads of %d: %.1f ns a thread\n", threads, (now() - start) * 1e9 / 1024000);
    }
    start = now();
    sap_cuda_launch(NULL, shuffle_often, sap_cuda_grid{1, 1024, 0, false}, 1000, cell);
    printf("shuffle: %.1f ns a thread\n", (now() - start) * 1e9 / 1024000);
    give(cell);
}

#endif
