#include "device/memory.h"
#include "base/assert.h"
#include "base/team.h"
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

typedef struct pack {
    unsigned char* to;
    const unsigned char* from;
    size_t from_pitch, width;
} pack;

static void pack_rows(void* context, int64_t first, int64_t end, int32_t worker) {
    const pack* p = context;
    unsigned char* out = p->to + (size_t)first * p->width;
    const unsigned char* in = p->from + (size_t)first * p->from_pitch;
    (void)worker;
    if (p->width == p->from_pitch)
        memcpy(out, in, (size_t)(end - first) * p->width);
    else
        for (int64_t row = first; row < end; row++, out += p->width, in += p->from_pitch) memcpy(out, in, p->width);
}

void sap_memory_pack(void* to, const void* from, size_t from_pitch, size_t width, size_t rows, int32_t threads) {
    SAP_ASSERT(threads > 0 && width <= from_pitch);
    pack p = {to, from, from_pitch, width};
    sap_team_loop(threads, (int64_t)rows, (int64_t)(PACK_SHARE / (width + 1)) + 1, pack_rows, &p);
}

enum { SMALL_BLOCK = 1 << 20 }; // blocks up to this size serve any smaller request

// No function of the caller runs while the lock is held.
static void lock(sap_device* device) { sap_lock_take(&device->lock); }

static void unlock(sap_device* device) {
    SAP_ASSERT(__atomic_load_n(&device->lock, __ATOMIC_RELAXED) == 1);
    sap_lock_give(&device->lock);
}

// The smallest idle block that fits and is not far too large; else the largest that is too small, to be replaced; else
// -1.
static int best_idle(const sap_device* device, size_t bytes) {
    int fit = -1, small = -1;
    for (int i = 0; i < device->idle_end; i++) {
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
        if (device->idle_end <= i) device->idle_end = i + 1;
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
    device->idle_end = 0;
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
