// Compaction on the CPU, in waves: each thread has a chunk of the wave's items. Before a barrier it counts the kept
// ones; behind it, knowing the counts of the chunks ahead, it moves them to their place. Every byte is read from memory
// once, because a chunk's flags stay in the cache.
//
// In place, one thread moves its chunks directly: an item never moves up. Several threads would overwrite what others
// have still to read, so each gathers its kept items in a buffer before the barrier: behind it, whatever lies under the
// places that a wave writes has been read.
#include "base/assert.h"
#include "compact/compact.h"
#include "device/cpu.h"
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 18, // items and flags of a thread's chunk
    LARGE_ITEM = 1 << 20,  // in place, larger ones are moved by one thread: a buffer for each would be too much
    SLACK = 64             // bytes between the buffers of two threads
};

typedef struct compaction {
    const sap_compact_job* job;
    const sap_cpu_kernels* kernels[2]; // for 32 and 64 bits
    int64_t chunk;                     // items in a chunk
    int64_t slots;                     // chunks in a wave, one a thread
    bool buffered;
    size_t buffer_bytes;
    int64_t* kept[2];       // by slot: of a wave, and of the one after it
    unsigned char* flags;   // [slots][chunk], where the job brings none
    unsigned char* buffers; // [slots][buffer_bytes]
    unsigned char* ahead;   // the item before the wave's first: of a wave, and of the one after it
} compaction;

// ---- Moving the kept items of a chunk

// Every item is written where the next kept one belongs, and stays there if it is kept. There is no branch, because it
// could not be predicted.
#define MOVE_SIZED(size)                                                                                               \
    static void move_##size(const unsigned char* items, const uint8_t* keep, unsigned char* out, int64_t kept) {       \
        for (int64_t i = 0, moved = 0; moved < kept; moved += keep[i] != 0, i++) {                                     \
            unsigned char item[size];                                                                                  \
            memcpy(item, items + i * (size), size);                                                                    \
            memcpy(out + moved * (size), item, size);                                                                  \
        }                                                                                                              \
    }
MOVE_SIZED(12)
MOVE_SIZED(16)
MOVE_SIZED(24)
MOVE_SIZED(32)

// Runs of kept items together.
static void move_any(const unsigned char* items, size_t item_bytes, const uint8_t* keep, unsigned char* out,
                     int64_t kept) {
    for (int64_t i = 0; kept > 0;) {
        while (!keep[i]) i++;
        int64_t first = i;
        while (kept > 0 && keep[i]) i++, kept--;
        const unsigned char* from = items + (size_t)first * item_bytes;
        size_t bytes = (size_t)(i - first) * item_bytes;
        if (out != from) memmove(out, from, bytes);
        out += bytes;
    }
}

static void move(const compaction* work, const unsigned char* items, const uint8_t* keep, int64_t count,
                 unsigned char* out, int64_t kept) {
    const sap_compact_kernels *words = work->kernels[0]->compact, *pairs = work->kernels[1]->compact;
    SAP_ASSERT(kept >= 0 && kept <= count);
    switch (work->job->item_bytes) {
    case 1: words->quarters(items, keep, count, out, kept); break;
    case 2: pairs->quarters(items, keep, count, out, kept); break;
    case 4: words->reals(items, keep, count, out, kept); break;
    case 8: pairs->reals(items, keep, count, out, kept); break;
    case 12: move_12(items, keep, out, kept); break;
    case 16: move_16(items, keep, out, kept); break;
    case 24: move_24(items, keep, out, kept); break;
    case 32: move_32(items, keep, out, kept); break;
    default: move_any(items, work->job->item_bytes, keep, out, kept); break;
    }
}

// ---- Flags of the items that differ from the one before them: all of a chunk but the first

#define FLAG_SIZED(size)                                                                                               \
    static void flag_##size(const unsigned char* items, int64_t count, uint8_t* flags) {                               \
        for (int64_t i = 1; i < count; i++)                                                                            \
            flags[i] = memcmp(items + (i - 1) * (size), items + i * (size), size) != 0;                                \
    }
FLAG_SIZED(12)
FLAG_SIZED(16)

static void flag_any(const unsigned char* items, int64_t count, size_t size, uint8_t* flags) {
    for (int64_t i = 1; i < count; i++, items += size) flags[i] = memcmp(items, items + size, size) != 0;
}

static void flag_changes(const compaction* work, const unsigned char* items, int64_t count, uint8_t* flags) {
    const sap_compact_kernels *words = work->kernels[0]->compact, *pairs = work->kernels[1]->compact;
    switch (work->job->item_bytes) {
    case 1: words->flag_quarters(items, count, flags); break;
    case 2: pairs->flag_quarters(items, count, flags); break;
    case 4: words->flag_reals(items, count, flags); break;
    case 8: pairs->flag_reals(items, count, flags); break;
    case 12: flag_12(items, count, flags); break;
    case 16: flag_16(items, count, flags); break;
    default: flag_any(items, count, work->job->item_bytes, flags); break;
    }
}

// ---- Waves

typedef struct chunk {
    int64_t first, count;
    const unsigned char* items;
    const uint8_t* keep;
} chunk;

static chunk chunk_of(const compaction* work, int64_t wave, int64_t slot) {
    int64_t first = (wave * work->slots + slot) * work->chunk, left = work->job->count - first;
    if (left <= 0) return (chunk){0, 0, NULL, NULL};
    return (chunk){first, left < work->chunk ? left : work->chunk,
                   (const unsigned char*)work->job->items + (size_t)first * work->job->item_bytes,
                   work->job->keep ? work->job->keep + first : work->flags + slot * work->chunk};
}

// Flags a chunk's items, if the job has no flags.
static void flag(const compaction* work, int64_t wave, int64_t slot, const chunk* c) {
    size_t size = work->job->item_bytes;
    uint8_t* flags = work->flags + slot * work->chunk;
    SAP_ASSERT(c->count <= work->chunk);
    flag_changes(work, c->items, c->count, flags);
    // The item ahead of a wave may have been overwritten by now: it was copied before.
    const unsigned char* ahead = slot ? c->items - size : work->ahead + (size_t)(wave & 1) * size;
    flags[0] = !c->first || memcmp(ahead, c->items, size) != 0;
    int64_t next = (wave + 1) * work->slots * work->chunk;
    if (!slot && next < work->job->count)
        memcpy(work->ahead + (size_t)(~wave & 1) * size,
               (const unsigned char*)work->job->items + (size_t)(next - 1) * size, size);
}

// Before the barrier.
static void prepare(const compaction* work, int64_t wave, int64_t slot) {
    chunk c = chunk_of(work, wave, slot);
    if (c.count && !work->job->keep) flag(work, wave, slot, &c);
    int64_t kept = c.count ? work->kernels[0]->compact->flags(c.keep, c.count) : 0;
    SAP_ASSERT(kept >= 0 && kept <= c.count);
    work->kept[wave & 1][slot] = kept;
    SAP_ASSERT(!work->buffered || (size_t)kept * work->job->item_bytes <= work->buffer_bytes);
    if (work->buffered && kept)
        move(work, c.items, c.keep, c.count, work->buffers + (size_t)slot * work->buffer_bytes, kept);
}

// Behind it: to the item of `out` with this number.
static void place(const compaction* work, int64_t wave, int64_t slot, int64_t at) {
    int64_t kept = work->kept[wave & 1][slot];
    if (!kept) return;
    unsigned char* out = (unsigned char*)work->job->out + (size_t)at * work->job->item_bytes;
    chunk c = chunk_of(work, wave, slot);
    SAP_ASSERT(at >= 0 && at <= c.first); // no item moves up
    if (work->buffered)
        memcpy(out, work->buffers + (size_t)slot * work->buffer_bytes, (size_t)kept * work->job->item_bytes);
    else
        move(work, c.items, c.keep, c.count, out, kept);
}

static int64_t run_waves(const compaction* work) {
    int64_t wave_items = work->slots * work->chunk, waves = (work->job->count + wave_items - 1) / wave_items, total = 0;
#pragma omp parallel num_threads((int)work->slots) if (work->slots > 1)
    {
        int64_t at = 0; // kept in earlier waves
        for (int64_t wave = 0; wave < waves; wave++) {
            const int64_t* kept = work->kept[wave & 1];
            // The loop's end is the barrier. The next wave writes other numbers, and buffers only of the same threads.
#pragma omp for schedule(static, 1)
            for (int64_t slot = 0; slot < work->slots; slot++) prepare(work, wave, slot);
#pragma omp for schedule(static, 1) nowait
            for (int64_t slot = 0; slot < work->slots; slot++) {
                int64_t before = at;
                for (int64_t s = 0; s < slot; s++) before += kept[s];
                place(work, wave, slot, before);
            }
            for (int64_t s = 0; s < work->slots; s++) at += kept[s];
        }
#pragma omp master
        total = at;
    }
    SAP_ASSERT(total >= 0 && total <= work->job->count);
    return total;
}

// ---- The call

// How many items a chunk has and how many threads share a wave.
static void choose_chunks(compaction* work, const sap_device* device) {
    size_t size = work->job->item_bytes;
    bool large = size >= CHUNK_BYTES;
    int64_t most = large ? 1 : (int64_t)(CHUNK_BYTES / (size + 1));
    int64_t worthwhile = (work->job->count + most / 4) / (most / 4 + 1); // threads that have something to do
    work->slots = device->options.threads < worthwhile ? device->options.threads : worthwhile;
    work->buffered = sap_compact_overlaps(work->job);
    if (work->buffered && size > LARGE_ITEM) work->slots = 1;
    if (work->slots == 1) work->buffered = false;
    int64_t share = (work->job->count + work->slots - 1) / work->slots;
    work->chunk = share < most ? share : most;
    if (work->slots == 1)
        work->chunk = most / 16 + 1; // its flags stay in the nearest cache between counting and moving
    SAP_ASSERT(work->slots >= 1 && work->chunk >= 1);
    work->buffer_bytes = work->buffered ? sap_align((size_t)work->chunk * size) + SLACK : 0;
}

sap_status sap_compact_cpu(sap_device* device, const sap_compact_job* job) {
    if (job->count == 0) {
        *job->out_count = 0;
        return SAP_OK;
    }
    compaction work = {.job = job, .kernels = {sap_cpu_kernels_of(device, 32), sap_cpu_kernels_of(device, 64)}};
    choose_chunks(&work, device);
    size_t slots = (size_t)work.slots, kept = sap_align(slots * sizeof(int64_t));
    size_t flags = job->keep ? 0 : sap_align(slots * (size_t)work.chunk), ahead = job->keep ? 0 : 2 * job->item_bytes;
    sap_scratch scratch;
    if (!sap_scratch_take(device, 2 * kept + flags + slots * work.buffer_bytes + ahead, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to compact %lld items", (long long)job->count);
    work.kept[0] = (int64_t*)(void*)scratch.memory;
    work.kept[1] = (int64_t*)(void*)(scratch.memory + kept);
    work.flags = scratch.memory + 2 * kept;
    work.buffers = work.flags + flags;
    work.ahead = work.buffers + slots * work.buffer_bytes;
    SAP_ASSERT(work.ahead + ahead <= scratch.memory + scratch.bytes);
    *job->out_count = run_waves(&work);
    sap_scratch_give(device, &scratch);
    return SAP_OK;
}
