// Rows in the caller's memory on the CPU, where radius_cpu.c does not write them itself: if there is no room for any
// hit, and on trees without boxes, whose rows are collected in memory of their own and copied as far as they fit.
#include "base/assert.h"
#include "radius/radius_cpu.h"

// There is no room for any hit: offsets are sums of counts.
static sap_status count_into(const sap_tree* tree, const sap_radius_job* job) {
    int64_t* offsets = job->into->offsets;
    sap_radius_job count = *job;
    count.into = NULL;
    count.counts = offsets + 1;
    const sap_status status = sap_radius_cpu(tree, &count);
    if (status != SAP_OK) return status;
    offsets[0] = 0;
    for (int64_t i = 0; i < job->queries.count; i++) offsets[i + 1] += offsets[i];
    return SAP_OK;
}

sap_status sap_radius_into_cpu(const sap_tree* tree, const sap_radius_job* job) {
    const sap_radius_rows* rows = job->into;
    if (rows->capacity == 0) return count_into(tree, job);
    sap_neighbors* found = NULL;
    sap_radius_job collect = *job;
    collect.into = NULL;
    collect.found = &found;
    const sap_status status = sap_radius_cpu(tree, &collect);
    if (status != SAP_OK) return status;
    SAP_ASSERT(found->count == job->queries.count);
    const int32_t threads = tree->device->options.threads;
    const int64_t all = found->offsets[found->count], kept = all < rows->capacity ? all : rows->capacity;
    const size_t real = sap_real_bytes(&tree->shape);
    const void* distance2 = real == 4 ? (const void*)found->distance2 : (const void*)found->distance2_f64;
    sap_memory_pack(rows->offsets, found->offsets, 8, 8, (size_t)found->count + 1, threads);
    sap_memory_pack(rows->ids, found->ids, 4, 4, (size_t)kept, threads);
    if (rows->distance2) sap_memory_pack(rows->distance2, distance2, real, real, (size_t)kept, threads);
    sap_neighbors_free(found);
    return SAP_OK;
}
