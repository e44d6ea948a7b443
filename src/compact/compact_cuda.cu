// Compaction on a GPU: a single pass, in which each block compacts one tile of items and finds its place in the output
// by decoupled look-back.
#include "base/assert.h"
#include "compact/any_cuda.cuh"
#include "compact/sized_cuda.cuh"

extern "C" {
#include "compact/compact.h"
}

typedef struct plan {
    tiles t;
    bool unique;
    int sized;       // the size of items whose kernel is made for it, or 0
    any_shape shape; // otherwise
    int64_t blocks;
} plan;

static bool is_multiple(const tiles& t, uintptr_t of) {
    return ((uintptr_t)t.items | (uintptr_t)t.out | (uintptr_t)t.item_bytes) % of == 0;
}

static int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

static void make_plan(plan* p) {
    const int64_t size = p->t.item_bytes;
    const bool is_power = size <= VECTOR && (size & (size - 1)) == 0;
    if (is_power && is_multiple(p->t, (uintptr_t)size)) {
        p->sized = (int)size;
        p->blocks = parts(p->t.count + (int64_t)((uintptr_t)p->t.items % VECTOR) / size, TILE_BYTES / size);
        return;
    }
    int64_t items = TILE_BYTES / size;
    if (items >= GROUP) items -= items % GROUP;
    if (items > ANY_ITEMS) items = ANY_ITEMS;
    p->sized = 0;
    p->shape.items = items ? (int)items : 1;
    p->shape.slabs = parts(size, TILE_BYTES);
    p->shape.words = is_multiple(p->t, 4);
    p->blocks = parts(p->t.count, p->shape.items) * p->shape.slabs;
    SAP_ASSERT(p->shape.slabs == 1 || p->shape.items == 1);
}

// Makes flags, one byte for each item: whether it is kept.
static void flag_items(sap_cuda_call* call, plan* p) {
    uint8_t* keep = (uint8_t*)sap_cuda_take(call, (size_t)p->t.count);
    int lanes = 1;
    while (lanes < SAP_WARP && lanes * VECTOR < p->t.item_bytes) lanes *= 2;
    enum { THREADS = 256 };
    sap_cuda_launch(call, flag_first_of_runs, sap_cuda_grid_for(p->t.count * lanes, THREADS), p->t, keep, lanes,
                    p->shape.words);
    p->t.keep = keep;
}

template <int size> static void launch_sized(sap_cuda_call* call, const plan* p) {
    sap_cuda_grid grid = {p->blocks, TILE_THREADS, sizeof(sized_shared<size>), false};
    if (p->unique)
        sap_cuda_launch(call, compact_sized<size, true>, grid, p->t);
    else
        sap_cuda_launch(call, compact_sized<size, false>, grid, p->t);
}

static void launch(sap_cuda_call* call, plan* p) {
    const size_t bytes = (size_t)p->blocks * sizeof(sap_tile_status);
    p->t.status = (sap_tile_status*)sap_cuda_take(call, bytes + sizeof(unsigned));
    sap_cuda_fill(call, p->t.status, 0, bytes + sizeof(unsigned));
    p->t.begun = (unsigned*)(p->t.status + p->blocks);
    if (call->status != SAP_OK) return;
    switch (p->sized) {
    case 1: launch_sized<1>(call, p); break;
    case 2: launch_sized<2>(call, p); break;
    case 4: launch_sized<4>(call, p); break;
    case 8: launch_sized<8>(call, p); break;
    case 16: launch_sized<16>(call, p); break;
    default: {
        if (p->unique) flag_items(call, p);
        sap_cuda_grid grid = {p->blocks, TILE_THREADS, sizeof(any_shared), false};
        sap_cuda_launch(call, compact_any, grid, p->t, p->shape);
    }
    }
}

// Compacts arrays on the GPU, or copies of the host's.
static void compact(sap_cuda_call* call, const sap_compact_job* job) {
    const size_t bytes = (size_t)job->count * job->item_bytes;
    const bool out_here = sap_cuda_on_device(call, job->out), count_here = sap_cuda_on_device(call, job->out_count);
    plan p = {};
    p.unique = !job->keep;
    p.t.items = (const unsigned char*)sap_cuda_in(call, job->items, bytes);
    if (job->keep) p.t.keep = (const uint8_t*)sap_cuda_in(call, job->keep, (size_t)job->count);
    p.t.count = job->count;
    p.t.item_bytes = (int64_t)job->item_bytes;
    // Items that came from the host and go back there are compacted in place, in their copy.
    const bool is_copy = p.t.items != job->items;
    if (out_here)
        p.t.out = (unsigned char*)job->out;
    else
        p.t.out = is_copy ? (unsigned char*)(uintptr_t)p.t.items : (unsigned char*)sap_cuda_take(call, bytes);
    p.t.in_place = is_copy ? !out_here : out_here && sap_compact_overlaps(job);
    p.t.total = (unsigned long long*)(count_here ? (void*)job->out_count : sap_cuda_take(call, sizeof(int64_t)));
    if (call->status != SAP_OK) return;
    make_plan(&p);
    launch(call, &p);
    if (out_here && count_here) return;
    int64_t kept = 0;
    sap_cuda_fetch(call, &kept, p.t.total, sizeof kept);
    if (!out_here) sap_cuda_fetch(call, job->out, p.t.out, (size_t)kept * job->item_bytes);
    if (!count_here && call->status == SAP_OK) *job->out_count = kept;
}

extern "C" sap_status sap_compact_cuda(sap_device* device, const sap_compact_job* job) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, device) == SAP_OK) {
        if (job->count)
            compact(&call, job);
        else if (sap_cuda_on_device(&call, job->out_count))
            sap_cuda_fill(&call, job->out_count, 0, sizeof(int64_t));
        else if (call.status == SAP_OK)
            *job->out_count = 0;
    }
    return sap_cuda_end(&call, SAP_OK);
}
