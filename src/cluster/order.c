// Points in the order of their ids.
#include "base/assert.h"
#include "cluster/cluster.h"
#include "tree/leaves.h"
#include <string.h>

enum {
    DIGIT = 11,
    DIGITS = 1 << DIGIT,
    WORD = 64,
    AHEAD = 8, // leaves
    LINE = 16  // ids in a line of memory
};

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

// A leaf; memory is asked for the ids of one further on, as leaves lie too far apart to be foreseen.
static sap_leaf_block leaf_of(const sap_tree* tree, int64_t at) {
    const int64_t later = at + AHEAD;
    if (later < sap_leaf_places(tree)) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, later);
        for (int32_t i = 0; i < leaf.count; i += LINE) __builtin_prefetch(&leaf.ids[i]);
    }
    return sap_leaf_block_at(tree, at);
}

// The bits of the ids, a word of them at a time, and how many ids there are in the words before.
typedef struct mark {
    uint64_t bits;
    int64_t before;
} mark;

// Of ids that lie close together.
static void mark_places(const sap_tree* tree, int32_t* places, mark* marks, int64_t count) {
    int64_t before = 0;
    memset(marks, 0, (size_t)count * sizeof *marks);
    for (int64_t at = 0; at < sap_leaf_places(tree); at++) {
        const sap_leaf_block leaf = leaf_of(tree, at);
        for (int32_t i = 0; i < leaf.count; i++) marks[leaf.ids[i] / WORD].bits |= UINT64_C(1) << leaf.ids[i] % WORD;
    }
    for (int64_t i = 0; i < count; i++) {
        marks[i].before = before;
        before += __builtin_popcountll(marks[i].bits);
    }
    for (int64_t at = 0; at < sap_leaf_places(tree); at++, places += tree->shape.stride) {
        const sap_leaf_block leaf = leaf_of(tree, at);
        for (int32_t i = 0; i < leaf.count; i++) {
            const mark* m = &marks[leaf.ids[i] / WORD];
            const uint64_t smaller = m->bits & ((UINT64_C(1) << leaf.ids[i] % WORD) - 1);
            places[i] = (int32_t)(m->before + __builtin_popcountll(smaller));
        }
    }
}

// Of any ids.
static void sort_places(const sap_cluster_piece* piece, int32_t* places, sap_listed* list) {
    const int32_t stride = piece->tree->shape.stride;
    int64_t count = 0;
    for (int64_t at = 0; at < sap_leaf_places(piece->tree); at++) {
        const sap_leaf_block leaf = leaf_of(piece->tree, at);
        for (int32_t i = 0; i < leaf.count; i++) list[count++] = (sap_listed){leaf.ids[i], places + at * stride + i};
    }
    SAP_ASSERT(count == piece->count);
    list = sap_cluster_sort(list, list + count, count);
    for (int64_t p = 0; p < count; p++) places[(const int32_t*)list[p].at - places] = (int32_t)p;
}

static sap_status find_places(sap_device* device, sap_cluster_piece* piece) {
    const sap_tree_shape* s = &piece->tree->shape;
    const int64_t words = s->source_count / WORD + 1; // it is above all ids
    const size_t sorted = 2 * (size_t)piece->count * sizeof(sap_listed), marked = (size_t)words * sizeof(mark);
    sap_scratch scratch = {NULL, 0};
    if (!sap_cluster_make_ids(device, piece, s->slots / 2 + 1) ||
        !sap_scratch_take(device, marked < sorted ? marked : sorted, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the places of %lld points", (long long)piece->count);
    piece->places = (int32_t*)(void*)piece->ids;
    if (marked < sorted)
        mark_places(piece->tree, piece->places, (mark*)(void*)scratch.memory, words);
    else
        sort_places(piece, piece->places, (sap_listed*)(void*)scratch.memory);
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
