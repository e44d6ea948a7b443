// The CUDA runtime behind the table that tests can replace.
#include "device/cuda.h"

#ifndef SAP_CUDA_ON_CPU // whose stand-in brings its own
#include <cerrno>
#include <cstdio>
#if defined(__linux__)
#include <sys/uio.h>
#include <unistd.h>
#endif

static cudaError_t create_stream(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

static cudaError_t capturing(cudaStream_t stream, bool* yes) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream, &status);
    *yes = status != cudaStreamCaptureStatusNone;
    return error;
}

// A pool that keeps what it has been given back: asking the driver for memory costs more than most kernels.
static cudaError_t create_pool(cudaMemPool_t* pool, int ordinal) {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal;
    uint64_t keep = UINT64_MAX;
    cudaError_t error = cudaMemPoolCreate(pool, &properties);
    if (error != cudaSuccess) return error;
    return cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep);
}

static cudaError_t allocate(void** memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(memory, bytes, pool, stream);
}

// CUDA takes every address that it does not know for host memory, one on a GPU that was freed too.
static bool host_can_read(const void* memory) {
#if defined(__linux__)
    unsigned char byte;
    struct iovec here = {&byte, 1}, there = {(void*)memory, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
#else
    return memory != nullptr;
#endif
}

static cudaError_t on_device(const void* memory, int* ordinal) {
    cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
    if (error != cudaSuccess) return error;
    bool device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    *ordinal = device ? attributes.device : attributes.type == cudaMemoryTypeHost ? SAP_CUDA_PINNED : SAP_CUDA_PAGEABLE;
    bool unknown = attributes.type == cudaMemoryTypeUnregistered;
    return unknown && !host_can_read(memory) ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t copy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                        cudaStream_t stream) {
    if (to_pitch == width && from_pitch == width)
        return cudaMemcpyAsync(to, from, width * rows, cudaMemcpyDefault, stream);
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault, stream);
}

static cudaError_t pin(void** memory, size_t bytes) { return cudaHostAlloc(memory, bytes, cudaHostAllocPortable); }

static cudaError_t create_event(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDisableTiming); }

static cudaError_t record(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, stream); }

static cudaError_t allow_shared(const void* kernel, size_t bytes) {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

static cudaError_t blocks_at_once(int* blocks, const void* kernel, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}

#if CUDART_VERSION >= 12030 // from which on graphs know of launches that begin early

static cudaError_t launch(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                          cudaStream_t stream, bool together, bool early) {
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    if (together) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (early) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

static __global__ void any_kernel(void) {}

// A GPU may run code for an older one, translated by its driver, which does not wait where it should.
static cudaError_t compiled_for(int* version) {
    int driver = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, (const void*)any_kernel);
    *version = error == cudaSuccess && driver >= 12030 ? attributes.ptxVersion : 0;
    return error;
}

#else

static cudaError_t launch(const void* kernel, dim3 blocks, dim3 threads, void** arguments, size_t shared,
                          cudaStream_t stream, bool together, bool) {
    return together ? cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments, shared, stream)
                    : cudaLaunchKernel(kernel, blocks, threads, arguments, shared, stream);
}

static cudaError_t compiled_for(int* version) {
    *version = 0;
    return cudaSuccess;
}

#endif

static cudaError_t name(char* text, size_t bytes, int ordinal) {
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, ordinal);
    if (error == cudaSuccess) snprintf(text, bytes, "%s", properties.name);
    return error;
}

static void reach(int ordinal, int other, cudaMemPool_t pool) {
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, other, ordinal) == cudaSuccess && can && pool) {
        cudaMemAccessDesc access = {};
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = other;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        (void)cudaMemPoolSetAccess(pool, &access, 1);
    }
    if (cudaDeviceCanAccessPeer(&can, ordinal, other) == cudaSuccess && can) (void)cudaDeviceEnablePeerAccess(other, 0);
    (void)cudaGetLastError(); // that it was enabled before
}

extern const sap_cuda_calls sap_cuda_runtime = {cudaGetDeviceCount,
                                                cudaGetDevice,
                                                cudaSetDevice,
                                                cudaDeviceGetAttribute,
                                                create_stream,
                                                cudaStreamDestroy,
                                                cudaStreamSynchronize,
                                                cudaStreamQuery,
                                                capturing,
                                                create_pool,
                                                cudaMemPoolDestroy,
                                                allocate,
                                                cudaFreeAsync,
                                                on_device,
                                                copy,
                                                cudaMemsetAsync,
                                                pin,
                                                cudaFreeHost,
                                                create_event,
                                                cudaEventDestroy,
                                                record,
                                                cudaEventSynchronize,
                                                allow_shared,
                                                blocks_at_once,
                                                launch,
                                                compiled_for,
                                                name,
                                                reach,
                                                (size_t)4 << 20};

#endif
