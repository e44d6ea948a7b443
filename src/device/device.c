// Opening and closing devices, and how they speak to their host.
#include "device/device.h"
#include "device/reserved.h"
#include "sapwood/gl.h"
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

sap_status sap_unsupported(const sap_device* device, const char* what) {
    return sap_fail(device, SAP_ERROR_UNSUPPORTED, "this %s device cannot %s", device->table->name, what);
}

// What a call of this thread that is made of others does with their reports.
typedef struct telling {
    int muted; // calls that tell for those that they make
    int level; // of muted calls, at which a report is one of a part; 0: none is
    double from, to;
} telling;
static _Thread_local telling now;

bool sap_progress_tell(const sap_device* device, double done) {
    if (!device->options.progress) return true;
    const telling within = now;
    now = (telling){0}; // a callback may make calls of its own
    const bool goes_on = device->options.progress(device->options.progress_user, done);
    now = within;
    return goes_on;
}

bool sap_progress_report(const sap_device* device, double done) {
    if (now.muted == 0) return sap_progress_tell(device, done);
    if (now.muted != now.level) return true;
    return sap_progress_tell(device, done < 1 ? now.from + done * (now.to - now.from) : now.to);
}

void sap_progress_mute(bool mute) {
    now.muted += mute ? 1 : -1;
    if (now.muted < now.level) now.level = 0;
}

void sap_progress_part(double from, double to) {
    now.level = now.muted == 1 ? 1 : 0; // else it is muted itself
    now.from = from;
    now.to = to;
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

static bool serves(const sap_processor_table* table, sap_processor wanted) {
    return wanted == SAP_AUTO ? table->automatic : table->kind == wanted;
}

// Opens on one processor; SAP_AUTO goes on to the next where there is none of its kind, and says nothing about it.
static sap_status open_on(const sap_device* options, const sap_processor_table* table, bool last, sap_device** device) {
    sap_device* opened = sap_memory_allocate(options, sizeof *opened);
    if (!opened) return sap_fail(options, SAP_ERROR_MEMORY, "no memory for a device");
    *opened = *options;
    sap_device_assign(opened, table);
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
    const sap_processor_table* const* last = NULL;
    const sap_processor wanted = local.options.processor;
    for (const sap_processor_table* const* p = sap_processors; *p; p++)
        if (serves(*p, wanted)) last = p;
    if (!last)
        return sap_fail(&local, SAP_ERROR_NO_DEVICE, "options.processor: this build of Sapwood has no %s device",
                        wanted == SAP_CUDA ? "CUDA" : "OpenGL");
    status = SAP_ERROR_NO_DEVICE;
    for (const sap_processor_table* const* p = sap_processors; p <= last && status == SAP_ERROR_NO_DEVICE; p++)
        if (serves(*p, wanted)) status = open_on(&local, *p, p == last, device);
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

sap_status sap_gl_describe(const sap_device* device, sap_gl_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!device->table->describe_gl) return sap_unsupported(device, "describe a context of OpenGL");
    if (!info) return sap_fail(device, SAP_ERROR_ARGUMENT, "info: is NULL");
    device->table->describe_gl(device, info);
    return SAP_OK;
}
