#include "cluster/route.h"
#include "base/assert.h"
#include <string.h>

static sap_status no_memory(const sap_route* r, int64_t queries) {
    return sap_fail(r->tree->device, SAP_ERROR_MEMORY, "no memory to send or answer %lld queries", (long long)queries);
}

sap_status sap_route_open(const sap_cluster_tree* tree, const sap_rows* queries, sap_route_choice* choose,
                          const void* context, sap_route* r) {
    const size_t size = (size_t)tree->comm->size, lists = 5 * size * sizeof(int64_t), ranks = size * sizeof(int32_t);
    sap_scratch scratch = {NULL, 0};
    *r = (sap_route){.tree = tree, .queries = queries};
    if (!sap_scratch_take(tree->device, lists + ranks, &scratch)) return no_memory(r, queries->count);
    int64_t* to = (int64_t*)(void*)scratch.memory;
    int32_t* chosen = (int32_t*)(void*)(scratch.memory + lists);
    memset(to, 0, size * sizeof *to);
    for (int64_t q = 0; q < queries->count; q++) {
        const int32_t count = choose(context, tree, q, sap_route_coords(queries, q), chosen);
        for (int32_t i = 0; i < count; i++) to[chosen[i]]++;
        r->sent += count;
    }
    size_t pairs, reaches;
    const bool taken = sap_size_multiply((uint64_t)r->sent, sizeof(int32_t), &pairs) && pairs < SIZE_MAX / 4 &&
                       sap_scratch_take(tree->device, lists + sap_align(pairs) + 2 * pairs + 1, &r->pairs);
    if (taken) {
        reaches = lists + sap_align(pairs);
        r->to = (int64_t*)(void*)r->pairs.memory;
        memcpy(r->to, to, size * sizeof *to);
        r->from = r->to + size;
        r->out = r->from + size;
        r->in = r->out + size;
        r->query = (int32_t*)(void*)(r->pairs.memory + lists);
        r->reach_out = (double*)(void*)(r->pairs.memory + reaches);
        int64_t at = 0;
        for (size_t k = 0; k < size; k++) { // from here on, where the next pair of a rank goes
            const int64_t count = to[k];
            to[k] = at;
            at += count;
        }
        for (int64_t q = 0; q < queries->count; q++) {
            const int32_t count = choose(context, tree, q, sap_route_coords(queries, q), chosen);
            for (int32_t i = 0; i < count; i++) r->query[to[chosen[i]]++] = (int32_t)q;
        }
    }
    sap_scratch_give(tree->device, &scratch);
    return taken ? SAP_OK : no_memory(r, r->sent);
}

void sap_route_close(sap_route* r) {
    if (!r->tree) return;
    sap_scratch_give(r->tree->device, &r->pairs);
    sap_scratch_give(r->tree->device, &r->arrived);
}

// Sends `width` bytes of each pair there, or of each query that came back.
static sap_status carry(sap_route* r, bool back, int64_t width, const void* send, void* receive) {
    const int32_t size = r->tree->comm->size;
    for (int32_t k = 0; k < size; k++) {
        r->out[k] = (back ? r->from[k] : r->to[k]) * width;
        r->in[k] = (back ? r->to[k] : r->from[k]) * width;
    }
    return sap_comm_exchange(r->tree->comm, r->tree->device, send, r->out, receive, r->in);
}

static sap_status exchange_counts(sap_route* r) {
    const int32_t size = r->tree->comm->size;
    for (int32_t k = 0; k < size; k++) r->out[k] = r->in[k] = (int64_t)sizeof(int64_t);
    const sap_status status = sap_comm_exchange(r->tree->comm, r->tree->device, r->to, r->out, r->from, r->in);
    for (int32_t k = 0; k < size && status == SAP_OK; k++) r->received += r->from[k];
    return status;
}

// Room for what comes with each query: `width` bytes, as many again for others, and its reach.
static sap_status make_room(sap_route* r, size_t width, bool with_others, bool with_reach) {
    const sap_device* device = r->tree->device;
    size_t coords, bytes;
    if (r->received > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "queries: %lld came to one rank; ask fewer at a time",
                        (long long)r->received);
    const bool fits = sap_size_multiply((uint64_t)r->received, width, &coords) && coords < SIZE_MAX / 8 &&
                      sap_size_multiply((uint64_t)r->received, with_reach ? sizeof(double) : 0, &bytes) &&
                      bytes < SIZE_MAX / 8;
    coords = fits ? sap_align(coords) : 0;
    if (!fits || !sap_scratch_take(r->tree->device, coords * (with_others ? 2 : 1) + bytes + 1, &r->arrived))
        return no_memory(r, r->received);
    r->coords = r->arrived.memory;
    r->others = r->coords + (with_others ? coords : 0);
    r->reach = (double*)(void*)(r->others + coords);
    return SAP_OK;
}

static sap_status carry_rows(sap_route* r, const sap_rows* rows, size_t width, unsigned char* leaving,
                             unsigned char* arriving) {
    for (int64_t i = 0; i < r->sent; i++)
        memcpy(leaving + (size_t)i * width, sap_route_coords(rows, r->query[i]), width);
    return carry(r, false, (int64_t)width, leaving, arriving);
}

sap_status sap_route_send(sap_route* r, sap_status status, const double* reach, const sap_rows* others) {
    const sap_cluster_tree* tree = r->tree;
    const size_t width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    size_t bytes = 0;
    sap_scratch leaving = {NULL, 0};
    if (status == SAP_OK && (!sap_size_multiply((uint64_t)r->sent, width, &bytes) || bytes == SIZE_MAX ||
                             !sap_scratch_take(tree->device, bytes + 1, &leaving)))
        status = no_memory(r, r->sent);
    status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
    SAP_ASSERT(status != SAP_OK || leaving.memory);
    if (status == SAP_OK) status = exchange_counts(r);
    if (status == SAP_OK)
        status = sap_comm_agree(tree->comm, tree->device, make_room(r, width, others, reach), NULL, 0);
    if (status == SAP_OK) status = carry_rows(r, r->queries, width, leaving.memory, r->coords);
    if (status == SAP_OK && others) status = carry_rows(r, others, width, leaving.memory, r->others);
    if (status == SAP_OK && reach) {
        for (int64_t i = 0; i < r->sent; i++) r->reach_out[i] = reach[r->query[i]];
        status = carry(r, false, (int64_t)sizeof(double), r->reach_out, r->reach);
    }
    sap_scratch_give(tree->device, &leaving);
    return status;
}

sap_status sap_route_return(sap_route* r, int64_t width, const void* found, void* answers) {
    return carry(r, true, width, found, answers);
}

sap_status sap_route_return_rows(sap_route* r, int64_t width, const int64_t* found_lengths, const void* found,
                                 const int64_t* answer_lengths, void* answers) {
    int64_t here = 0, there = 0;
    for (int32_t k = 0; k < r->tree->comm->size; k++) {
        r->out[k] = r->in[k] = 0;
        for (int64_t i = 0; i < r->from[k]; i++) r->out[k] += found_lengths[here++] * width;
        for (int64_t i = 0; i < r->to[k]; i++) r->in[k] += answer_lengths[there++] * width;
    }
    return sap_comm_exchange(r->tree->comm, r->tree->device, found, r->out, answers, r->in);
}
