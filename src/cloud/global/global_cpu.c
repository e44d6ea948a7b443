// A start for an alignment on the CPU: threads share the features that are compared.
#include "base/team.h"
#include "cloud/global/global.h"
#include "device/cpu.h"

enum { GRAIN = 64 };

static void compare(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_feature_matching* m = context;
    (void)worker;
    sap_cpu_kernels_of(m->device, 32)
        ->feature->nearest(m->features + SAP_FEATURE_NUMBERS * from, to - from, m->others, m->padded, m->ids + from,
                           m->distance2 + from);
}

static sap_status match(const sap_feature_matching* m) {
    sap_feature_matching matching = *m;
    sap_team_loop(m->device->options.threads, m->count, GRAIN, compare, &matching);
    return SAP_OK;
}

sap_status sap_cloud_global_cpu(sap_global_job* job) { return sap_global_run(job, match); }
