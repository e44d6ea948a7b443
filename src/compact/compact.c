// Compaction's face: checks, then the processor's table.
#include "compact/compact.h"
#include "sapwood/stream.h"

// Whether `inner` lies within the `bytes` bytes from `outer` on.
static bool lies_within(const void* inner, const void* outer, size_t bytes) {
    return (uintptr_t)inner - (uintptr_t)outer < bytes; // wraps to a huge number if it lies ahead
}

// How the arrays overlap, or NULL if nothing is wrong with that, as far as one knows before anything is counted.
static const char* overlap_of(const sap_compact_job* job) {
    size_t bytes = (size_t)job->count * job->item_bytes;
    if (job->keep && lies_within(job->out, job->keep, (size_t)job->count)) return "begins within keep";
    if (job->out == job->items)
        return job->keep && lies_within(job->keep, job->out, bytes) ? "is items, in which keep lies" : NULL;
    if (lies_within(job->out, job->items, bytes)) return "begins within items";
    // Not so if nothing is kept, but of equal items always one is.
    if (!job->keep && lies_within(job->items, job->out, job->item_bytes))
        return "begins less than an item ahead of items";
    return NULL;
}

static sap_status check(sap_device* device, const sap_compact_job* job, bool needs_keep) {
    size_t bytes;
    if (!job->out_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "out_count: is NULL");
    if (job->count < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: %lld is negative", (long long)job->count);
    if (!job->item_bytes) return sap_fail(device, SAP_ERROR_ARGUMENT, "item_bytes: is 0");
    if (job->count == 0) return SAP_OK;
    if (!job->items) return sap_fail(device, SAP_ERROR_ARGUMENT, "items: is NULL");
    if (needs_keep && !job->keep) return sap_fail(device, SAP_ERROR_ARGUMENT, "keep: is NULL");
    if (!job->out) return sap_fail(device, SAP_ERROR_ARGUMENT, "out: is NULL");
    if (job->count > PTRDIFF_MAX || !sap_size_multiply((uint64_t)job->count, job->item_bytes, &bytes) ||
        bytes > PTRDIFF_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "count: %lld items of %zu bytes are more than memory can be",
                        (long long)job->count, job->item_bytes);
    const char* overlap = overlap_of(job);
    return overlap ? sap_fail(device, SAP_ERROR_ARGUMENT, "out: %s", overlap) : SAP_OK;
}

static sap_status run(sap_device* device, const sap_compact_job* job, bool needs_keep) {
    if (!device) return SAP_ERROR_ARGUMENT;
    sap_status status = check(device, job, needs_keep);
    if (status != SAP_OK) return status;
    if (!device->table->compact)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "%s devices cannot compact", device->table->name);
    return device->table->compact(device, job);
}

sap_status sap_compact(sap_device* device, const void* items, int64_t count, size_t item_bytes, const uint8_t* keep,
                       void* out, int64_t* out_count) {
    return run(device, &(sap_compact_job){items, keep, count, item_bytes, out, out_count}, true);
}

sap_status sap_unique(sap_device* device, const void* items, int64_t count, size_t item_bytes, void* out,
                      int64_t* out_count) {
    return run(device, &(sap_compact_job){items, NULL, count, item_bytes, out, out_count}, false);
}
