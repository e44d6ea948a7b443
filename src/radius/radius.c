// The public radius functions: arguments are checked here, once for all processors.
#include "radius/ops.h"
#include "tree/queries.h"

// Completes and runs a job whose queries and outputs are set.
static sap_status run(const sap_tree* tree, double radius, sap_radius_job* job) {
    const sap_device* device = tree->device;
    if (!(radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "radius: %g is negative or not a number", radius);
    if (!job->found && !job->into && !job->counts && job->queries.count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    job->limit2 = sap_limit2(tree, radius);
    if (!SAP_CAN(device, radius, search)) return sap_unsupported(device, "search for the points within a radius");
    return device->rooms.radius->search(tree, job);
}

static sap_status count(const sap_tree* tree, const sap_rows* queries, double radius, int64_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_queries_check(tree, queries);
    if (status != SAP_OK) return status;
    sap_radius_job job = {.queries = *queries, .counts = counts};
    return run(tree, radius, &job);
}

static sap_status collect(const sap_tree* tree, const sap_rows* queries, double radius, sap_neighbors** found) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!found) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "found: is NULL");
    sap_status status = sap_queries_check(tree, queries);
    if (status != SAP_OK) return status;
    sap_radius_job job = {.queries = *queries, .found = found};
    return run(tree, radius, &job);
}

static sap_status collect_into(const sap_tree* tree, const sap_rows* queries, double radius,
                               const sap_radius_rows* rows) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    if (rows->capacity < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "capacity: %lld is negative", (long long)rows->capacity);
    if (!rows->offsets) return sap_fail(device, SAP_ERROR_ARGUMENT, "offsets: is NULL");
    if (!rows->ids && rows->capacity) return sap_fail(device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    sap_status status = sap_queries_check(tree, queries);
    if (status != SAP_OK) return status;
    sap_radius_job job = {.queries = *queries, .into = rows};
    return run(tree, radius, &job);
}

sap_status sap_radius_count(const sap_tree* tree, sap_points queries, double radius, int64_t* counts) {
    sap_rows rows = sap_rows_f32(queries);
    return count(tree, &rows, radius, counts);
}

sap_status sap_radius_count_f64(const sap_tree* tree, sap_points_f64 queries, double radius, int64_t* counts) {
    sap_rows rows = sap_rows_f64(queries);
    return count(tree, &rows, radius, counts);
}

sap_status sap_radius(const sap_tree* tree, sap_points queries, double radius, sap_neighbors** found) {
    sap_rows rows = sap_rows_f32(queries);
    return collect(tree, &rows, radius, found);
}

sap_status sap_radius_f64(const sap_tree* tree, sap_points_f64 queries, double radius, sap_neighbors** found) {
    sap_rows rows = sap_rows_f64(queries);
    return collect(tree, &rows, radius, found);
}

sap_status sap_radius_into(const sap_tree* tree, sap_points queries, double radius, int64_t capacity, int64_t* offsets,
                           int32_t* ids, float* distance2) {
    sap_rows rows = sap_rows_f32(queries);
    return collect_into(tree, &rows, radius, &(sap_radius_rows){offsets, capacity, ids, distance2});
}

sap_status sap_radius_into_f64(const sap_tree* tree, sap_points_f64 queries, double radius, int64_t capacity,
                               int64_t* offsets, int32_t* ids, double* distance2) {
    sap_rows rows = sap_rows_f64(queries);
    return collect_into(tree, &rows, radius, &(sap_radius_rows){offsets, capacity, ids, distance2});
}
