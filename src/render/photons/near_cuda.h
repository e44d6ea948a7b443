// The light of the nearest photons, on a GPU.
#ifndef SAPWOOD_RENDER_PHOTONS_NEAR_CUDA_H
#define SAPWOOD_RENDER_PHOTONS_NEAR_CUDA_H

#include "device/cuda.h"

extern "C" {
#include "render/photons/estimate.h"
#include "render/photons/map.h"
}

enum { SAP_PHOTONS_NEAR_MOST = 256 }; // longest rows

// The light of the nearest photons that count at points, of which it finds rows->want, one more than count where there are so
// many; all arrays lie on the device. rows->light is 0 before. `ordered`: consecutive points already lie close to one another.
void sap_photons_near_cuda(sap_cuda_call* call, const sap_photons* map, const sap_points* points, bool ordered,
                           const sap_photon_rows* rows);

#endif
