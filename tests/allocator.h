// A host that watches: an allocator that counts, checks what it is told and can be made to fail, and a log that keeps
// the last sentence.
#ifndef SAPWOOD_TESTS_ALLOCATOR_H
#define SAPWOOD_TESTS_ALLOCATOR_H

#include "sapwood/base.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct watch {
    int64_t requests;    // so far
    int64_t fail_from;   // this request, counted from 1, is refused; 0: none
    bool fail_all_after; // and all later ones
    bool paused;         // requests are neither counted nor refused
    int64_t blocks;      // now in use
    int64_t bytes;       // now in use
    int64_t most;        // bytes that were in use at once
    int64_t wrong;       // calls that broke the allocator's contract
    int log_calls;
    sap_status logged;
    char sentence[512];
} watch;

// Stands right before each block.
typedef struct watch_block {
    uint64_t mark;
    size_t bytes;
    void* start;
} watch_block;

#define WATCH_MARK 0x5a5b5c5d5e5f5051u

static inline void* watch_allocate(void* user, size_t bytes, size_t alignment) {
    watch* w = user;
    bool power = alignment && !(alignment & (alignment - 1)) && alignment <= 4096;
    if (!bytes || !power) __atomic_add_fetch(&w->wrong, 1, __ATOMIC_RELAXED);
    int64_t number = w->paused ? 0 : __atomic_add_fetch(&w->requests, 1, __ATOMIC_RELAXED);
    if (number && w->fail_from && (number == w->fail_from || (w->fail_all_after && number > w->fail_from))) return NULL;
    size_t ahead = alignment < 64 ? 64 : alignment;
    void* start;
    if (bytes > SIZE_MAX / 4 || posix_memalign(&start, ahead, ahead + bytes)) return NULL;
    unsigned char* memory = (unsigned char*)start + ahead;
    watch_block block = {WATCH_MARK, bytes, start};
    memcpy(memory - sizeof block, &block, sizeof block);
    memset(memory, 0xcd, bytes < 1 << 20 ? bytes : 1 << 20); // nothing may count on zeros
    __atomic_add_fetch(&w->blocks, 1, __ATOMIC_RELAXED);
    const int64_t now = __atomic_add_fetch(&w->bytes, (int64_t)bytes, __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&w->most, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&w->most, &most, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return memory;
}

static inline void watch_release(void* user, void* memory, size_t bytes) {
    watch* w = user;
    watch_block block = {0, 0, NULL};
    if (memory) memcpy(&block, (unsigned char*)memory - sizeof block, sizeof block);
    if (block.mark != WATCH_MARK || block.bytes != bytes) {
        __atomic_add_fetch(&w->wrong, 1, __ATOMIC_RELAXED);
        return;
    }
    memset((unsigned char*)memory - sizeof block, 0, sizeof block);
    __atomic_sub_fetch(&w->blocks, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&w->bytes, (int64_t)bytes, __ATOMIC_RELAXED);
    free(block.start);
}

static inline void watch_log(void* user, sap_status status, const char* sentence) {
    watch* w = user;
    w->log_calls++;
    w->logged = status;
    snprintf(w->sentence, sizeof w->sentence, "%s", sentence);
}

// Options of a device that is watched.
static inline sap_device_options watched(watch* w) {
    return (sap_device_options){
        .processor = SAP_CPU, .allocator = {watch_allocate, watch_release, w}, .log = watch_log, .log_user = w};
}

#endif
