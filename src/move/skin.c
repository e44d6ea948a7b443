// The public function of skinning: it checks arguments, then calls the processor's.
#include "device/reserved.h"
#include "move/ops.h"

sap_status sap_skin_refuse(const sap_device* device, const sap_skin* skin, int64_t vertex) {
    return sap_fail(device, SAP_ERROR_RANGE, "skin.bones: vertex %lld follows a bone that is not one of 0 to %d",
                    (long long)vertex, (int)skin->matrix_count - 1);
}

static sap_status check(const sap_device* device, const sap_skin* s, const float* moved, const float* turned) {
    const sap_status status = sap_reserved_check(device, s->reserved, "skin");
    if (status != SAP_OK) return status;
    if (s->count < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "skin.count: %lld is negative", (long long)s->count);
    if (s->count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "skin.count: %lld vertices; at most 2^31-1", (long long)s->count);
    if (s->each < 1 || s->each > SAP_SKIN_MOST)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "skin.each: %d is not 1 to %d", (int)s->each, SAP_SKIN_MOST);
    if (s->blend != SAP_SKIN_LINEAR && s->blend != SAP_SKIN_DUAL_QUATERNIONS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "skin.blend: unknown choice %d", (int)s->blend);
    if (s->count == 0) return SAP_OK;
    if (s->matrix_count < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "skin.matrix_count: %d bones; at least 1", (int)s->matrix_count);
    if (!s->vertices || !s->bones || !s->weights || !s->matrices)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "skin: its vertices, bones, weights or matrices are NULL");
    if (!moved) return sap_fail(device, SAP_ERROR_ARGUMENT, "moved: is NULL");
    if (!s->normals != !turned)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "turned: goes with skin.normals, and one of them is NULL");
    return SAP_OK;
}

sap_status sap_mesh_skin(sap_device* device, const sap_skin* skin, float* moved, float* turned) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!skin) return sap_fail(device, SAP_ERROR_ARGUMENT, "skin: is NULL");
    const sap_status status = check(device, skin, moved, turned);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, move, skin)) return sap_unsupported(device, "skin meshes");
    return skin->count ? device->rooms.move->skin(device, skin, moved, turned) : SAP_OK;
}
