// Prepared searches of meshes on the CPU: which code answers them.
#include "device/cpu.h"
#include "ray/query.h"

void sap_mesh_query_prepare_cpu(sap_mesh_query* query) {
    const sap_cpu_kernels* kernels = sap_cpu_kernels_of(query->tree->device, 32);
    query->trace = kernels->mesh_query->trace;
    query->occluded = kernels->mesh_query->occluded;
    query->closest = kernels->closest->closest;
}
