// What tests of CUDA devices need of device/cuda.h. See cuda_tools.h.
#include "cuda_tools.h"
#include "device/cuda.h"

extern "C" {
#include "processors/processors.h"
}

cuda_tools_state cuda_tools = {{0}, 0, 0, 0, 0, 0, false, CUDA_TOOLS_NO_MEMORY, false, INT_MAX, false, false, false, 0};

static const sap_cuda_calls* const gpu = &sap_cuda_runtime;

void cuda_tools_reset(void) {
    cuda_tools_state none = {{0}, 0, 0, 0, 0, 0, false, CUDA_TOOLS_NO_MEMORY, false, INT_MAX, false, false, false, 0};
    none.blocks = cuda_tools.blocks;
    none.objects = cuda_tools.objects;
    cuda_tools = none;
}

// ---- The table that watches.

static cudaError_t number(cuda_tools_error error) {
    switch (error) {
    case CUDA_TOOLS_NO_MEMORY: return cudaErrorMemoryAllocation;
    case CUDA_TOOLS_OLD_DRIVER: return cudaErrorInsufficientDriver;
    case CUDA_TOOLS_NO_GPU: return cudaErrorNoDevice;
    default: return cudaErrorIllegalAddress;
    }
}

// Counts a call; whether it is to fail.
static cudaError_t meet(cuda_tools_kind kind) {
    cuda_tools_state* s = &cuda_tools;
    __atomic_add_fetch(&s->calls[kind], 1, __ATOMIC_RELAXED);
    if (s->failed && s->error == CUDA_TOOLS_ILLEGAL_ADDRESS) return number(s->error);
    if (!(s->fail_kinds >> kind & 1)) return cudaSuccess;
    int64_t at = __atomic_add_fetch(&s->seen, 1, __ATOMIC_RELAXED);
    if (s->fail_at == 0 || at < s->fail_at || (at > s->fail_at && !s->fail_on)) return cudaSuccess;
    s->failed = true;
    return number(s->error);
}

// Host memory that copies read which may still be on their way, as far as the thread knows.
enum { MOST_READ = 256 };
static thread_local struct {
    const sap_device* device;
    int count;
    const unsigned char* from[MOST_READ];
} reading;

static bool lies_idle(const unsigned char* memory) {
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) {
        const sap_scratch* idle = &reading.device->idle[i];
        if (idle->memory && memory >= idle->memory && memory < idle->memory + idle->bytes) return true;
    }
    return false;
}

static void look_at_sources(void) {
    for (int i = 0; i < reading.count; i++)
        if (lies_idle(reading.from[i])) __atomic_add_fetch(&cuda_tools.given_early, 1, __ATOMIC_RELAXED);
}

static void note_source(const void* from) {
    int ordinal = 0;
    if (!reading.device || gpu->on_device(from, &ordinal) != cudaSuccess || ordinal != SAP_CUDA_PAGEABLE) return;
    if (reading.count < MOST_READ) reading.from[reading.count++] = (const unsigned char*)from;
}

void cuda_tools_watch_scratch(sap_device* device) {
    reading.device = device;
    reading.count = 0;
}

static void count(int64_t* what, bool good, int change) {
    if (good) __atomic_add_fetch(what, change, __ATOMIC_RELAXED);
}

static cudaError_t count_devices(int* found) {
    if (cuda_tools.gpus < 0) return number(cuda_tools.error);
    cudaError_t error = gpu->count_devices(found);
    if (*found > cuda_tools.gpus) *found = cuda_tools.gpus;
    return error;
}

static cudaError_t attribute(int* value, cudaDeviceAttr which, int ordinal) {
    const cudaError_t error = gpu->attribute(value, which, ordinal);
    if (which == cudaDevAttrMaxSharedMemoryPerBlockOptin && cuda_tools.shared_bytes) *value = cuda_tools.shared_bytes;
    if (which == cudaDevAttrMultiProcessorCount && cuda_tools.multiprocessors) *value = cuda_tools.multiprocessors;
    return error;
}

static cudaError_t create_stream(cudaStream_t* stream) {
    cudaError_t error = meet(CUDA_TOOLS_CREATE);
    if (error == cudaSuccess) error = gpu->create_stream(stream);
    count(&cuda_tools.objects, error == cudaSuccess, 1);
    return error;
}

static cudaError_t destroy_stream(cudaStream_t stream) {
    cudaError_t error = gpu->destroy_stream(stream);
    count(&cuda_tools.objects, error == cudaSuccess, -1);
    return error;
}

static cudaError_t wait_for(cudaStream_t stream) {
    cudaError_t error = meet(CUDA_TOOLS_WAIT), real = gpu->wait(stream);
    look_at_sources();
    reading.count = 0;
    return error == cudaSuccess ? real : error;
}

static cudaError_t capturing(cudaStream_t stream, bool* yes) {
    cudaError_t error = gpu->capturing(stream, yes);
    *yes |= cuda_tools.pretends_capture;
    return error;
}

static cudaError_t create_pool(cudaMemPool_t* pool, int ordinal) {
    cudaError_t error = meet(CUDA_TOOLS_CREATE);
    if (error == cudaSuccess) error = gpu->create_pool(pool, ordinal);
    count(&cuda_tools.objects, error == cudaSuccess, 1);
    return error;
}

static cudaError_t destroy_pool(cudaMemPool_t pool) {
    cudaError_t error = gpu->destroy_pool(pool);
    count(&cuda_tools.objects, error == cudaSuccess, -1);
    return error;
}

static cudaError_t allocate(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    cudaError_t error = meet(CUDA_TOOLS_ALLOCATE);
    *memory = NULL;
    if (error == cudaSuccess) error = gpu->allocate(memory, bytes, pool, stream);
    count(&cuda_tools.blocks, error == cudaSuccess, 1);
    return error;
}

// Memory is released even where the call is to fail: what leaks should be the library's fault.
static cudaError_t release(void* memory, cudaStream_t stream) {
    cudaError_t error = meet(CUDA_TOOLS_RELEASE), real = gpu->release(memory, stream);
    count(&cuda_tools.blocks, real == cudaSuccess, -1);
    return error == cudaSuccess ? real : error;
}

static cudaError_t copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                        cudaStream_t stream) {
    cudaError_t error = meet(CUDA_TOOLS_COPY);
    if (error == cudaSuccess) note_source(from);
    return error == cudaSuccess ? gpu->copy(to, to_pitch, from, from_pitch, width, rows, stream) : error;
}

static cudaError_t fill(void* memory, int byte, size_t bytes, cudaStream_t stream) {
    cudaError_t error = meet(CUDA_TOOLS_FILL);
    return error == cudaSuccess ? gpu->fill(memory, byte, bytes, stream) : error;
}

static cudaError_t pin(void** memory, size_t bytes) {
    cudaError_t error = meet(CUDA_TOOLS_PIN);
    if (error == cudaSuccess) error = gpu->pin(memory, bytes);
    count(&cuda_tools.objects, error == cudaSuccess, 1);
    return error;
}

static cudaError_t unpin(void* memory) {
    cudaError_t error = gpu->unpin(memory);
    count(&cuda_tools.objects, error == cudaSuccess, -1);
    return error;
}

static cudaError_t create_event(cudaEvent_t* event) {
    cudaError_t error = meet(CUDA_TOOLS_CREATE);
    if (error == cudaSuccess) error = gpu->create_event(event);
    count(&cuda_tools.objects, error == cudaSuccess, 1);
    return error;
}

static cudaError_t destroy_event(cudaEvent_t event) {
    cudaError_t error = gpu->destroy_event(event);
    count(&cuda_tools.objects, error == cudaSuccess, -1);
    return error;
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
    cudaError_t error = meet(CUDA_TOOLS_RECORD);
    return error == cudaSuccess ? gpu->record(event, stream) : error;
}

static cudaError_t wait_event(cudaEvent_t event) {
    cudaError_t error = meet(CUDA_TOOLS_WAIT), real = gpu->wait_event(event);
    return error == cudaSuccess ? real : error;
}

static cudaError_t blocks_at_once(int* blocks, const void* kernel, int threads, size_t shared) {
    cudaError_t error = gpu->blocks_at_once(blocks, kernel, threads, shared);
    if (cuda_tools.has_no_room) *blocks = 0;
    return error;
}

static cudaError_t launch(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                          cudaStream_t stream, bool together, bool early) {
    cudaError_t error = meet(CUDA_TOOLS_LAUNCH);
    look_at_sources();
    if (early) __atomic_add_fetch(&cuda_tools.early_launches, 1, __ATOMIC_RELAXED);
    if (cuda_tools.launches_nothing) return error;
    return error == cudaSuccess ? gpu->launch(kernel, blocks, threads, arguments, shared, stream, together, early)
                                : error;
}

static cudaError_t compiled_for(int* version) {
    const cudaError_t error = gpu->compiled_for(version);
    if (cuda_tools.is_compiled_for) *version = cuda_tools.is_compiled_for;
    cuda_tools.compiled_for = *version;
    return error;
}

static const sap_cuda_calls* watching(void) {
    static sap_cuda_calls calls;
    if (calls.launch) return &calls;
    calls = *gpu;
    calls.count_devices = count_devices;
    calls.attribute = attribute;
    calls.create_stream = create_stream;
    calls.destroy_stream = destroy_stream;
    calls.wait = wait_for;
    calls.capturing = capturing;
    calls.create_pool = create_pool;
    calls.destroy_pool = destroy_pool;
    calls.allocate = allocate;
    calls.release = release;
    calls.copy = copy;
    calls.fill = fill;
    calls.pin = pin;
    calls.unpin = unpin;
    calls.create_event = create_event;
    calls.destroy_event = destroy_event;
    calls.record = record;
    calls.wait_event = wait_event;
    calls.blocks_at_once = blocks_at_once;
    calls.launch = launch;
    calls.compiled_for = compiled_for;
    calls.chunk_bytes = CUDA_TOOLS_CHUNK;
    return &calls;
}

sap_status cuda_tools_open(const sap_device_options* options, sap_device** device) {
    sap_device local = {};
    sap_device_assign(&local, &sap_cuda_table);
    local.options = *options;
    sap_device* opened = (sap_device*)sap_memory_allocate(&local, sizeof *opened);
    if (!opened) return SAP_ERROR_MEMORY;
    *opened = local;
    sap_status status = sap_cuda_open_with(opened, watching());
    if (status == SAP_OK)
        *device = opened;
    else
        sap_memory_release(&local, opened, sizeof *opened);
    return status;
}

sap_status cuda_tools_take(sap_device* device, int blocks) {
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    for (int i = 0; i < blocks; i++) (void)sap_cuda_take(&call, 1);
    return sap_cuda_end(&call, SAP_OK);
}

// ---- The caller's own memory and stream, which are there until the program ends.

static struct {
    cudaStream_t stream;
    cudaMemPool_t pool;
} own;

static bool own_ready(void) {
    if (!own.stream && gpu->create_stream(&own.stream) != cudaSuccess) return false;
    return own.pool || gpu->create_pool(&own.pool, 0) == cudaSuccess;
}

void* cuda_tools_allocate(size_t bytes) {
    void* memory = NULL;
    if (!own_ready() || gpu->allocate(&memory, bytes ? bytes : 1, own.pool, own.stream) != cudaSuccess) return NULL;
    return gpu->wait(own.stream) == cudaSuccess ? memory : NULL;
}

void cuda_tools_release(void* memory) {
    if (!memory) return;
    (void)gpu->release(memory, own.stream);
    (void)gpu->wait(own.stream);
}

void cuda_tools_copy(void* to, const void* from, size_t bytes) {
    if (!own_ready() || !bytes) return;
    (void)gpu->copy(to, bytes, from, bytes, bytes, 1, own.stream);
    (void)gpu->wait(own.stream);
}

void* cuda_tools_stream(void) { return own_ready() ? (void*)own.stream : NULL; }

void* cuda_tools_pin(size_t bytes) {
    void* memory = NULL;
    return gpu->pin(&memory, bytes) == cudaSuccess ? memory : NULL;
}

void cuda_tools_unpin(void* memory) { (void)gpu->unpin(memory); }

void* cuda_tools_own_allocate(void* user, size_t bytes, size_t alignment) {
    int64_t* counts = (int64_t*)user;
    void* memory = alignment == 256 ? cuda_tools_allocate(bytes) : NULL;
    counts[0]++;
    if (memory) counts[1]++;
    return memory;
}

void cuda_tools_own_release(void* user, void* memory, size_t) {
    ((int64_t*)user)[1]--;
    cuda_tools_release(memory);
}

// ---- Graphs, which the stand-in has not.

#ifdef SAP_CUDA_ON_CPU

bool cuda_tools_emulated(void) { return true; }
bool cuda_tools_capture_begin(void*) { return false; }
void* cuda_tools_capture_end(void*) { return NULL; }
bool cuda_tools_graph_launch(void*, void*) { return false; }
void cuda_tools_graph_destroy(void*) {}

#else

bool cuda_tools_emulated(void) { return false; }

// Global: the mode that forbids most.
bool cuda_tools_capture_begin(void* stream) {
    return cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
}

void* cuda_tools_capture_end(void* stream) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    if (cudaStreamEndCapture((cudaStream_t)stream, &graph) != cudaSuccess || !graph) return NULL;
    if (cudaGraphInstantiateWithFlags(&made, graph, 0) != cudaSuccess) made = NULL;
    (void)cudaGraphDestroy(graph);
    return made;
}

bool cuda_tools_graph_launch(void* graph, void* stream) {
    return cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream) == cudaSuccess &&
           cudaStreamSynchronize((cudaStream_t)stream) == cudaSuccess;
}

void cuda_tools_graph_destroy(void* graph) {
    if (graph) (void)cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

#endif

extern "C" int cuda_tools_lies_on(const void* memory) {
    int ordinal = -1;
    return gpu->on_device(memory, &ordinal) == cudaSuccess ? ordinal : -1;
}

extern "C" int cuda_tools_gpus(int wanted) {
    int count = 0;
#ifdef SAP_CUDA_ON_CPU
    cuda_on_cpu_devices = wanted;
#else
    (void)wanted;
#endif
    return gpu->count_devices(&count) == cudaSuccess ? count : 0;
}
