// What a processor does to move meshes.
#ifndef SAPWOOD_MOVE_OPS_H
#define SAPWOOD_MOVE_OPS_H

#include "device/device.h"
#include "sapwood/move.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sap_subdivision_owned; // move/subdivision.h

typedef struct sap_move_ops {
    sap_status (*skin)(sap_device* device, const sap_skin* skin, float* moved, float* turned);
    sap_status (*subdivide)(const struct sap_subdivision_owned* subdivision, const float* vertices, float* refined,
                            float* normals);
    // (optional, all or none) Copies an array, wherever it lies, to host memory; puts the arrays of a subdivision,
    // which lie in host memory, where the device wants them; frees them there.
    sap_status (*fetch)(sap_device* device, const void* from, size_t bytes, void* to);
    sap_status (*place)(struct sap_subdivision_owned* subdivision);
    void (*remove)(struct sap_subdivision_owned* subdivision);
} sap_move_ops;

sap_status sap_skin_cpu(sap_device* device, const sap_skin* skin, float* moved, float* turned);
sap_status sap_skin_cuda(sap_device* device, const sap_skin* skin, float* moved, float* turned);
sap_status sap_subdivide_cpu(const struct sap_subdivision_owned* subdivision, const float* vertices, float* refined,
                             float* normals);
sap_status sap_subdivide_cuda(const struct sap_subdivision_owned* subdivision, const float* vertices, float* refined,
                              float* normals);
sap_status sap_subdivision_fetch_cuda(sap_device* device, const void* from, size_t bytes, void* to);
sap_status sap_subdivision_place_cuda(struct sap_subdivision_owned* subdivision);
void sap_subdivision_remove_cuda(struct sap_subdivision_owned* subdivision);
// Refuses a vertex that follows a bone that there is none of.
sap_status sap_skin_refuse(const sap_device* device, const sap_skin* skin, int64_t vertex);

#ifdef __cplusplus
}
#endif
#endif
