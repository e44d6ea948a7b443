// Points of a set within a radius: each level's, and the block's, added up row by row.
#include "radius/neighbors.h"
#include "set/set.h"
#include <string.h>

static const unsigned char* query_at(const sap_rows* queries, int64_t row) {
    return (const unsigned char*)queries->coords + (size_t)(row * queries->stride) * ((size_t)queries->real_bits / 8);
}

// Adds what one level holds, or with level < 0 the block, to counts[queries.count].
static sap_status add_counts(const sap_set* set, const sap_radius_job* job, int32_t level, int64_t* room,
                             int64_t* counts) {
    sap_radius_job part = *job;
    part.counts = room;
    sap_status status = SAP_OK;
    if (level >= 0) {
        status = set->device->rooms.radius->search(&set->level[level]->tree, &part);
    } else {
        for (int64_t i = 0; i < job->queries.count; i++)
            room[i] = sap_set_flat_hits(set, query_at(&job->queries, i), job->limit2, NULL, NULL);
    }
    for (int64_t i = 0; i < job->queries.count && status == SAP_OK; i++) counts[i] += room[i];
    return status;
}

static sap_status count(const sap_set* set, const sap_radius_job* job) {
    const size_t bytes = (size_t)job->queries.count * sizeof(int64_t);
    sap_scratch room = {NULL, 0};
    if (!sap_scratch_take(set->device, 2 * bytes + 1, &room))
        return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory to count the hits of %lld queries",
                        (long long)job->queries.count);
    int64_t *part = (int64_t*)(void*)room.memory, *sums = part + job->queries.count;
    memset(sums, 0, bytes);
    sap_status status = SAP_OK;
    for (int32_t level = -1; level < set->levels && status == SAP_OK; level++)
        status = add_counts(set, job, level, part, sums);
    if (status == SAP_OK && bytes) memcpy(job->counts, sums, bytes);
    sap_scratch_give(set->device, &room);
    return status;
}

static void* distances_of(const sap_neighbors* rows, int64_t at) {
    return rows->distance2 ? (void*)(uintptr_t)(rows->distance2 + at) : (void*)(uintptr_t)(rows->distance2_f64 + at);
}

static int64_t hits_of(const sap_neighbors* part, int64_t row) {
    return part ? part->offsets[row + 1] - part->offsets[row] : 0;
}

// Puts the rows of all levels, and the block's, one after another into rows of their own.
static void join(const sap_set* set, const sap_radius_job* job, sap_neighbors* const* parts, const sap_neighbors* all) {
    const size_t real = (size_t)set->real_bits / 8;
    int32_t* ids = (int32_t*)(uintptr_t)all->ids;
    for (int64_t row = 0; row < job->queries.count; row++) {
        int64_t at = all->offsets[row];
        for (int32_t level = 0; level < set->levels; level++) {
            const sap_neighbors* part = parts[level];
            const int64_t hits = hits_of(part, row);
            if (hits == 0) continue;
            memcpy(ids + at, part->ids + part->offsets[row], (size_t)hits * sizeof *ids);
            memcpy(distances_of(all, at), distances_of(part, part->offsets[row]), (size_t)hits * real);
            at += hits;
        }
        at += sap_set_flat_hits(set, query_at(&job->queries, row), job->limit2, ids + at, distances_of(all, at));
        SAP_ASSERT(at == all->offsets[row + 1]);
    }
}

static sap_status join_all(const sap_set* set, const sap_radius_job* job, sap_neighbors* const* parts,
                           sap_neighbors** found) {
    const int64_t rows = job->queries.count;
    sap_scratch room = {NULL, 0};
    if (!sap_scratch_take(set->device, (size_t)rows * sizeof(int64_t) + 1, &room))
        return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory to count the hits of %lld queries", (long long)rows);
    int64_t* counts = (int64_t*)(void*)room.memory;
    for (int64_t row = 0; row < rows; row++) {
        counts[row] = sap_set_flat_hits(set, query_at(&job->queries, row), job->limit2, NULL, NULL);
        for (int32_t level = 0; level < set->levels; level++) counts[row] += hits_of(parts[level], row);
    }
    sap_neighbors* all = NULL;
    sap_status status = sap_neighbors_create(set->device, rows, set->real_bits, counts, &all);
    sap_scratch_give(set->device, &room);
    if (status != SAP_OK) return status;
    join(set, job, parts, all);
    status = sap_neighbors_sort(all);
    if (status == SAP_OK)
        *found = all;
    else
        sap_neighbors_free(all);
    return status;
}

static sap_status collect(const sap_set* set, const sap_radius_job* job) {
    sap_neighbors* parts[SAP_SET_LEVELS] = {NULL};
    sap_status status = SAP_OK;
    for (int32_t level = 0; level < set->levels && status == SAP_OK; level++) {
        sap_radius_job part = *job;
        part.found = &parts[level];
        status = set->device->rooms.radius->search(&set->level[level]->tree, &part);
    }
    if (status == SAP_OK) status = join_all(set, job, parts, job->found);
    for (int32_t level = 0; level < set->levels; level++) sap_neighbors_free(parts[level]);
    return status;
}

sap_status sap_set_radius_cpu(const sap_set* set, const sap_radius_job* job) {
    return job->found ? collect(set, job) : count(set, job);
}
