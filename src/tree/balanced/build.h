// What the balanced builder's kernels work on; they exist once per instruction set and precision.
//
// Points lie in two scratch buffers as a structure of arrays; a node of even depth lies in buffer 0, of odd depth in
// buffer 1, and its split moves its points across, stably: so ids ascend within every node.
#ifndef SAPWOOD_TREE_BALANCED_BUILD_H
#define SAPWOOD_TREE_BALANCED_BUILD_H

#include "tree/layout.h"

typedef struct sap_build {
    const sap_tree* tree;
    const sap_rows* rows;
    const int32_t* keep; // rows to build over, ascending; NULL: all
    void* coords[2];     // per buffer: axis a begins at element a*pitch
    int32_t* ids[2];
    int64_t pitch; // elements
} sap_build;

// The first `components` keys of a node's median in the total order of its axis: enough to tell the halves apart.
typedef struct sap_pivot {
    double value[SAP_MAX_DIMS]; // coordinate axis, axis+1, … (cyclically); value[0] is the node's split in any case
    int32_t id;
    // dims + 1: the id counts too; 0: the node's points are all equal, and the smaller half are those of lower rank
    int32_t components;
} sap_pivot;

// A node being split.
typedef struct sap_build_node {
    int64_t index;             // among the nodes of its depth, from the left
    int64_t low, middle, high; // ranks
    int32_t depth;
    int32_t axis;
    int32_t buffer; // that holds its points
    bool equal;     // all its points, which then lie in the order of their ids
} sap_build_node;

typedef struct sap_build_kernels {
    // Copies rows [from, to) into buffer 0; the row number of the first bad point, or -1.
    int64_t (*load)(const sap_build* build, int64_t from, int64_t to);
    // Tight box of ranks [from, to) of a buffer into lower[dims], upper[dims] (reals).
    void (*extent)(const sap_build* build, int buffer, int64_t from, int64_t to, void* lower, void* upper);
    // Writes the node's box and smallest id where the tree keeps them; chooses and writes its axis, and sets `equal`.
    void (*begin_node)(const sap_build* build, sap_build_node* node, const void* lower, const void* upper);
    // Finds the point of rank `middle` among ranks [low, high).
    sap_pivot (*find_pivot)(const sap_build* build, const sap_build_node* node);
    // Writes the pivot's split value where the tree keeps it.
    void (*write_split)(const sap_build* build, const sap_build_node* node, const sap_pivot* pivot);
    // How many of ranks [from, to) are smaller than the pivot.
    int64_t (*count_smaller)(const sap_build* build, const sap_build_node* node, const sap_pivot* pivot, int64_t from,
                             int64_t to);
    // Moves ranks [from, to) to the other buffer: the smaller from rank `less` on, the others from `greater` on. Room
    // up to less_end and greater_end belongs to the caller.
    void (*partition)(const sap_build* build, const sap_build_node* node, const sap_pivot* pivot, int64_t from,
                      int64_t to, int64_t less, int64_t less_end, int64_t greater, int64_t greater_end);
    // Builds everything from this node down.
    void (*subtree)(const sap_build* build, int32_t depth, int64_t index);
} sap_build_kernels;

// Elements between columns of coordinates: neighbours begin at different offsets within a page, so that the streams of
// a partition do not share cache sets.
static inline int64_t sap_column_pitch(int64_t count, int32_t real_bits) {
    int64_t pitch = (count + 15) / 16 * 16, within_page = pitch * (real_bits / 8) % 4096;
    return within_page < 256 || within_page > 4096 - 256 ? pitch + 80 : pitch;
}

// Fails a build over a bad row (its number among all rows), naming the axis and what is wrong.
sap_status sap_build_refuse(const sap_build* build, int64_t row);

// Ranks of node `index` of `depth` and of its halves.
static inline sap_build_node sap_build_node_at(const sap_tree_shape* s, int32_t depth, int64_t index) {
    int32_t below = s->depth - depth;
    return (sap_build_node){.index = index,
                            .depth = depth,
                            .buffer = depth & 1,
                            .low = sap_leaf_rank(s, index << below),
                            .middle = below ? sap_leaf_rank(s, ((2 * index + 1) << (below - 1))) : 0,
                            .high = sap_leaf_rank(s, (index + 1) << below)};
}

#endif
