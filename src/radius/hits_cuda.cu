// Rows of hits on a CUDA device. The host does not wait between the two passes of a search if the caller says how much
// room there is, or if it can guess from the last search how many hits there will be.
#include "base/assert.h"
#include "compact/prefix_sum_cuda.h"
#include "radius/hits_cuda.h"

// A guess saves some 10 µs. For more bytes than these a wrong guess costs too much.
static const double GUESS_BYTES = 64 << 20;

// Rows to which no pass will write.
static void zero_rows(sap_hits_cuda* h, int64_t* counts) {
    if (!h->counts_all) sap_cuda_fill(&h->call, counts, 0, (size_t)h->pass.all_rows * sizeof *counts);
}

sap_status sap_hits_count_cuda(sap_hits_cuda* h, int64_t* counts) {
    h->pass.counts = (int64_t*)sap_cuda_out(&h->call, counts, (size_t)h->pass.all_rows * sizeof *h->pass.counts);
    zero_rows(h, h->pass.counts);
    h->run(h, false);
    return sap_cuda_end(&h->call, SAP_OK);
}

// ---- Room for rows

static void* take(sap_hits_cuda* h, sap_scratch* block, size_t bytes) {
    if (!h->on_device) return sap_cuda_take(&h->call, bytes);
    block->memory = (unsigned char*)sap_cuda_allocate(&h->call, bytes);
    block->bytes = bytes;
    return block->memory;
}

static void give_up(sap_hits_cuda* h, sap_scratch* block) {
    sap_cuda_release(h->call.device, block->memory, block->bytes);
    block->memory = NULL;
}

static size_t distance2_bytes(const sap_hits_cuda* h) { return h->has_distance2 ? sap_real_bytes(&h->tree->shape) : 0; }

// Takes memory for `hits` ids, and behind them distances.
static void make_room(sap_hits_cuda* h, int64_t hits) {
    const size_t real = distance2_bytes(h), ids = ((size_t)hits * 4 + 255) / 256 * 256;
    size_t bytes;
    give_up(h, &h->home.hits);
    if (h->call.status != SAP_OK) return;
    if (!sap_size_multiply((uint64_t)hits, 4 + real, &bytes) || !sap_size_add(bytes, 256, &bytes)) {
        h->call.status = sap_fail(h->call.device, SAP_ERROR_RANGE, "%lld neighbours are more than can be addressed",
                                  (long long)hits);
        return;
    }
    unsigned char* memory = (unsigned char*)take(h, &h->home.hits, bytes);
    h->pass.room = hits;
    h->pass.ids = (int32_t*)(void*)memory;
    h->pass.distance2 = memory && real ? memory + ids : NULL;
}

// A quarter more hits than there were in the last search, for as many rows as this one has; 0: there was none.
static int64_t guess_hits(const sap_hits_cuda* h) {
    const int64_t last = h->last ? __atomic_load_n(h->last, __ATOMIC_RELAXED) : 0;
    const double hits = (double)last * (double)h->pass.all_rows / 1024 * 1.25 + 1024;
    return last > 0 && hits * 12 <= GUESS_BYTES ? (int64_t)hits : 0;
}

// Rows that stay on the GPU are moved to a block of just their size, if they take less than half of theirs.
static void tighten(sap_hits_cuda* h, int64_t total) {
    if (!h->on_device || h->call.status != SAP_OK || h->pass.room / 2 < total + 65536) return;
    const sap_scratch loose = h->home.hits;
    const sap_radius_pass from = h->pass;
    h->home.hits.memory = NULL;
    make_room(h, total);
    sap_cuda_copy(&h->call, h->pass.ids, from.ids, (size_t)total * 4);
    sap_cuda_copy(&h->call, h->pass.distance2, from.distance2, (size_t)total * distance2_bytes(h));
    sap_cuda_release(h->call.device, loose.memory, loose.bytes);
}

// ---- Collecting

// Fills rows on the GPU; how many hits there are.
static int64_t fill_rows(sap_hits_cuda* h) {
    const int64_t rows = h->pass.all_rows, guess = guess_hits(h);
    int64_t total = 0;
    int64_t* offsets = (int64_t*)take(h, &h->home.offsets, (size_t)(rows + 1) * sizeof *offsets);
    if (!offsets) return 0;
    h->pass.counts = offsets + 1;
    h->pass.offsets = offsets;
    zero_rows(h, h->pass.counts);
    h->run(h, false);
    sap_prefix_sum_cuda(&h->call, offsets, rows);
    if (guess > 0) {
        make_room(h, guess);
        h->run(h, true);
    }
    sap_cuda_fetch(&h->call, &total, offsets + rows, sizeof total);
    if (h->call.status != SAP_OK) return 0;
    SAP_ASSERT(total >= 0);
    if (guess == 0 || total > guess) {
        make_room(h, total);
        h->run(h, true);
    } else
        tighten(h, total);
    if (rows > 0 && h->last)
        __atomic_store_n(h->last, (int64_t)((double)total / (double)rows * 1024), __ATOMIC_RELAXED);
    return total;
}

// Copies rows to host memory.
static sap_status bring_down(sap_hits_cuda* h, int64_t total, sap_neighbors** out) {
    const int64_t rows = h->pass.all_rows;
    const int32_t real_bits = h->has_distance2 ? h->tree->shape.real_bits : 0;
    const sap_status status = sap_neighbors_reserve(h->call.device, rows, real_bits, total, out);
    if (status != SAP_OK) return status;
    const sap_neighbors* made = *out;
    const void* distance2 = real_bits == 64 ? (const void*)made->distance2_f64 : (const void*)made->distance2;
    h->call.waits = true;
    sap_cuda_copy(&h->call, (void*)(uintptr_t)made->offsets, h->pass.offsets, (size_t)(rows + 1) * 8);
    sap_cuda_copy(&h->call, (void*)(uintptr_t)made->ids, h->pass.ids, (size_t)total * 4);
    sap_cuda_copy(&h->call, (void*)(uintptr_t)distance2, h->pass.distance2, (size_t)total * (size_t)real_bits / 8);
    return SAP_OK;
}

static sap_status keep(sap_hits_cuda* h, sap_neighbors** out) {
    sap_neighbors rows = {};
    rows.count = h->pass.all_rows;
    rows.offsets = h->pass.offsets;
    rows.ids = h->pass.ids;
    if (h->tree->shape.real_bits == 32)
        rows.distance2 = (const float*)h->pass.distance2;
    else
        rows.distance2_f64 = (const double*)h->pass.distance2;
    h->home.release = sap_cuda_release;
    h->home.sort = sap_neighbors_sort_cuda;
    h->home.shorten = sap_neighbors_shorten_cuda;
    return sap_neighbors_adopt(h->call.device, &rows, &h->home, out);
}

sap_status sap_hits_collect_cuda(sap_hits_cuda* h, sap_neighbors** found) {
    sap_neighbors* made = NULL;
    const int64_t total = fill_rows(h);
    sap_status status = h->call.status;
    if (status == SAP_OK) status = h->on_device ? keep(h, &made) : bring_down(h, total, &made);
    status = sap_cuda_end(&h->call, status);
    if (status == SAP_OK) {
        *found = made;
        return SAP_OK;
    }
    if (!made) {
        give_up(h, &h->home.offsets);
        give_up(h, &h->home.hits);
    }
    sap_neighbors_free(made);
    return status;
}

// ---- Collecting into the caller's memory

// Room on the GPU for hits that go to the host, as much as they need. False if no pass has to collect any.
static bool make_room_there(sap_hits_cuda* h, const sap_radius_rows* rows, bool ids_there, bool distance2_there) {
    int64_t total = 0;
    h->pass.room = rows->capacity;
    h->pass.ids = rows->ids;
    h->pass.distance2 = rows->distance2;
    if (ids_there && (distance2_there || !rows->distance2)) return true;
    sap_cuda_fetch(&h->call, &total, h->pass.offsets + h->pass.all_rows, sizeof total);
    if (total < h->pass.room) h->pass.room = total;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)h->pass.room, sap_real_bytes(&h->tree->shape), &bytes)) {
        h->call.status = sap_fail(h->call.device, SAP_ERROR_RANGE, "%lld neighbours are more than can be addressed",
                                  (long long)h->pass.room);
        return false;
    }
    if (!ids_there) h->pass.ids = (int32_t*)sap_cuda_out(&h->call, rows->ids, (size_t)h->pass.room * 4);
    if (!distance2_there) h->pass.distance2 = sap_cuda_out(&h->call, rows->distance2, bytes);
    return h->call.status == SAP_OK && h->pass.room > 0;
}

sap_status sap_hits_collect_into_cuda(sap_hits_cuda* h, const sap_radius_rows* rows) {
    const bool ids_there = sap_cuda_on_device(&h->call, rows->ids);
    const bool distance2_there = sap_cuda_on_device(&h->call, rows->distance2);
    int64_t* offsets =
        (int64_t*)sap_cuda_out(&h->call, rows->offsets, (size_t)(h->pass.all_rows + 1) * sizeof *offsets);
    if (h->call.status != SAP_OK) return sap_cuda_end(&h->call, SAP_OK);
    h->pass.counts = offsets + 1;
    h->pass.offsets = offsets;
    h->pass.cut = true;
    zero_rows(h, h->pass.counts);
    h->run(h, false);
    sap_prefix_sum_cuda(&h->call, offsets, h->pass.all_rows);
    if (rows->capacity > 0 && make_room_there(h, rows, ids_there, distance2_there)) h->run(h, true);
    return sap_cuda_end(&h->call, SAP_OK);
}
