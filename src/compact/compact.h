// Stream compaction: what the rooms' files share.
#ifndef SAPWOOD_COMPACT_COMPACT_H
#define SAPWOOD_COMPACT_COMPACT_H

#include "compact/ops.h"

// The inner loops of the CPU, one set per instruction set and precision. Pointers may have any alignment.
typedef struct sap_compact_kernels {
    // How many of the flags are not 0.
    int64_t (*flags)(const uint8_t* keep, int64_t count);
    // Moves the kept ones of `count` items to `out`; `kept` of them are kept, and nothing is written behind these. out
    // may be items or begin ahead of it: no item is overwritten before it is read.
    void (*reals)(const void* items, const uint8_t* keep, int64_t count, void* out, int64_t kept); // real-sized items
    void (*quarters)(const void* items, const uint8_t* keep, int64_t count, void* out, int64_t kept); // a quarter of it
    // flags[i], i from 1 on: whether item i differs from the one before it.
    void (*flag_reals)(const void* items, int64_t count, uint8_t* flags);
    void (*flag_quarters)(const void* items, int64_t count, uint8_t* flags);
} sap_compact_kernels;

// Whether the bytes that a job reads as items and the most that it may write overlap.
static inline bool sap_compact_overlaps(const sap_compact_job* job) {
    uintptr_t items = (uintptr_t)job->items, out = (uintptr_t)job->out;
    size_t bytes = (size_t)job->count * job->item_bytes; // checked
    return items < out ? out - items < bytes : items - out < bytes;
}

#endif
