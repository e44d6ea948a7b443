// Memory, streams and the current GPU for the NCCL engine.
#include "cluster/nccl/ops.h"
#include "device/cuda.h"

static sap_status allocate(sap_device* device, size_t bytes, void** memory) {
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    *memory = sap_cuda_allocate(&call, bytes);
    call.waits = true; // other GPUs write there, in streams that do not wait for this one
    const sap_status status = sap_cuda_end(&call, SAP_OK);
    if (status == SAP_OK) return SAP_OK;
    sap_cuda_release(device, *memory, bytes);
    *memory = NULL;
    return status;
}

static sap_status pin(sap_device* device, size_t bytes, void** memory) {
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    *memory = NULL;
    if (call.status == SAP_OK) sap_cuda_expect(&call, call.cuda->calls->pin(memory, bytes), "locking pages");
    return sap_cuda_end(&call, SAP_OK);
}

static void unpin(sap_device* device, void* memory) {
    if (memory) (void)sap_cuda_of(device)->calls->unpin(memory);
}

static int32_t ordinal_of(const sap_device* device) { return sap_cuda_of(device)->ordinal; }

static sap_status lies(const sap_device* device, const void* memory, int32_t* ordinal) {
    int found = SAP_CUDA_PAGEABLE;
    const cudaError_t error = sap_cuda_of(device)->calls->on_device(memory, &found);
    *ordinal = found;
    return error == cudaSuccess ? SAP_OK : SAP_ERROR_ARGUMENT;
}

static int32_t use(const sap_device* device, int32_t ordinal) {
    const sap_cuda_calls* calls = sap_cuda_of(device)->calls;
    int previous = ordinal;
    (void)calls->current_device(&previous);
    (void)calls->use_device(ordinal);
    return previous;
}

static sap_status look(const sap_device* device, bool* done) {
    const sap_cuda* cuda = sap_cuda_of(device);
    const cudaError_t error = cuda->calls->look(cuda->stream);
    *done = error == cudaSuccess;
    return error == cudaSuccess || error == cudaErrorNotReady ? SAP_OK : SAP_ERROR_DEVICE_LOST;
}

extern const sap_nccl_ops sap_nccl_ops_cuda = {allocate, sap_cuda_release, pin, unpin, ordinal_of, lies, use, look};
