// Rows of neighbours: their memory, and sorting by (distance, id) on the CPU.
#include "radius/neighbors.h"
#include "base/assert.h"
#include "base/team.h"
#include <string.h>

// What a user holds is the first member.
typedef struct owned_neighbors {
    sap_neighbors neighbors;
    sap_device* device;
    sap_scratch memory; // offsets, ids, distances: scratch memory, whose pages the next result need not touch first
    sap_neighbors_home home; // or, on_device, a processor's own
} owned_neighbors;

sap_status sap_neighbors_reserve(sap_device* device, int64_t rows, int32_t real_bits, int64_t total,
                                 sap_neighbors** out) {
    const sap_status status = sap_neighbors_try(device, rows, real_bits, total, out);
    if (status == SAP_ERROR_RANGE)
        return sap_fail(device, status, "%lld neighbours are more than can be addressed", (long long)total);
    if (status != SAP_OK) return sap_fail(device, status, "no memory for %lld neighbours", (long long)total);
    return SAP_OK;
}

sap_status sap_neighbors_try(sap_device* device, int64_t rows, int32_t real_bits, int64_t total, sap_neighbors** out) {
    size_t real = (size_t)real_bits / 8, offsets = sap_align((size_t)(rows + 1) * 8), bytes;
    if (!sap_size_multiply((uint64_t)total, real + 4, &bytes) ||
        !sap_size_add(bytes, offsets + 2 * SAP_ALIGNMENT, &bytes))
        return SAP_ERROR_RANGE;
    owned_neighbors* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made || !sap_scratch_take(device, bytes, &made->memory)) {
        sap_memory_release(device, made, sizeof *made);
        return SAP_ERROR_MEMORY;
    }
    made->device = device;
    unsigned char* memory = made->memory.memory;
    made->neighbors.count = rows;
    made->neighbors.offsets = (int64_t*)(void*)memory;
    made->neighbors.ids = (int32_t*)(void*)(memory + offsets);
    void* distances = memory + offsets + sap_align((size_t)total * 4);
    SAP_ASSERT((unsigned char*)distances + (size_t)total * real <= memory + made->memory.bytes);
    if (real_bits == 32)
        made->neighbors.distance2 = distances;
    else if (real_bits == 64)
        made->neighbors.distance2_f64 = distances;
    *out = &made->neighbors;
    return SAP_OK;
}

sap_status sap_neighbors_create(sap_device* device, int64_t rows, int32_t real_bits, const int64_t* counts,
                                sap_neighbors** out) {
    int64_t total = 0;
    for (int64_t i = 0; i < rows; i++) total += counts[i];
    sap_status status = sap_neighbors_reserve(device, rows, real_bits, total, out);
    if (status != SAP_OK) return status;
    int64_t* offset = (int64_t*)(uintptr_t)(*out)->offsets;
    for (int64_t i = 0; i < rows; i++) { offset[i] = i ? offset[i - 1] + counts[i - 1] : 0; }
    SAP_ASSERT(rows == 0 || offset[rows - 1] + counts[rows - 1] == total);
    offset[rows] = total;
    return SAP_OK;
}

sap_status sap_neighbors_adopt(sap_device* device, const sap_neighbors* rows, const sap_neighbors_home* home,
                               sap_neighbors** out) {
    owned_neighbors* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for rows of neighbours");
    SAP_ASSERT(home->release && home->sort);
    made->neighbors = *rows;
    made->neighbors.on_device = true;
    made->device = device;
    made->home = *home;
    *out = &made->neighbors;
    return SAP_OK;
}

void sap_neighbors_free(sap_neighbors* neighbors) {
    if (!neighbors) return;
    owned_neighbors* owned = (owned_neighbors*)(void*)neighbors;
    sap_device* device = owned->device;
    if (neighbors->on_device) {
        owned->home.release(device, owned->home.offsets.memory, owned->home.offsets.bytes);
        owned->home.release(device, owned->home.hits.memory, owned->home.hits.bytes);
    }
    sap_scratch_give(device, &owned->memory);
    sap_memory_release(device, owned, sizeof *owned);
}

typedef struct pair {
    double distance2;
    int32_t id;
} pair;

static bool pair_less(pair a, pair b) {
    return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.id < b.id);
}

// Lets the pair at `at` of a heap with the greatest on top sink to its place.
static void sink(pair* heap, int64_t count, int64_t at) {
    SAP_ASSERT(at >= 0 && at < count);
    pair moving = heap[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && pair_less(heap[child], heap[child + 1])) child++;
        if (!pair_less(moving, heap[child])) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void sort_pairs(pair* p, int64_t count) {
    if (count <= 32) {
        for (int64_t i = 1; i < count; i++) {
            pair x = p[i];
            int64_t j = i;
            for (; j > 0 && pair_less(x, p[j - 1]); j--) p[j] = p[j - 1];
            p[j] = x;
        }
        return;
    }
    for (int64_t i = count / 2; i-- > 0;) sink(p, count, i);
    for (int64_t end = count - 1; end > 0; end--) {
        pair last = p[end];
        p[end] = p[0];
        p[0] = last;
        sink(p, end, 0);
    }
}

static void sort_row(const sap_neighbors* n, int64_t row, pair* room) {
    int64_t start = n->offsets[row], count = n->offsets[row + 1] - start;
    int32_t* ids = (int32_t*)(uintptr_t)n->ids + start;
    float* narrow = n->distance2 ? (float*)(uintptr_t)n->distance2 + start : NULL;
    double* wide = n->distance2_f64 ? (double*)(uintptr_t)n->distance2_f64 + start : NULL;
    SAP_ASSERT(count >= 0);
    for (int64_t i = 0; i < count; i++) room[i] = (pair){narrow ? (double)narrow[i] : wide ? wide[i] : 0, ids[i]};
    sort_pairs(room, count);
    for (int64_t i = 0; i < count; i++) {
        ids[i] = room[i].id;
        if (narrow)
            narrow[i] = (float)room[i].distance2;
        else if (wide)
            wide[i] = room[i].distance2;
    }
}

enum { SORT_GRAIN = 256 }; // rows that are worth a thread

typedef struct sort {
    const sap_neighbors* neighbors;
    unsigned char* room; // `room_bytes` of each worker
    size_t room_bytes;
} sort;

static void sort_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const sort* s = context;
    pair* room = (pair*)(void*)(s->room + (size_t)worker * s->room_bytes);
    for (int64_t i = from; i < to; i++) sort_row(s->neighbors, i, room);
}

sap_status sap_neighbors_sort(sap_neighbors* neighbors) {
    if (!neighbors) return SAP_ERROR_ARGUMENT;
    const owned_neighbors* owned = (owned_neighbors*)(void*)neighbors;
    sap_device* device = owned->device;
    if (neighbors->on_device) return owned->home.sort(device, neighbors);
    int64_t longest = 0;
    for (int64_t i = 0; i < neighbors->count; i++) {
        int64_t count = neighbors->offsets[i + 1] - neighbors->offsets[i];
        if (count > longest) longest = count;
    }
    int threads = neighbors->count > SORT_GRAIN ? device->options.threads : 1;
    size_t room_bytes, all_bytes;
    sap_scratch room = {NULL, 0};
    if (!sap_size_multiply((uint64_t)longest, sizeof(pair), &room_bytes) ||
        !sap_size_multiply(sap_align(room_bytes), (size_t)threads, &all_bytes) ||
        !sap_scratch_take(device, all_bytes + 1, &room))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to sort rows of %lld neighbours", (long long)longest);
    SAP_ASSERT((size_t)threads * sap_align(room_bytes) <= room.bytes);
    sort all = {neighbors, room.memory, sap_align(room_bytes)};
    sap_team_loop(threads, neighbors->count, SORT_GRAIN, sort_rows, &all);
    sap_scratch_give(device, &room);
    return SAP_OK;
}

// Moves the first places of a row to `to`, which does not lie behind them.
static void move_row(const sap_neighbors* n, int64_t from, int64_t to, size_t count) {
    int32_t* ids = (int32_t*)(uintptr_t)n->ids;
    float* narrow = (float*)(uintptr_t)n->distance2;
    double* wide = (double*)(uintptr_t)n->distance2_f64;
    SAP_ASSERT(to <= from);
    memmove(ids + to, ids + from, count * sizeof *ids);
    if (narrow)
        memmove(narrow + to, narrow + from, count * sizeof *narrow);
    else
        memmove(wide + to, wide + from, count * sizeof *wide);
}

sap_status sap_neighbors_shorten(sap_neighbors* neighbors, int32_t most) {
    const owned_neighbors* owned = (owned_neighbors*)(void*)neighbors;
    SAP_ASSERT(most > 0);
    const sap_status status = sap_neighbors_sort(neighbors);
    if (status != SAP_OK) return status;
    if (neighbors->on_device) return owned->home.shorten(owned->device, neighbors, most);
    int64_t* offsets = (int64_t*)(uintptr_t)neighbors->offsets;
    int64_t from = 0, to = 0;
    for (int64_t row = 0; row < neighbors->count; row++) {
        const int64_t end = offsets[row + 1], kept = end - from < most ? end - from : most;
        move_row(neighbors, from, to, (size_t)kept);
        to += kept;
        from = end;
        offsets[row + 1] = to;
    }
    return SAP_OK;
}
