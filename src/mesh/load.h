// Reading the mesh that a tree is built over.
#ifndef SAPWOOD_MESH_LOAD_H
#define SAPWOOD_MESH_LOAD_H

#include "mesh/build.h"

// Fills corners[9 * triangles], parts[triangles] and their box. Errors: SAP_ERROR_RANGE, SAP_ERROR_NOT_FINITE, naming
// the first bad triangle.
sap_status sap_mesh_load(const sap_device* device, const sap_mesh* mesh, float* corners, sap_mesh_part* parts,
                         sap_mesh_box* bounds);

#endif
