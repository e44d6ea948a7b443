// The light of photons at points: what is asked.
#include "device/reserved.h"
#include "render/photons/swarm.h"
#include "sapwood/points.h"

sap_status sap_photon_search_check(const sap_device* device, const sap_photon_search* search) {
    if (search->k < 0 || (search->k == 0 && !(search->radius > 0)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: negative, or 0 without a radius");
    if (!(search->radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: negative or NaN");
    if (!(search->shrink >= 0 && search->shrink <= 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.shrink: not in 0…1");
    if ((int)search->filter < 0 || search->filter > SAP_PHOTON_EPANECHNIKOV)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.filter: unknown");
    return sap_reserved_check(device, search->reserved, "search");
}

sap_status sap_photons_estimate(const sap_photons* photons, sap_points points, const float* normals,
                                const sap_photon_search* search, float* light) {
    if (!photons) return SAP_ERROR_ARGUMENT;
    const sap_device* device = photons->device;
    if (!search || points.count < 0 || (points.count && (!points.coords || !normals || !light)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points, normals, search or light: NULL, or fewer than 0");
    if (points.count > INT32_MAX) return sap_fail(device, SAP_ERROR_RANGE, "points: more than 2^31-1");
    if (points.dims != 3 || (points.stride && points.stride < 3))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points: must have 3 coordinates");
    sap_status status = sap_photon_search_check(device, search);
    if (status != SAP_OK || points.count == 0) return status;
    const sap_points all = {points.coords, points.count, 3, points.stride ? points.stride : 3};
    return sap_photon_ops_of(device)->estimate(photons, &all, normals, search, light);
}
