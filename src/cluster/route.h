// Queries on their way to the ranks that may know something, and answers on their way back.
//
// A route is a list of pairs of a query of this rank and a rank that it goes to, rank by rank. All functions but those that
// list pairs are collective. If no rank asks another one, nothing is sent.
#ifndef SAPWOOD_CLUSTER_ROUTE_H
#define SAPWOOD_CLUSTER_ROUTE_H

#include "cluster/cluster.h"

typedef struct sap_route {
    const sap_cluster_tree* tree;
    const sap_rows* queries;
    bool any;               // some rank asks another one
    int64_t sent, received; // pairs, and queries of all ranks that came
    int32_t* query;         // [sent] this rank's query of each pair
    int64_t *to, *from;     // [ranks] how many
    int64_t *out, *in;      // [ranks] bytes
    sap_rows came;          // [received] the queries that came …
    sap_rows beside;        // … and what came with each; count 0 if nothing did
    sap_scratch pairs, arrived;
} sap_route;

// Which ranks a query goes to: into ranks[], ascending; how many.
typedef int32_t sap_route_choice(const void* context, const sap_cluster_tree* tree, int64_t query, const void* coords,
                                 int32_t* ranks);

// Lists the pairs: of queries and the ranks that are chosen for them; or of each query away[0 … count - 1] and the rank that
// holds subtree home[query]. Hand the route back in any case.
sap_status sap_route_choose(const sap_cluster_tree* tree, const sap_rows* queries, sap_route_choice* choose,
                            const void* context, sap_route* route);
sap_status sap_route_open(const sap_cluster_tree* tree, const sap_rows* queries, const int32_t* home,
                          const int32_t* away, int64_t count, sap_route* route);
void sap_route_close(sap_route* route);
// Sends the queries, and with each its row of `beside` unless that is NULL on all ranks. `status` is how this rank has fared
// since the ranks last agreed; `same` are values that all ranks must have.
sap_status sap_route_send(sap_route* route, sap_status status, const sap_rows* beside, const uint64_t* same,
                          int32_t same_count);
// Sends what was found for the queries that came back to where they came from: `width` bytes each, in pair order there.
sap_status sap_route_return(sap_route* route, int64_t width, const void* found, void* answers);
// The same for answers of different lengths, lengths[query] * width bytes each, but for those to this rank's own queries:
// they are here already.
sap_status sap_route_return_rows(sap_route* route, int64_t width, const int32_t* found_lengths, const void* found,
                                 const int32_t* answer_lengths, void* answers);

static inline const void* sap_route_coords(const sap_rows* rows, int64_t row) {
    return (const unsigned char*)rows->coords + (size_t)(row * rows->stride) * (size_t)rows->real_bits / 8;
}

#endif
