// Rows of neighbours, for the room's own calls.
#ifndef SAPWOOD_CLUSTER_ROWS_H
#define SAPWOOD_CLUSTER_ROWS_H

#include "cluster/cluster.h"

// sap_cluster_radius for queries of the tree's precision; `status` is how this rank has fared since the ranks last agreed.
sap_status sap_cluster_rows_within(const sap_cluster_tree* tree, sap_status status, const sap_rows* queries,
                                   double radius, sap_cluster_neighbors** found);
// Keeps only neighbours whose ids are greater than those of their rows.
void sap_cluster_rows_keep_greater(sap_cluster_neighbors* found, const int64_t* ids);

#endif
