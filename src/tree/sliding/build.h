// The sliding-midpoint tree (Maneewongvatana and Mount 1999): its rule, and what the parts of its builder share.
//
// The rule, the same on every processor. The root's cell is the tight box of the points. A node of more than leaf_size
// points divides the longest side of its cell (the first of equals; or with SAP_AXIS_CYCLE the next one from
// depth % dims on) among the axes along which its points differ. The plane lies in the middle of the side,
// (lower + upper) / 2 in double precision, rounded to the tree's; the left side holds the coordinates < plane. If the
// left side would be empty, the plane moves to the next number above the smallest coordinate; if the right one, to the
// largest coordinate. Children's cells end at the plane. Points equal in every coordinate make a leaf, however many up
// to SAP_LEAF_MAX_EQUAL: a search need not look at more of them than it returns. More are halved by id, with axis 0.
// From sap_halving_depth on, all nodes are halved at their median in the total order, as in a balanced tree.
#ifndef SAPWOOD_TREE_SLIDING_BUILD_H
#define SAPWOOD_TREE_SLIDING_BUILD_H

#include "tree/balanced/build.h"
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

// Where a node is: its points, its cell, the buffer that holds the points.
typedef struct sap_sliding_cell {
    int64_t begin, end;
    int32_t depth, buffer;
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} sap_sliding_cell;

// How a node is divided. pivot.components 0: the points stay where they are.
typedef struct sap_sliding_plane {
    sap_pivot pivot;
    double split;
    int64_t left_count;
    int32_t axis;
} sap_sliding_plane;

// A node before its place in the tree is known.
typedef struct sap_draft_node {
    double split;
    uint32_t link; // as in the tree
} sap_draft_node;

// Nodes that one thread has laid out; several subtrees one after another.
typedef struct sap_draft {
    sap_scratch memory;
    int64_t count, capacity;
} sap_draft;

// A node above the subtrees, or the root of one.
typedef struct sap_top_node {
    sap_sliding_cell at;
    sap_sliding_plane cut;
    int64_t left, right;      // indices of the children; -1: the root of a subtree
    int64_t nodes, slots;     // in all that is below, itself included
    int64_t node_at, slot_at; // its place in the tree
    int64_t draft_at;         // subtree: its first node in its draft
    int64_t leaves;
    int32_t draft, deepest, fullest;
} sap_top_node;

typedef struct sap_sliding {
    sap_tree* tree;
    sap_build build;
    const sap_build_kernels* kernels;
    sap_draft* drafts; // one a thread
    sap_top_node* top;
    int64_t top_count, top_capacity;
    int64_t count; // points
    int64_t done;  // points in finished subtrees
    int32_t dims, real_bits, leaf_size, halving_depth, threads;
    sap_status status; // of the first failure
} sap_sliding;

// ---- tree/sliding/split_cpu.c
enum { SAP_CHUNK_POINTS = 32768, SAP_MOST_CHUNKS = 256 };
// How many parts the points of a cell are divided into for all threads together, and where part i begins.
int sap_sliding_chunks(const sap_sliding* build, const sap_sliding_cell* at);
static inline int64_t sap_sliding_chunk(const sap_sliding_cell* at, int chunk, int chunks) {
    return at->begin + (at->end - at->begin) * chunk / chunks;
}
// Tight box of the points; with `together`, here and below, by all threads.
void sap_sliding_extent(const sap_sliding* build, const sap_sliding_cell* at, bool together, double* lower,
                        double* upper);
// Chooses the plane of a node and moves the points to their sides. False if the node is to be a leaf, as all its points
// are equal.
bool sap_sliding_split(const sap_sliding* build, sap_sliding_cell* at, bool together, sap_sliding_plane* cut,
                       sap_sliding_cell* left, sap_sliding_cell* right);

// ---- tree/explicit/write_cpu.c
// Gives every top node its place in the tree and fills in the counts of the shape. False if offsets do not reach.
bool sap_sliding_place(sap_sliding* build, sap_tree_shape* shape);
// Writes the tree's arrays.
void sap_sliding_write(const sap_sliding* build);

#endif
