// Answers of a rank's own subtrees, written as they are found: a run of queries at a time is searched into memory that stays
// in the cache, gets its global ids, and goes to the rows where it is wanted.
#ifndef SAPWOOD_CLUSTER_ANSWER_H
#define SAPWOOD_CLUSTER_ANSWER_H

#include "cluster/cluster.h"

// Rows of k neighbours, wherever they lie: ids, and distances of the tree's precision.
typedef struct sap_cluster_rows {
    unsigned char *ids, *distance2;   // of row 0; NULL: not wanted
    size_t ids_pitch, distance_pitch; // bytes from one row to the next
} sap_cluster_rows;

static inline int64_t* sap_cluster_ids(const sap_cluster_rows* r, int64_t row) {
    return (int64_t*)(void*)(r->ids + (size_t)row * r->ids_pitch);
}
static inline void* sap_cluster_distances(const sap_cluster_rows* r, int64_t row) {
    return r->distance2 + (size_t)row * r->distance_pitch;
}

// What is looked for.
typedef struct sap_cluster_asking {
    const sap_cluster_tree* tree;
    int32_t k;
    double limit2;         // largest squared distance that counts, a value of the tree's precision
    const double* limits2; // [queries] the same for each; NULL: limit2
    bool ordered;          // consecutive queries lie close to one another
    bool merge;            // rows hold neighbours already, and distances are wanted
    bool with_self;        // a point may be its own neighbour
    sap_cluster_rows into;
    uint8_t* crosses; // [rows] set to 1 where another subtree may hold what belongs to the row; NULL: nobody asks
} sap_cluster_asking;

// Answers queries on subtree number `piece` of this rank. rows[queries->count]: where each answer goes; NULL: to row 0, 1, …
sap_status sap_cluster_answer(const sap_cluster_asking* asking, int32_t piece, const sap_rows* queries,
                              const int32_t* rows);
// The same for the subtree's own points, whose rows begin at first_row, in the order of their ids.
sap_status sap_cluster_answer_self(const sap_cluster_asking* asking, int32_t piece, int64_t first_row);
// Says "no neighbour" in a row.
void sap_cluster_clear(const sap_cluster_asking* asking, int64_t row);
// The distance2 within which a row may still get neighbours; it holds distances.
double sap_cluster_bound(const sap_cluster_asking* asking, int64_t row);
// Puts neighbours, ascending, into a row that holds distances, where they belong.
void sap_cluster_merge(const sap_cluster_asking* asking, int64_t row, const int64_t* ids, const void* distance2,
                       int32_t count);

#endif
