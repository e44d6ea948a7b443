// Points in the order of their ids.
#include "base/assert.h"
#include "cluster/cluster.h"
#include "tree/leaves.h"
#include <string.h>

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

sap_listed* sap_cluster_sort(sap_listed* list, sap_listed* other, int64_t count) {
    uint64_t differ = 0;
    for (int64_t i = 1; i < count; i++) differ |= (uint64_t)(list[i].id ^ list[0].id);
    for (int shift = 0; shift < 63; shift += DIGIT) {
        int64_t starts[DIGITS] = {0}, at = 0;
        if (!(differ >> shift & (DIGITS - 1))) continue;
        for (int64_t i = 0; i < count; i++) starts[list[i].id >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            const int64_t here = starts[d];
            starts[d] = at;
            at += here;
        }
        for (int64_t i = 0; i < count; i++) other[starts[list[i].id >> shift & (DIGITS - 1)]++] = list[i];
        sap_listed* sorted = other;
        other = list;
        list = sorted;
    }
    return list;
}

static sap_status find_places(sap_device* device, sap_cluster_piece* piece) {
    const int32_t stride = piece->tree->shape.stride;
    const size_t bytes = (size_t)piece->count * sizeof(sap_listed);
    sap_scratch scratch = {NULL, 0};
    if (!sap_cluster_make_ids(device, piece, piece->tree->shape.slots / 2 + 1) ||
        !sap_scratch_take(device, 2 * bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the places of %lld points", (long long)piece->count);
    int32_t* places = (int32_t*)(void*)piece->ids;
    sap_listed* list = (sap_listed*)(void*)scratch.memory;
    int64_t count = 0;
    for (int64_t at = 0; at < sap_leaf_places(piece->tree); at++) {
        const sap_leaf_block leaf = sap_leaf_block_at(piece->tree, at);
        for (int32_t i = 0; i < leaf.count; i++) list[count++] = (sap_listed){leaf.ids[i], places + at * stride + i};
    }
    SAP_ASSERT(count == piece->count);
    list = sap_cluster_sort(list, list + count, count);
    for (int64_t p = 0; p < count; p++) places[(const int32_t*)list[p].at - places] = (int32_t)p;
    piece->places = places;
    sap_scratch_give(device, &scratch);
    return SAP_OK;
}

sap_status sap_cluster_find_places(const sap_cluster_tree* tree) {
    for (int32_t i = 0; i < tree->piece_count; i++) {
        sap_cluster_piece* piece = &tree->pieces[i];
        if (!piece->by_id || piece->places || !piece->count) continue;
        const sap_status status = find_places(tree->device, piece);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}
