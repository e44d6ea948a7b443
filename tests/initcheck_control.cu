// A program without fault for initcheck, and nothing of Sapwood in it: threads, each with a stream of its own, allocate
// memory, fill it by one kernel, read it by the next and free it. What the tool reports of it is the tool's own.
// Usage: initcheck_control THREADS. Exit: 0, 1 if CUDA fails or a sum is wrong.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

enum { ROUNDS = 60, ARRAYS = 6, WORDS = 30000, BLOCK = 128 };

static std::atomic<bool> failed{false};

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    failed = true;
}

static __global__ void fill(unsigned* words, unsigned value) {
    for (unsigned i = blockIdx.x * BLOCK + threadIdx.x; i < WORDS; i += BLOCK * gridDim.x) words[i] = value;
}

static __global__ void add(const unsigned* words, unsigned long long* sum) {
    unsigned long long own = 0;
    for (unsigned i = threadIdx.x; i < WORDS; i += BLOCK) own += words[i];
    atomicAdd(sum, own);
}

static void work() {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int round = 0; round < ROUNDS && !failed; round++) {
        unsigned* words[ARRAYS];
        unsigned long long *sum, found = 0, expected = 0;
        check(cudaMallocAsync((void**)&sum, sizeof *sum, stream));
        check(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
        for (unsigned i = 0; i < ARRAYS; i++) check(cudaMallocAsync((void**)&words[i], WORDS * sizeof **words, stream));
        if (failed) break;
        for (unsigned i = 0; i < ARRAYS; i++) fill<<<1 + i, BLOCK, 0, stream>>>(words[i], i + 1);
        for (unsigned i = 0; i < ARRAYS; i++) add<<<1, BLOCK, 0, stream>>>(words[i], sum);
        for (unsigned i = 0; i < ARRAYS; i++) expected += WORDS * (unsigned long long)(i + 1);
        check(cudaMemcpyAsync(&found, sum, sizeof found, cudaMemcpyDeviceToHost, stream));
        for (unsigned i = 0; i < ARRAYS; i++) check(cudaFreeAsync(words[i], stream));
        check(cudaFreeAsync(sum, stream));
        check(cudaStreamSynchronize(stream));
        if (found != expected) failed = true;
    }
    check(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
    std::vector<std::thread> threads;
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    return failed;
}
