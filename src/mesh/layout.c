// Where the arrays of a tree over triangles lie, and the memory for them.
#include "mesh/layout.h"
#include <string.h>

enum { ARRAYS = 4 };

typedef struct array_place {
    size_t at, bytes;
} array_place;

static void arrays_of(const sap_mesh_tree_shape* s, array_place arrays[ARRAYS]) {
    const size_t corners = SAP_TRIANGLE_FLOATS * (size_t)s->triangles + SAP_TRIANGLE_PADDING;
    arrays[0] = (array_place){s->node_at, (size_t)s->nodes * sizeof(sap_mesh_node)};
    arrays[1] = (array_place){s->reference_at, (size_t)s->listed * sizeof(int32_t)};
    arrays[2] = (array_place){s->corner_at, corners * sizeof(float)};
    arrays[3] = (array_place){s->id_at, (size_t)s->triangles * sizeof(int32_t)};
}

bool sap_mesh_shape_places(sap_mesh_tree_shape* s) {
    const uint64_t most = SIZE_MAX / 8; // of any count times the bytes of an entry
    SAP_ASSERT(s->nodes >= 0 && s->listed >= 0 && s->triangles >= 0);
    uint64_t nodes = (uint64_t)s->nodes, listed = (uint64_t)s->listed, triangles = (uint64_t)s->triangles;
    if (nodes > most / 8 || listed > most / 8 || triangles > most / 64) return false;
    array_place arrays[ARRAYS];
    arrays_of(s, arrays);
    size_t at = 0, places[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        places[i] = at;
        at += sap_align(arrays[i].bytes);
    }
    s->node_at = places[0];
    s->reference_at = places[1];
    s->corner_at = places[2];
    s->id_at = places[3];
    s->bytes = at;
    return true;
}

sap_status sap_mesh_tree_reserve(sap_mesh_tree* tree, const sap_mesh_tree_shape* shape) {
    sap_status status = sap_tree_memory_grow(tree->device, &tree->memory, &tree->arrays, shape->bytes);
    if (status != SAP_OK) return status;
    tree->shape = *shape;
    array_place arrays[ARRAYS];
    arrays_of(shape, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        size_t end = arrays[i].at + arrays[i].bytes;
        SAP_ASSERT(arrays[i].at % SAP_ALIGNMENT == 0 && sap_align(end) <= shape->bytes);
        memset(tree->arrays + end, 0, sap_align(end) - end);
    }
    memset(tree->arrays + shape->corner_at + arrays[2].bytes - SAP_TRIANGLE_PADDING * sizeof(float), 0,
           SAP_TRIANGLE_PADDING * sizeof(float));
    memset(tree->arrays + shape->bytes, 0, SAP_ALIGNMENT);
    return SAP_OK;
}
