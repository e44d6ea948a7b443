// The public functions for one ray or point a call: what can be checked before is checked when a search is opened.
#include "ray/query.h"
#include "device/reserved.h"
#include "ray/ops.h"

static sap_status check_options(const sap_device* device, const sap_mesh_query_options* options) {
    if (!(options->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g is negative or not a number", options->radius);
    return sap_reserved_check(device, options->reserved, "options");
}

sap_status sap_mesh_query_open(const sap_mesh_tree* tree, const sap_mesh_query_options* options,
                               sap_mesh_query** query) {
    static const sap_mesh_query_options defaults = {0};
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = tree->device;
    if (!query) return sap_fail(device, SAP_ERROR_ARGUMENT, "query: is NULL");
    const sap_mesh_query_options* asked = options ? options : &defaults;
    const sap_status status = check_options(device, asked);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, ray, prepare)) return sap_unsupported(device, "trace one ray a call");
    sap_mesh_query* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a prepared search");
    const float limit2 = (float)(asked->radius * asked->radius);
    made->tree = tree;
    made->limit2 = asked->radius > 0 && limit2 < FLT_MAX ? limit2 : FLT_MAX;
    device->rooms.ray->prepare(made);
    *query = made;
    return SAP_OK;
}

void sap_mesh_query_close(sap_mesh_query* query) {
    if (query) sap_memory_release(query->tree->device, query, sizeof *query);
}

__attribute__((noinline, cold)) static int32_t refuse(const sap_mesh_query* query, const char* sentence) {
    sap_fail(query->tree->device, SAP_ERROR_ARGUMENT, "%s", sentence);
    return -1;
}

int32_t sap_mesh_query_trace(sap_mesh_query* query, const sap_ray* ray, sap_hit* hit) {
    if (!query) return -1;
    if (__builtin_expect(!ray || !hit, 0)) return refuse(query, ray ? "hit: is NULL" : "ray: is NULL");
    return query->trace(query->tree, ray, hit);
}

int32_t sap_mesh_query_occluded(sap_mesh_query* query, const sap_ray* ray) {
    if (!query) return -1;
    if (__builtin_expect(!ray, 0)) return refuse(query, "ray: is NULL");
    return query->occluded(query->tree, ray);
}

int32_t sap_mesh_query_closest(sap_mesh_query* query, const float* point, sap_closest* closest) {
    if (!query) return -1;
    if (__builtin_expect(!point || !closest, 0)) return refuse(query, point ? "closest: is NULL" : "point: is NULL");
    return query->closest(query->tree, point, query->limit2, closest);
}
