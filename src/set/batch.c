// New points by ascending id, for all processors.
#include "set/set.h"

// Sorts keys of 64 bits by their upper half, eight bits at a time; `room` is as long as they are.
static void sort_keys(uint64_t* keys, uint64_t* room, int64_t count) {
    for (int shift = 32; shift < 64; shift += 8) {
        int64_t next[257] = {0};
        for (int64_t i = 0; i < count; i++) next[(keys[i] >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++) next[i + 1] += next[i];
        for (int64_t i = 0; i < count; i++) room[next[keys[i] >> shift & 255]++] = keys[i];
        uint64_t* sorted = room;
        room = keys;
        keys = sorted;
    }
}

// Puts a batch in order of its ids. The order is written over the first half of the keys.
static sap_status order_batch(sap_set* set, sap_set_batch* batch, sap_scratch* scratch) {
    const int64_t count = batch->rows.count;
    bool ascends = true;
    for (int64_t i = 1; i < count && ascends; i++) ascends = batch->ids[i - 1] < batch->ids[i];
    if (ascends) return SAP_OK;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)count, 16, &bytes) || !sap_scratch_take(set->device, bytes, scratch))
        return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory to order %lld ids", (long long)count);
    uint64_t* keys = (uint64_t*)(void*)scratch->memory;
    int32_t* order = (int32_t*)(void*)scratch->memory;
    for (int64_t i = 0; i < count; i++) keys[i] = (uint64_t)(uint32_t)batch->ids[i] << 32 | (uint64_t)i;
    sort_keys(keys, keys + count, count);
    for (int64_t i = 0; i < count; i++) {
        const uint64_t key = keys[i];
        if (i > 0 && batch->ids[order[i - 1]] == (int32_t)(key >> 32))
            return sap_fail(set->device, SAP_ERROR_ARGUMENT, "ids: %d is there twice", (int)(key >> 32));
        order[i] = (int32_t)(uint32_t)key;
    }
    batch->order = order;
    return SAP_OK;
}

sap_status sap_set_batch_take(sap_set* set, sap_set_batch* batch, sap_scratch* scratch) {
    const int64_t count = batch->rows.count;
    if (set->live + count > INT32_MAX)
        return sap_fail(set->device, SAP_ERROR_RANGE, "points.count: the set would hold more than 2^31-1 points");
    if (!batch->ids) {
        if (count > INT32_MAX - batch->first)
            return sap_fail(set->device, SAP_ERROR_RANGE, "points.count: ids would exceed 2^31-2; give ids");
        return SAP_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        if (batch->ids[i] < 0)
            return sap_fail(set->device, SAP_ERROR_ARGUMENT, "ids: %d is negative", (int)batch->ids[i]);
        if (batch->ids[i] == INT32_MAX)
            return sap_fail(set->device, SAP_ERROR_RANGE, "ids: %d is above 2^31-2", (int)batch->ids[i]);
    }
    return order_batch(set, batch, scratch);
}

void sap_set_batch_taken(sap_set* set, const sap_set_batch* batch) {
    const int64_t count = batch->rows.count, last = sap_set_batch_id(batch, count - 1);
    set->live += count;
    if (last >= set->next_id) set->next_id = last + 1;
}
