// Opening and closing devices, and how they speak to their host.
#include "device/reserved.h"
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
        vsnprintf(sentence, sizeof sentence, format, values); // NOLINT(clang-analyzer-valist.Uninitialized): it is
        va_end(values);
        device->options.log(device->options.log_user, status, sentence);
    }
    return status;
}

bool sap_progress_tell(const sap_device* device, double done) {
    return !device->options.progress || device->options.progress(device->options.progress_user, done);
}

bool sap_progress_report(const sap_device* device, double done) {
    return __atomic_load_n(&device->muted, __ATOMIC_RELAXED) > 0 || sap_progress_tell(device, done);
}

void sap_progress_mute(sap_device* device, bool muted) {
    __atomic_add_fetch(&device->muted, muted ? 1 : -1, __ATOMIC_RELAXED);
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
    if (!o->device_allocator.allocate != !o->device_allocator.release)
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "options.device_allocator: allocate and release must come together");
    if (sap_reserved_check(device, o->reserved, "options") != SAP_OK) return SAP_ERROR_ARGUMENT;
    if (!o->allocator.allocate) o->allocator = (sap_allocator){heap_allocate, heap_release, NULL};
    return SAP_OK;
}

// The processors to try for an option, the best first.
static int tables_for(sap_processor processor, const sap_processor_table* tables[2]) {
    int count = 0;
#if defined(SAP_HAVE_CUDA)
    if (processor == SAP_AUTO || processor == SAP_CUDA) tables[count++] = &sap_cuda_table;
#endif
#if defined(SAP_HAVE_GL)
    if (processor == SAP_GL) tables[count++] = &sap_gl_table;
#endif
    if (processor == SAP_AUTO || processor == SAP_CPU) tables[count++] = &sap_cpu_table;
    return count;
}

// Opens on one processor; SAP_AUTO goes on to the next where there is none of its kind, and says nothing about it.
static sap_status open_on(const sap_device* options, const sap_processor_table* table, bool last, sap_device** device) {
    sap_device* opened = sap_memory_allocate(options, sizeof *opened);
    if (!opened) return sap_fail(options, SAP_ERROR_MEMORY, "no memory for a device");
    *opened = *options;
    opened->table = table;
    if (!last) opened->options.log = NULL;
    sap_status status = table->open(opened);
    if (status != SAP_OK) {
        sap_memory_release(options, opened, sizeof *opened);
        return status;
    }
    opened->options.log = options->options.log;
    *device = opened;
    return SAP_OK;
}

sap_status sap_device_open(const sap_device_options* options, sap_device** device) {
    sap_device local;
    memset(&local, 0, sizeof local);
    if (options) local.options = *options;
    if (!device) return sap_fail(&local, SAP_ERROR_ARGUMENT, "device: is NULL");
    sap_status status = complete_options(&local);
    if (status != SAP_OK) return status;
    const sap_processor_table* tables[2];
    int count = tables_for(local.options.processor, tables);
    if (count == 0)
        return sap_fail(&local, SAP_ERROR_NO_DEVICE, "options.processor: this build of Sapwood has no %s device",
                        local.options.processor == SAP_CUDA ? "CUDA" : "OpenGL");
    for (int i = 0; i < count; i++) {
        status = open_on(&local, tables[i], i == count - 1, device);
        if (status != SAP_ERROR_NO_DEVICE) break;
    }
    return status;
}

void sap_device_close(sap_device* device) {
    if (!device) return;
    device->table->close(device);
    sap_scratch_trim(device);
    sap_device copy = *device;
    sap_memory_release(&copy, device, sizeof *device);
}

void sap_device_trim(sap_device* device) {
    if (!device) return;
    if (device->table->trim) device->table->trim(device);
    sap_scratch_trim(device);
}

sap_status sap_device_wait(sap_device* device) {
    if (!device) return SAP_ERROR_ARGUMENT;
    return device->table->wait ? device->table->wait(device) : SAP_OK;
}

sap_status sap_device_describe(const sap_device* device, sap_device_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(device, SAP_ERROR_ARGUMENT, "info: is NULL");
    // Only the lock changes, which makes counting safe beside other calls.
    size_t bytes = sap_scratch_bytes((sap_device*)(uintptr_t)device);
    *info = (sap_device_info){.processor = SAP_CPU, .scratch_bytes = bytes};
    return device->table->describe(device, info);
}
