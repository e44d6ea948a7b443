// The arrays of a scene on a CUDA device.
#ifndef SAPWOOD_RENDER_SCENE_CUDA_CUH
#define SAPWOOD_RENDER_SCENE_CUDA_CUH

#include "device/cuda.h"

extern "C" {
#include "render/picture.h"
}

static const void* scene_array_in(sap_cuda_call* call, const void* memory, int64_t count, size_t bytes) {
    return memory ? sap_cuda_in(call, memory, (size_t)count * bytes) : NULL;
}

// Brings the arrays of a picture's scene to the device, where those stay that lie there.
static void scene_in(sap_cuda_call* call, const sap_picture* p, sap_scene_data* s) {
    const sap_mesh* mesh = &p->file->mesh;
    const size_t vector = 3 * sizeof(float);
    s->vertices = (const float*)scene_array_in(call, s->vertices, mesh->vertex_count, vector);
    s->triangles = (const int32_t*)scene_array_in(call, s->triangles, mesh->triangle_count, 3 * sizeof(int32_t));
    s->normals = (const float*)scene_array_in(call, s->normals, mesh->vertex_count, vector);
    s->colors = (const float*)scene_array_in(call, s->colors, mesh->vertex_count, vector);
    s->material_ids = (const int32_t*)scene_array_in(call, s->material_ids, mesh->triangle_count, sizeof(int32_t));
    s->materials =
        (const sap_material*)scene_array_in(call, s->materials, p->file->material_count, sizeof(sap_material));
    s->standings = (const sap_standing*)scene_array_in(call, s->standings, s->standing_count, sizeof(sap_standing));
    s->shiners = (const sap_shiner*)scene_array_in(call, s->shiners, s->shiner_count, sizeof(sap_shiner));
    s->lamps = (const sap_lamp*)scene_array_in(call, s->lamps, p->lamp_count, sizeof(sap_lamp));
}

#endif
