// The public radius functions that take a sap_search: checked here, once for all processors.
#include "device/reserved.h"
#include "radius/neighbors.h"
#include "radius/ops.h"
#include "tree/queries.h"

static sap_status check_search(const sap_tree* tree, const sap_search* search) {
    const sap_device* device = tree->device;
    if (!search) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    if (search->k < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: %d is negative", (int)search->k);
    if (!(search->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: %g is negative or not a number", search->radius);
    const char* field = search->walk != SAP_WALK_AUTO ? "walk"
                        : search->ordered             ? "ordered"
                        : search->with_self           ? "with_self"
                        : search->stats               ? "stats"
                        : search->without_ids         ? "without_ids"
                        : search->ks                  ? "ks"
                                                      : NULL;
    if (field) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.%s: is not for searches within a radius", field);
    return sap_reserved_check(device, search->reserved, "search");
}

// Completes and runs a job whose queries and outputs are set; `told` lives as long as the job.
static sap_status run(const sap_tree* tree, const sap_search* search, sap_told* told, sap_radius_job* job) {
    const sap_device* device = tree->device;
    bool is_told;
    sap_status status = check_search(tree, search);
    if (status == SAP_OK) status = sap_told_read(tree, search, told, &is_told);
    if (status != SAP_OK) return status;
    told->widen = 1; // the exact answer is one of those that search.eps allows
    job->told = is_told ? told : NULL;
    job->limit2 = is_told ? sap_told_limit(tree, told, search->radius) : sap_limit2(tree, search->radius);
    if (!SAP_CAN(device, radius, search)) return sap_unsupported(device, "search for the points within a radius");
    if ((is_told || search->k > 0) && !device->rooms.radius->is_told)
        return sap_unsupported(device, SAP_TOLD_UNSUPPORTED);
    return device->rooms.radius->search(tree, job);
}

static sap_status collect(const sap_tree* tree, const sap_rows* queries, const sap_search* search,
                          sap_neighbors** found) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!found) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "found: is NULL");
    sap_status status = sap_queries_check(tree, queries);
    if (status != SAP_OK) return status;
    sap_neighbors* rows = NULL;
    sap_told told;
    sap_radius_job job = {.queries = *queries, .found = &rows};
    status = run(tree, search, &told, &job);
    if (status == SAP_OK && rows) {
        if (search->k > 0)
            status = sap_neighbors_shorten(rows, search->k);
        else if (search->sorted)
            status = sap_neighbors_sort(rows);
        if (status != SAP_OK) sap_neighbors_free(rows);
    }
    if (status == SAP_OK) *found = rows;
    return status;
}

static sap_status count(const sap_tree* tree, const sap_rows* queries, const sap_search* search, int64_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_queries_check(tree, queries);
    if (status != SAP_OK) return status;
    if (!counts && queries->count) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    sap_told told;
    sap_radius_job job = {.queries = *queries, .counts = counts};
    status = run(tree, search, &told, &job);
    if (status != SAP_OK || search->k == 0) return status;
    if (SAP_CAN(tree->device, radius, cut_counts))
        return tree->device->rooms.radius->cut_counts(tree->device, counts, queries->count, search->k);
    for (int64_t i = 0; i < queries->count; i++)
        if (counts[i] > search->k) counts[i] = search->k;
    return SAP_OK;
}

sap_status sap_radius_search(const sap_tree* tree, sap_points queries, const sap_search* search,
                             sap_neighbors** found) {
    const sap_rows rows = sap_rows_f32(queries);
    return collect(tree, &rows, search, found);
}

sap_status sap_radius_search_f64(const sap_tree* tree, sap_points_f64 queries, const sap_search* search,
                                 sap_neighbors** found) {
    const sap_rows rows = sap_rows_f64(queries);
    return collect(tree, &rows, search, found);
}

sap_status sap_radius_search_count(const sap_tree* tree, sap_points queries, const sap_search* search,
                                   int64_t* counts) {
    const sap_rows rows = sap_rows_f32(queries);
    return count(tree, &rows, search, counts);
}

sap_status sap_radius_search_count_f64(const sap_tree* tree, sap_points_f64 queries, const sap_search* search,
                                       int64_t* counts) {
    const sap_rows rows = sap_rows_f64(queries);
    return count(tree, &rows, search, counts);
}
