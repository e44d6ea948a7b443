#include "files/gltf/sharing.h"
#include "device/device.h"
#include <math.h>

enum { LEAST_TRIANGLES = 16 }; // an instance takes as much memory as a few triangles do

// Whether rays can be moved by a matrix and back: it is far from having no inverse.
static bool is_sound(const double m[SAP_GLTF_NUMBERS]) {
    double most = 0;
    for (int i = 0; i < SAP_GLTF_NUMBERS; i++) {
        if (!isfinite((float)m[i])) return false;
        if (i % 4 < 3) most = fmax(most, fabs(m[i]));
    }
    const double determinant =
        m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
    return most > 1e-9 && most < 1e9 && fabs(determinant) > 1e-6 * most * most * most;
}

// Meshes that stay as they are, and are worth it.
static bool can_be_shared(const cgltf_mesh* mesh) {
    size_t triangles = 0;
    for (size_t i = 0; i < mesh->primitives_count && triangles < LEAST_TRIANGLES; i++) {
        const cgltf_primitive* from = &mesh->primitives[i];
        const cgltf_accessor* places = cgltf_find_accessor(from, cgltf_attribute_type_position, 0);
        const size_t corners = from->indices ? from->indices->count : places ? places->count : 0;
        if (from->type == cgltf_primitive_type_triangles)
            triangles += corners / 3;
        else if (corners > 2) // points and lines are left out, and cost nothing
            triangles += corners - 2;
    }
    for (size_t i = 0; i < mesh->primitives_count; i++)
        if (mesh->primitives[i].targets_count) return false;
    return triangles >= LEAST_TRIANGLES;
}

// Marks the nodes whose meshes can be shared, and counts those of each mesh in its group.
static void mark(const sap_gltf_document* document, const double* worlds, const cgltf_node** order, const bool* shown,
                 const bool* mirrors, sap_gltf_sharing* sharing) {
    const cgltf_data* data = document->data;
    for (size_t m = 0; m < data->meshes_count; m++)
        sharing->groups[2 * m] = sharing->groups[2 * m + 1] = can_be_shared(&data->meshes[m]) ? 0 : -1;
    for (size_t i = 0; i < data->nodes_count; i++) {
        const cgltf_mesh* mesh = shown[i] && !order[i]->skin ? order[i]->mesh : NULL;
        int32_t* count = mesh ? sap_gltf_group_of(sharing, data, mesh, mirrors[i]) : NULL;
        sharing->shared[i] = count && *count >= 0 && is_sound(worlds + SAP_GLTF_NUMBERS * i);
        if (sharing->shared[i]) ++*count;
    }
    for (size_t i = 0; i < data->nodes_count; i++)
        if (sharing->shared[i]) sharing->shared[i] = *sap_gltf_group_of(sharing, data, order[i]->mesh, mirrors[i]) > 1;
    for (size_t m = 0; m < 2 * data->meshes_count; m++) sharing->groups[m] = -1;
}

sap_status sap_gltf_sharing_find(const sap_gltf_document* document, const sap_gltf_model* model,
                                 const cgltf_node** order, const bool* shown, const bool* mirrors,
                                 sap_gltf_sharing* sharing) {
    const sap_device* device = model->device;
    const size_t nodes = document->data->nodes_count, meshes = document->data->meshes_count;
    const size_t world_bytes = nodes * SAP_GLTF_NUMBERS * sizeof(double);
    double* worlds = sap_memory_allocate(device, world_bytes);
    sharing->shared = sap_memory_allocate(device, nodes * sizeof *sharing->shared);
    sharing->groups = sap_memory_allocate(device, 2 * meshes * sizeof *sharing->groups);
    const bool room = worlds && sharing->shared && sharing->groups;
    if (room) {
        sap_gltf_place_nodes(model->nodes.memory, nodes, worlds);
        mark(document, worlds, order, shown, mirrors, sharing);
    }
    sap_memory_release(device, worlds, world_bytes);
    return room ? SAP_OK : sap_gltf_no_memory(document);
}

void sap_gltf_sharing_free(sap_gltf_sharing* sharing, const sap_gltf_document* document) {
    const sap_device* device = document->source->device;
    sap_memory_release(device, sharing->shared, document->data->nodes_count * sizeof *sharing->shared);
    sap_memory_release(device, sharing->groups, 2 * document->data->meshes_count * sizeof *sharing->groups);
}
