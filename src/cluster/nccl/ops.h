// What the NCCL engine asks of a processor whose memory NCCL reaches.
#ifndef SAPWOOD_CLUSTER_NCCL_OPS_H
#define SAPWOOD_CLUSTER_NCCL_OPS_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_nccl_ops {
    // Memory of the device, and page-locked memory of the host.
    sap_status (*allocate)(sap_device* device, size_t bytes, void** memory);
    void (*release)(sap_device* device, void* memory, size_t bytes);
    sap_status (*pin)(sap_device* device, size_t bytes, void** memory);
    void (*unpin)(sap_device* device, void* memory);
    // The device's number, and that of the device on which memory lies; negative: in the host's memory.
    int32_t (*ordinal)(const sap_device* device);
    sap_status (*lies)(const sap_device* device, const void* memory, int32_t* ordinal);
    // Makes a device the calling thread's current one; the number of the one before.
    int32_t (*use)(const sap_device* device, int32_t ordinal);
    // Whether the device's stream has done all its work.
    sap_status (*look)(const sap_device* device, bool* done);
} sap_nccl_ops;

extern const sap_nccl_ops sap_nccl_ops_cuda;

#ifdef __cplusplus
}
#endif
#endif
