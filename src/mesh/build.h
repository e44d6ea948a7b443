// Building trees over triangles on the CPU: types that the driver (build_cpu.c) and the inner loops (build_simd.c)
// share.
#ifndef SAPWOOD_MESH_BUILD_H
#define SAPWOOD_MESH_BUILD_H

#include "mesh/layout.h"

enum {
    SAP_MESH_SUBTREE = 4096, // up to so many parts, one thread builds the whole subtree
    SAP_MESH_SMALL = 64,     // most parts of a small node: a 64-bit word has a bit for each
    SAP_MESH_FEWEST = 256,   // memory is laid out for subtrees of at least so many triangles
    SAP_MESH_STAGED = 24,    // most references of a subtree for each of its triangles
    SAP_MESH_CHOSEN = 6,     // bins that HIGH searches for the plane of a large node
    SAP_MESH_FRAME_ROWS = 7, // rows of a small node's frame: lower x y z, upper x y z, triangle
    SAP_MESH_FRAMES = SAP_MESH_FRAME_ROWS * (SAP_MESH_SMALL + 16) * 2 * (SAP_MESH_DEPTH_MAX + 2) // floats
};

typedef struct sap_mesh_box {
    float lower[3], upper[3];
} sap_mesh_box;

// The part of a triangle inside a cell (a clipped reference): its bounds, which may be too large but never too small.
typedef struct sap_mesh_part {
    float lower[3];
    int32_t triangle;
    float upper[3];
    int32_t unused; // zero
} sap_mesh_part;

typedef struct sap_mesh_split {
    float cost, plane;
    int32_t axis;        // -1: the node becomes a leaf
    bool planar_left;    // where triangles in the plane go
    int64_t left, right; // parts on each side before clipping, which may remove some
} sap_mesh_split;

// A node that is still to be divided or built.
typedef struct sap_mesh_job {
    sap_mesh_box cell, tight; // tight: the bounds of the parts
    int64_t first, count;     // parts
    int64_t most;             // most references that its subtree may have
    int32_t depth;
} sap_mesh_job;

// The parameters of a build.
typedef struct sap_mesh_rules {
    const float* corners;                               // [9 * triangles] in the mesh's order
    float traversal, intersection, empty_space, radius; // radius: below 0 for surfaces
    int32_t depth, small_node;
    // Capacity of a thread's staging memory, which suffices for any subtree of at most SAP_MESH_SUBTREE parts:
    // references (there may be twice as many nodes), and parts.
    int64_t staged, part_room;
    bool fast;
} sap_mesh_rules;

// The parameters for a mesh of so many triangles. The builder fills in corners, staged, part_room, and the radius if it
// is 0 (mesh/search_radius.h).
sap_mesh_rules sap_mesh_rules_of(const sap_mesh_tree_options* options, int64_t triangles);

// Totals of the leaves of a piece.
typedef struct sap_mesh_leaves {
    int64_t count, empty;
    int64_t listed; // references of leaves with two or more
    int64_t largest;
    int32_t depth; // of the deepest leaf
} sap_mesh_leaves;

static inline void sap_mesh_leaves_add(sap_mesh_leaves* leaves, int64_t triangles, int32_t depth) {
    SAP_ASSERT(triangles >= 0 && depth >= 0 && depth <= SAP_MESH_DEPTH_MAX);
    leaves->count++;
    leaves->empty += triangles == 0;
    leaves->listed += triangles > 1 ? triangles : 0;
    leaves->largest = triangles > leaves->largest ? triangles : leaves->largest;
    leaves->depth = depth > leaves->depth ? depth : leaves->depth;
}

// A thread's staging memory: the subtree that it builds, in preorder. Links and places count from the subtree's start;
// references are triangles of the mesh.
typedef struct sap_mesh_staging {
    sap_mesh_node* nodes; // [2 * rules.staged]
    int32_t* references;  // [rules.staged]
    sap_mesh_part* parts; // [rules.part_room]
    float* events;        // [SAP_MESH_EVENTS(SAP_MESH_SUBTREE)]
    float* frames;        // [SAP_MESH_FRAMES]
    int64_t node_count, reference_count;
    sap_mesh_leaves leaves;
    int64_t spare; // references that the current small node's subtree may add (mesh/planes.h)
} sap_mesh_staging;

// Floats of scratch memory that find() needs for a node with `count` parts.
#define SAP_MESH_EVENTS(count) (6 * (size_t)(count))

typedef struct sap_mesh_kernels {
    // Finds the plane that divides a node; axis -1 if the node should be a leaf.
    sap_mesh_split (*find)(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                           float* events);
    // Divides a node's parts by its plane and clips them. Fills in both sides except `first`.
    void (*divide)(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                   const sap_mesh_split* split, sap_mesh_part* left_parts, sap_mesh_part* right_parts,
                   sap_mesh_job* left, sap_mesh_job* right);
    // Builds a whole subtree of at most SAP_MESH_SUBTREE parts.
    void (*subtree)(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                    sap_mesh_staging* staging);
} sap_mesh_kernels;

// A finished piece of the tree (a leaf or a subtree), or an inner node above pieces.
typedef struct sap_mesh_record {
    float plane;
    int32_t axis;         // -1: a piece
    int64_t left, right;  // records
    sap_mesh_node* nodes; // of a piece
    int32_t* references;  // of a piece
    int64_t node_count, reference_count;
    sap_mesh_leaves leaves;        // of a piece
    int64_t node_at, reference_at; // where the piece goes in the tree
} sap_mesh_record;

// Joins the pieces into the tree's arrays. records[0] is the root; corners: as in the rules; room: memory that the join
// uses if it is large enough. On failure the tree is unchanged. Errors: SAP_ERROR_MEMORY, SAP_ERROR_RANGE.
sap_status sap_mesh_join(sap_mesh_tree* tree, sap_mesh_record* records, int64_t record_count, const float* corners,
                         int64_t triangles, const sap_mesh_box* bounds, const sap_scratch* room);

sap_status sap_mesh_build_cpu(sap_mesh_tree* tree, const sap_mesh* mesh);

#endif
