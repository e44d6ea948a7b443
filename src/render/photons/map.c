// Maps of photons: memory, the tree, descriptions.
#include "render/photons/swarm.h"
#include "sapwood/points.h"

sap_photons* sap_photons_new(sap_device* device) {
    sap_photons* map = sap_memory_allocate_zero(device, sizeof *map);
    if (map) map->device = device;
    return map;
}

sap_status sap_photons_reserve(sap_photons* map, int64_t count) {
    if (count <= map->room) return SAP_OK;
    if (count > INT32_MAX) return sap_fail(map->device, SAP_ERROR_RANGE, "more than 2^31-1 photons are kept");
    const int64_t room = map->room + map->room / 2 > count ? map->room + map->room / 2 : count;
    const sap_status status = sap_photon_ops_of(map->device)->make_room(map, room);
    if (status == SAP_OK) map->room = room;
    return status;
}

sap_status sap_photons_plant(sap_photons* map) {
    map->info.photons = map->photons;
    const sap_points points = {.coords = map->photons ? map->photons->position : NULL,
                               .count = map->info.count,
                               .dims = 3,
                               .stride = sizeof(sap_photon) / sizeof(float)};
    const sap_status status = sap_tree_build(map->device, points, NULL, &map->tree);
    const sap_photon_ops* ops = sap_photon_ops_of(map->device);
    return status == SAP_OK && ops->planted ? ops->planted(map) : status;
}

sap_status sap_photons_make(sap_device* device, const sap_photon* given, int64_t count, sap_photons** photons) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!photons || count < 0 || (count && !given))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "photons: NULL, or fewer than 0");
    if (!sap_photons_can(device)) return sap_unsupported(device, "keep photons");
    sap_photons* map = sap_photons_new(device);
    if (!map) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for photons");
    sap_status status = sap_photons_reserve(map, count);
    if (status == SAP_OK) status = sap_photon_ops_of(device)->copy(map, map->photons, given, count);
    if (status == SAP_OK) {
        map->info.count = count;
        status = sap_photons_plant(map);
    }
    if (status == SAP_OK)
        *photons = map;
    else
        sap_photons_free(map);
    return status;
}

sap_status sap_photons_describe(const sap_photons* photons, sap_photons_info* info) {
    if (!photons || !info) return SAP_ERROR_ARGUMENT;
    *info = photons->info;
    return SAP_OK;
}

sap_status sap_photons_read(const sap_photons* photons, int64_t first, int64_t count, sap_photon* to) {
    if (!photons) return SAP_ERROR_ARGUMENT;
    if (first < 0 || count < 0 || first > photons->info.count || count > photons->info.count - first)
        return sap_fail(photons->device, SAP_ERROR_ARGUMENT, "first and count: %lld and %lld of %lld photons",
                        (long long)first, (long long)count, (long long)photons->info.count);
    if (count && !to) return sap_fail(photons->device, SAP_ERROR_ARGUMENT, "to: is NULL");
    return sap_photon_ops_of(photons->device)->copy(photons, to, photons->photons + first, count);
}

void sap_photons_free(sap_photons* photons) {
    if (!photons) return;
    sap_photon_ops_of(photons->device)->free_photons(photons); // whose size the tree knows
    sap_tree_free(photons->tree);
    sap_memory_release(photons->device, photons, sizeof *photons);
}

double sap_photon_radius(double first, int32_t pass) {
    if (pass < 0) return (double)NAN;
    double square = first * first;
    for (int32_t i = 1; i <= pass; i++) square *= (i + 2.0 / 3) / (i + 1);
    return sqrt(square);
}
