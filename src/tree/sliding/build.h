// The sliding-midpoint tree (Maneewongvatana and Mount 1999): its rule, and what the parts of its builder share.
//
// The rule, the same on every processor. The root's cell is the tight box of the points. A node of more than leaf_size
// points divides the longest side of its cell (the first of equals; or with SAP_AXIS_CYCLE the next one from
// depth % dims on) among the axes along which its points differ. The plane lies in the middle of the side,
// (lower + upper) / 2 in double precision, rounded to the tree's; the left side holds the coordinates < plane. If the
// left side would be empty, the plane moves to the next number above the smallest coordinate; if the right one, to the
// largest coordinate. Children's cells end at the plane. Points equal in every coordinate make a leaf, however many up
// to SAP_LEAF_MAX_EQUAL: a search reads no more of them than it returns. More are halved by id, with axis 0.
// From sap_halving_depth on, all nodes are halved at their median in the total order, as in a balanced tree.
#ifndef SAPWOOD_TREE_SLIDING_BUILD_H
#define SAPWOOD_TREE_SLIDING_BUILD_H

#include "tree/balanced/build.h"
#include "tree/explicit/write.h"
#include <math.h>

// The depth from which on nodes halve their points by rank, so that none gets too deep.
static inline int32_t sap_halving_depth(int64_t count) {
    return 32 + (count > 0 ? 63 - __builtin_clzll((unsigned long long)count) : 0);
}

// Rounded to a precision, minus zero made zero.
static inline double sap_sliding_rounded(int32_t real_bits, double x) {
    return (real_bits == 32 ? (double)(float)x : x) + 0;
}

// The axis to divide in a cell whose sides are zero where the points are equal; -1 if all are.
static inline int32_t sap_sliding_axis(const sap_tree_options* options, int32_t dims, int32_t real_bits, int32_t depth,
                                       const double* lower, const double* upper) {
    int32_t best = -1;
    double longest = 0;
    for (int32_t i = 0; i < dims; i++) {
        int32_t a = options->axis == SAP_AXIS_CYCLE ? (depth + i) % dims : i;
        double side = sap_sliding_rounded(real_bits, upper[a] - lower[a]);
        if (!(side > longest)) continue;
        if (options->axis == SAP_AXIS_CYCLE) return a;
        best = a;
        longest = side;
    }
    return best;
}

static inline double sap_sliding_middle(int32_t real_bits, double lower, double upper) {
    return sap_sliding_rounded(real_bits, (lower + upper) / 2);
}

// The plane at `middle`, slid so that coordinates from smallest to largest (which differ) lie on both sides of it.
static inline double sap_sliding_slid(int32_t real_bits, double middle, double smallest, double largest) {
    if (middle > largest) return largest;
    if (middle > smallest) return middle;
    double next =
        real_bits == 32 ? (double)nextafterf((float)smallest, INFINITY) : nextafter(smallest, (double)INFINITY);
    return sap_sliding_rounded(real_bits, next);
}

// A node: its points, and its cell.
typedef struct sap_sliding_cell {
    int64_t begin, end; // ranks of its points
    int32_t depth;
    int32_t buffer; // that holds the points
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} sap_sliding_cell;

// How a node divides its points.
typedef struct sap_sliding_plane {
    sap_pivot pivot; // smaller points go left; of equal points (components 0) the first left_count, which do not move
    double split;
    int64_t left_count;
    int32_t axis;
} sap_sliding_plane;

typedef struct sap_sliding {
    sap_explicit_parts parts; // what has been built
    sap_sliding_cell* cells;  // of the nodes parts.top
    sap_build build;
    const sap_build_kernels* kernels;
    int64_t count; // points
    int64_t done;  // points in finished subtrees
    int32_t leaf_size, halving_depth;
    sap_status status; // of the first failure
} sap_sliding;

// ---- tree/sliding/split_cpu.c. With `together`, all threads work on one node, otherwise the calling thread alone.
enum { SAP_CHUNK_POINTS = 32768, SAP_MOST_CHUNKS = 256 };
// The number of chunks into which the points of a node are divided for all threads together, and where one begins.
int sap_sliding_chunks(const sap_sliding* build, const sap_sliding_cell* at);
static inline int64_t sap_sliding_chunk(const sap_sliding_cell* at, int chunk, int chunks) {
    return at->begin + (at->end - at->begin) * chunk / chunks;
}
// The tight box of a node's points.
void sap_sliding_extent(const sap_sliding* build, const sap_sliding_cell* at, bool together, double* lower,
                        double* upper);
// Finds the plane of a node; moves nothing. Sides of its cell along which the points turn out to be equal shrink to
// zero. False if the node is to be a leaf, as all its points are equal.
bool sap_sliding_find_plane(const sap_sliding* build, sap_sliding_cell* at, bool together, sap_sliding_plane* plane);
// Moves a node's points to their sides of its plane and says where its children are.
void sap_sliding_divide(const sap_sliding* build, const sap_sliding_cell* at, const sap_sliding_plane* plane,
                        bool together, sap_sliding_cell* left, sap_sliding_cell* right);

#endif
