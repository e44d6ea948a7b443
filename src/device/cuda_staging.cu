// Large copies between pageable host memory and the GPU. CUDA moves such memory through a small page-locked buffer of
// its own with one thread, which in fresh memory also takes every page fault. Here several threads fill or empty
// page-locked chunks while the GPU copies those before.
//
// A device keeps a few chunks. One call at a time uses them; a call that finds them in use, or cannot allocate
// page-locked memory, leaves its copies to CUDA.
#include "device/cuda.h"

static void free_chunks(sap_cuda* cuda) {
    const sap_cuda_calls* calls = cuda->calls;
    sap_cuda_staging* s = &cuda->staging;
    for (int i = 0; i < s->chunks; i++) {
        (void)calls->wait_event(s->chunk[i].done);
        (void)calls->destroy_event(s->chunk[i].done);
        (void)calls->unpin(s->chunk[i].memory);
    }
    __atomic_store_n(&s->chunks, 0, __ATOMIC_RELAXED);
}

// Page-locking memory takes time, so no more of it than this copy needs. Returns how many chunks there are then, which
// may be fewer than wanted.
static int make_chunks(sap_cuda* cuda, int64_t wanted) {
    const sap_cuda_calls* calls = cuda->calls;
    sap_cuda_staging* s = &cuda->staging;
    while (s->chunks < SAP_CUDA_CHUNKS && s->chunks < wanted) {
        void* memory = NULL;
        cudaEvent_t done = NULL;
        if (calls->pin(&memory, calls->chunk_bytes) != cudaSuccess) break;
        if (calls->create_event(&done) != cudaSuccess) {
            (void)calls->unpin(memory);
            break;
        }
        s->chunk[s->chunks].memory = (unsigned char*)memory;
        s->chunk[s->chunks].done = done;
        __atomic_store_n(&s->chunks, s->chunks + 1, __ATOMIC_RELAXED);
    }
    SAP_ASSERT(s->chunks <= SAP_CUDA_CHUNKS);
    return s->chunks;
}

// Nobody ever waits for the chunks, so the call that has them may wait for the GPU and call the caller's log.
static bool take_chunks(sap_cuda* cuda) { return !__atomic_exchange_n(&cuda->staging.taken, 1, __ATOMIC_ACQUIRE); }
static void give_chunks(sap_cuda* cuda) {
    SAP_ASSERT(__atomic_load_n(&cuda->staging.taken, __ATOMIC_RELAXED) == 1);
    __atomic_store_n(&cuda->staging.taken, 0, __ATOMIC_RELEASE);
}

void sap_cuda_staging_trim(sap_device* device) {
    sap_cuda* cuda = sap_cuda_of(device);
    if (!take_chunks(cuda)) return;
    free_chunks(cuda);
    give_chunks(cuda);
}

// A copy: part number i of it takes chunk number i % chunks.
typedef struct transfer {
    sap_cuda_call* call;
    unsigned char* to;
    const unsigned char* from;
    size_t from_pitch, width, rows;
    size_t part_rows;
    int64_t parts;
    int chunks;
} transfer;

static size_t rows_of(const transfer* t, int64_t part) {
    SAP_ASSERT(part >= 0 && part < t->parts && (size_t)part * t->part_rows < t->rows);
    const size_t left = t->rows - (size_t)part * t->part_rows;
    return left < t->part_rows ? left : t->part_rows;
}

static unsigned char* chunk_of(const transfer* t, int64_t part) {
    SAP_ASSERT(part >= 0 && t->chunks > 0 && t->chunks <= t->call->cuda->staging.chunks);
    return t->call->cuda->staging.chunk[part % t->chunks].memory;
}

// Waits until the GPU no longer uses a part's chunk.
static void wait_for_chunk(const transfer* t, int64_t part) {
    if (t->call->status != SAP_OK) return;
    const cudaEvent_t done = t->call->cuda->staging.chunk[part % t->chunks].done;
    sap_cuda_expect(t->call, t->call->cuda->calls->wait_event(done), "copying");
}

// Has the GPU copy a part to or from its chunk.
static void start_part(const transfer* t, int64_t part, void* to, const void* from) {
    const sap_cuda* cuda = t->call->cuda;
    if (t->call->status != SAP_OK) return;
    const size_t bytes = rows_of(t, part) * t->width;
    SAP_ASSERT(bytes <= cuda->calls->chunk_bytes);
    sap_cuda_expect(t->call, cuda->calls->copy(to, bytes, from, bytes, bytes, 1, cuda->stream), "copying");
    if (t->call->status != SAP_OK) return;
    const cudaEvent_t done = cuda->staging.chunk[part % t->chunks].done;
    sap_cuda_expect(t->call, cuda->calls->record(done, cuda->stream), "copying");
}

static void upload(const transfer* t) {
    const int32_t threads = t->call->device->options.threads;
    for (int64_t part = 0; part < t->parts && t->call->status == SAP_OK; part++) {
        const size_t first = (size_t)part * t->part_rows;
        wait_for_chunk(t, part);
        if (t->call->status != SAP_OK) return;
        sap_memory_pack(chunk_of(t, part), t->from + first * t->from_pitch, t->from_pitch, t->width, rows_of(t, part),
                        threads);
        start_part(t, part, t->to + first * t->width, chunk_of(t, part));
    }
}

static void download(const transfer* t) {
    const int32_t threads = t->call->device->options.threads;
    const size_t part_bytes = t->part_rows * t->width;
    for (int64_t next = 0; next < t->parts + t->chunks && t->call->status == SAP_OK; next++) {
        const int64_t part = next - t->chunks;
        if (part >= 0 && part < t->parts) {
            wait_for_chunk(t, part);
            if (t->call->status != SAP_OK) return;
            sap_memory_pack(t->to + (size_t)part * part_bytes, chunk_of(t, part), t->width, t->width, rows_of(t, part),
                            threads);
        }
        if (next < t->parts) start_part(t, next, chunk_of(t, next), t->from + (size_t)next * part_bytes);
    }
}

bool sap_cuda_stage(sap_cuda_call* call, void* to, const void* from, size_t from_pitch, size_t width, size_t rows) {
    sap_cuda* cuda = call->cuda;
    const size_t chunk = cuda->calls->chunk_bytes;
    int to_side = 0, from_side = 0;
    if (call->status != SAP_OK || width * rows < chunk || width > chunk) return false;
    if (cuda->calls->on_device(to, &to_side) != cudaSuccess || cuda->calls->on_device(from, &from_side) != cudaSuccess)
        return false;
    const bool up = from_side == SAP_CUDA_PAGEABLE && to_side >= 0, down = to_side == SAP_CUDA_PAGEABLE;
    if (!up && !(down && from_side >= 0 && from_pitch == width)) return false;
    if (!take_chunks(cuda)) return false;
    transfer t = {call, (unsigned char*)to, (const unsigned char*)from, from_pitch, width, rows, chunk / width, 0, 0};
    t.parts = (int64_t)((rows + t.part_rows - 1) / t.part_rows);
    t.chunks = make_chunks(cuda, t.parts);
    if (t.chunks > 0) {
        if (up)
            upload(&t);
        else
            download(&t);
        // A chunk whose event was not recorded may still be in use.
        if (call->status != SAP_OK) (void)cuda->calls->wait(cuda->stream);
    }
    give_chunks(cuda);
    return t.chunks > 0;
}
