// What tests of CUDA devices need of device/cuda.h, which is C++: devices whose calls are watched and can be made to
// fail, memory on the GPU, a stream.
#ifndef SAPWOOD_TESTS_CUDA_TOOLS_H
#define SAPWOOD_TESTS_CUDA_TOOLS_H

#include "sapwood/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cuda_tools_kind {
    CUDA_TOOLS_ALLOCATE,
    CUDA_TOOLS_COPY,
    CUDA_TOOLS_FILL,
    CUDA_TOOLS_LAUNCH,
    CUDA_TOOLS_WAIT,
    CUDA_TOOLS_RELEASE,
    CUDA_TOOLS_CREATE, // a stream, a pool or an event
    CUDA_TOOLS_PIN,    // page-locked memory
    CUDA_TOOLS_RECORD, // an event
    CUDA_TOOLS_KINDS
} cuda_tools_kind;

typedef enum cuda_tools_error {
    CUDA_TOOLS_NO_MEMORY,       // which leaves the GPU as it was
    CUDA_TOOLS_ILLEGAL_ADDRESS, // after which every call fails
    CUDA_TOOLS_OLD_DRIVER,
    CUDA_TOOLS_NO_GPU
} cuda_tools_error;

// Of all devices that cuda_tools_open opened.
typedef struct cuda_tools_state {
    int64_t calls[CUDA_TOOLS_KINDS]; // so far
    int64_t blocks;                  // of GPU memory, not yet released
    int64_t objects;                 // streams, pools, events and page-locked chunks, not yet destroyed
    // Of the calls whose kind is in fail_kinds (bits), number fail_at (from 1) fails, and with fail_on all later ones;
    // 0: none does.
    unsigned fail_kinds;
    int64_t seen, fail_at;
    bool fail_on;
    cuda_tools_error error;
    bool failed; // it has
    // What counting the GPUs comes to: a number, or, if that is negative, `error`.
    int gpus;
    bool pretends_capture; // streams say that they are being captured, but do the work at once
    bool has_no_room;      // not one block of a kernel fits on a multiprocessor
    bool launches_nothing; // though launches succeed
    int64_t given_early;   // see cuda_tools_watch_scratch
    int shared_bytes;      // of shared memory that a block may have; 0: as many as there are
    int multiprocessors;   // of a GPU; 0: as many as there are
    int compiled_for; // the compute capability, times ten, that the code of the last device opened was said to be for
    int is_compiled_for;    // what is said of it; 0: the truth
    int64_t early_launches; // so far, of those that might begin early
} cuda_tools_state;

extern cuda_tools_state cuda_tools;

// Nothing fails, as many GPUs as there are, calls counted from 0.
void cuda_tools_reset(void);
// What the chunks of page-locked memory hold on devices opened with cuda_tools_open: copies of so many bytes and more
// go through them.
enum { CUDA_TOOLS_CHUNK = 16 << 10 };
// sap_device_open for a CUDA device whose calls are watched. The options must have an allocator.
sap_status cuda_tools_open(const sap_device_options* options, sap_device** device);
// A call that takes so many blocks of scratch memory.
sap_status cuda_tools_take(sap_device* device, int blocks);
// From now on, of this thread's copies to the device from its scratch memory on the host, counts those for which the thread has not
// waited when this memory goes back. NULL: of none.
void cuda_tools_watch_scratch(sap_device* device);
// GPU memory, in a stream that is the caller's own. These wait.
void* cuda_tools_allocate(size_t bytes);
void cuda_tools_release(void* memory);
void cuda_tools_copy(void* to, const void* from, size_t bytes);
void* cuda_tools_stream(void);
// Page-locked memory of the host, or NULL.
void* cuda_tools_pin(size_t bytes);
void cuda_tools_unpin(void* memory);
// What is put into a stream from `begin` on goes into a graph, which `end` gives; false or NULL where there are none.
bool cuda_tools_capture_begin(void* stream);
void* cuda_tools_capture_end(void* stream);
bool cuda_tools_graph_launch(void* graph, void* stream); // waits
void cuda_tools_graph_destroy(void* graph);
// As a device_allocator; user is an int64_t[2] that counts calls and blocks in use.
void* cuda_tools_own_allocate(void* user, size_t bytes, size_t alignment);
void cuda_tools_own_release(void* user, void* memory, size_t bytes);
// How many GPUs there are. Where the CPU plays them, there are `wanted` from now on.
int cuda_tools_gpus(int wanted);
// The GPU on which memory lies; negative: it is the host's.
int cuda_tools_lies_on(const void* memory);
// Whether the CPU plays the GPU.
bool cuda_tools_emulated(void);

#ifdef __cplusplus
}
#endif
#endif
