// How a tree over triangles lies in memory: flat arrays without pointers, the same bytes in memory, in files and on
// GPUs.
//
// Nodes are 8 bytes, in preorder: an inner node's left child follows it. Its `link` holds (offset of the right child)
// << 2 | axis, and `bits` the plane; a leaf's link holds (references << 2) | 3, and `bits` the place of its first
// reference; a leaf of a single reference holds the reference itself there. References are places in the array of
// triangles, ascending within a leaf. Triangles are stored in the order in which preorder first meets them in a leaf
// (then those in no leaf), 9 floats each: corner, x y z.
#ifndef SAPWOOD_MESH_LAYOUT_H
#define SAPWOOD_MESH_LAYOUT_H

#include "base/assert.h"
#include "device/device.h"
#include "mesh/ops.h"
#include "sapwood/mesh.h"
#include "saved/saved.h"
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAP_MESH_DEPTH_MAX = 64, // inner nodes above a leaf
    SAP_MESH_LEAF = 3,       // the axis that says leaf
    SAP_TRIANGLE_FLOATS = 9,
    SAP_TRIANGLE_PADDING = 64 // floats that vector loads may read behind the last triangle
};

typedef struct sap_mesh_node {
    uint32_t bits; // of a float: the plane; or a leaf's first reference
    uint32_t link;
} sap_mesh_node;

// The shape of a tree: counts, bounds and places of its arrays. Offsets are bytes from the start of the arrays,
// multiples of 64.
typedef struct sap_mesh_tree_shape {
    int64_t triangles, nodes, leaves, empty_leaves, references; // nodes: all, leaves included
    int64_t listed; // references in the array: those of leaves with two or more
    int32_t depth, largest_leaf;
    float lower[3], upper[3]; // tight box of all triangles
    size_t node_at;           // sap_mesh_node[nodes]; one empty leaf if there are no triangles
    size_t reference_at;      // int32_t[listed]
    size_t corner_at;         // float[9 * triangles + SAP_TRIANGLE_PADDING]
    size_t id_at;             // int32_t[triangles]: the triangle's number in the mesh
    size_t bytes;             // of all arrays
} sap_mesh_tree_shape;

// By which a tree is refitted (mesh/refit/plan.h). All zero: none yet.
typedef struct sap_mesh_refit_plan {
    bool made;
    unsigned char* memory; // where the device has its memory
    size_t allocated;
    int64_t* visited; // in the same memory: of each stretch of triangles, the lengths of lists to expect
    int64_t nodes, triangles;
    double cost; // expected of a ray, of the tree as it was built
} sap_mesh_refit_plan;

struct sap_mesh_tree {
    sap_device* device;
    sap_mesh_tree_shape shape;     // before the options: what walks read lies within 127 bytes
    sap_mesh_tree_options options; // defaults filled in
    unsigned char* arrays;         // shape.bytes of them, where the device has its memory
    sap_tree_memory memory;        // of the arrays; on a device only the number of bytes is used
    void* beside;                  // further data of the device's processor for this tree, or NULL
    sap_mesh_refit_plan plan;
};

// A tree without contents, to be freed with sap_mesh_tree_free. NULL, after logging, if there is no memory.
sap_mesh_tree* sap_mesh_tree_new(sap_device* device);
// Computes where the arrays lie from the counts. False if they need more memory than can be addressed.
bool sap_mesh_shape_places(sap_mesh_tree_shape* shape);
// Gives a tree arrays of this shape, in its present memory if that suffices. Contents are undefined, except for the
// bytes between arrays, which are zero. On failure the tree is unchanged. Errors: SAP_ERROR_MEMORY.
sap_status sap_mesh_tree_reserve(sap_mesh_tree* tree, const sap_mesh_tree_shape* shape);

// Checks a whole tree on the host. Errors: SAP_ERROR_FORMAT, SAP_ERROR_MEMORY.
sap_status sap_mesh_verify_cpu(const sap_mesh_tree* tree);
// The first triangle that a leaf lacks although it reaches into the leaf's cell, or INT64_MAX. The arrays can be
// traversed and all corners lie within the tree's bounds.
int64_t sap_mesh_first_missing(const sap_mesh_tree* tree);
// The expected cost of a ray by the surface area heuristic, of a tree in host memory.
double sap_mesh_expected_cost(const sap_mesh_tree* tree);
// Frees the plan of a tree in host memory.
void sap_mesh_refit_plan_free(sap_mesh_tree* tree);
// What is wrong with options, or NULL.
const char* sap_mesh_options_wrong(const sap_mesh_tree_options* options);

static inline const sap_mesh_node* sap_mesh_nodes(const sap_mesh_tree* t) {
    return (const sap_mesh_node*)(const void*)(t->arrays + t->shape.node_at);
}
// An inner node's plane.
static inline float sap_mesh_plane(const sap_mesh_node* node) {
    float plane;
    memcpy(&plane, &node->bits, sizeof plane);
    return plane;
}
static inline const int32_t* sap_mesh_references(const sap_mesh_tree* t) {
    return (const int32_t*)(const void*)(t->arrays + t->shape.reference_at);
}
static inline const float* sap_mesh_corners(const sap_mesh_tree* t) {
    return (const float*)(const void*)(t->arrays + t->shape.corner_at);
}
static inline const int32_t* sap_mesh_ids(const sap_mesh_tree* t) {
    return (const int32_t*)(const void*)(t->arrays + t->shape.id_at);
}

#ifdef __cplusplus
}
#endif
#endif
