// Host memory of a device: checked sizes, the caller's allocator, and scratch arenas that outlive a call.
#ifndef SAPWOOD_DEVICE_MEMORY_H
#define SAPWOOD_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_device sap_device;

// Bytes between the starts of arrays: one cache line, one AVX-512 vector.
enum { SAP_ALIGNMENT = 64 };

// *result = a * b; false if that overflows size_t, which may have fewer bits than a count.
static inline bool sap_size_multiply(uint64_t a, uint64_t b, size_t* result) {
    return !__builtin_mul_overflow(a, b, result);
}

// *result = a + b; false if that overflows size_t.
static inline bool sap_size_add(size_t a, size_t b, size_t* result) { return !__builtin_add_overflow(a, b, result); }

static inline size_t sap_align(size_t bytes) { return (bytes + SAP_ALIGNMENT - 1) / SAP_ALIGNMENT * SAP_ALIGNMENT; }

// Memory aligned to a cache line, or NULL. 0 bytes give a valid block too.
void* sap_memory_allocate(const sap_device* device, size_t bytes);
// The same, all zero.
void* sap_memory_allocate_zero(const sap_device* device, size_t bytes);
// Takes back what was allocated with the same size. NULL is allowed.
void sap_memory_release(const sap_device* device, void* memory, size_t bytes);

// A block of scratch memory lent by the device to one call. Blocks go back to the device, which keeps them.
typedef struct sap_scratch {
    unsigned char* memory;
    size_t bytes;
} sap_scratch;

// Lends a block of at least `bytes`; false when memory is exhausted. Thread-safe.
bool sap_scratch_take(sap_device* device, size_t bytes, sap_scratch* scratch);
// Hands a block back. A zeroed struct is allowed.
void sap_scratch_give(sap_device* device, sap_scratch* scratch);
// Frees all idle blocks.
void sap_scratch_trim(sap_device* device);
// How much idle memory the device keeps.
size_t sap_scratch_bytes(sap_device* device);

// Copies rows of `width` bytes that begin from_pitch bytes apart to consecutive memory, with at most so many threads.
// Rows without gaps (width == from_pitch) may be given as rows of any other width.
void sap_memory_pack(void* to, const void* from, size_t from_pitch, size_t width, size_t rows, int32_t threads);

#ifdef __cplusplus
}
#endif
#endif
