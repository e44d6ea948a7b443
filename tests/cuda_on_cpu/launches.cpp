// Checks a launch, sets up its blocks and has the scheduler run them.
#include "launch.h"
#include "sanitizers.h"
#include <pthread.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { BLOCKS = CUDA_ON_CPU_MULTIPROCESSORS, MARGIN = 256, KERNELS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // one launch at a time
static cuda_block blocks_alive[BLOCKS];

// Kernels that were allowed more shared memory than usual.
static struct {
    const void* kernel;
    size_t bytes;
} allowed[KERNELS];
static int allowed_count;

cudaError_t cuda_on_cpu_allow_shared(const void* kernel, size_t bytes) {
    if (bytes > CUDA_ON_CPU_SHARED_OPTIN) return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < allowed_count && allowed[i].kernel != kernel) ++i;
    if (i == KERNELS) cuda_on_cpu_fail("more than %d kernels with much shared memory", KERNELS);
    if (i == allowed_count) ++allowed_count;
    allowed[i].kernel = kernel;
    allowed[i].bytes = bytes;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static size_t shared_limit(const void* kernel) {
    for (int i = 0; i < allowed_count; ++i)
        if (allowed[i].kernel == kernel) return allowed[i].bytes;
    return CUDA_ON_CPU_SHARED;
}

// ---- Blocks. Their memory is kept for the launches to come.

static void make_block(cuda_block* b) {
    void* shared = NULL;
    b->thread = (cuda_thread*)calloc(CUDA_ON_CPU_THREADS, sizeof(cuda_thread));
    b->warp = (cuda_warp*)calloc(CUDA_ON_CPU_THREADS / 32, sizeof(cuda_warp));
    int failed = posix_memalign(&shared, 256, CUDA_ON_CPU_SHARED_OPTIN + MARGIN);
    if (failed != 0 || b->thread == NULL || b->warp == NULL) cuda_on_cpu_fail("no memory for a block");
    b->shared = (unsigned char*)shared;
    for (int i = 0; i < CUDA_ON_CPU_THREADS; ++i) {
        cuda_thread* t = &b->thread[i];
        t->lane = i % 32;
        t->bit = 1u << t->lane;
        t->warp = &b->warp[i / 32];
        t->block = b;
        if (t->lane == 0) t->warp->first = t;
    }
}

static void begin_block(cuda_block* b, int64_t number, int threads, size_t shared) {
    if (b->thread == NULL) make_block(b);
    b->index.x = (unsigned)(number % gridDim.x);
    b->index.y = (unsigned)(number / gridDim.x % gridDim.y);
    b->index.z = (unsigned)(number / gridDim.x / gridDim.y);
    b->live = b->threads = threads;
    b->warps = (threads + 31) / 32;
    b->arrived = b->truths = 0;
    for (int i = 0; i < b->warps; ++i) {
        cuda_warp* w = &b->warp[i];
        w->ready = threads - 32 * i >= 32 ? ~0u : (1u << (threads - 32 * i)) - 1u;
        w->exited = ~w->ready;
        w->started = w->yielded = w->at_barrier = w->used = w->open = 0;
    }
    ASAN_UNPOISON_MEMORY_REGION(b->shared, shared + MARGIN);
    memset(b->shared, 0xA5, shared + MARGIN);
    ASAN_POISON_MEMORY_REGION(b->shared + shared, MARGIN);
}

static void end_block(const cuda_block* b, size_t shared) {
    ASAN_UNPOISON_MEMORY_REGION(b->shared + shared, MARGIN);
    for (int i = 0; i < MARGIN; ++i)
        if (b->shared[shared + (size_t)i] != 0xA5)
            cuda_on_cpu_fail("block %u wrote behind its %zu bytes of shared memory", b->index.x, shared);
}

static void run(cuda_launch* launch, dim3 blocks, dim3 threads, size_t shared) {
    const int64_t count = (int64_t)blocks.x * blocks.y * blocks.z;
    const int width = launch->together ? (int)count : 1;
    launch->block = blocks_alive;
    launch->alive = width;
    gridDim = blocks;
    blockDim = threads;
    for (int64_t first = 0; first < count; first += width) {
        for (int i = 0; i < width; ++i)
            begin_block(&blocks_alive[i], first + i, (int)(threads.x * threads.y * threads.z), shared);
        cuda_on_cpu_run_blocks();
        for (int i = 0; i < width; ++i) end_block(&blocks_alive[i], shared);
    }
    launch->kernel = NULL;
}

cudaError_t cuda_on_cpu_launch(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                               cudaStream_t stream, bool together, bool early) {
    (void)stream;
    if (kernel == NULL) return cudaErrorInvalidDeviceFunction;
    if (cuda_on_cpu_kernel == NULL) cuda_on_cpu_fail("cuda_on_cpu_kernel was not set before a launch");
    const int64_t in_block = (int64_t)threads.x * threads.y * threads.z;
    if (in_block < 1 || threads.x > 1024 || threads.y > 1024 || threads.z > 64 || in_block > CUDA_ON_CPU_THREADS)
        return cudaErrorInvalidConfiguration;
    if (blocks.x < 1 || blocks.x > INT_MAX || blocks.y < 1 || blocks.y > 65535 || blocks.z < 1 || blocks.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (together && (uint64_t)blocks.x * blocks.y * blocks.z > BLOCKS) return cudaErrorCooperativeLaunchTooLarge;
    pthread_mutex_lock(&lock);
    if (shared > shared_limit(kernel)) {
        pthread_mutex_unlock(&lock);
        return cudaErrorInvalidValue;
    }
    cuda_launch* launch = cuda_on_cpu_launch_state();
    launch->kernel = kernel;
    launch->call = cuda_on_cpu_kernel;
    launch->arguments = arguments;
    launch->together = together;
    launch->early = early;
    run(launch, blocks, threads, shared);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}
