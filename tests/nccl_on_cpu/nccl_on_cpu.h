// A stand-in for NCCL, for the pretended GPUs of tests/cuda_on_cpu: a library that is loaded as NCCL is, and has the functions
// of it that Sapwood uses. Its calls never block, and what NCCL says nothing of, it says nothing of: a rank that aborts
// leaves the others waiting.
#ifndef NCCL_ON_CPU_H
#define NCCL_ON_CPU_H

#include <stdbool.h>
#include <stdint.h>

typedef enum nccl_on_cpu_kind {
    NCCL_ON_CPU_NONE,
    NCCL_ON_CPU_ID,
    NCCL_ON_CPU_INIT,
    NCCL_ON_CPU_START,
    NCCL_ON_CPU_END,
    NCCL_ON_CPU_SEND,
    NCCL_ON_CPU_RECEIVE,
    NCCL_ON_CPU_GATHER,
    NCCL_ON_CPU_REDUCE,
    NCCL_ON_CPU_POLL, // ncclCommGetAsyncError, while there is work
    NCCL_ON_CPU_FINALIZE,
    NCCL_ON_CPU_KINDS
} nccl_on_cpu_kind;

// Tests set it while no call is under way.
typedef struct nccl_on_cpu_state {
    int version;
    int (*lies_on)(const void* memory); // if not NULL, buffers for which it gives a negative number are refused
    nccl_on_cpu_kind fail_kind;
    int64_t seen, fail_at; // call of that kind, counted from 1, that fails
    int64_t comms;         // open
} nccl_on_cpu_state;

// The library's function `nccl_on_cpu`.
typedef nccl_on_cpu_state* nccl_on_cpu_function(void);

#endif
