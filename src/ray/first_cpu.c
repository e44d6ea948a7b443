// First hits of rays alone, one ray after the other: a sibling of ray/ray_cpu.c for modules that are downloaded, in which
// packets of rays would be more code than all else that photons take.
#include "ray/walk_cpu.h"

sap_status sap_trace_first_cpu(const sap_mesh_tree* tree, const sap_ray_job* job) {
    if (job->limit || job->occluded) return sap_unsupported(tree->device, "find more than the first hits of rays");
    sap_rays_walk_cpu(&(sap_ray_run){tree, *job, sap_mesh_magnitude(tree)});
    return SAP_OK;
}
