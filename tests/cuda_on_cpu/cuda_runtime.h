// A stand-in for the CUDA runtime: CUDA C compiled as C++17 by the host's compiler, its threads run as fibers on one
// thread of the CPU. For tests on machines without a GPU; put this folder before CUDA's own headers.
//
// Ordinary launches run their blocks one after the other; cooperative ones keep all blocks alive. A thread gives way
// only where it waits: at barriers, in warp collectives and in cuda_on_cpu_yield. What would be undefined on a GPU, and
// what would wait for ever, aborts with a sentence on stderr.
#ifndef CUDA_ON_CPU_RUNTIME_H
#define CUDA_ON_CPU_RUNTIME_H

#ifndef SAP_CUDA_ON_CPU
#define SAP_CUDA_ON_CPU
#endif

#include <cmath>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utility>

// ---- CUDA's words.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ static // one for all blocks: wrong in cooperative launches, where blocks live side by side
#ifdef __SANITIZE_ADDRESS__
#define __forceinline__ inline // what sanitizers add makes compiling large functions slow
#else
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "cuda_on_cpu_types.h"

// ---- Where a thread is. The scheduler sets these whenever another thread goes on.

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
enum { warpSize = 32 };

// The block's dynamic shared memory, aligned to 256, filled with 0xA5 when the block starts.
void* cuda_on_cpu_shared(void);
// Lets the other threads go on: for loops that wait for another thread.
void cuda_on_cpu_yield(void);
// Says what is wrong, where, and what every thread waits for; aborts.
[[noreturn]] __attribute__((format(printf, 1, 2))) void cuda_on_cpu_fail(const char* format, ...);
// Whatever counts up here keeps spinning threads from being taken for a deadlock.
extern uint64_t cuda_on_cpu_progress;

extern "C" {
// Blocks of device memory that have not been released.
int64_t cuda_on_cpu_blocks(void);
// How many GPUs there are, from 1 to 16; at first one, or as many as CUDA_ON_CPU_DEVICES in the environment says.
extern int cuda_on_cpu_devices;
// Runs blocks (of cooperative launches), warps and lanes in descending order, for kernels that rely on an order they
// were never promised. Set from the start if the environment has CUDA_ON_CPU_BACKWARDS.
extern bool cuda_on_cpu_backwards;
}

// ---- Launches, for device/cuda.h.

// Calls the kernel that this OS thread launches next.
extern thread_local void (*cuda_on_cpu_kernel)(const void* kernel, void** arguments);

template <typename... types, size_t... places>
static inline void cuda_on_cpu_call_at(const void* kernel, void** arguments, std::index_sequence<places...>) {
    (void)arguments; // of kernels without parameters
    ((void (*)(types...))(uintptr_t)kernel)(*(types*)arguments[places]...);
}

template <typename... types> static void cuda_on_cpu_call(const void* kernel, void** arguments) {
    cuda_on_cpu_call_at<types...>(kernel, arguments, std::index_sequence_for<types...>());
}

// A launch as the table does it, for tests without a device.
cudaError_t cuda_on_cpu_launch(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                               cudaStream_t stream, bool together, bool early);
// Every thread of an early launch has to wait for the launch before, which has in fact ended: so it is not seen what a thread
// reads too early, nor what it writes without an atomic.
void cuda_on_cpu_await(void);
// Stops a thread of an early launch that changes global memory by an atomic before it has waited.
void cuda_on_cpu_look_at_store(const volatile void* at);

#include "cuda_on_cpu_atomics.h"
#include "cuda_on_cpu_collectives.h"
#include "cuda_on_cpu_numbers.h"

#endif
