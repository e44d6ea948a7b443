// CUDA devices, as C sees them; device/cuda.h is for what runs on them.
#ifndef SAPWOOD_DEVICE_CUDA_DEVICE_H
#define SAPWOOD_DEVICE_CUDA_DEVICE_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

sap_status sap_cuda_open(sap_device* device);
void sap_cuda_close(sap_device* device);
sap_status sap_cuda_describe(const sap_device* device, sap_device_info* info);
// Frees the memory that lies idle.
void sap_cuda_trim(sap_device* device);
// sap_device_wait: also reports the lowest bad row of the builds that did not wait.
sap_status sap_cuda_wait(sap_device* device);

#ifdef __cplusplus
}
#endif
#endif
