// A map of photons: what was kept of them, and the tree over their positions.
#ifndef SAPWOOD_RENDER_PHOTONS_MAP_H
#define SAPWOOD_RENDER_PHOTONS_MAP_H

#include "render/photons/photon.h"
#include "render/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sap_photons {
    sap_device* device;
    sap_photon* photons; // [info.count] in memory of the processor, which has room for `room`
    int64_t room;
    sap_tree* tree;
    float* sides; // on the CPU, see near_cpu.c; else NULL
    sap_photons_info info;
};

// ---- sources.c: lists what sends photons in a filled picture, in scratch memory; none if nothing does.
sap_status sap_sources_fill(sap_picture* picture, sap_scratch* memory);

// ---- estimate.c
sap_status sap_photon_search_check(const sap_device* device, const sap_photon_search* search);

// ---- map.c
sap_photons* sap_photons_new(sap_device* device);
sap_status sap_photons_reserve(sap_photons* map, int64_t count); // room for so many in all
sap_status sap_photons_plant(sap_photons* map);                  // builds the tree

// ---- trace.c: sends photons in a filled picture.
sap_status sap_photons_send(sap_picture* picture, const sap_photon_options* options, sap_photons** photons);

#ifdef __cplusplus
}
#endif
#endif
