// Distances from points to meshes.
#include "base/assert.h"
#include "compare/distance.h"
#include "mesh/layout.h"
#include "tree/queries.h"
#include <math.h>

enum { SLAB = 1 << 18 }; // points that are searched for at a time

static void put(const sap_closest* closest, const uint8_t* inside, int64_t count, double* distances) {
    for (int64_t i = 0; i < count; i++) {
        const double distance = sqrt((double)closest[i].distance2);
        distances[i] = inside && inside[i] ? -distance : distance;
    }
}

static sap_status measure(const sap_mesh_tree* to, sap_points from, bool is_signed, unsigned char* memory,
                          double* distances) {
    sap_closest* closest = (sap_closest*)(void*)memory;
    uint8_t* inside = is_signed ? memory + SLAB * sizeof(sap_closest) : NULL;
    sap_points part = from;
    sap_status status = SAP_OK;
    sap_progress_mute(true);
    for (int64_t first = 0; status == SAP_OK && first < from.count; first += SLAB) {
        const int64_t left = from.count - first;
        part.count = left < SLAB ? left : SLAB;
        part.coords = from.coords + first * (from.stride ? from.stride : from.dims);
        status = sap_closest_point(to, part, closest);
        if (status == SAP_OK && inside) status = sap_inside(to, part, inside);
        if (status != SAP_OK) break;
        put(closest, inside, part.count, distances + first);
        status = sap_distance_tell(to->device, first + part.count, from.count);
    }
    sap_progress_mute(false);
    return status;
}

sap_status sap_cloud_distance_mesh(const sap_mesh_tree* to, sap_points from, const sap_distance_options* options,
                                   double* distances, sap_distance_info* info) {
    sap_distance_options o;
    sap_distance_info found;
    sap_scratch memory;
    if (!to) return SAP_ERROR_ARGUMENT;
    sap_device* device = to->device;
    const sap_rows rows = sap_rows_f32(from);
    sap_status status = sap_rows_check(device, &rows, "from");
    if (status == SAP_OK) status = sap_distance_check(device, options, &o);
    if (status != SAP_OK) return status;
    if (from.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "from.dims: %d; points near a mesh have 3", (int)from.dims);
    const size_t slab = sap_align((size_t)SLAB * (sizeof(sap_closest) + 1));
    const size_t own = distances ? 0 : (size_t)from.count * sizeof(double);
    if (!sap_scratch_take(device, slab + own + 1, &memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld distances", (long long)from.count);
    double* all = distances ? distances : (double*)(void*)(memory.memory + slab);
    status = measure(to, from, o.is_signed, memory.memory, all);
    if (status == SAP_OK) sap_distance_sum_up(&o, all, from.count, &found);
    if (status == SAP_OK && info) *info = found;
    sap_scratch_give(device, &memory);
    return status;
}
