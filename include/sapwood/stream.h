/**
 * @file stream.h
 * Stream compaction: of an array, the items that are wanted, moved together in their old order.
 *
 * **Items** are any bytes of one size: numbers, structs, rows of a table. They are copied as they are and compared byte
 * for byte, so that -0 and 0 differ and a NaN equals itself. Arrays may begin at any address; those that begin at a
 * multiple of their item's size, if that is 1, 2, 4, 8 or 16, are the fastest on a GPU.
 *
 * **In place.** `out` may be `items`. Otherwise what is written must not overlap what is read. If the pointers alone
 * show that it does, the call returns SAP_ERROR_ARGUMENT: `out` begins within `keep`, or within `items` but not at its
 * start, or (::sap_unique) less than one item ahead of it; or the two are one array and `keep` begins within it.
 *
 * **Where.** On a CUDA device each array may lie in host memory or on the GPU, and so may the count: a count on the GPU
 * is written there, and the call then need not wait (see ::sap_device).
 */
#ifndef SAPWOOD_STREAM_H
#define SAPWOOD_STREAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Keeps items[i] where keep[i] is not 0: they become out[0], out[1], … in their old order, and *out_count is their
 * number. `items` and `keep` hold `count` items (of `item_bytes` bytes) and flags; `count` may exceed 2^32, and all
 * arrays may be NULL when it is 0. `out` needs room only for the items that are kept; nothing else of it is written.
 *
 * O(count). Each item and flag is read once from memory and each kept item written once: on a CPU in waves of chunks
 * that fit the cache, on a GPU in a single pass with decoupled look-back (Merrill and Garland 2016). Scratch memory: a
 * few kilobytes a thread, in place 1 MB a thread (or four items, if those are more); on a GPU 8 bytes for every 32 KB of
 * items, and copies of what lies in host memory.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL, a negative count, item_bytes 0, overlapping arrays), SAP_ERROR_RANGE
 * (count * item_bytes is more than 2^63-1), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST,
 * SAP_ERROR_UNSUPPORTED (a processor without compaction).
 */
SAP_API sap_status sap_compact(sap_device* device, const void* items, int64_t count, size_t item_bytes,
                               const uint8_t* keep, void* out, int64_t* out_count);

/**
 * Keeps the first of each run of adjacent items that are equal in every byte; of sorted items this keeps each value
 * once. Otherwise as ::sap_compact, except that a GPU reads items twice, and needs a byte of scratch an item, if their
 * size is not 1, 2, 4, 8 or 16 or if the array does not begin at a multiple of it.
 */
SAP_API sap_status sap_unique(sap_device* device, const void* items, int64_t count, size_t item_bytes, void* out,
                              int64_t* out_count);

#ifdef __cplusplus
}
#endif
#endif
