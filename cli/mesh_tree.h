// MESH of the verbs that search one: a tree that was saved, or one built over the mesh of a file.
#ifndef SAPWOOD_CLI_MESH_TREE_H
#define SAPWOOD_CLI_MESH_TREE_H

#include "input.h"

// All zero can be closed.
typedef struct sap_cli_mesh_tree {
    sap_mesh_file* file; // NULL: a saved tree
    sap_mesh_tree* tree; // NULL until it is built
    double origin[3];
    int64_t triangles;
    double build_seconds;
} sap_cli_mesh_tree;

// Loads the saved tree, or reads the mesh.
sap_cli_exit sap_cli_mesh_tree_read(sap_cli* cli, const char* path, sap_cli_mesh_tree* mesh);
// Builds the tree unless there is one.
sap_cli_exit sap_cli_mesh_tree_ready(sap_cli* cli, const char* path, sap_cli_mesh_tree* mesh);
void sap_cli_mesh_tree_close(sap_cli_mesh_tree* mesh);

#endif
