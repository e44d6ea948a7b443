// Trees over triangles as the tests of rays build them.
#ifndef SAPWOOD_TESTS_MESH_TREES_H
#define SAPWOOD_TESTS_MESH_TREES_H

#include "plain_tree.h"

static inline sap_mesh_tree* mesh_tree(sap_device* device, const sap_mesh* mesh, sap_quality quality) {
    return plain_tree(device, mesh, quality == SAP_QUALITY_HIGH ? 3 : 20);
}

static inline void mesh_tree_free(sap_mesh_tree* tree) { plain_tree_free(tree); }

#endif
