// The public functions of sums over neighbours: arguments are checked here, once for all processors.
#include "cloud/given.h"
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>

static sap_status check_tree(const sap_tree* tree) {
    if (tree->shape.dims > 3)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "tree: its points have %d dimensions, but sums are gathered in up to 3", (int)tree->shape.dims);
    if (sap_is_periodic(&tree->options))
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "tree: sums in a tree with periods are not known");
    return SAP_OK;
}

static sap_status check_attributes(const sap_gather_job* job) {
    const sap_device* device = job->tree->device;
    const int64_t points = job->tree->shape.source_count;
    sap_status status = SAP_OK;
    if (!job->out.attributes) return SAP_OK;
    if (job->attribute_count < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.attribute_count: %d, but sums of attributes are asked for",
                        (int)job->attribute_count);
    if (!job->attributes && points) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.attributes: is NULL");
    int64_t bad = -1;
    if (points)
        status = sap_given_check(job->tree, job->attributes, job->attribute_count, sap_given_not_finite_f32, &bad);
    if (status != SAP_OK || bad < 0) return status;
    return sap_fail(device, SAP_ERROR_NOT_FINITE, "options.attributes[%lld]: is %g", (long long)bad,
                    (double)job->attributes[bad]);
}

// NULL queries: the tree's own points.
static sap_status gather(const sap_tree* tree, const sap_rows* queries, const sap_gather_options* options,
                         const sap_gathered* sums) {
    static const sap_gather_options defaults = {0};
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    const sap_gather_options* o = options ? options : &defaults;
    if (!sums) return sap_fail(device, SAP_ERROR_ARGUMENT, "sums: is NULL");
    sap_status status = queries ? sap_queries_check(tree, queries) : SAP_OK;
    if (status == SAP_OK) status = sap_reserved_check(device, o->reserved, "options");
    if (status == SAP_OK) status = sap_reserved_check(device, sums->reserved, "sums");
    if (status == SAP_OK) status = check_tree(tree);
    if (status != SAP_OK) return status;
    sap_gather_job job = {.tree = tree,
                          .queries = queries,
                          .near = {o->k, o->radius, o->falloff, o->weights, 0},
                          .attributes = o->attributes,
                          .attribute_count = o->attribute_count,
                          .out = *sums};
    status = sap_cloud_check_neighbors(tree, &job.near);
    if (status == SAP_OK) status = check_attributes(&job);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, cloud, gather)) return sap_unsupported(device, "gather sums over neighbours");
    return device->rooms.cloud->gather(&job);
}

sap_status sap_gather(const sap_tree* tree, sap_points queries, const sap_gather_options* options,
                      const sap_gathered* sums) {
    const sap_rows rows = sap_rows_f32(queries);
    return gather(tree, &rows, options, sums);
}

sap_status sap_gather_f64(const sap_tree* tree, sap_points_f64 queries, const sap_gather_options* options,
                          const sap_gathered* sums) {
    const sap_rows rows = sap_rows_f64(queries);
    return gather(tree, &rows, options, sums);
}

sap_status sap_gather_self(const sap_tree* tree, const sap_gather_options* options, const sap_gathered* sums) {
    return gather(tree, NULL, options, sums);
}
