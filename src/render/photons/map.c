// Maps of photons: memory, the tree, descriptions.
#include "render/photons/map.h"
#include "base/assert.h"
#include "sapwood/points.h"

#include <string.h>

sap_photons* sap_photons_new(sap_device* device) {
    sap_photons* map = sap_memory_allocate_zero(device, sizeof *map);
    if (map) map->device = device;
    return map;
}

sap_status sap_photons_reserve(sap_photons* map, int64_t count) {
    if (count <= map->room) return SAP_OK;
    if (count > INT32_MAX) return sap_fail(map->device, SAP_ERROR_RANGE, "more than 2^31-1 photons are kept");
    int64_t room = map->room + map->room / 2 > count ? map->room + map->room / 2 : count;
    size_t bytes;
    sap_photon* photons = NULL;
    if (sap_size_multiply((uint64_t)room, sizeof *photons, &bytes)) photons = sap_memory_allocate(map->device, bytes);
    if (!photons) return sap_fail(map->device, SAP_ERROR_MEMORY, "no memory for %lld photons", (long long)room);
    if (map->info.count) memcpy(photons, map->photons, (size_t)map->info.count * sizeof *photons);
    sap_memory_release(map->device, map->photons, (size_t)map->room * sizeof *photons);
    map->photons = photons;
    map->room = room;
    return SAP_OK;
}

sap_status sap_photons_plant(sap_photons* map) {
    map->info.photons = map->photons;
    const sap_points points = {.coords = map->photons ? map->photons->position : NULL,
                               .count = map->info.count,
                               .dims = 3,
                               .stride = sizeof(sap_photon) / sizeof(float)};
    return sap_tree_build(map->device, points, NULL, &map->tree);
}

sap_status sap_photons_make(sap_device* device, const sap_photon* given, int64_t count, sap_photons** photons) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!photons || count < 0 || (count && !given))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "photons: NULL, or fewer than 0");
    if (device->table->kind != SAP_CPU) return sap_unsupported(device, "keep photons");
    sap_photons* map = sap_photons_new(device);
    if (!map) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for photons");
    sap_status status = sap_photons_reserve(map, count);
    if (status == SAP_OK) {
        if (count) memcpy(map->photons, given, (size_t)count * sizeof *given);
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

void sap_photons_free(sap_photons* photons) {
    if (!photons) return;
    sap_tree_free(photons->tree);
    sap_memory_release(photons->device, photons->photons, (size_t)photons->room * sizeof *photons->photons);
    sap_memory_release(photons->device, photons, sizeof *photons);
}

double sap_photon_radius(double first, int32_t pass) {
    if (pass < 0) return (double)NAN;
    double square = first * first;
    for (int32_t i = 1; i <= pass; i++) square *= (i + 2.0 / 3) / (i + 1);
    return sqrt(square);
}
