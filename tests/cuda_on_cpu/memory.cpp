// The table of the runtime's calls over host memory: pretended GPUs, one unless CUDA_ON_CPU_DEVICES says how many. Every
// copy and fill is checked against the blocks that are allocated.
#include "device/cuda.h"
#include "launch.h"
#include <pthread.h>
#include <time.h>

static const size_t capacity = (size_t)16 << 30; // of the pretended GPU

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards what follows
static struct {
    unsigned char* memory;
    size_t bytes;
    int ordinal;
} * blocks;
static int64_t block_count, block_room;
static size_t bytes_in_use;
static const int64_t MOST_PINNED = 256;
static struct {
    unsigned char* memory;
    size_t bytes;
} pinned[MOST_PINNED]; // page-locked memory of the host; free places have none

int64_t cuda_on_cpu_blocks(void) {
    pthread_mutex_lock(&lock);
    int64_t count = block_count;
    pthread_mutex_unlock(&lock);
    return count;
}

// The block that holds a byte, or -1. Under the lock.
static int64_t find(const void* memory) {
    uintptr_t at = (uintptr_t)memory;
    for (int64_t i = 0; i < block_count; ++i)
        if (at - (uintptr_t)blocks[i].memory < blocks[i].bytes) return i;
    return -1;
}

// Aborts unless the bytes lie within one block, or wholly outside all of them. Whether they lie in one.
static bool check(const void* memory, size_t bytes, const char* what) {
    pthread_mutex_lock(&lock);
    int64_t i = find(memory);
    if (i >= 0 && bytes > blocks[i].bytes - (size_t)((const unsigned char*)memory - blocks[i].memory))
        cuda_on_cpu_fail("%s: %zu bytes at %p leave their block of %zu bytes at %p", what, bytes, memory,
                         blocks[i].bytes, (void*)blocks[i].memory);
    for (int64_t j = 0; j < block_count && i < 0; ++j)
        if ((uintptr_t)blocks[j].memory - (uintptr_t)memory < bytes)
            cuda_on_cpu_fail("%s: %zu bytes of the host at %p run into device memory at %p", what, bytes, memory,
                             (void*)blocks[j].memory);
    pthread_mutex_unlock(&lock);
    return i >= 0;
}

// ---- The device.

enum { MOST_DEVICES = 16 };
int cuda_on_cpu_devices = getenv("CUDA_ON_CPU_DEVICES") != NULL ? atoi(getenv("CUDA_ON_CPU_DEVICES")) : 1;
static thread_local int current;

static bool is_device(int ordinal) { return ordinal >= 0 && ordinal < cuda_on_cpu_devices && ordinal < MOST_DEVICES; }

static cudaError_t count_devices(int* count) {
    *count = cuda_on_cpu_devices;
    return cudaSuccess;
}

static cudaError_t current_device(int* ordinal) {
    *ordinal = current;
    return cudaSuccess;
}

static cudaError_t use_device(int ordinal) {
    if (!is_device(ordinal)) return cudaErrorInvalidDevice;
    current = ordinal;
    return cudaSuccess;
}

static cudaError_t attribute(int* value, cudaDeviceAttr which, int ordinal) {
    if (!is_device(ordinal)) return cudaErrorInvalidDevice;
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: *value = CUDA_ON_CPU_THREADS; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = CUDA_ON_CPU_SHARED; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = CUDA_ON_CPU_MULTIPROCESSORS; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = CUDA_ON_CPU_SHARED_OPTIN + 1024; break;
    case cudaDevAttrConcurrentManagedAccess: *value = 0; break;
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = CUDA_ON_CPU_SHARED_OPTIN; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static char stream_dummy, pool_dummy[MOST_DEVICES];

static cudaError_t create_stream(cudaStream_t* stream) {
    *stream = (cudaStream_t)(void*)&stream_dummy;
    return cudaSuccess;
}

static cudaError_t destroy_stream(cudaStream_t) { return cudaSuccess; }
static cudaError_t wait_stream(cudaStream_t) { return cudaSuccess; }

static cudaError_t capturing(cudaStream_t, bool* yes) {
    *yes = false;
    return cudaSuccess;
}

static cudaError_t create_pool(cudaMemPool_t* pool, int ordinal) {
    if (!is_device(ordinal)) return cudaErrorInvalidDevice;
    *pool = (cudaMemPool_t)(void*)&pool_dummy[ordinal];
    return cudaSuccess;
}

static cudaError_t destroy_pool(cudaMemPool_t) { return cudaSuccess; }

// ---- Memory.

static cudaError_t allocate(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t) {
    cudaError_t status = cudaSuccess;
    *memory = NULL;
    if (bytes == 0) return cudaSuccess;
    pthread_mutex_lock(&lock);
    if (bytes > capacity - bytes_in_use || posix_memalign(memory, 256, bytes) != 0) {
        status = cudaErrorMemoryAllocation;
    } else {
        if (block_count == block_room) {
            block_room = 2 * block_room + 64;
            void* more = realloc((void*)blocks, (size_t)block_room * sizeof *blocks);
            if (more == NULL) cuda_on_cpu_fail("no memory for the list of blocks");
            blocks = (decltype(blocks))more;
        }
        memset(*memory, 0xA5, bytes);
        blocks[block_count].memory = (unsigned char*)*memory;
        blocks[block_count].ordinal = (int)((char*)pool - pool_dummy);
        blocks[block_count++].bytes = bytes;
        bytes_in_use += bytes;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static cudaError_t release(void* memory, cudaStream_t) {
    if (memory == NULL) return cudaSuccess;
    pthread_mutex_lock(&lock);
    int64_t i = find(memory);
    if (i < 0 || blocks[i].memory != memory) cuda_on_cpu_fail("release of %p, which is not allocated", memory);
    memset(memory, 0xA5, blocks[i].bytes);
    bytes_in_use -= blocks[i].bytes;
    blocks[i] = blocks[--block_count];
    free(memory);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

// The place of a page-locked byte, or -1. Under the lock.
static int64_t find_pinned(const void* memory) {
    for (int64_t i = 0; i < MOST_PINNED; ++i)
        if ((uintptr_t)memory - (uintptr_t)pinned[i].memory < pinned[i].bytes) return i;
    return -1;
}

static cudaError_t pin(void** memory, size_t bytes) {
    cudaError_t status = cudaErrorMemoryAllocation;
    *memory = NULL;
    pthread_mutex_lock(&lock);
    for (int64_t i = 0; i < MOST_PINNED && !*memory; ++i) {
        if (pinned[i].memory || posix_memalign(memory, 4096, bytes) != 0) continue;
        memset(*memory, 0xA5, bytes);
        pinned[i].memory = (unsigned char*)*memory;
        pinned[i].bytes = bytes;
        status = cudaSuccess;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static cudaError_t unpin(void* memory) {
    pthread_mutex_lock(&lock);
    int64_t i = find_pinned(memory);
    if (i < 0 || pinned[i].memory != memory) cuda_on_cpu_fail("release of %p, which is not page-locked", memory);
    pinned[i].memory = NULL;
    pinned[i].bytes = 0;
    free(memory);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static cudaError_t on_device(const void* memory, int* ordinal) {
    pthread_mutex_lock(&lock);
    const int64_t i = find(memory);
    *ordinal = i >= 0 ? blocks[i].ordinal : find_pinned(memory) >= 0 ? SAP_CUDA_PINNED : SAP_CUDA_PAGEABLE;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

// Everything is done as soon as it is asked for.
static cudaError_t create_event(cudaEvent_t* event) {
    static char event_dummy;
    *event = (cudaEvent_t)(void*)&event_dummy;
    return cudaSuccess;
}

static cudaError_t destroy_event(cudaEvent_t) { return cudaSuccess; }
static cudaError_t record(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
static cudaError_t wait_event(cudaEvent_t) { return cudaSuccess; }

static cudaError_t copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                        cudaStream_t) {
    if (width == 0 || rows == 0) return cudaSuccess;
    if (to_pitch < width || from_pitch < width) return cudaErrorInvalidPitchValue;
    check(to, (rows - 1) * to_pitch + width, "copy to");
    check(from, (rows - 1) * from_pitch + width, "copy from");
    for (size_t row = 0; row < rows; ++row)
        memcpy((unsigned char*)to + row * to_pitch, (const unsigned char*)from + row * from_pitch, width);
    return cudaSuccess;
}

static cudaError_t fill(void* memory, int byte, size_t bytes, cudaStream_t) {
    if (bytes == 0) return cudaSuccess;
    if (!check(memory, bytes, "fill")) cuda_on_cpu_fail("fill of %p, which is no device memory", memory);
    memset(memory, byte, bytes);
    return cudaSuccess;
}

// ---- Launches.

static cudaError_t blocks_at_once(int* count, const void* kernel, int threads, size_t shared) {
    (void)kernel;
    *count = threads >= 1 && threads <= CUDA_ON_CPU_THREADS && shared <= CUDA_ON_CPU_SHARED_OPTIN ? 1 : 0;
    return cudaSuccess;
}

static cudaError_t compiled_for(int* version) {
    *version = 90;
    return cudaSuccess;
}

static cudaError_t name(char* text, size_t bytes, int ordinal) {
    snprintf(text, bytes, "CUDA on the CPU");
    return is_device(ordinal) ? cudaSuccess : cudaErrorInvalidDevice;
}

static void reach(int ordinal, int other, cudaMemPool_t) {
    if (!is_device(other) || current != ordinal) cuda_on_cpu_fail("GPU %d and %d: no two devices", ordinal, other);
}

const sap_cuda_calls sap_cuda_runtime = {count_devices,
                                         current_device,
                                         use_device,
                                         attribute,
                                         create_stream,
                                         destroy_stream,
                                         wait_stream,
                                         wait_stream,
                                         capturing,
                                         create_pool,
                                         destroy_pool,
                                         allocate,
                                         release,
                                         on_device,
                                         copy,
                                         fill,
                                         pin,
                                         unpin,
                                         create_event,
                                         destroy_event,
                                         record,
                                         wait_event,
                                         cuda_on_cpu_allow_shared,
                                         blocks_at_once,
                                         cuda_on_cpu_launch,
                                         compiled_for,
                                         name,
                                         reach,
                                         4 << 20};

long long clock64(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- Names of errors.

#define NAME(error)                                                                                                    \
    case error: return #error;

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        NAME(cudaSuccess)
        NAME(cudaErrorInvalidValue)
        NAME(cudaErrorMemoryAllocation)
        NAME(cudaErrorInvalidConfiguration)
        NAME(cudaErrorInsufficientDriver)
        NAME(cudaErrorNoDevice)
        NAME(cudaErrorInvalidDevice)
        NAME(cudaErrorIllegalAddress)
        NAME(cudaErrorLaunchOutOfResources)
        NAME(cudaErrorLaunchFailure)
        NAME(cudaErrorCooperativeLaunchTooLarge)
        NAME(cudaErrorSystemNotReady)
        NAME(cudaErrorUnknown)
    default: return "another CUDA error";
    }
}

const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
