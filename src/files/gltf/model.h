// A glTF scene as it is kept: nodes, the parts of the mesh that hang from them, skins, and how nodes move.
#ifndef SAPWOOD_FILES_GLTF_MODEL_H
#define SAPWOOD_FILES_GLTF_MODEL_H

#include "files/gltf/document.h"
#include "files/mesh/mesh_draft.h"

enum { SAP_GLTF_NUMBERS = 12 }; // of a matrix: three rows of four, the last number of each a shift

// Where a node is; parents stand before their children.
typedef struct sap_gltf_node {
    int32_t parent; // -1: none
    bool has_matrix;
    double matrix[SAP_GLTF_NUMBERS];
    double translation[3], rotation[4], scale[3]; // in place of a matrix
    size_t weights;                               // of morph targets: where they begin among the model's
    int32_t weight_count;
} sap_gltf_node;

// A primitive of a node: vertices that move together. Places are counted in floats and int32_t of the model.
typedef struct sap_gltf_part {
    int32_t node, skin;   // node -1: in no place, as the file has it; skin -1: none
    int32_t each;         // bones a vertex
    int32_t targets;      // of its morph
    int64_t first, count; // vertices of the mesh
    size_t rest;          // [3*count]
    size_t shifts;        // [targets][3*count]
    size_t bones;         // [each*count] of the model's ints
    size_t weights;       // [each*count]
} sap_gltf_part;

typedef struct sap_gltf_skin {
    size_t joints;  // [count] nodes, of the model's ints
    size_t inverse; // [16*count] matrices in columns; SIZE_MAX: none
    int32_t count;
} sap_gltf_skin;

// How one thing of a node moves.
typedef struct sap_gltf_channel {
    int32_t node, width; // numbers of a value
    cgltf_animation_path_type path;
    cgltf_interpolation_type interpolation;
    size_t times, values; // [keys], [keys*width], or of cubic splines [keys*3*width]
    size_t keys;          // at least 1
} sap_gltf_channel;

typedef struct sap_gltf_clip {
    size_t first, count; // channels
    size_t name;         // where it begins among the names
    double seconds;      // when the last key is
} sap_gltf_clip;

// Parts that nodes share, or (the first one) all others.
typedef struct sap_gltf_group {
    int64_t first_triangle;
} sap_gltf_group;

typedef struct sap_gltf_place {
    int32_t group, node; // node -1: the world
} sap_gltf_place;

typedef struct sap_gltf_model {
    const sap_device* device;
    double origin[3]; // what vertices are relative to
    sap_array nodes, parts, skins, channels, clips;
    sap_array floats, ints, weights, names;
    int64_t vertex_count;
    bool shares;              // what nodes share is kept once
    sap_array groups, places; // then
} sap_gltf_model;

void sap_gltf_model_free(sap_gltf_model* model);

// Reads nodes, parts and skins into a model, and triangles, colours and materials into the draft, but no vertices.
sap_status sap_gltf_model_read(sap_gltf_document* document, sap_gltf_model* model, sap_mesh_draft* draft);
// Reads how nodes move. `numbers` are those that nodes of the document have in the model.
sap_status sap_gltf_clips_read(sap_gltf_document* document, const int32_t* numbers, sap_gltf_model* model);

// Makes the mesh's vertices as they are `seconds` into a clip (-1: at rest), relative to the model's origin. `moved`
// becomes how far floats have moved them, if that is more; NULL: not looked at. Errors: SAP_ERROR_MEMORY.
sap_status sap_gltf_pose(const sap_gltf_model* model, int32_t clip, double seconds, float* vertices, double* moved);

// Where nodes are: worlds[SAP_GLTF_NUMBERS*count].
void sap_gltf_place_nodes(const sap_gltf_node* nodes, size_t count, double* worlds);

#endif
