// What a processor does to move meshes.
#ifndef SAPWOOD_MOVE_OPS_H
#define SAPWOOD_MOVE_OPS_H

#include "device/device.h"
#include "sapwood/move.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_move_ops {
    sap_status (*skin)(sap_device* device, const sap_skin* skin, float* moved, float* turned);
} sap_move_ops;

sap_status sap_skin_cpu(sap_device* device, const sap_skin* skin, float* moved, float* turned);
sap_status sap_skin_cuda(sap_device* device, const sap_skin* skin, float* moved, float* turned);
// Refuses a vertex that follows a bone that there is none of.
sap_status sap_skin_refuse(const sap_device* device, const sap_skin* skin, int64_t vertex);

#ifdef __cplusplus
}
#endif
#endif
