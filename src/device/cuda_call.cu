// Calls on a CUDA device: scratch memory, arrays in and out, launches, and what errors mean.
#include "device/cuda.h"

// ---- Errors

// Errors that leave the GPU as it was. All others are sticky: every later call of the process on it fails too.
static bool harmless(cudaError_t error) { return error == cudaErrorMemoryAllocation || error == cudaErrorInvalidValue; }

// Errors of CUDA about work that cannot go into a graph.
static bool is_of_capture(cudaError_t error) {
    return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

void sap_cuda_expect(sap_cuda_call* call, cudaError_t error, const char* doing) {
    const sap_device* told = call->quiet ? NULL : call->device;
    if (error == cudaSuccess || call->status != SAP_OK) return;
    if (error == cudaErrorMemoryAllocation) {
        call->status =
            sap_fail(told, SAP_ERROR_DEVICE_MEMORY, "no memory on GPU %d while %s", call->cuda->ordinal, doing);
        return;
    }
    if (is_of_capture(error)) {
        call->status = sap_fail(told, SAP_ERROR_UNSUPPORTED, "GPU %d cannot do this while work is captured: %s",
                                call->cuda->ordinal, cudaGetErrorString(error));
        return;
    }
    if (!harmless(error)) __atomic_store_n(&call->cuda->lost, true, __ATOMIC_RELAXED);
    call->status = sap_fail(told, SAP_ERROR_DEVICE_LOST, "GPU %d failed while %s: %s", call->cuda->ordinal, doing,
                            cudaGetErrorString(error));
}

// Why a call cannot be captured.
static const char WAITS[] = "the call would have to wait for the GPU, or reads or writes host memory";

// Fails a call that is being captured; whether it is.
static bool refuse_capture(sap_cuda_call* call, const char* why) {
    if (call->status == SAP_OK && call->captured)
        call->status = sap_fail(call->device, SAP_ERROR_UNSUPPORTED, "the stream is being captured, and %s", why);
    return call->captured;
}

// ---- Scratch memory. Blocks stay with the device; all use of them is in its one stream, or ends before
// they are given back (messages between GPUs).

// A spin lock: while it is held, nothing waits for the stream and no function of the caller runs.
static void lock(sap_cuda* cuda) {
    while (__atomic_exchange_n(&cuda->lock, 1, __ATOMIC_ACQUIRE)) {}
}
static void unlock(sap_cuda* cuda) {
    SAP_ASSERT(__atomic_load_n(&cuda->lock, __ATOMIC_RELAXED) == 1);
    __atomic_store_n(&cuda->lock, 0, __ATOMIC_RELEASE);
}

// Takes the smallest idle block that is large enough, unless it is much too large and memory may be allocated (`must`
// is false).
static bool take_idle(sap_cuda* cuda, size_t bytes, bool must, sap_cuda_block* block) {
    sap_cuda_block* best = NULL;
    lock(cuda);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) {
        sap_cuda_block* idle = &cuda->idle[i];
        if (idle->memory && idle->bytes >= bytes && (!best || idle->bytes < best->bytes)) best = idle;
    }
    if (best && !must && best->bytes / 4 > bytes && best->bytes > (size_t)1 << 20) best = NULL;
    if (best) {
        *block = *best;
        best->memory = NULL;
        SAP_ASSERT(block->bytes >= bytes);
    }
    unlock(cuda);
    return best != NULL;
}

static cudaError_t release(const sap_device* device, void* memory, size_t bytes) {
    sap_cuda* cuda = sap_cuda_of(device);
    const sap_allocator* own = &device->options.device_allocator;
    if (!own->release) return cuda->calls->release(memory, cuda->stream);
    // The caller's allocator knows nothing of the stream.
    cudaError_t error = cuda->calls->wait(cuda->stream);
    own->release(own->user, memory, bytes);
    return error;
}

static cudaError_t allocate(const sap_device* device, void** memory, size_t bytes) {
    sap_cuda* cuda = sap_cuda_of(device);
    const sap_allocator* own = &device->options.device_allocator;
    if (!own->allocate) return cuda->calls->allocate(memory, bytes, cuda->pool, cuda->stream);
    *memory = own->allocate(own->user, bytes, 256);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void release_idle(sap_device* device, bool kept_too) {
    sap_cuda* cuda = sap_cuda_of(device);
    sap_cuda_block released[SAP_SCRATCH_BLOCKS];
    int count = 0;
    lock(cuda);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) {
        sap_cuda_block* idle = &cuda->idle[i];
        if (!idle->memory || (idle->kept && !kept_too)) continue;
        released[count++] = *idle;
        idle->memory = NULL;
    }
    unlock(cuda);
    for (int i = 0; i < count; i++) (void)release(device, released[i].memory, released[i].bytes);
}

void sap_cuda_trim(sap_device* device) {
    release_idle(device, true);
    sap_cuda_staging_trim(device);
}

size_t sap_cuda_idle_bytes(sap_device* device) {
    sap_cuda* cuda = sap_cuda_of(device);
    size_t bytes = (size_t)__atomic_load_n(&cuda->staging.chunks, __ATOMIC_RELAXED) * cuda->calls->chunk_bytes;
    lock(cuda);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++)
        if (cuda->idle[i].memory) bytes += cuda->idle[i].bytes;
    unlock(cuda);
    return bytes;
}

// Keeps a block for later calls; where no place is free, the smallest block is released.
static void give(const sap_device* device, sap_cuda_block block) {
    sap_cuda* cuda = sap_cuda_of(device);
    SAP_ASSERT(block.memory && block.bytes);
    lock(cuda);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) SAP_ASSERT(cuda->idle[i].memory != block.memory); // given once
    sap_cuda_block *place = NULL, out = block;
    for (int i = 0; i < SAP_SCRATCH_BLOCKS && !(place && !place->memory); i++) {
        sap_cuda_block* idle = &cuda->idle[i];
        if (!idle->memory || (!idle->kept && (!place || idle->bytes < place->bytes))) place = idle;
    }
    if (place && (!place->memory || block.kept || place->bytes <= block.bytes)) {
        out = *place;
        *place = block;
    }
    unlock(cuda);
    if (out.memory) (void)release(device, out.memory, out.bytes);
}

void* sap_cuda_allocate(sap_cuda_call* call, size_t bytes) {
    if (call->status != SAP_OK ||
        refuse_capture(call, "the call needs memory that is not idle; make the same call once before capturing"))
        return NULL;
    void* memory = NULL;
    cudaError_t error = allocate(call->device, &memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) { // idle blocks may take the memory
        release_idle(call->device, false);
        error = allocate(call->device, &memory, bytes ? bytes : 1);
    }
    sap_cuda_expect(call, error, "allocating");
    return error == cudaSuccess ? memory : NULL;
}

void sap_cuda_release(sap_device* device, void* memory, size_t bytes) {
    if (!memory) return;
    sap_cuda* cuda = sap_cuda_of(device);
    int previous = cuda->ordinal;
    (void)cuda->calls->current_device(&previous);
    (void)cuda->calls->use_device(cuda->ordinal);
    (void)release(device, memory, bytes ? bytes : 1);
    (void)cuda->calls->use_device(previous);
}

void* sap_cuda_take(sap_cuda_call* call, size_t bytes) {
    if (call->status == SAP_OK && call->blocks == SAP_CUDA_CALL_BLOCKS)
        call->status = sap_fail(call->device, SAP_ERROR_UNSUPPORTED, "the call needs more than %d blocks of memory",
                                SAP_CUDA_CALL_BLOCKS);
    if (call->status != SAP_OK) return NULL;
    sap_cuda_block* block = &call->block[call->blocks];
    block->bytes = (bytes + 4095) / 4096 * 4096 + (bytes ? 0 : 4096);
    block->kept = false;
    SAP_ASSERT(block->bytes >= bytes);
    if (!take_idle(call->cuda, block->bytes, call->captured, block))
        block->memory = (unsigned char*)sap_cuda_allocate(call, block->bytes);
    if (block->memory) call->blocks++;
    return block->memory;
}

void sap_cuda_give(sap_cuda_call* call, const void* memory) {
    int i = 0;
    while (i < call->blocks && call->block[i].memory != memory) i++;
    SAP_ASSERT(!memory || i < call->blocks);
    if (i == call->blocks) return;
    sap_cuda_block block = call->block[i];
    call->block[i] = call->block[--call->blocks];
    block.kept |= call->captured;
    if (block.kept)
        give(call->device, block);
    else
        sap_cuda_expect(call, release(call->device, block.memory, block.bytes), "freeing memory");
}

// ---- Begin and end

sap_status sap_cuda_begin(sap_cuda_call* call, const sap_device* device) {
    memset(call, 0, sizeof *call);
    call->device = (sap_device*)(uintptr_t)device; // a tree's device is const in searches, its scratch is not
    call->cuda = sap_cuda_of(device);
    call->waits = !call->cuda->caller_stream;
    call->previous = call->cuda->ordinal;
    if (__atomic_load_n(&call->cuda->lost, __ATOMIC_RELAXED)) {
        call->status =
            sap_fail(device, SAP_ERROR_DEVICE_LOST, "GPU %d failed before; close the device", call->cuda->ordinal);
        return call->status;
    }
    sap_cuda_expect(call, call->cuda->calls->current_device(&call->previous), "asking for the current GPU");
    if (call->previous != call->cuda->ordinal)
        sap_cuda_expect(call, call->cuda->calls->use_device(call->cuda->ordinal), "choosing the GPU");
    if (call->status == SAP_OK && call->cuda->caller_stream)
        sap_cuda_expect(call, call->cuda->calls->capturing(call->cuda->stream, &call->captured), "querying its stream");
    return call->status;
}

sap_status sap_cuda_end(sap_cuda_call* call, sap_status status) {
    const sap_cuda_calls* calls = call->cuda->calls;
    SAP_ASSERT(call->blocks <= SAP_CUDA_CALL_BLOCKS && call->outputs <= call->blocks);
    if (call->status == SAP_OK) call->status = status;
    for (int i = 0; i < call->outputs; i++)
        sap_cuda_copy(call, call->output[i].host, call->output[i].device, call->output[i].bytes);
    if (call->waits && !refuse_capture(call, WAITS) && !call->cuda->lost) {
        // A failed call waits too: the caller may free its arrays.
        cudaError_t error = calls->wait(call->cuda->stream);
        sap_cuda_expect(call, error, "waiting for its work");
    }
    for (int i = 0; i < call->blocks; i++) {
        call->block[i].kept |= call->captured;
        give(call->device, call->block[i]);
    }
    if (call->previous != call->cuda->ordinal) (void)calls->use_device(call->previous);
    return call->status;
}

// ---- Arrays in and out

bool sap_cuda_on_device(sap_cuda_call* call, const void* memory) {
    if (call->status != SAP_OK || !memory) return false;
    int ordinal = -1;
    cudaError_t error = call->cuda->calls->on_device(memory, &ordinal);
    if (error == cudaErrorInvalidValue) { // such as memory that was freed
        call->status = sap_fail(call->device, SAP_ERROR_ARGUMENT, "CUDA cannot tell where the memory of an array lies");
        return false;
    }
    sap_cuda_expect(call, error, "asking where an array lies");
    if (call->status == SAP_OK && ordinal >= 0 && ordinal != call->cuda->ordinal)
        call->status = sap_fail(call->device, SAP_ERROR_ARGUMENT, "an array lies on GPU %d, the device is GPU %d",
                                ordinal, call->cuda->ordinal);
    return call->status == SAP_OK && ordinal >= 0;
}

void sap_cuda_copy(sap_cuda_call* call, void* to, const void* from, size_t bytes) {
    if (call->status != SAP_OK || !bytes) return;
    if (call->captured && !(sap_cuda_on_device(call, to) && sap_cuda_on_device(call, from))) {
        (void)refuse_capture(call, WAITS);
        return;
    }
    if (sap_cuda_stage(call, to, from, 1, 1, bytes)) return;
    sap_cuda_expect(call, call->cuda->calls->copy(to, bytes, from, bytes, bytes, 1, call->cuda->stream), "copying");
}

void sap_cuda_fill(sap_cuda_call* call, void* memory, int byte, size_t bytes) {
    if (call->status != SAP_OK || !bytes) return;
    sap_cuda_expect(call, call->cuda->calls->fill(memory, byte, bytes, call->cuda->stream), "filling memory");
}

void sap_cuda_fetch(sap_cuda_call* call, void* host, const void* device_memory, size_t bytes) {
    sap_cuda_copy(call, host, device_memory, bytes);
    if (call->status == SAP_OK) sap_cuda_expect(call, call->cuda->calls->wait(call->cuda->stream), "fetching a result");
}

const void* sap_cuda_in(sap_cuda_call* call, const void* memory, size_t bytes) {
    if (call->status != SAP_OK || !bytes || sap_cuda_on_device(call, memory) || refuse_capture(call, WAITS))
        return memory;
    call->waits = true;
    void* copy = sap_cuda_take(call, bytes);
    sap_cuda_copy(call, copy, memory, bytes);
    return copy;
}

sap_rows sap_cuda_rows_in(sap_cuda_call* call, const sap_rows* rows) {
    sap_rows in = *rows;
    if (call->status != SAP_OK || !rows->count || sap_cuda_on_device(call, rows->coords) || refuse_capture(call, WAITS))
        return in;
    SAP_ASSERT(rows->dims > 0 && rows->stride >= rows->dims);
    size_t real = (size_t)rows->real_bits / 8, width = (size_t)rows->dims * real;
    call->waits = true;
    in.stride = rows->dims;
    in.coords = sap_cuda_take(call, width * (size_t)rows->count);
    if (call->status != SAP_OK) return in;
    void* to = (void*)(uintptr_t)in.coords;
    if (rows->stride == rows->dims)
        sap_cuda_copy(call, to, rows->coords, width * (size_t)rows->count);
    else if (!sap_cuda_stage(call, to, rows->coords, (size_t)rows->stride * real, width, (size_t)rows->count))
        sap_cuda_expect(call,
                        call->cuda->calls->copy(to, width, rows->coords, (size_t)rows->stride * real, width,
                                                (size_t)rows->count, call->cuda->stream),
                        "copying points");
    return in;
}

void* sap_cuda_out(sap_cuda_call* call, void* memory, size_t bytes) {
    if (call->status != SAP_OK || !memory || !bytes || sap_cuda_on_device(call, memory) || refuse_capture(call, WAITS))
        return memory;
    call->waits = true;
    SAP_ASSERT(call->outputs < SAP_CUDA_CALL_OUTPUTS);
    sap_cuda_output* output = &call->output[call->outputs];
    output->host = memory;
    output->bytes = bytes;
    output->device = sap_cuda_take(call, bytes);
    if (output->device) call->outputs++;
    return output->device;
}

// ---- Launches

int sap_cuda_resident(sap_cuda_call* call, const void* kernel, int threads, size_t shared) {
    int blocks = 0;
    if (call->status != SAP_OK) return 0;
    if (shared > 48 * 1024)
        sap_cuda_expect(call, call->cuda->calls->allow_shared(kernel, shared), "preparing a kernel");
    if (call->status != SAP_OK) return 0;
    sap_cuda_expect(call, call->cuda->calls->blocks_at_once(&blocks, kernel, threads, shared), "preparing a kernel");
    if (call->status == SAP_OK && blocks == 0)
        call->status = sap_fail(call->device, SAP_ERROR_UNSUPPORTED,
                                "GPU %d has no room for %d threads with %zu bytes of shared memory",
                                call->cuda->ordinal, threads, shared);
    return blocks * call->cuda->multiprocessors;
}

void sap_cuda_launch_list(sap_cuda_call* call, const void* kernel, sap_cuda_grid grid, void** arguments) {
    if (call->status != SAP_OK || grid.blocks <= 0) return;
    SAP_ASSERT(grid.blocks <= INT_MAX && grid.threads > 0 && grid.threads <= 1024);
    SAP_ASSERT(grid.shared <= call->cuda->shared_bytes);
    if (grid.shared > 48 * 1024)
        sap_cuda_expect(call, call->cuda->calls->allow_shared(kernel, grid.shared), "preparing a kernel");
    if (call->status != SAP_OK) return;
    sap_cuda_expect(call,
                    call->cuda->calls->launch(kernel, dim3((unsigned)grid.blocks), dim3((unsigned)grid.threads),
                                              arguments, grid.shared, call->cuda->stream, grid.together,
                                              grid.early && call->cuda->begins_early),
                    "launching a kernel");
}
