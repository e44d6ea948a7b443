// The public box functions: arguments are checked here, once for all processors.
#include "box/ops.h"
#include "tree/queries.h"

static sap_status check_corners(const sap_tree* tree, const sap_rows* corners, const char* name) {
    const sap_status status = sap_rows_check(tree->device, corners, name);
    if (status != SAP_OK) return status;
    if (corners->real_bits != tree->shape.real_bits)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s: the tree holds %d-bit points", name,
                        (int)tree->shape.real_bits);
    if (corners->dims != tree->shape.dims)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s.dims: is %d, but the tree's points have %d", name,
                        (int)corners->dims, (int)tree->shape.dims);
    return SAP_OK;
}

// Checks and runs a job whose outputs have been checked.
static sap_status run(const sap_tree* tree, const sap_box_job* job) {
    const sap_device* device = tree->device;
    sap_status status = check_corners(tree, &job->lower, "lower");
    if (status == SAP_OK) status = check_corners(tree, &job->upper, "upper");
    if (status != SAP_OK) return status;
    if (job->upper.count != job->lower.count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "upper.count: is %lld, but lower.count is %lld",
                        (long long)job->upper.count, (long long)job->lower.count);
    if (!job->found && !job->into && !job->counts && job->lower.count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    if (!SAP_CAN(device, box, search)) return sap_unsupported(device, "search for the points in boxes");
    return device->rooms.box->search(tree, job);
}

static sap_status count(const sap_tree* tree, sap_rows lower, sap_rows upper, int64_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    return run(tree, &(sap_box_job){.lower = lower, .upper = upper, .counts = counts});
}

static sap_status collect(const sap_tree* tree, sap_rows lower, sap_rows upper, sap_neighbors** found) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!found) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "found: is NULL");
    return run(tree, &(sap_box_job){.lower = lower, .upper = upper, .found = found});
}

static sap_status collect_into(const sap_tree* tree, sap_rows lower, sap_rows upper, const sap_box_rows* rows) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (rows->capacity < 0)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "capacity: %lld is negative", (long long)rows->capacity);
    if (!rows->offsets) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "offsets: is NULL");
    if (!rows->ids && rows->capacity) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    return run(tree, &(sap_box_job){.lower = lower, .upper = upper, .into = rows});
}

sap_status sap_box_count(const sap_tree* tree, sap_points lower, sap_points upper, int64_t* counts) {
    return count(tree, sap_rows_f32(lower), sap_rows_f32(upper), counts);
}

sap_status sap_box_count_f64(const sap_tree* tree, sap_points_f64 lower, sap_points_f64 upper, int64_t* counts) {
    return count(tree, sap_rows_f64(lower), sap_rows_f64(upper), counts);
}

sap_status sap_box_search(const sap_tree* tree, sap_points lower, sap_points upper, sap_neighbors** found) {
    return collect(tree, sap_rows_f32(lower), sap_rows_f32(upper), found);
}

sap_status sap_box_search_f64(const sap_tree* tree, sap_points_f64 lower, sap_points_f64 upper, sap_neighbors** found) {
    return collect(tree, sap_rows_f64(lower), sap_rows_f64(upper), found);
}

sap_status sap_box_search_into(const sap_tree* tree, sap_points lower, sap_points upper, int64_t capacity,
                               int64_t* offsets, int32_t* ids) {
    return collect_into(tree, sap_rows_f32(lower), sap_rows_f32(upper), &(sap_box_rows){offsets, capacity, ids});
}

sap_status sap_box_search_into_f64(const sap_tree* tree, sap_points_f64 lower, sap_points_f64 upper, int64_t capacity,
                                   int64_t* offsets, int32_t* ids) {
    return collect_into(tree, sap_rows_f64(lower), sap_rows_f64(upper), &(sap_box_rows){offsets, capacity, ids});
}
