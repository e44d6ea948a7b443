// The k nearest points, for the room's own calls.
#ifndef SAPWOOD_CLUSTER_NEAREST_H
#define SAPWOOD_CLUSTER_NEAREST_H

#include "cluster/cluster.h"

// sap_cluster_nearest; `status` is how this rank has fared since the ranks last agreed.
sap_status sap_cluster_nearest_rows(const sap_cluster_tree* tree, sap_status status, const sap_rows* queries,
                                    const sap_search* search, int64_t* ids, void* distance2);

#endif
