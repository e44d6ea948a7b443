#include "cluster/route.h"
#include "base/assert.h"
#include <string.h>

static sap_status no_memory(const sap_route* r, int64_t queries) {
    return sap_fail(r->tree->device, SAP_ERROR_MEMORY, "no memory to send or answer %lld queries", (long long)queries);
}

// Makes room for r->sent pairs, of which to[rank] go to each rank; on return to[rank] is where the rank's
// first pair goes.
static bool make_pairs(sap_route* r, int64_t* to) {
    const size_t size = (size_t)r->tree->comm->size, lists = 4 * size * sizeof(int64_t);
    size_t pairs;
    if (!sap_size_multiply((uint64_t)r->sent, sizeof(int32_t), &pairs) || pairs > SIZE_MAX / 4 ||
        !sap_scratch_take(r->tree->device, lists + pairs + 1, &r->pairs))
        return false;
    r->to = (int64_t*)(void*)r->pairs.memory;
    memcpy(r->to, to, size * sizeof *to);
    r->from = r->to + size;
    r->out = r->from + size;
    r->in = r->out + size;
    r->query = (int32_t*)(void*)(r->pairs.memory + lists);
    int64_t at = 0;
    for (size_t k = 0; k < size; k++) {
        const int64_t count = to[k];
        to[k] = at;
        at += count;
    }
    return true;
}

sap_status sap_route_choose(const sap_cluster_tree* tree, const sap_rows* queries, sap_route_choice* choose,
                            const void* context, sap_route* r) {
    const size_t size = (size_t)tree->comm->size;
    sap_scratch scratch = {NULL, 0};
    *r = (sap_route){.tree = tree, .queries = queries};
    if (!sap_scratch_take(tree->device, size * (sizeof(int64_t) + sizeof(int32_t)), &scratch))
        return no_memory(r, queries->count);
    int64_t* to = (int64_t*)(void*)scratch.memory;
    int32_t* chosen = (int32_t*)(void*)(to + size);
    memset(to, 0, size * sizeof *to);
    for (int64_t q = 0; q < queries->count; q++) {
        const int32_t count = choose(context, tree, q, sap_route_coords(queries, q), chosen);
        for (int32_t i = 0; i < count; i++) to[chosen[i]]++;
        r->sent += count;
    }
    const bool taken = make_pairs(r, to);
    for (int64_t q = 0; q < queries->count && taken; q++) {
        const int32_t count = choose(context, tree, q, sap_route_coords(queries, q), chosen);
        for (int32_t i = 0; i < count; i++) r->query[to[chosen[i]]++] = (int32_t)q;
    }
    sap_scratch_give(tree->device, &scratch);
    return taken ? SAP_OK : no_memory(r, r->sent);
}

sap_status sap_route_open(const sap_cluster_tree* tree, const sap_rows* queries, const int32_t* home,
                          const int32_t* away, int64_t count, sap_route* r) {
    const size_t size = (size_t)tree->comm->size;
    const int32_t* owners = tree->top.owners;
    sap_scratch scratch = {NULL, 0};
    *r = (sap_route){.tree = tree, .queries = queries, .sent = count};
    if (!sap_scratch_take(tree->device, size * sizeof(int64_t), &scratch)) return no_memory(r, count);
    int64_t* counts = (int64_t*)(void*)scratch.memory;
    memset(counts, 0, size * sizeof *counts);
    for (int64_t i = 0; i < count; i++) counts[owners[home[away[i]]]]++;
    const bool taken = make_pairs(r, counts);
    for (int64_t i = 0; i < count && taken; i++) r->query[counts[owners[home[away[i]]]]++] = away[i];
    sap_scratch_give(tree->device, &scratch);
    return taken ? SAP_OK : no_memory(r, count);
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

// Room for what comes, `width` bytes a query.
static sap_status make_room(sap_route* r, size_t width) {
    size_t bytes;
    if (r->received > INT32_MAX)
        return sap_fail(r->tree->device, SAP_ERROR_RANGE, "queries: %lld came to one rank; ask fewer at a time",
                        (long long)r->received);
    if (!sap_size_multiply((uint64_t)r->received, width, &bytes) || bytes > SIZE_MAX / 8 ||
        !sap_scratch_take(r->tree->device, bytes + 1, &r->arrived))
        return no_memory(r, r->received);
    return SAP_OK;
}

static void pack(const sap_route* r, const sap_rows* beside, size_t width, unsigned char* leaving) {
    const size_t coords = (size_t)r->queries->dims * (size_t)r->queries->real_bits / 8;
    for (int64_t i = 0; i < r->sent; i++, leaving += width) {
        memcpy(leaving, sap_route_coords(r->queries, r->query[i]), coords);
        if (beside) memcpy(leaving + coords, sap_route_coords(beside, r->query[i]), width - coords);
    }
}

sap_status sap_route_send(sap_route* r, sap_status status, const sap_rows* beside, const uint64_t* same,
                          int32_t same_count) {
    const sap_cluster_tree* tree = r->tree;
    const int32_t reals = tree->dims + (beside ? beside->dims : 0);
    const size_t width = (size_t)reals * (size_t)tree->real_bits / 8;
    size_t bytes = 0;
    sap_scratch leaving = {NULL, 0};
    if (status == SAP_OK && (!sap_size_multiply((uint64_t)r->sent, width, &bytes) || bytes == SIZE_MAX ||
                             !sap_scratch_take(tree->device, bytes + 1, &leaving)))
        status = no_memory(r, r->sent);
    const int32_t own = tree->comm->rank;
    r->any = r->to && r->sent > r->to[own];
    status = sap_comm_agree_any(tree->comm, tree->device, status, same, same_count, &r->any);
    SAP_ASSERT(status != SAP_OK || leaving.memory);
    if (status == SAP_OK && r->any) status = exchange_counts(r);
    if (status == SAP_OK && r->any) status = sap_comm_agree(tree->comm, tree->device, make_room(r, width), NULL, 0);
    if (status == SAP_OK) pack(r, beside, width, leaving.memory);
    if (status == SAP_OK && r->any) status = carry(r, false, (int64_t)width, leaving.memory, r->arrived.memory);
    if (status == SAP_OK && !r->any && r->to) { // all that goes anywhere stays
        for (int32_t k = 0; k < tree->comm->size; k++) r->from[k] = k == own ? r->sent : 0;
        r->received = r->sent;
        r->arrived = leaving;
        leaving = (sap_scratch){NULL, 0};
    }
    r->came = (sap_rows){r->arrived.memory, r->received, reals, tree->dims, tree->real_bits};
    r->beside = r->came;
    if (!beside) r->beside.count = 0;
    if (beside && r->received) {
        r->beside.coords = r->arrived.memory + (size_t)tree->dims * (size_t)tree->real_bits / 8;
        r->beside.dims = beside->dims;
    }
    sap_scratch_give(tree->device, &leaving);
    return status;
}

sap_status sap_route_return(sap_route* r, int64_t width, const void* found, void* answers) {
    if (!r->any && r->sent) memcpy(answers, found, (size_t)(r->sent * width));
    if (!r->any) return SAP_OK;
    return carry(r, true, width, found, answers);
}

sap_status sap_route_return_rows(sap_route* r, int64_t width, const int32_t* found_lengths, const void* found,
                                 const int32_t* answer_lengths, void* answers) {
    int64_t here = 0, there = 0;
    for (int32_t k = 0; k < r->tree->comm->size; k++) {
        r->out[k] = r->in[k] = 0;
        for (int64_t i = 0; i < r->from[k]; i++) r->out[k] += found_lengths[here++] * width;
        for (int64_t i = 0; i < r->to[k]; i++) r->in[k] += answer_lengths[there++] * width;
        if (k == r->tree->comm->rank) r->out[k] = r->in[k] = 0;
    }
    if (!r->any) return SAP_OK;
    return sap_comm_exchange(r->tree->comm, r->tree->device, found, r->out, answers, r->in);
}
