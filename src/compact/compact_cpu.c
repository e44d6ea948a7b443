// Compaction on the CPU, in waves: each thread has a chunk of the wave's items. Before a barrier it finds out how many
// of them are kept; behind it, knowing what the chunks ahead keep, it moves them to their place. Every byte comes from
// memory once, since a chunk's flags fit the cache.
//
// In place, one thread moves its chunks directly: an item never moves up. Several threads would overwrite what others
// have still to read, so each gathers its kept items in a buffer before the barrier: behind it, whatever lies under the
// places that a wave writes has been read.
#include "compact/compact.h"
#include "device/cpu.h"
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 18, // items and flags of a thread's chunk
    LARGE_ITEM = 1 << 20,  // in place, larger ones are moved by one thread: a buffer for each would be too much
    SLACK = 64             // bytes between the buffers of two threads
};

typedef struct batch {
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
} batch;

// ---- Moving the kept items of a chunk

// Every item is written where the next kept one belongs, and left there if it is one. There is no branch, since nobody
// can foretell it.
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

static void move(const batch* b, const unsigned char* items, const uint8_t* keep, int64_t count, unsigned char* out,
                 int64_t kept) {
    const sap_compact_kernels *words = b->kernels[0]->compact, *pairs = b->kernels[1]->compact;
    switch (b->job->item_bytes) {
    case 1: words->quarters(items, keep, count, out, kept); break;
    case 2: pairs->quarters(items, keep, count, out, kept); break;
    case 4: words->reals(items, keep, count, out, kept); break;
    case 8: pairs->reals(items, keep, count, out, kept); break;
    case 12: move_12(items, keep, out, kept); break;
    case 16: move_16(items, keep, out, kept); break;
    case 24: move_24(items, keep, out, kept); break;
    case 32: move_32(items, keep, out, kept); break;
    default: move_any(items, b->job->item_bytes, keep, out, kept); break;
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

static void flag_changes(const batch* b, const unsigned char* items, int64_t count, uint8_t* flags) {
    const sap_compact_kernels *words = b->kernels[0]->compact, *pairs = b->kernels[1]->compact;
    switch (b->job->item_bytes) {
    case 1: words->flag_quarters(items, count, flags); break;
    case 2: pairs->flag_quarters(items, count, flags); break;
    case 4: words->flag_reals(items, count, flags); break;
    case 8: pairs->flag_reals(items, count, flags); break;
    case 12: flag_12(items, count, flags); break;
    case 16: flag_16(items, count, flags); break;
    default: flag_any(items, count, b->job->item_bytes, flags); break;
    }
}

// ---- Waves

typedef struct chunk {
    int64_t first, count;
    const unsigned char* items;
    const uint8_t* keep;
} chunk;

static chunk chunk_of(const batch* b, int64_t wave, int64_t slot) {
    int64_t first = (wave * b->slots + slot) * b->chunk, left = b->job->count - first;
    if (left <= 0) return (chunk){0, 0, NULL, NULL};
    return (chunk){first, left < b->chunk ? left : b->chunk,
                   (const unsigned char*)b->job->items + (size_t)first * b->job->item_bytes,
                   b->job->keep ? b->job->keep + first : b->flags + slot * b->chunk};
}

// Flags a chunk's items if nobody else has.
static void flag(const batch* b, int64_t wave, int64_t slot, const chunk* c) {
    size_t size = b->job->item_bytes;
    uint8_t* flags = b->flags + slot * b->chunk;
    flag_changes(b, c->items, c->count, flags);
    // What precedes a wave may have been overwritten by now, so a copy was laid aside.
    const unsigned char* ahead = slot ? c->items - size : b->ahead + (size_t)(wave & 1) * size;
    flags[0] = !c->first || memcmp(ahead, c->items, size) != 0;
    int64_t next = (wave + 1) * b->slots * b->chunk;
    if (!slot && next < b->job->count)
        memcpy(b->ahead + (size_t)(~wave & 1) * size, (const unsigned char*)b->job->items + (size_t)(next - 1) * size,
               size);
}

// Before the barrier.
static void prepare(const batch* b, int64_t wave, int64_t slot) {
    chunk c = chunk_of(b, wave, slot);
    if (c.count && !b->job->keep) flag(b, wave, slot, &c);
    int64_t kept = c.count ? b->kernels[0]->compact->flags(c.keep, c.count) : 0;
    b->kept[wave & 1][slot] = kept;
    if (b->buffered && kept) move(b, c.items, c.keep, c.count, b->buffers + (size_t)slot * b->buffer_bytes, kept);
}

// Behind it: to the item of `out` with this number.
static void place(const batch* b, int64_t wave, int64_t slot, int64_t at) {
    int64_t kept = b->kept[wave & 1][slot];
    if (!kept) return;
    unsigned char* out = (unsigned char*)b->job->out + (size_t)at * b->job->item_bytes;
    chunk c = chunk_of(b, wave, slot);
    if (b->buffered)
        memcpy(out, b->buffers + (size_t)slot * b->buffer_bytes, (size_t)kept * b->job->item_bytes);
    else
        move(b, c.items, c.keep, c.count, out, kept);
}

static int64_t run_waves(const batch* b) {
    int64_t wave_items = b->slots * b->chunk, waves = (b->job->count + wave_items - 1) / wave_items, total = 0;
#pragma omp parallel num_threads((int)b->slots) if (b->slots > 1)
    {
        int64_t at = 0; // kept in earlier waves
        for (int64_t wave = 0; wave < waves; wave++) {
            const int64_t* kept = b->kept[wave & 1];
            // The loop's end is the barrier. The next wave writes other numbers, and buffers only of the same threads.
#pragma omp for schedule(static, 1)
            for (int64_t slot = 0; slot < b->slots; slot++) prepare(b, wave, slot);
#pragma omp for schedule(static, 1) nowait
            for (int64_t slot = 0; slot < b->slots; slot++) {
                int64_t before = at;
                for (int64_t s = 0; s < slot; s++) before += kept[s];
                place(b, wave, slot, before);
            }
            for (int64_t s = 0; s < b->slots; s++) at += kept[s];
        }
#pragma omp master
        total = at;
    }
    return total;
}

// ---- The call

// How many items a chunk has and how many threads share a wave.
static void plan(batch* b, const sap_device* device) {
    size_t size = b->job->item_bytes;
    bool large = size >= CHUNK_BYTES;
    int64_t most = large ? 1 : (int64_t)(CHUNK_BYTES / (size + 1));
    int64_t worthwhile = (b->job->count + most / 4) / (most / 4 + 1); // threads that have something to do
    b->slots = device->options.threads < worthwhile ? device->options.threads : worthwhile;
    b->buffered = sap_compact_overlaps(b->job);
    if (b->buffered && size > LARGE_ITEM) b->slots = 1;
    if (b->slots == 1) b->buffered = false;
    int64_t share = (b->job->count + b->slots - 1) / b->slots;
    b->chunk = share < most ? share : most;
    if (b->slots == 1) b->chunk = most / 16 + 1; // its flags stay in the nearest cache between counting and moving
    b->buffer_bytes = b->buffered ? sap_align((size_t)b->chunk * size) + SLACK : 0;
}

sap_status sap_compact_cpu(sap_device* device, const sap_compact_job* job) {
    if (job->count == 0) {
        *job->out_count = 0;
        return SAP_OK;
    }
    batch b = {.job = job, .kernels = {sap_cpu_kernels_of(device, 32), sap_cpu_kernels_of(device, 64)}};
    plan(&b, device);
    size_t slots = (size_t)b.slots, kept = sap_align(slots * sizeof(int64_t));
    size_t flags = job->keep ? 0 : sap_align(slots * (size_t)b.chunk), ahead = job->keep ? 0 : 2 * job->item_bytes;
    sap_scratch scratch;
    if (!sap_scratch_take(device, 2 * kept + flags + slots * b.buffer_bytes + ahead, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to compact %lld items", (long long)job->count);
    b.kept[0] = (int64_t*)(void*)scratch.memory;
    b.kept[1] = (int64_t*)(void*)(scratch.memory + kept);
    b.flags = scratch.memory + 2 * kept;
    b.buffers = b.flags + flags;
    b.ahead = b.buffers + slots * b.buffer_bytes;
    *job->out_count = run_waves(&b);
    sap_scratch_give(device, &scratch);
    return SAP_OK;
}
