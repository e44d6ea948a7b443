// Searches on a GPU for the nearest photons that count.
#ifndef SAPWOOD_RENDER_PHOTONS_NEAR_CUDA_H
#define SAPWOOD_RENDER_PHOTONS_NEAR_CUDA_H

#include "device/cuda.h"

extern "C" {
#include "render/photons/estimate.h"
#include "render/photons/map.h"
}

enum { SAP_PHOTONS_NEAR_MOST = 256 }; // longest rows

// The nearest rows->want photons that count at the points from rows->from on, within the radius; all arrays lie on the
// device.
void sap_photons_near_cuda(sap_cuda_call* call, const sap_photons* map, const sap_points* points,
                           const sap_photon_rows* rows, int32_t* ids, float* distance2);

#endif
