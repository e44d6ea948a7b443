// The public function of samples: arguments are checked here, once for all processors.
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>

static sap_status check(const sap_tree* tree, const sap_sample_options* o) {
    const sap_device* device = tree->device;
    const sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (o->kind == SAP_SAMPLE_POISSON) {
        if (o->radius > 0 && isfinite(o->radius)) return SAP_OK;
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g; give one that is above 0 and finite",
                        o->radius);
    }
    if (o->kind != SAP_SAMPLE_FARTHEST)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.kind: unknown kind of sample %d", (int)o->kind);
    if (o->most < 1) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.most: %lld points", (long long)o->most);
    if (o->start < 0 || (o->start > 0 && o->start >= tree->shape.source_count))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.start: there is no point %d", (int)o->start);
    return sap_periods_refuse(tree, "be sampled by farthest points");
}

sap_status sap_cloud_sample(const sap_tree* tree, const sap_sample_options* options, int32_t* ids, int64_t* count) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    sap_sample_job job = {.tree = tree, .options = *options, .ids = ids};
    sap_status status = check(tree, options);
    if (status != SAP_OK) return status;
    if (!ids && tree->shape.source_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    if (!count) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: is NULL");
    if (!SAP_CAN(device, cloud, sample)) return sap_unsupported(device, "sample clouds");
    if (options->kind == SAP_SAMPLE_POISSON) job.limit2 = sap_limit2(tree, options->radius);
    status = device->rooms.cloud->sample(&job);
    if (status == SAP_OK) *count = job.count;
    return status;
}
