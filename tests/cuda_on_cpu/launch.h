// What the scheduler knows of a launch, and how the launching half sets it up.
#ifndef CUDA_ON_CPU_LAUNCH_H
#define CUDA_ON_CPU_LAUNCH_H

#include "cuda_runtime.h"
#include "fibers.h"

typedef struct cuda_thread {
    uint3 index;
    uint32_t bit, mask; // of its lane; of the warp collective in which it waits
    int lane;
    bool awaited; // the launch before
    cuda_on_cpu_kind waits;
    struct cuda_warp* warp;
    struct cuda_block* block;
    fiber* on; // NULL until it starts
} cuda_thread;

typedef struct cuda_meeting { // of the lanes of one mask, in one warp collective
    cuda_on_cpu_kind kind;
    uint32_t mask, arrived, left;
    uint64_t value[32];
} cuda_meeting;

typedef struct cuda_warp { // sets of lanes and, below, of meetings
    cuda_thread* first;
    uint32_t started, ready, yielded, at_barrier, exited;
    uint32_t used, open; // open: some lanes are missing
    cuda_meeting meeting[32];
} cuda_warp;

typedef struct cuda_block {
    uint3 index;
    int threads, warps, live;
    cuda_on_cpu_kind kind; // of the barrier at which `arrived` threads are
    int arrived, truths;
    int met, met_truths; // of the barrier before
    cuda_thread* thread;
    cuda_warp* warp;
    unsigned char* shared;
} cuda_block;

typedef struct cuda_launch {
    const void* kernel; // NULL between launches
    void (*call)(const void* kernel, void** arguments);
    void** arguments;
    bool together, early;
    int alive; // blocks, in block[]
    cuda_block* block;
} cuda_launch;

cuda_launch* cuda_on_cpu_launch_state(void);
// Runs the blocks that are set up until all their threads have exited.
void cuda_on_cpu_run_blocks(void);

enum {
    CUDA_ON_CPU_MULTIPROCESSORS = 3,
    CUDA_ON_CPU_THREADS = 1024,    // most that a block has
    CUDA_ON_CPU_SHARED = 48 << 10, // bytes that a block may have unasked
    CUDA_ON_CPU_SHARED_OPTIN = 227 << 10
};

cudaError_t cuda_on_cpu_allow_shared(const void* kernel, size_t bytes);

#endif
