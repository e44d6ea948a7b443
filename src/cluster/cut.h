// The top of the one tree: which subtrees the ranks hold, found by all ranks together.
//
// Nodes of one level are split together. A node's median is found by counting: the keys of a point - its coordinates from
// the node's axis on, cyclically, then its id - are numbers of 32 or 64 bits, of which a few at a time are counted over
// all ranks; points that share the median's bits so far stay in question. Points that are equal in all keys go left in the
// order of ranks and rows, as many as there is room for. So the cut is exact for any points.
#ifndef SAPWOOD_CLUSTER_CUT_H
#define SAPWOOD_CLUSTER_CUT_H

#include "cluster/comm.h"
#include "tree/layout.h"

enum {
    SAP_CUT_STRETCH = 1 << 14,  // rows that are worth a thread
    SAP_CUT_MOST_STRETCHES = 64 // of rows that are looked at together
};

// A node of the one tree, and which of this rank's points are below it.
typedef struct sap_cut_node {
    int64_t index;      // among the nodes of its depth, from the left
    int64_t low, high;  // ranks, in the sense of orders, of its points
    int64_t begin, end; // this rank's: order[begin … end - 1]
    int32_t depth;
    int32_t owner; // the rank that will hold it all
    int32_t name;  // what points on a device are labelled with (cluster/ops.h)
} sap_cut_node;

// A node that was split.
typedef struct sap_cut_plane {
    int64_t index;
    int32_t depth, axis;
    double split;
} sap_cut_plane;

typedef struct sap_cut {
    bool on_device;           // points lie in the memory of the device: …
    struct sap_share* share;  // … these
    const int64_t* first_ids; // [ranks + 1] of each rank's rows, if no ids were given
    const sap_rows* rows;     // that this rank gives
    const int64_t* ids;       // of the rows; NULL: they ascend with ranks and rows
    const sap_tree_options* options;
    const sap_cut_plane* last; // planes of an earlier cut, level by level, near which medians are looked for first
    int32_t last_count;
    int64_t given;                  // rows of order
    int64_t count;                  // points of all ranks
    uint64_t largest_id;            // of them, if ids are given
    int32_t depth;                  // of the one tree's leaves
    int32_t deepest;                // node that may be cut off
    int32_t* order;                 // [given] rows, in the order of the subtrees; NULL on a device
    bool is_whole;                  // all rows are given, and order is not written yet
    uint64_t box[2 * SAP_MAX_DIMS]; // of all rows, if it is: smallest keys, and the largest inverted
    sap_cut_node* pieces;           // subtrees, from left to right
    sap_cut_plane* planes;          // nodes above them
    int32_t piece_count, plane_count;
    int32_t most_pieces;
    sap_scratch points, nodes; // hold the arrays
    sap_scratch levels;        // what a level takes: the device may still read it after the cut
} sap_cut;

// Finds the cut. order[given] holds the rows to be divided, ascending, unless these are all of them; count is known.
// Collective; hand the cut back in any case. One rank whose points have no ids is left without order.
sap_status sap_cut_find(sap_comm* comm, sap_device* device, sap_cut* cut);
// Makes room for order[rows->count].
sap_status sap_cut_open(sap_device* device, const sap_comm* comm, sap_cut* cut);
void sap_cut_close(sap_device* device, sap_cut* cut);

// ---- cluster/look.c
// Whether all rows, of which there are some, have coordinates of magnitudes up to `most`. Their box, as keys.
bool sap_cut_look(int32_t threads, const sap_rows* rows, double most, uint64_t* box);

// Where the points of node `index` of a depth begin, in the sense of orders: that of its first leaf (sap_leaf_rank), but the
// number of all leaves, times that of all points, may be more than fits into 64 bits.
int64_t sap_cut_rank(const sap_cut* cut, int32_t depth, int64_t index);

// Coordinates in their order as unsigned numbers, and back; minus zero is zero.
uint64_t sap_cut_key(const sap_rows* rows, int64_t row, int32_t axis);
uint64_t sap_cut_key_of(double value, int32_t real_bits);
double sap_cut_value(uint64_t key, int32_t real_bits);

#endif
