// The plan by which a tree over triangles follows a mesh that moves: the tree as it was built, each of its planes tied to
// a corner of a triangle. A refit depends on the plan and on the mesh alone, not on refits before it.
//
// The plan is made from the tree at its first refit. A node has its place in the tree as it was built; triangles are
// taken in the order in which that tree stores them.
#ifndef SAPWOOD_MESH_REFIT_PLAN_H
#define SAPWOOD_MESH_REFIT_PLAN_H

#include "mesh/build.h"

enum {
    SAP_REFIT_NODES = 4096,    // nodes that are worth a thread
    SAP_REFIT_BLOCK = 64,      // triangles that are sent down the tree together
    SAP_REFIT_TRIANGLES = 512, // triangles that are worth a thread: whole blocks
    SAP_REFIT_LEAF = 4096      // most triangles of a leaf
};

// A node of the plan.
typedef struct sap_mesh_tie {
    float plane;                  // of an inner node
    float rest;                   // where the corner was along the plane's axis
    uint32_t triangle;            // of the mesh, whose corner the plane follows
    uint16_t corner, planar_left; // which of its corners; whether triangles in the plane go to the left
    uint32_t link;                // as in sap_mesh_node; of a leaf only that it is one
} sap_mesh_tie;

// The arrays of a plan: the ties, then the triangles' numbers in the mesh.
static inline size_t sap_refit_order_at(int64_t nodes) { return sap_align((size_t)nodes * sizeof(sap_mesh_tie)); }
static inline sap_mesh_tie* sap_refit_ties(const sap_mesh_refit_plan* plan) {
    return (sap_mesh_tie*)(void*)plan->memory;
}
static inline int32_t* sap_refit_order(const sap_mesh_refit_plan* plan) {
    return (int32_t*)(void*)(plan->memory + sap_refit_order_at(plan->nodes));
}

// Stretches of SAP_REFIT_TRIANGLES triangles.
static inline int64_t sap_refit_stretches(int64_t triangles) {
    return (triangles + SAP_REFIT_TRIANGLES - 1) / SAP_REFIT_TRIANGLES;
}
// Most references that a tree may get by a refit: as many as a builder allows.
static inline int64_t sap_mesh_refit_most(int64_t triangles) {
    const int64_t most = SAP_MESH_STAGED * (triangles > SAP_MESH_FEWEST ? triangles : SAP_MESH_FEWEST);
    return most < INT32_MAX ? most : INT32_MAX;
}

// Makes the plan of a tree, unless it has one. Errors: SAP_ERROR_MEMORY.
sap_status sap_mesh_refit_plan_make(sap_mesh_tree* tree);

// What a refit sends triangles through: the nodes that are left, with their planes where they are now.
typedef struct sap_refit_walk {
    const sap_mesh_node* nodes; // links as in a tree; leaves have no contents
    const uint8_t* planar_left;
    const float* corners; // [9 * triangles] in the mesh's order
    const sap_mesh_part* parts;
    const int32_t* order;
    sap_mesh_box bounds; // of all triangles
    double size;         // the sum over the axes of how far from zero they are
} sap_refit_walk;

// Those of SAP_REFIT_BLOCK triangles that reach a leaf, a bit each.
typedef struct sap_refit_visit {
    uint64_t members;
    int32_t leaf;
} sap_refit_visit;

typedef struct sap_refit_kernels {
    // Sends the triangles `from` … `from + count - 1` of the plan's order down the tree, at most SAP_REFIT_BLOCK. Lists the
    // leaves that they reach, in preorder. Returns how many these are, of which those beyond `room` are not written.
    // Stops when there are more than `most` references; adds them to *references.
    int64_t (*send)(const sap_refit_walk* walk, int64_t from, int64_t count, int64_t room, int64_t most,
                    sap_refit_visit* visits, int64_t* references);
} sap_refit_kernels;

#endif
