// What a processor does with instances of meshes.
#ifndef SAPWOOD_INSTANCE_OPS_H
#define SAPWOOD_INSTANCE_OPS_H

#include "device/device.h"
#include "sapwood/instances.h"

#ifdef __cplusplus
extern "C" {
#endif

// What rays are asked, checked: first hits, all of them in order, or whether there is any.
typedef struct sap_instance_job {
    const sap_ray* rays;
    int64_t count;
    sap_instance_hit* hits; // [count], or [count * limit] where limit is not 0; NULL: occluded is asked for
    int32_t limit;          // all hits: how many of each ray; else 0
    int32_t* counts;        // all hits: [count] or NULL
    uint8_t* occluded;      // [count], else NULL
    sap_hit* numbered;      // in place of hits, first ones: triangles are counted through all instances; else NULL
} sap_instance_job;

struct sap_instance_made; // instance/layout.h

typedef struct sap_instance_ops {
    sap_status (*trace)(const sap_instance_tree* tree, const sap_instance_job* job);
    // Puts what was made on the host where rays read it. On failure the tree is as it was, unless the device is lost.
    sap_status (*keep)(sap_instance_tree* tree, const struct sap_instance_made* made);
    void (*free_arrays)(sap_instance_tree* tree);
} sap_instance_ops;

// trace.c: the first hit of each ray, with triangles counted through all instances, in their order: where
// sap_instance_trace says triangle t of instance i, this says t plus the triangles of the instances before i. Otherwise
// as sap_instance_trace. Errors: also SAP_ERROR_RANGE (more triangles than int32_t counts).
sap_status sap_instance_trace_numbered(const sap_instance_tree* tree, const sap_ray* rays, int64_t count,
                                       sap_hit* hits);

sap_status sap_instance_trace_cpu(const sap_instance_tree* tree, const sap_instance_job* job);
sap_status sap_instance_keep_cpu(sap_instance_tree* tree, const struct sap_instance_made* made);
void sap_instance_free_arrays_cpu(sap_instance_tree* tree);

sap_status sap_instance_trace_cuda(const sap_instance_tree* tree, const sap_instance_job* job);
sap_status sap_instance_keep_cuda(sap_instance_tree* tree, const struct sap_instance_made* made);
void sap_instance_free_arrays_cuda(sap_instance_tree* tree);

#ifdef __cplusplus
}
#endif

#endif
