// The builder of explicit trees on the CPU: what its parts share. What plane divides a node is the split rule's matter
// (tree/explicit/sliding_rule.h, tree/explicit/vvh_rule.h); all of them have in common:
//
// Points equal in every coordinate make a leaf, however many up to SAP_LEAF_MAX_EQUAL: a search reads no more of them
// than it returns. More are halved by id, with axis 0. From sap_halving_depth on, all nodes are halved at their median in
// the total order, as in a balanced tree.
#ifndef SAPWOOD_TREE_EXPLICIT_BUILD_H
#define SAPWOOD_TREE_EXPLICIT_BUILD_H

#include "tree/balanced/build.h"
#include "tree/explicit/sliding_rule.h"
#include "tree/explicit/vvh_rule.h"
#include "tree/explicit/write.h"

// The depth from which on nodes halve their points by rank, so that none gets too deep.
static inline int32_t sap_halving_depth(int64_t count) {
    return 32 + (count > 0 ? 63 - __builtin_clzll((unsigned long long)count) : 0);
}

// A node: its points, and its cell.
typedef struct sap_explicit_cell {
    int64_t begin, end; // ranks of its points
    int32_t depth;
    int32_t buffer; // that holds the points
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} sap_explicit_cell;

// How a node divides its points.
typedef struct sap_explicit_plane {
    sap_pivot pivot; // smaller points go left; of equal points (components 0) the first left_count, which do not move
    double split;
    int64_t left_count;
    int32_t axis;
} sap_explicit_plane;

typedef struct sap_explicit_build {
    sap_explicit_parts parts; // what has been built
    sap_explicit_cell* cells; // of the nodes parts.top
    sap_build build;
    const sap_build_kernels* kernels;
    int64_t count; // points
    int64_t done;  // points in finished subtrees
    int32_t leaf_size, halving_depth;
    sap_status status; // of the first failure
} sap_explicit_build;

// ---- tree/explicit/split_cpu.c. With `together`, all threads work on one node, otherwise the calling thread alone.
enum { SAP_CHUNK_POINTS = 32768, SAP_MOST_CHUNKS = 256 };
// The number of chunks into which the points of a node are divided for all threads together, and where one begins.
int sap_explicit_chunks(const sap_explicit_build* build, const sap_explicit_cell* at);
static inline int64_t sap_explicit_chunk(const sap_explicit_cell* at, int chunk, int chunks) {
    return at->begin + (at->end - at->begin) * chunk / chunks;
}
// The tight box of a node's points.
void sap_explicit_extent(const sap_explicit_build* build, const sap_explicit_cell* at, bool together, double* lower,
                         double* upper);
// Finds the plane of a node; moves nothing. Sides of its cell along which the points turn out to be equal shrink to
// zero. False if the node is to be a leaf, as all its points are equal.
bool sap_explicit_find_plane(const sap_explicit_build* build, sap_explicit_cell* at, bool together,
                             sap_explicit_plane* plane);
// Moves a node's points to their sides of its plane and says where its children are.
void sap_explicit_divide(const sap_explicit_build* build, const sap_explicit_cell* at, const sap_explicit_plane* plane,
                         bool together, sap_explicit_cell* left, sap_explicit_cell* right);

#endif
