#include "cluster/comm.h"
#include "base/assert.h"
#include "cluster/ops.h"
#include <stdlib.h>

static void* heap_allocate(void* user, size_t bytes, size_t alignment) {
    (void)user;
    (void)alignment; // what a communicator keeps is aligned as malloc does
    return malloc(bytes);
}

static void heap_release(void* user, void* memory, size_t bytes) {
    (void)user;
    (void)bytes;
    free(memory);
}

sap_allocator sap_comm_allocator(const sap_allocator* given) {
    return given ? *given : (sap_allocator){heap_allocate, heap_release, NULL};
}

sap_status sap_comm_open(const sap_comm_engine* e, void* state, int32_t rank, int32_t size,
                         const sap_allocator* allocator, sap_comm** comm) {
    if (!e || !comm || size < 1 || rank < 0 || rank >= size) return SAP_ERROR_ARGUMENT;
    if (!e->gather || !e->exchange || !e->reduce || !e->split || !e->abort || !e->close) return SAP_ERROR_ARGUMENT;
    if (e->reserved[0] | e->reserved[1] | e->reserved[2] | e->reserved[3]) return SAP_ERROR_ARGUMENT;
    if (allocator && (!allocator->allocate || !allocator->release)) return SAP_ERROR_ARGUMENT;
    const sap_allocator memory = sap_comm_allocator(allocator);
    sap_comm* made = memory.allocate(memory.user, sizeof *made, SAP_ALIGNMENT);
    if (!made) return SAP_ERROR_MEMORY;
    *made = (sap_comm){.engine = *e, .state = state, .rank = rank, .size = size, .allocator = memory};
    *comm = made;
    return SAP_OK;
}

void sap_comm_close(sap_comm* comm) {
    if (!comm) return;
    const sap_allocator memory = comm->allocator;
    const bool of_engine = comm->of_engine;
    comm->engine.close(comm->state);
    if (!of_engine) memory.release(memory.user, comm, sizeof *comm);
}

int32_t sap_comm_rank(const sap_comm* comm) { return comm ? comm->rank : -1; }
int32_t sap_comm_size(const sap_comm* comm) { return comm ? comm->size : 0; }

void sap_comm_abort(sap_comm* comm, sap_status status) {
    if (comm && status != SAP_OK) comm->engine.abort(comm->state, status);
}

// What becomes of an engine's answer: once it has failed, the communicator is of no use to anybody.
static sap_status heard(sap_comm* comm, const sap_device* device, sap_status status) {
    if (status == SAP_OK) return SAP_OK;
    if (comm->failed == SAP_OK) {
        comm->failed = status;
        comm->engine.abort(comm->state, status);
    }
    return sap_fail(device, comm->failed, "the communicator has failed on rank %d, or on another: %s", (int)comm->rank,
                    sap_status_string(comm->failed));
}

sap_status sap_comm_gather(sap_comm* c, const sap_device* device, const void* mine, int64_t bytes, void* all) {
    c->said.gathers++;
    c->said.told += bytes;
    return heard(c, device, c->failed ? c->failed : c->engine.gather(c->state, mine, bytes, all, NULL));
}

static void count_exchange(sap_comm* c, const int64_t* send_bytes, const int64_t* receive_bytes) {
    c->said.exchanges++;
    for (int32_t r = 0; r < c->size; r++) {
        if (r == c->rank) continue;
        c->said.messages += send_bytes[r] > 0;
        c->said.sent += send_bytes[r];
        c->said.received += receive_bytes[r];
    }
}

sap_status sap_comm_exchange(sap_comm* c, const sap_device* device, const void* send, const int64_t* send_bytes,
                             void* receive, const int64_t* receive_bytes) {
    count_exchange(c, send_bytes, receive_bytes);
    return heard(c, device,
                 c->failed ? c->failed : c->engine.exchange(c->state, send, send_bytes, receive, receive_bytes, NULL));
}

// Through memory of the host.
static sap_status exchange_staged(sap_comm* c, sap_device* device, const void* send, const int64_t* send_bytes,
                                  void* receive, const int64_t* receive_bytes) {
    const sap_cluster_ops* ops = device->rooms.cluster;
    void* stream = ops->stream(device);
    size_t out = 0, in = 0;
    for (int32_t r = 0; r < c->size; r++) {
        out += (size_t)send_bytes[r];
        in += (size_t)receive_bytes[r];
    }
    sap_scratch scratch = {NULL, 0};
    sap_status status = SAP_OK;
    if (!sap_scratch_take(device, sap_align(out) + in + 1, &scratch))
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for messages of %zu bytes", out + in);
    if (status == SAP_OK && out) status = ops->copy(scratch.memory, send, out, stream);
    if (status == SAP_OK && out) status = ops->wait(stream);
    status = sap_comm_agree(c, device, status, NULL, 0);
    unsigned char* received = scratch.memory + sap_align(out);
    if (status == SAP_OK) status = sap_comm_exchange(c, device, scratch.memory, send_bytes, received, receive_bytes);
    if (status == SAP_OK && in) { // a message that does not arrive is the engine's failure: nobody waits for this rank
        status = ops->copy(receive, received, in, stream);
        status = heard(c, device, status == SAP_OK ? ops->wait(stream) : status);
    }
    sap_scratch_give(device, &scratch);
    return status;
}

sap_status sap_comm_exchange_there(sap_comm* c, sap_device* device, void* stream, const void* send,
                                   const int64_t* send_bytes, void* receive, const int64_t* receive_bytes) {
    if (!c->engine.device_memory) return exchange_staged(c, device, send, send_bytes, receive, receive_bytes);
    c->there = device->rooms.cluster;
    count_exchange(c, send_bytes, receive_bytes);
    return heard(c, device,
                 c->failed ? c->failed
                           : c->engine.exchange(c->state, send, send_bytes, receive, receive_bytes, stream));
}

sap_status sap_comm_reduce(sap_comm* c, const sap_device* device, sap_reduction how, uint64_t* values, int64_t count) {
    c->said.reductions++;
    c->said.told += count * (int64_t)sizeof *values;
    return heard(c, device, c->failed ? c->failed : c->engine.reduce(c->state, how, values, count, NULL));
}

sap_status sap_comm_describe(const sap_comm* comm, sap_comm_info* info) {
    if (!comm || !info) return SAP_ERROR_ARGUMENT;
    *info = comm->said;
    info->rank = comm->rank;
    info->size = comm->size;
    return SAP_OK;
}

sap_status sap_comm_split(sap_comm* c, int32_t color, int32_t key, sap_comm** part) {
    if (!c || !part) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_comm_agree(c, NULL, color < -1 ? SAP_ERROR_ARGUMENT : SAP_OK, NULL, 0);
    if (status != SAP_OK) return status;
    sap_comm* made = NULL;
    status = c->engine.split(c->state, color, key, &made);
    // Memory that one rank lacks is no failure of the engine: the others give theirs back.
    const sap_status all = sap_comm_agree(c, NULL, status, NULL, 0);
    if (all != SAP_OK) {
        sap_comm_close(made);
        return all;
    }
    *part = made;
    return SAP_OK;
}

sap_status sap_comm_vote(sap_comm* comm, const sap_device* device, sap_status own, const uint64_t* values,
                         int32_t count, bool* any) {
    uint64_t words[2 + 2 * SAP_AGREE_MOST];
    SAP_ASSERT(count >= 0 && count <= SAP_AGREE_MOST);
    words[0] = own == SAP_OK ? UINT64_MAX : (uint64_t)comm->rank << 32 | (uint64_t)own;
    for (int32_t i = 0; i < count; i++) { // the smallest and, inverted, the largest
        words[1 + i] = values[i];
        words[1 + count + i] = ~values[i];
    }
    if (any) words[1 + 2 * count] = !*any;
    const sap_status told = sap_comm_reduce(comm, device, SAP_REDUCE_MIN, words, 1 + 2 * count + (any != NULL));
    if (told != SAP_OK) return told;
    if (any) *any = !words[1 + 2 * count];
    if (words[0] != UINT64_MAX) {
        const sap_status status = (sap_status)(words[0] & UINT32_MAX);
        if (own != SAP_OK) return status; // this rank has said why
        return sap_fail(device, status, "rank %d: %s", (int)(words[0] >> 32), sap_status_string(status));
    }
    for (int32_t i = 0; i < count; i++)
        if (words[1 + i] != ~words[1 + count + i])
            return sap_fail(device, SAP_ERROR_ARGUMENT, "the ranks do not ask the same: dims, precision or options");
    return SAP_OK;
}

// ---- What programs send.

sap_status sap_comm_all_gather(sap_comm* c, const void* mine, int64_t bytes, void* all) {
    if (!c) return SAP_ERROR_ARGUMENT;
    if (bytes < 0 || (bytes && (!mine || !all))) return heard(c, NULL, SAP_ERROR_ARGUMENT);
    return sap_comm_gather(c, NULL, mine, bytes, all);
}

// Whether there is room for a part of each rank.
static bool has_room(const sap_comm* c, const void* buffer, const int64_t* bytes) {
    for (int32_t r = 0; bytes && r < c->size; r++)
        if (bytes[r] < 0 || (bytes[r] && !buffer)) return false;
    return bytes != NULL;
}

sap_status sap_comm_all_to_all(sap_comm* c, const void* send, const int64_t* send_bytes, void* receive,
                               const int64_t* receive_bytes) {
    if (!c) return SAP_ERROR_ARGUMENT;
    if (!has_room(c, send, send_bytes) || !has_room(c, receive, receive_bytes))
        return heard(c, NULL, SAP_ERROR_ARGUMENT);
    return sap_comm_exchange(c, NULL, send, send_bytes, receive, receive_bytes);
}

sap_status sap_comm_all_reduce(sap_comm* c, sap_reduction how, uint64_t* values, int64_t count) {
    if (!c) return SAP_ERROR_ARGUMENT;
    if (count < 0 || (count && !values) || how < SAP_REDUCE_SUM || how > SAP_REDUCE_MAX)
        return heard(c, NULL, SAP_ERROR_ARGUMENT);
    return sap_comm_reduce(c, NULL, how, values, count);
}
