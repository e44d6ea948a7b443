// Fibers: stacks of their own among which one thread of the CPU goes back and forth. They are kept for ever and used
// again; one at a time goes on.
#ifndef CUDA_ON_CPU_FIBERS_H
#define CUDA_ON_CPU_FIBERS_H

#include <stddef.h>

typedef struct fiber {
    void* context;              // where it stopped
    unsigned char* stack;       // lowest byte
    struct cuda_thread* thread; // what it runs now
    struct fiber* next;         // idle
    void *asan, *tsan;          // what the sanitizers know it by
} fiber;

// An idle fiber. Resumed for the first time it calls cuda_on_cpu_run_fiber, which never returns.
fiber* fiber_take(void);
void fiber_give(fiber* idle);
// Goes on in the fiber until it pauses.
void fiber_resume(fiber* to);
// Goes back to whoever resumed this fiber.
void fiber_pause(fiber* from);

// The scheduler's.
void cuda_on_cpu_run_fiber(fiber* mine);

#endif
