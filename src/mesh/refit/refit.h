// A refit on the CPU, in steps: planes_cpu.c moves the planes, send_cpu.c sends the triangles, write_cpu.c writes the tree.
// Nothing of the tree is written before all memory has been taken.
#ifndef SAPWOOD_MESH_REFIT_REFIT_H
#define SAPWOOD_MESH_REFIT_REFIT_H

#include "base/team.h"
#include "device/progress.h"
#include "mesh/refit/plan.h"

// What a stretch of the plan's nodes comes to.
typedef struct sap_refit_node_stretch {
    int64_t kept, before; // nodes that are left; those of all stretches before
    int32_t depth;        // of the deepest leaf that is left
} sap_refit_node_stretch;

// What a stretch of the plan's triangles comes to.
typedef struct sap_refit_triangle_stretch {
    int64_t visited, room;   // visits of leaves, and how many its list can hold
    int64_t longer_at;       // where its list begins among the longer ones, if it needs one
    sap_refit_visit* visits; // the list
    int32_t blocks[SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK]; // visits of each block
} sap_refit_triangle_stretch;

typedef struct sap_refit {
    sap_mesh_tree* tree;
    const sap_mesh* mesh;
    const sap_mesh_refit_plan* plan;
    const sap_mesh_tie* ties;
    const int32_t* order;
    sap_mesh_box bounds;
    double whole; // half the surface of the bounds
    int32_t threads;
    // Of each triangle, in the mesh's order and then in the plan's.
    float* corners;
    sap_mesh_part* parts;
    int32_t* place;
    // Of each node of the plan.
    float* planes;
    int32_t* number;  // among the nodes that are left; of others ~ that of the next that is
    double* surfaces; // NULL if nobody asks for the cost
    // Of each node that is left.
    sap_mesh_node* nodes;
    uint8_t* planar_left;
    int32_t *counts, *firsts, *cursors; // references; triangles met first there; where the next reference goes
    sap_refit_node_stretch* node_stretches;
    sap_refit_triangle_stretch* stretches;
    int64_t node_count, most, sum; // sum: of references so far
    sap_progress_state progress;
    sap_refit_walk walk;
    sap_scratch scratch, lists, longer; // longer: lists of the stretches that need more than was expected
    sap_mesh_tree_shape shape;
} sap_refit;

// Logs that there is no memory, and returns it.
sap_status sap_refit_no_memory(const sap_refit* refit);

// planes_cpu.c: the nodes that are left, with their planes where they are now.
void sap_refit_make_nodes(sap_refit* refit);
// The expected cost of a ray, once triangles are counted in leaves.
double sap_refit_expected_cost(sap_refit* refit);

// send_cpu.c: sends all triangles, and counts them in leaves. *too_far: there are more references than a tree may have.
sap_status sap_refit_send(sap_refit* refit, bool* too_far);

// write_cpu.c: adds up the shape. False if there is a leaf of too many triangles.
bool sap_refit_place_leaves(sap_refit* refit);
// Writes the tree, whose arrays have room.
void sap_refit_write(sap_refit* refit);

#endif
