// What a processor does with instances of meshes.
#ifndef SAPWOOD_INSTANCE_OPS_H
#define SAPWOOD_INSTANCE_OPS_H

#include "device/device.h"
#include "sapwood/instances.h"

// What rays are asked, checked: first hits, all of them in order, or whether there is any.
typedef struct sap_instance_job {
    const sap_ray* rays;
    int64_t count;
    sap_instance_hit* hits; // [count], or [count * limit] where limit is not 0; NULL: occluded is asked for
    int32_t limit;          // all hits: how many of each ray; else 0
    int32_t* counts;        // all hits: [count] or NULL
    uint8_t* occluded;      // [count], else NULL
} sap_instance_job;

typedef struct sap_instance_ops {
    sap_status (*trace)(const sap_instance_tree* tree, const sap_instance_job* job);
} sap_instance_ops;

sap_status sap_instance_trace_cpu(const sap_instance_tree* tree, const sap_instance_job* job);

#endif
