// Reading the mesh that a tree is built over.
#ifndef SAPWOOD_MESH_LOAD_H
#define SAPWOOD_MESH_LOAD_H

#include "mesh/build.h"

static inline bool sap_mesh_has_vertex(const sap_mesh* mesh, int32_t vertex) {
    return vertex >= 0 && vertex < mesh->vertex_count;
}

// Fills corners[9 * triangles], parts[triangles] and their box. Errors: SAP_ERROR_RANGE, SAP_ERROR_NOT_FINITE, naming
// the first bad triangle.
sap_status sap_mesh_load(const sap_device* device, const sap_mesh* mesh, float* corners, sap_mesh_part* parts,
                         sap_mesh_box* bounds);
// Logs why a triangle cannot be in a tree. vertices: the positions of those corners that exist.
sap_status sap_mesh_refuse(const sap_device* device, const sap_mesh* mesh, const int32_t corners[3],
                           float vertices[3][3], int64_t triangle);

#endif
