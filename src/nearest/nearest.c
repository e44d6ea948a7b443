// The public nearest-neighbour functions: arguments are checked here, once for all processors.
#include "device/reserved.h"
#include "nearest/ops.h"
#include "tree/queries.h"
#include <math.h>

sap_status sap_search_check(const sap_tree* tree, const sap_search* search) {
    const sap_device* device = tree->device;
    if (!search) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    if (search->k < 1) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: %d is less than 1", (int)search->k);
    if (!(search->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: %g is negative or not a number", search->radius);
    if (search->walk < SAP_WALK_AUTO || search->walk > SAP_WALK_PACKET)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.walk: unknown walk %d", (int)search->walk);
    return sap_reserved_check(device, search->reserved, "search");
}

sap_status sap_nearest_run_job(const sap_tree* tree, const sap_search* search, sap_told* told, sap_nearest_job* job) {
    sap_status status = sap_search_check(tree, search);
    if (status != SAP_OK) return status;
    int64_t answers;
    if (__builtin_mul_overflow(job->queries.count, (int64_t)search->k, &answers) || answers > PTRDIFF_MAX / 8)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "search.k: queries.count * k overflows");
    if (!job->ids && !job->distance2 && answers)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "ids: is NULL, and so is distance2");
    job->search = *search;
    job->without = job->self ? NULL : search->without_ids;
    bool is_told;
    status = sap_told_read(tree, search, told, &is_told);
    if (status != SAP_OK) return status;
    const double radius = search->radius > 0 ? search->radius : (double)INFINITY;
    job->told = is_told ? told : NULL;
    job->limit2 = is_told ? sap_told_limit(tree, told, radius) : sap_limit2(tree, radius);
    if (!SAP_CAN(tree->device, nearest, search)) return sap_unsupported(tree->device, "search for nearest neighbours");
    if (job->without && job->queries.count && !tree->device->rooms.nearest->leaves_out)
        return sap_unsupported(tree->device, "leave points out by search.without_ids");
    if (is_told && !tree->device->rooms.nearest->is_told) return sap_unsupported(tree->device, SAP_TOLD_UNSUPPORTED);
    if (!job->ids && answers && !tree->device->rooms.nearest->is_told)
        return sap_unsupported(tree->device, "search for distances without ids");
    return tree->device->rooms.nearest->search(tree, job);
}

static sap_status nearest(const sap_tree* tree, const sap_rows* queries, const sap_search* search, int32_t* ids,
                          void* distance2) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_queries_check(tree, queries);
    if (status != SAP_OK) return status;
    sap_told told;
    sap_nearest_job job = {.queries = *queries, .ids = ids, .distance2 = distance2};
    return sap_nearest_run_job(tree, search, &told, &job);
}

static sap_status nearest_self(const sap_tree* tree, int32_t real_bits, const sap_search* search, int32_t* ids,
                               void* distance2) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_tree_shape* s = &tree->shape;
    if (real_bits != s->real_bits)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "tree: holds %d-bit points", (int)s->real_bits);
    sap_told told;
    sap_nearest_job job = {.queries = {NULL, s->source_count, s->dims, s->dims, s->real_bits},
                           .self = true,
                           .ids = ids,
                           .distance2 = distance2};
    return sap_nearest_run_job(tree, search, &told, &job);
}

sap_status sap_nearest(const sap_tree* tree, sap_points queries, const sap_search* search, int32_t* ids,
                       float* distance2) {
    sap_rows rows = sap_rows_f32(queries);
    return nearest(tree, &rows, search, ids, distance2);
}

sap_status sap_nearest_f64(const sap_tree* tree, sap_points_f64 queries, const sap_search* search, int32_t* ids,
                           double* distance2) {
    sap_rows rows = sap_rows_f64(queries);
    return nearest(tree, &rows, search, ids, distance2);
}

sap_status sap_nearest_self(const sap_tree* tree, const sap_search* search, int32_t* ids, float* distance2) {
    return nearest_self(tree, 32, search, ids, distance2);
}

sap_status sap_nearest_self_f64(const sap_tree* tree, const sap_search* search, int32_t* ids, double* distance2) {
    return nearest_self(tree, 64, search, ids, distance2);
}
