// CUDA GPUs as a processor: opening, closing and describing them.
#include "device/cuda.h"

extern "C" {
#include "device/cpu.h"
}

#include <cstdio>

// Why there is no GPU to open, or NULL.
static const char* obstacle(const sap_cuda_calls* calls, int ordinal, char text[128]) {
    int count = 0, major = 0, minor = 0, pools = 0;
    cudaError_t error = calls->count_devices(&count);
    if (error == cudaErrorInsufficientDriver)
        return "there is no NVIDIA driver, or one too old for this build of Sapwood";
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) return "this machine has no NVIDIA GPU";
    if (error != cudaSuccess) return cudaGetErrorString(error);
    if (ordinal >= count) {
        snprintf(text, 128, "there are %d GPUs on this machine", count);
        return text;
    }
    if (calls->attribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
        calls->attribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess || 10 * major + minor < 75)
        return "the GPU is older than Turing (compute capability 7.5)";
    if (calls->attribute(&pools, cudaDevAttrMemoryPoolsSupported, ordinal) != cudaSuccess || !pools)
        return "the GPU's driver has no memory pools";
    return NULL;
}

static sap_status give_up(sap_device* device, sap_cuda* cuda, cudaError_t error) {
    sap_status status = error == cudaErrorMemoryAllocation ? SAP_ERROR_DEVICE_MEMORY : SAP_ERROR_NO_DEVICE;
    if (cuda->pool) (void)cuda->calls->destroy_pool(cuda->pool);
    if (cuda->stream && !cuda->caller_stream) (void)cuda->calls->destroy_stream(cuda->stream);
    sap_fail(device, status, "GPU %d cannot be opened: %s", cuda->ordinal, cudaGetErrorString(error));
    sap_memory_release(device, cuda, sizeof *cuda);
    device->processor_state = NULL;
    return status;
}

static cudaError_t prepare(sap_device* device, sap_cuda* cuda) {
    const sap_cuda_calls* calls = cuda->calls;
    int shared = 0;
    cudaError_t error = calls->use_device(cuda->ordinal);
    if (error == cudaSuccess)
        error = calls->attribute(&cuda->multiprocessors, cudaDevAttrMultiProcessorCount, cuda->ordinal);
    if (error == cudaSuccess) error = calls->attribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->ordinal);
    int version = 0; // if that cannot be told, a build says why
    if (error == cudaSuccess) (void)calls->compiled_for(&version);
    cuda->begins_early = version >= SAP_CUDA_EARLY_FROM;
    cuda->shared_bytes = (size_t)shared;
    cuda->caller_stream = device->options.stream != NULL;
    cuda->stream = (cudaStream_t)device->options.stream;
    if (error == cudaSuccess && !cuda->caller_stream) error = calls->create_stream(&cuda->stream);
    if (error == cudaSuccess && !device->options.device_allocator.allocate)
        error = calls->create_pool(&cuda->pool, cuda->ordinal);
    return error;
}

extern "C" sap_status sap_cuda_open_with(sap_device* device, const sap_cuda_calls* calls) {
    char text[128];
    int ordinal = device->options.ordinal, previous = 0;
    const char* why_not = obstacle(calls, ordinal, text);
    if (why_not) return sap_fail(device, SAP_ERROR_NO_DEVICE, "options.ordinal: no GPU %d: %s", ordinal, why_not);
    sap_cuda* cuda = (sap_cuda*)sap_memory_allocate_zero(device, sizeof *cuda);
    if (!cuda) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a device");
    cuda->calls = calls;
    cuda->ordinal = ordinal;
    device->processor_state = cuda;
    bool had = calls->current_device(&previous) == cudaSuccess;
    cudaError_t error = prepare(device, cuda);
    if (had) (void)calls->use_device(previous);
    if (error != cudaSuccess) return give_up(device, cuda, error);
    device->options.threads = sap_cpu_threads(device->options.threads);
    return SAP_OK;
}

sap_status sap_cuda_open(sap_device* device) { return sap_cuda_open_with(device, &sap_cuda_runtime); }

void sap_cuda_close(sap_device* device) {
    sap_cuda* cuda = sap_cuda_of(device);
    int previous = cuda->ordinal;
    (void)cuda->calls->current_device(&previous);
    (void)cuda->calls->use_device(cuda->ordinal);
    sap_cuda_release(device, cuda->bad, sizeof(int64_t));
    sap_cuda_trim(device);
    (void)cuda->calls->wait(cuda->stream);
    if (cuda->messages) (void)cuda->calls->destroy_stream(cuda->messages);
    if (cuda->pool) (void)cuda->calls->destroy_pool(cuda->pool);
    if (!cuda->caller_stream) (void)cuda->calls->destroy_stream(cuda->stream);
    (void)cuda->calls->use_device(previous);
    sap_memory_release(device, cuda, sizeof *cuda);
}

sap_status sap_cuda_describe(const sap_device* device, sap_device_info* info) {
    sap_cuda* cuda = sap_cuda_of(device);
    info->processor = SAP_CUDA;
    info->simd = SAP_SIMD_AUTO;
    info->threads = device->options.threads;
    info->ordinal = cuda->ordinal;
    info->scratch_bytes += sap_cuda_idle_bytes((sap_device*)(uintptr_t)device);
    (void)cuda->calls->name(info->name, sizeof info->name, cuda->ordinal);
    return SAP_OK;
}

sap_status sap_cuda_wait(sap_device* device) {
    sap_cuda_call call;
    int64_t none = INT64_MAX, row = none;
    sap_cuda_begin(&call, device);
    call.waits = true;
    if (call.status == SAP_OK && call.cuda->bad) {
        sap_cuda_fetch(&call, &row, call.cuda->bad, sizeof row);
        if (row != INT64_MAX) sap_cuda_copy(&call, call.cuda->bad, &none, sizeof none);
    }
    sap_status status = sap_cuda_end(&call, SAP_OK);
    if (status != SAP_OK || row == INT64_MAX) return status;
    return sap_fail(device, SAP_ERROR_NOT_FINITE,
                    "points: a coordinate of point %lld of an earlier build is not finite or too large to square",
                    (long long)row);
}
