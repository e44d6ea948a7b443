// How a tree over instances lies in memory.
//
// Nodes are in preorder, a leaf for each instance: an inner node's left child follows it, and a subtree over n instances
// has 2n - 1 nodes, so where each lies is known before any is made. Boxes are in the world and larger than what is in
// them, as placing.c says; a ray that starts far away adds `reach` times the largest coordinate of its origin to their
// sides.
#ifndef SAPWOOD_INSTANCE_LAYOUT_H
#define SAPWOOD_INSTANCE_LAYOUT_H

#include "base/assert.h"
#include "instance/ops.h"
#include "saved/saved.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAP_INSTANCES_MOST = 1 << 28,   // so that `link` has room
    SAP_INSTANCE_DEPTH_CHOSEN = 40, // inner nodes above one that is halved whatever it costs
    SAP_INSTANCE_DEPTH_MAX = SAP_INSTANCE_DEPTH_CHOSEN + 28
};

typedef struct sap_instance_node {
    float lower[3], upper[3];
    float reach;
    uint32_t
        link; // leaf: instance << 1 | 1. Inner node: right child << 3 | axis << 1, the left child being lower there
} sap_instance_node;

// An instance as rays need it.
typedef struct sap_placed {
    const sap_mesh_tree* tree;
    double inverse[12]; // from the world to the mesh
    int64_t before;     // triangles of the instances before it
} sap_placed;

struct sap_instance_tree {
    sap_device* device;
    int64_t count, filed; // filed: instances of meshes with triangles
    int64_t triangles;    // of all instances
    int32_t depth;
    float lower[3], upper[3];
    size_t placed_at, bytes; // nodes, then for each instance a sap_placed, or what the device has instead
    unsigned char* arrays;   // where the device has its memory
    sap_tree_memory memory;  // on a GPU only the number of bytes is used
};

// A tree that was made on the host, in scratch memory.
typedef struct sap_instance_made {
    const sap_instance_node* nodes; // [2 * filed - 1], the root first
    const sap_placed* placed;       // [count]
    int64_t count, filed, triangles;
} sap_instance_made;

static inline size_t sap_instance_node_bytes(const sap_instance_made* made) {
    return made->filed ? (size_t)(2 * made->filed - 1) * sizeof *made->nodes : 0;
}

static inline const sap_instance_node* sap_instance_nodes(const sap_instance_tree* t) {
    return (const sap_instance_node*)(const void*)t->arrays;
}
static inline const sap_placed* sap_instances_placed(const sap_instance_tree* t) {
    return (const sap_placed*)(const void*)(t->arrays + t->placed_at);
}

// What is wrong with an instance.
typedef enum sap_misplaced {
    SAP_PLACED_WELL = 0,
    SAP_PLACED_WITHOUT_TREE,
    SAP_PLACED_ELSEWHERE, // its tree is on another device
    SAP_PLACED_NOWHERE,   // its transform is not finite
    SAP_PLACED_FLAT,      // it has no inverse
    SAP_PLACED_TOO_FAR
} sap_misplaced;

// Inverts an instance's transform, and makes its leaf but for the link.
sap_misplaced sap_instance_place(const sap_device* device, const sap_instance* instance, sap_placed* placed,
                                 sap_instance_node* leaf);

// A subtree to be built: its instances are leaves[from] …, its root is nodes[node], `depth` inner nodes lie above it.
typedef struct sap_instance_subtree {
    int64_t from, count, node;
    int32_t depth;
} sap_instance_subtree;

// Builds nodes[2 * count - 1] over leaves[count], which get into another order. parts[count] is scratch memory. Returns
// the depth, or -1 if the host asked to stop.
int32_t sap_instance_nodes_build(const sap_device* device, sap_instance_node* leaves, int64_t count,
                                 sap_instance_node* nodes, sap_instance_subtree* parts);

#ifdef __cplusplus
}
#endif
#endif
