// A map of photons: what was kept of them, and the tree over their positions.
#ifndef SAPWOOD_RENDER_PHOTONS_MAP_H
#define SAPWOOD_RENDER_PHOTONS_MAP_H

#include "render/photons/photon.h"
#include "render/picture.h"

struct sap_photons {
    sap_device* device;
    sap_photon* photons; // [info.count] in memory of `room` photons
    int64_t room;
    sap_tree* tree;
    sap_photons_info info;
};

// ---- sources.c: what sends photons in a prepared picture, in scratch memory; count 0 if nothing does. `total`: photons
// among which the power is divided. power[3] becomes that of all sources.
sap_status sap_sources_make(const sap_picture* picture, int64_t total, sap_scratch* memory, sap_source_table* table,
                            double power[3]);

// ---- estimate.c
sap_status sap_photon_search_check(const sap_device* device, const sap_photon_search* search);

// ---- map.c
sap_photons* sap_photons_new(sap_device* device);
sap_status sap_photons_reserve(sap_photons* map, int64_t count); // room for so many in all
sap_status sap_photons_plant(sap_photons* map);                  // builds the tree

// ---- trace.c: sends photons in a prepared picture.
sap_status sap_photons_send(sap_picture* picture, const sap_photon_options* options, sap_photons** photons);

#endif
