// Compaction on the CPU, in waves of chunks, which threads share. First the kept items of each chunk are counted; when
// all are, and so is what comes before each chunk, they are moved to their place. Every byte is read from memory once,
// because a wave's flags stay in the caches.
//
// In place, one thread moves its chunks directly: an item never moves up. Several threads would overwrite what others
// have still to read, so each gathers a chunk's kept items in a buffer when it counts them: when all are counted,
// whatever lies under the places that a wave writes has been read.
#include "base/assert.h"
#include "base/team.h"
#include "compact/compact.h"
#include "device/cpu.h"
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 18, // items and flags of a chunk
    CHUNKS = 16,           // of a wave, for each thread: to count and to move them takes far longer than to begin
    COSTLY_CHUNKS = 4,     // as many, where chunks have buffers or flags of their own
    LARGE_ITEM = 1 << 20,  // in place, larger ones are moved by one thread: a buffer for each would be too much
    SLACK = 64             // bytes between the buffers of two threads
};

typedef struct compaction {
    const sap_compact_job* job;
    const sap_cpu_kernels* kernels[2]; // for 32 and 64 bits
    int64_t chunk;                     // items in a chunk
    int64_t slots;                     // chunks in a wave
    int32_t threads;
    bool buffered;
    size_t buffer_bytes;
    int64_t wave;           // at work
    int64_t* kept;          // by slot: how many, then where they go
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

static void prepare(void* context, int64_t slot, int32_t worker) {
    const compaction* work = context;
    chunk c = chunk_of(work, work->wave, slot);
    (void)worker;
    if (c.count && !work->job->keep) flag(work, work->wave, slot, &c);
    int64_t kept = c.count ? work->kernels[0]->compact->flags(c.keep, c.count) : 0;
    SAP_ASSERT(kept >= 0 && kept <= c.count);
    work->kept[slot + 1] = kept;
    SAP_ASSERT(!work->buffered || (size_t)kept * work->job->item_bytes <= work->buffer_bytes);
    if (work->buffered && kept)
        move(work, c.items, c.keep, c.count, work->buffers + (size_t)slot * work->buffer_bytes, kept);
}

static void place(void* context, int64_t slot, int32_t worker) {
    const compaction* work = context;
    const int64_t at = work->kept[slot], kept = work->kept[slot + 1] - at;
    (void)worker;
    if (!kept) return;
    unsigned char* out = (unsigned char*)work->job->out + (size_t)at * work->job->item_bytes;
    chunk c = chunk_of(work, work->wave, slot);
    SAP_ASSERT(at >= 0 && at <= c.first); // no item moves up
    if (work->buffered)
        memcpy(out, work->buffers + (size_t)slot * work->buffer_bytes, (size_t)kept * work->job->item_bytes);
    else
        move(work, c.items, c.keep, c.count, out, kept);
}

static int64_t run_waves(compaction* work) {
    const int64_t wave_items = work->slots * work->chunk, waves = (work->job->count + wave_items - 1) / wave_items;
    int64_t total = 0;
    for (work->wave = 0; work->wave < waves; work->wave++) {
        sap_team_run(work->threads, work->slots, prepare, work);
        work->kept[0] = total;
        for (int64_t slot = 0; slot < work->slots; slot++) work->kept[slot + 1] += work->kept[slot];
        total = work->kept[work->slots];
        sap_team_run(work->threads, work->slots, place, work);
    }
    SAP_ASSERT(total >= 0 && total <= work->job->count);
    return total;
}

// ---- The call

// How many items a chunk has and how many chunks a wave.
static void choose_chunks(compaction* work, const sap_device* device) {
    const size_t size = work->job->item_bytes;
    const int64_t count = work->job->count, most = size >= CHUNK_BYTES ? 1 : (int64_t)(CHUNK_BYTES / (size + 1));
    const int64_t least = most / 4 + 1; // items that are worth a thread
    work->threads = device->options.threads;
    work->buffered = sap_compact_overlaps(work->job);
    if (work->threads <= 1 || count <= least || (work->buffered && size > LARGE_ITEM)) {
        work->buffered = false;
        work->slots = 1;
        work->chunk = most / 16 + 1; // its flags stay in the nearest cache between counting and moving
        return;
    }
    const int64_t slots = (int64_t)work->threads * (work->buffered || !work->job->keep ? COSTLY_CHUNKS : CHUNKS);
    const int64_t share = (count + slots - 1) / slots;
    work->chunk = share < least ? least : share < most ? share : most;
    work->slots = (count + work->chunk - 1) / work->chunk;
    if (work->slots > slots) work->slots = slots;
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
    size_t slots = (size_t)work.slots, kept = sap_align((slots + 1) * sizeof(int64_t));
    size_t flags = job->keep ? 0 : sap_align(slots * (size_t)work.chunk), ahead = job->keep ? 0 : 2 * job->item_bytes;
    sap_scratch scratch;
    if (!sap_scratch_take(device, kept + flags + slots * work.buffer_bytes + ahead, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to compact %lld items", (long long)job->count);
    work.kept = (int64_t*)(void*)scratch.memory;
    work.flags = scratch.memory + kept;
    work.buffers = work.flags + flags;
    work.ahead = work.buffers + slots * work.buffer_bytes;
    SAP_ASSERT(work.ahead + ahead <= scratch.memory + scratch.bytes);
    *job->out_count = run_waves(&work);
    sap_scratch_give(device, &scratch);
    return SAP_OK;
}
