// Which nodes of a glTF share their meshes, so that these need be there only once.
#ifndef SAPWOOD_FILES_GLTF_SHARING_H
#define SAPWOOD_FILES_GLTF_SHARING_H

#include "files/gltf/model.h"

// All zero can be freed.
typedef struct sap_gltf_sharing {
    bool* shared;    // [nodes] of the model: its mesh is that of others, too
    int32_t* groups; // [2*meshes] as they are, and mirrored: the model's group; -1: none yet
} sap_gltf_sharing;

// `order`, `shown` and `mirrors` are of the model's nodes. Errors: SAP_ERROR_MEMORY.
sap_status sap_gltf_sharing_find(const sap_gltf_document* document, const sap_gltf_model* model,
                                 const cgltf_node** order, const bool* shown, const bool* mirrors,
                                 sap_gltf_sharing* sharing);
void sap_gltf_sharing_free(sap_gltf_sharing* sharing, const sap_gltf_document* document);

static inline int32_t* sap_gltf_group_of(const sap_gltf_sharing* sharing, const cgltf_data* data,
                                         const cgltf_mesh* mesh, bool mirrors) {
    return &sharing->groups[2 * cgltf_mesh_index(data, mesh) + mirrors];
}

#endif
