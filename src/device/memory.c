#include "device/memory.h"
#include "base/assert.h"
#include "device/device.h"
#include <string.h>

void* sap_memory_allocate(const sap_device* device, size_t bytes) {
    const sap_allocator* a = &device->options.allocator;
    return a->allocate(a->user, bytes ? bytes : 1, SAP_ALIGNMENT);
}

void* sap_memory_allocate_zero(const sap_device* device, size_t bytes) {
    void* memory = sap_memory_allocate(device, bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

void sap_memory_release(const sap_device* device, void* memory, size_t bytes) {
    const sap_allocator* a = &device->options.allocator;
    if (memory) a->release(a->user, memory, bytes ? bytes : 1);
}

enum { PACK_SHARE = 256 << 10 }; // bytes that are worth a thread

void sap_memory_pack(void* to, const void* from, size_t from_pitch, size_t width, size_t rows, int32_t threads) {
    const size_t shares = width * rows / PACK_SHARE;
    SAP_ASSERT(threads > 0 && width <= from_pitch);
    const int workers = (size_t)threads < shares ? threads : shares > 1 ? (int)shares : 1;
#pragma omp parallel for num_threads(workers) schedule(static) if (workers > 1)
    for (int i = 0; i < workers; i++) {
        const size_t first = rows / (size_t)workers * (size_t)i, left = rows - first;
        const size_t count = i < workers - 1 ? rows / (size_t)workers : left;
        SAP_ASSERT(first <= rows && count <= left);
        unsigned char* out = (unsigned char*)to + first * width;
        const unsigned char* in = (const unsigned char*)from + first * from_pitch;
        if (width == from_pitch)
            memcpy(out, in, count * width);
        else
            for (size_t row = 0; row < count; row++) memcpy(out + row * width, in + row * from_pitch, width);
    }
}

enum { SMALL_BLOCK = 1 << 20 }; // blocks up to this size serve any smaller request

// A spin lock: no function of the caller runs while it is held.
static void lock(sap_device* device) {
    while (__atomic_exchange_n(&device->lock, 1, __ATOMIC_ACQUIRE)) {}
}

static void unlock(sap_device* device) {
    SAP_ASSERT(__atomic_load_n(&device->lock, __ATOMIC_RELAXED) == 1);
    __atomic_store_n(&device->lock, 0, __ATOMIC_RELEASE);
}

// The smallest idle block that fits and is not far too large; else the largest that is too small, to be replaced; else
// -1.
static int best_idle(const sap_device* device, size_t bytes) {
    int fit = -1, small = -1;
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) {
        size_t have = device->idle[i].bytes;
        if (!have) continue;
        if (have < bytes) {
            if (small < 0 || have > device->idle[small].bytes) small = i;
        } else if (have / 8 <= bytes || have <= SMALL_BLOCK) {
            if (fit < 0 || have < device->idle[fit].bytes) fit = i;
        }
    }
    return fit >= 0 ? fit : small;
}

bool sap_scratch_take(sap_device* device, size_t bytes, sap_scratch* scratch) {
    sap_scratch found = {NULL, 0};
    lock(device);
    int i = best_idle(device, bytes);
    if (i >= 0) {
        found = device->idle[i];
        device->idle[i] = (sap_scratch){NULL, 0};
    }
    unlock(device);
    if (found.memory && found.bytes < bytes) {
        sap_memory_release(device, found.memory, found.bytes);
        found.memory = NULL;
    }
    if (!found.memory) {
        found.memory = sap_memory_allocate(device, bytes);
        found.bytes = bytes;
    }
    if (!found.memory) return false;
    SAP_ASSERT(found.bytes >= bytes);
    *scratch = found;
    return true;
}

void sap_scratch_give(sap_device* device, sap_scratch* scratch) {
    if (!scratch->memory) return;
    lock(device);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) SAP_ASSERT(device->idle[i].memory != scratch->memory); // given once
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) {
        if (device->idle[i].memory) continue;
        device->idle[i] = *scratch;
        *scratch = (sap_scratch){NULL, 0};
        break;
    }
    unlock(device);
    if (scratch->memory) sap_memory_release(device, scratch->memory, scratch->bytes);
    *scratch = (sap_scratch){NULL, 0};
}

void sap_scratch_trim(sap_device* device) {
    sap_scratch idle[SAP_SCRATCH_BLOCKS];
    lock(device);
    memcpy(idle, device->idle, sizeof idle);
    memset(device->idle, 0, sizeof device->idle);
    unlock(device);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) sap_memory_release(device, idle[i].memory, idle[i].bytes);
}

size_t sap_scratch_bytes(sap_device* device) {
    size_t bytes = 0;
    lock(device);
    for (int i = 0; i < SAP_SCRATCH_BLOCKS; i++) bytes += device->idle[i].bytes;
    unlock(device);
    return bytes;
}
