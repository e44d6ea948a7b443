// A rank's part of a tree over all ranks.
#ifndef SAPWOOD_CLUSTER_CLUSTER_H
#define SAPWOOD_CLUSTER_CLUSTER_H

#include "cluster/comm.h"
#include "cluster/cut.h"

// A subtree of the one tree that this rank holds.
typedef struct sap_cluster_piece {
    sap_tree* tree;  // a slice; its leaves hold places: numbers of points in the order of global ids …
    bool by_id;      // … or global ids
    int32_t* places; // by_id: the places, [slots], in the memory of `ids`, once they were asked for; else NULL
    int64_t* ids;    // global ones, [count], ascending, if `first` is -1; on a device unknown until the
                     // host needs them
    int64_t* there;  // the same in the memory of the device, or NULL
    int64_t ids_room, there_room; // ids that there is memory for
    bool ids_known;
    int64_t first; // to be added to what leaves hold to get a global id; -1: that is looked up in `ids`
    int64_t count;
    int64_t index;   // of the root in the one tree, among the nodes of its depth
    int32_t subtree; // its number among those of all ranks
    int32_t depth;
} sap_cluster_piece;

// The global id of what a leaf holds.
static inline int64_t sap_cluster_name(const sap_cluster_piece* piece, int32_t held) {
    return piece->first < 0 ? piece->ids[held] : piece->first + held;
}
// The place of the point in slot i of a leaf, which holds `held`. Places were found.
static inline int32_t sap_cluster_place(const sap_cluster_piece* piece, int64_t leaf, int32_t i, int32_t held) {
    SAP_ASSERT(!piece->by_id || piece->places);
    return piece->places ? piece->places[leaf * piece->tree->shape.stride + i] : held;
}

// A node above subtrees: queries below the split go to child[0], others to child[1], which is a branch or ~subtree.
typedef struct sap_cluster_branch {
    double split;
    int32_t axis;
    int32_t child[2];
} sap_cluster_branch;

// Tight boxes of the subtrees of all ranks, from left to right, and a binary tree over them: node 1 is the root, node i
// has the children 2i and 2i + 1, the subtrees are the last nodes. Each box is real lower[dims], upper[dims] as doubles.
typedef struct sap_cluster_top {
    int32_t count;  // of subtrees
    int32_t leaves; // a power of two, no less
    int32_t dims, real_bits;
    double* boxes;                // [2 * leaves][2 * dims]; an empty one is infinite inside out
    int32_t* owners;              // [count] ascending
    sap_cluster_branch* branches; // [count - 1] the root is the first
    unsigned char* cells;         // real [count][2 * dims]: what the branches leave each subtree, infinite at the sides
    size_t boxes_bytes, owners_bytes, branches_bytes, cells_bytes;
} sap_cluster_top;

struct sap_cluster_tree {
    sap_comm* comm;
    sap_device* device;
    sap_tree_options options;
    int64_t count, source_count, not_finite;
    int64_t count_here;
    int64_t moved; // points that others gave and this rank holds
    int32_t dims, real_bits, depth;
    sap_cluster_piece* pieces;
    int32_t piece_count, most_pieces; // that there is room for
    sap_cut_plane* planes;            // [most_pieces] the nodes above all subtrees, level by level
    int32_t plane_count;
    sap_cluster_top top;
    struct sap_cluster_tree* spare; // whose memory the next rebuild takes, or NULL
};

// ---- cluster/build.c: memory of a tree that is there already is used if it suffices. What it held is lost.
bool sap_cluster_make_ids(const sap_device* device, sap_cluster_piece* piece, int64_t count);
bool sap_cluster_make_lists(sap_cluster_tree* tree, const sap_cut* cut);

// ---- cluster/move.c: sends each rank's points where they belong, and builds this rank's subtrees.
sap_status sap_cluster_move(sap_cluster_tree* tree, const sap_cut* cut);

// ---- cluster/order.c
typedef struct sap_listed {
    int64_t id;
    const void* at;
} sap_listed;
// Orders a list by its ids, of equal ones by what comes first: digit by digit, but those that all have. The result is in
// either array.
sap_listed* sap_cluster_sort(sap_listed* list, sap_listed* other, int64_t count);
// Finds the places of points whose ids the leaves hold, unless it was done before. Who only searches needs none.
sap_status sap_cluster_find_places(const sap_cluster_tree* tree);

// ---- cluster/move_share.c: the same for points on a device, once the ranks know how many there are to move.
typedef struct sap_moving_share {
    sap_cluster_tree* tree;
    const sap_cut* cut;
    int32_t pieces, first;           // of this rank; of them the first among all
    int64_t *send, *receive;         // [ranks] points, this rank's own among them
    int64_t *bytes_out, *bytes_in;   // [ranks] room
    const int64_t *counts, *leaving; // [ranks][pieces] that come; [all pieces] that go
} sap_moving_share;
sap_status sap_cluster_move_share(const sap_moving_share* moving);
extern int64_t sap_share_part_least; // points both ways that are worth a part (cluster/ops.h). Tests lower it.

// ---- cluster/there.c: what the host has to know of subtrees on a device.
// Fetches the ids of all points, unless it was done before.
sap_status sap_cluster_fetch_ids(const sap_cluster_tree* tree);
// sap_cluster_nearest and, with queries NULL, sap_cluster_nearest_self, of trees on devices.
sap_status sap_cluster_nearest_there(const sap_cluster_tree* tree, const sap_rows* queries, int32_t real_bits,
                                     const sap_search* search, int64_t* ids, void* distance2);

// ---- cluster/held.c: the points held, subtree by subtree, in the order of ids within each. Either array may be NULL. Places
// were found.
void sap_cluster_list(const sap_cluster_tree* tree, int64_t* ids, unsigned char* coords);

// ---- cluster/top.c
sap_status sap_cluster_top_open(sap_cluster_tree* tree, const sap_cut* cut);
void sap_cluster_top_close(const sap_device* device, sap_cluster_top* top);
// The subtree in whose cell each query lies. Lists those that lie in none of rank `owner`, ascending; how many. There is room
// for all queries.
int64_t sap_cluster_top_find(const sap_cluster_top* top, const sap_rows* queries, int32_t owner, int32_t* subtrees,
                             int32_t* away);
// The squared distance to a subtree's box, which is no more than that of any of its points; NaN if the query's is.
double sap_cluster_top_distance2(const sap_cluster_top* top, int32_t subtree, const void* query);
// The ranks but `without` that hold a subtree whose distance2 is at most `most`: ascending, into ranks[]; how many.
int32_t sap_cluster_top_within(const sap_cluster_top* top, const void* query, double most, int32_t without,
                               int32_t* ranks);

// The ranks that hold a subtree whose box meets the box from `lower` to `upper`: ascending, into ranks[]; how many.
int32_t sap_cluster_top_meeting(const sap_cluster_top* top, const void* lower, const void* upper, int32_t* ranks);

#endif
