// The public function of clusters: arguments are checked here, once for all processors.
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include "tree/queries.h"
#include <math.h>

sap_status sap_cloud_clusters(const sap_tree* tree, const sap_clusters_options* options, int32_t* labels,
                              uint8_t* kinds, int64_t* count) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    sap_clusters_job job = {.tree = tree, .options = *options, .labels = labels, .kinds = kinds};
    sap_clusters_options* o = &job.options;
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (!(o->radius >= 0 && isfinite(o->radius)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g is negative or not finite", o->radius);
    if (o->fewest < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.fewest: %d is negative", (int)o->fewest);
    if (o->least < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.least: %lld is negative", (long long)o->least);
    if (!labels && tree->shape.source_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "labels: is NULL");
    if (!count) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: is NULL");
    if (!SAP_CAN(device, cloud, clusters)) return sap_unsupported(device, "find clusters");
    job.limit2 = sap_limit2(tree, o->radius);
    status = device->rooms.cloud->clusters(&job);
    if (status == SAP_OK) *count = job.count;
    return status;
}
