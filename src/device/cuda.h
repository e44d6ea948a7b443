// CUDA GPUs for the rooms: memory, copies and launches, each through a table that tests can replace.
//
// A room's function opens a sap_cuda_call, takes memory and brings arrays in and out through it, launches kernels, and
// closes it. Everything happens in the device's one stream, so scratch memory can go from call to call without waiting; only
// messages between GPUs have a stream beside it, and the host waits for both before such memory goes on.
// A call returns before the GPU is done only if the device works in the caller's stream and every array that the call
// was given lies on the device.
//
// Files called *.cu are CUDA C in the style of C. They are also compiled as C++ by the host's compiler against a
// stand-in for the CUDA runtime (tests/cuda_on_cpu), so that kernels are tested where there is no GPU. That asks for
// two rules: shared memory is one struct in dynamic shared memory (SAP_CUDA_SHARED), and a loop that waits for another
// thread calls SAP_CUDA_SPIN().
#ifndef SAPWOOD_DEVICE_CUDA_H
#define SAPWOOD_DEVICE_CUDA_H

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

#include "device/cuda_device.h"

extern "C" {
#include "base/assert.h"
#include "math/dialect.h"
}

// ---- What tests replace.

typedef struct sap_cuda_calls {
    cudaError_t (*count_devices)(int* count);
    cudaError_t (*current_device)(int* ordinal);
    cudaError_t (*use_device)(int ordinal);
    cudaError_t (*attribute)(int* value, cudaDeviceAttr attribute, int ordinal);
    cudaError_t (*create_stream)(cudaStream_t* stream);
    cudaError_t (*destroy_stream)(cudaStream_t stream);
    cudaError_t (*wait)(cudaStream_t stream);
    cudaError_t (*look)(cudaStream_t stream);                 // cudaErrorNotReady: it has work
    cudaError_t (*capturing)(cudaStream_t stream, bool* yes); // whether work put there goes into a graph
    cudaError_t (*create_pool)(cudaMemPool_t* pool, int ordinal);
    cudaError_t (*destroy_pool)(cudaMemPool_t pool);
    cudaError_t (*allocate)(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
    cudaError_t (*release)(void* memory, cudaStream_t stream);
    // The GPU that memory belongs to, or one of sap_cuda_host.
    cudaError_t (*on_device)(const void* memory, int* ordinal);
    // Rows of `width` bytes, their starts so many bytes apart; either side may be host or device.
    cudaError_t (*copy)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                        cudaStream_t stream);
    cudaError_t (*fill)(void* memory, int byte, size_t bytes, cudaStream_t stream);
    cudaError_t (*pin)(void** memory, size_t bytes); // page-locked host memory
    cudaError_t (*unpin)(void* memory);
    cudaError_t (*create_event)(cudaEvent_t* event);
    cudaError_t (*destroy_event)(cudaEvent_t event);
    cudaError_t (*record)(cudaEvent_t event, cudaStream_t stream);
    cudaError_t (*wait_event)(cudaEvent_t event); // returns at once for an event that was never recorded
    cudaError_t (*allow_shared)(const void* kernel, size_t bytes);
    cudaError_t (*blocks_at_once)(int* blocks, const void* kernel, int threads, size_t shared); // on a multiprocessor
    cudaError_t (*launch)(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                          cudaStream_t stream, bool together, bool early);
    // The compute capability, times ten, for which the code was compiled that the current GPU runs; 0: no launch begins early.
    cudaError_t (*compiled_for)(int* version);
    cudaError_t (*name)(char* text, size_t bytes, int ordinal); // of the GPU
    // Lets the current GPU, and memory of the pool, which is its, and another GPU reach each other. Where they cannot, CUDA
    // takes copies through the host.
    void (*reach)(int ordinal, int other, cudaMemPool_t pool);
    size_t chunk_bytes; // of page-locked memory, see device/cuda_staging.cu; smaller copies are left to CUDA
} sap_cuda_calls;

// Kinds of host memory: pageable, or page-locked, from which a GPU can read at full speed.
enum sap_cuda_host { SAP_CUDA_PAGEABLE = -1, SAP_CUDA_PINNED = -2 };

// The functions of the CUDA runtime, or of its stand-in.
extern const sap_cuda_calls sap_cuda_runtime;

// ---- The device.

typedef struct sap_cuda_block { // of device memory
    unsigned char* memory;
    size_t bytes;
    bool kept; // a graph may use it whenever it is launched: only sap_device_trim frees it
} sap_cuda_block;

enum { SAP_CUDA_CHUNKS = 4 };

// Page-locked chunks on the way between host memory and the GPU.
typedef struct sap_cuda_staging {
    int taken;  // by the one call that uses them
    int chunks; // that there are
    struct {
        unsigned char* memory;
        cudaEvent_t done; // the GPU no longer uses the chunk
    } chunk[SAP_CUDA_CHUNKS];
} sap_cuda_staging;

typedef struct sap_cuda {
    const sap_cuda_calls* calls;
    int ordinal;
    cudaStream_t stream;
    cudaMemPool_t pool; // NULL: the caller's allocator
    bool caller_stream; // calls on device memory need not wait
    bool lost;          // after a sticky error
    int multiprocessors;
    size_t shared_bytes; // most that a block may have
    bool begins_early;   // kernels can begin before the launch before has ended
    int lock;            // guards idle
    sap_cuda_block idle[SAP_SCRATCH_BLOCKS];
    sap_cuda_staging staging;
    uint64_t reached;      // GPUs, as bits, that were told of this one
    cudaStream_t messages; // for copies from these, beside the work in `stream`; NULL: none yet
    int64_t* bad;          // on the GPU: lowest bad row of the builds that did not wait, or INT64_MAX
    int64_t radius_hits;   // that the last radius search found for 1024 queries; 0: none yet
} sap_cuda;

static inline sap_cuda* sap_cuda_of(const sap_device* device) { return (sap_cuda*)device->processor_state; }

// Opens with other calls than the runtime's; sap_cuda_open uses sap_cuda_runtime.
extern "C" sap_status sap_cuda_open_with(sap_device* device, const sap_cuda_calls* calls);

// ---- device/cuda_call.cu: the memory that lies idle.
size_t sap_cuda_idle_bytes(sap_device* device);

// ---- A call.

enum {
    SAP_CUDA_CALL_BLOCKS = 32,
    SAP_CUDA_CALL_OUTPUTS = 12,
    SAP_CUDA_SHARED_EVERYWHERE = 64 << 10 // bytes of shared memory that a block can have on any GPU since Turing
};

typedef struct sap_cuda_output { // to be copied to the host when the call ends
    void *host, *device;
    size_t bytes;
} sap_cuda_output;

typedef struct sap_cuda_call {
    sap_device* device;
    sap_cuda* cuda;
    sap_status status; // of the first failure; once it is not SAP_OK, everything below does nothing
    int previous;      // the caller's current GPU
    bool waits;        // the host has to wait for the GPU at the end
    bool quiet;        // failures are not logged
    bool captured;     // the caller captures it into a graph: nothing may wait, and only idle memory may be taken
    bool reserved;     // a tree's arrays have been taken for what this call builds: its old contents are gone
    int blocks, outputs;
    sap_cuda_block block[SAP_CUDA_CALL_BLOCKS];
    sap_cuda_output output[SAP_CUDA_CALL_OUTPUTS];
} sap_cuda_call;

// Begins a call on a device. SAP_ERROR_DEVICE_LOST if it is lost. sap_cuda_end must follow in either case.
sap_status sap_cuda_begin(sap_cuda_call* call, const sap_device* device);
// Copies outputs to the host, waits if need be, gives scratch memory back; the call's status, or `status` if it is an
// error that the room found.
sap_status sap_cuda_end(sap_cuda_call* call, sap_status status);
// Scratch memory of at least `bytes`, aligned to 256, until the end of the call. NULL on failure.
void* sap_cuda_take(sap_cuda_call* call, size_t bytes);
// Frees scratch memory before the end of the call, whose work so far may still use it. NULL is fine.
void sap_cuda_give(sap_cuda_call* call, const void* memory);
// Device memory that outlives the call, to be released by sap_cuda_release. NULL on failure.
void* sap_cuda_allocate(sap_cuda_call* call, size_t bytes);
void sap_cuda_release(sap_device* device, void* memory, size_t bytes);
// `bytes` of the caller's input on the device: itself, or an uploaded copy.
const void* sap_cuda_in(sap_cuda_call* call, const void* memory, size_t bytes);
// Rows with the device's copy of their coordinates (packed if they came from the host).
sap_rows sap_cuda_rows_in(sap_cuda_call* call, const sap_rows* rows);
// Device memory for an output of the caller: itself, or scratch that is copied down at the end. NULL gives NULL.
void* sap_cuda_out(sap_cuda_call* call, void* memory, size_t bytes);
// Whether the caller's memory lies on this GPU (or is managed). Memory of another GPU is SAP_ERROR_ARGUMENT.
bool sap_cuda_on_device(sap_cuda_call* call, const void* memory);
void sap_cuda_copy(sap_cuda_call* call, void* to, const void* from, size_t bytes);
void sap_cuda_fill(sap_cuda_call* call, void* memory, int byte, size_t bytes);
// Copies to the host and waits: for numbers on which the rest of the call depends.
void sap_cuda_fetch(sap_cuda_call* call, void* host, const void* device_memory, size_t bytes);

// Fails the call if CUDA reported an error while `doing` something.
void sap_cuda_expect(sap_cuda_call* call, cudaError_t error, const char* doing);

// ---- device/cuda_staging.cu
// Copies rows of `width` bytes, from_pitch bytes apart, to consecutive memory, if one side is pageable memory of the
// host, the other is not, and there are enough of them. False if it did nothing.
bool sap_cuda_stage(sap_cuda_call* call, void* to, const void* from, size_t from_pitch, size_t width, size_t rows);
// Frees the chunks, unless a call uses them.
void sap_cuda_staging_trim(sap_device* device);

// ---- Launching.

typedef struct sap_cuda_grid {
    int64_t blocks;
    int threads;
    size_t shared; // bytes of dynamic shared memory a block
    bool together; // all blocks run at once, so that they may wait for one another
    // It may begin before the launch before has ended, where GPUs can do so: every thread calls sap_cuda_await_before(), and
    // until then touches nothing that the launch before writes, and writes nothing in global memory.
    bool early = false;
} sap_cuda_grid;

void sap_cuda_launch_list(sap_cuda_call* call, const void* kernel, sap_cuda_grid grid, void** arguments);
// How many blocks of a kernel run at once on the whole GPU; none is a failure. 0 on failure.
int sap_cuda_resident(sap_cuda_call* call, const void* kernel, int threads, size_t shared);

template <typename type> struct sap_cuda_plain { typedef type as; };

#ifdef SAP_CUDA_ON_CPU
#define SAP_CUDA_REMEMBER(kernel, types) cuda_on_cpu_kernel = &cuda_on_cpu_call<types>;
#else
#define SAP_CUDA_REMEMBER(kernel, types)
#endif

// Launches kernel(arguments…). A grid of no blocks launches nothing.
template <typename... types>
static void sap_cuda_launch(sap_cuda_call* call, void (*kernel)(types...), sap_cuda_grid grid,
                            typename sap_cuda_plain<types>::as... arguments) {
    void* list[] = {(void*)&arguments..., nullptr};
    SAP_CUDA_REMEMBER(kernel, types...)
    sap_cuda_launch_list(call, (const void*)kernel, grid, list);
}

// Enough blocks of `threads` for one thread an item.
static inline sap_cuda_grid sap_cuda_grid_for(int64_t items, int threads) {
    SAP_ASSERT(items >= 0 && threads > 0);
    sap_cuda_grid grid = {(items + threads - 1) / threads, threads, 0, false};
    return grid;
}

// ---- In kernels.

#define SAP_CUDA_EARLY_FROM 90 // compute capability, times ten, from which kernels begin early

#ifdef SAP_CUDA_ON_CPU
#define SAP_CUDA_SHARED(type, name) type* name = (type*)cuda_on_cpu_shared()
#define SAP_CUDA_SPIN()             cuda_on_cpu_yield()
#else
// The block's dynamic shared memory as one struct.
#define SAP_CUDA_SHARED(type, name)                                                                                    \
    extern __shared__ __align__(16) unsigned char sap_cuda_shared_bytes[];                                             \
    type* name = (type*)sap_cuda_shared_bytes
#define SAP_CUDA_SPIN() __nanosleep(20)
#endif

// Waits until the launches before have ended, if this one began early (programmatic dependent launch, from Hopper on). Once
// every block is here, the next launch may begin: what that one reads before it waits must be older than this launch, and
// past the first-level cache if other kernels changed it; and this one must not change it.
static __device__ __forceinline__ void sap_cuda_await_before(void) {
#ifdef SAP_CUDA_ON_CPU
    cuda_on_cpu_await();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= SAP_CUDA_EARLY_FROM * 10
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

enum { SAP_WARP = 32 };
#define SAP_ALL_LANES 0xffffffffu

// All blocks of a grid that runs together wait for each other, and each sees what the others wrote before. *arrived is 0 at
// first and never set back: *rounds, which each thread has for itself, says what it must reach.
static __device__ __forceinline__ void sap_cuda_meet(unsigned int* arrived, unsigned int* rounds) {
    ++*rounds;
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned int all = *rounds * gridDim.x;
        __threadfence();
        atomicAdd(arrived, 1u);
        while ((int)(*(volatile unsigned int*)arrived - all) < 0) SAP_CUDA_SPIN();
        __threadfence();
    }
    __syncthreads();
}

#endif
