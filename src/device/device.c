// Opening and closing devices, and how they speak to their host.
#include "device/device.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* heap_allocate(void* user, size_t bytes, size_t alignment) {
    (void)user;
    size_t rounded;
    if (__builtin_add_overflow(bytes, alignment - 1, &rounded)) return NULL;
    return aligned_alloc(alignment, rounded / alignment * alignment);
}

static void heap_release(void* user, void* memory, size_t bytes) {
    (void)user;
    (void)bytes;
    free(memory);
}

sap_status sap_fail(const sap_device* device, sap_status status, const char* format, ...) {
    if (device && device->options.log) {
        char sentence[512];
        va_list values;
        va_start(values, format);
        vsnprintf(sentence, sizeof sentence, format, values);
        va_end(values);
        device->options.log(device->options.log_user, status, sentence);
    }
    return status;
}

bool sap_progress_report(const sap_device* device, double done) {
    return !device->options.progress || device->options.progress(device->options.progress_user, done);
}

// Checks and completes the options in place.
static sap_status complete_options(sap_device* device) {
    sap_device_options* o = &device->options;
    if (o->processor < SAP_AUTO || o->processor > SAP_GL)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.processor: unknown processor %d", (int)o->processor);
    if (o->simd < SAP_SIMD_AUTO || o->simd > SAP_SIMD_AVX512)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.simd: unknown vector instructions %d", (int)o->simd);
    if (o->threads < 0 || o->threads > 1024)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.threads: %d is not in 0…1024", (int)o->threads);
    if (o->ordinal < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.ordinal: %d is negative", (int)o->ordinal);
    if (!o->allocator.allocate != !o->allocator.release)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.allocator: allocate and release must come together");
    if (!o->allocator.allocate) o->allocator = (sap_allocator){heap_allocate, heap_release, NULL};
    return SAP_OK;
}

sap_status sap_device_open(const sap_device_options* options, sap_device** device) {
    sap_device local;
    memset(&local, 0, sizeof local);
    if (options) local.options = *options;
    if (!device) return sap_fail(&local, SAP_ERROR_ARGUMENT, "device: is NULL");
    sap_status status = complete_options(&local);
    if (status != SAP_OK) return status;
    if (local.options.processor == SAP_CUDA || local.options.processor == SAP_GL)
        return sap_fail(&local, SAP_ERROR_NO_DEVICE, "options.processor: this build of Sapwood has no %s device",
                        local.options.processor == SAP_CUDA ? "CUDA" : "OpenGL");
    local.table = &sap_cpu_table;
    sap_device* opened = sap_memory_allocate(&local, sizeof *opened);
    if (!opened) return sap_fail(&local, SAP_ERROR_MEMORY, "no memory for a device");
    *opened = local;
    status = opened->table->open(opened);
    if (status != SAP_OK) {
        sap_memory_release(&local, opened, sizeof *opened);
        return status;
    }
    *device = opened;
    return SAP_OK;
}

void sap_device_close(sap_device* device) {
    if (!device) return;
    device->table->close(device);
    sap_scratch_trim(device);
    sap_device copy = *device;
    sap_memory_release(&copy, device, sizeof *device);
}

void sap_device_trim(sap_device* device) {
    if (device) sap_scratch_trim(device);
}

sap_status sap_device_describe(const sap_device* device, sap_device_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(device, SAP_ERROR_ARGUMENT, "info: is NULL");
    // Only the lock changes, which makes counting safe beside other calls.
    size_t bytes = sap_scratch_bytes((sap_device*)(uintptr_t)device);
    *info = (sap_device_info){.processor = SAP_CPU, .scratch_bytes = bytes};
    return device->table->describe(device, info);
}
