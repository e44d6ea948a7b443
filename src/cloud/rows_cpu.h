// Neighbours of all points of a tree, or of queries, shown to a consumer a batch of points at a time and never kept. For the
// tree's own points that is one pass over the leaves, whose points lie beside one another and so need no ordering.
#ifndef SAPWOOD_CLOUD_ROWS_CPU_H
#define SAPWOOD_CLOUD_ROWS_CPU_H

#include "device/progress.h"
#include "tree/layout.h"

enum { SAP_CLOUD_BATCH = 256 }; // points that are shown together, at most

// The neighbours of `count` points. Those of point i are neighbors[starts[i]] … neighbors[starts[i] + found[i] - 1].
typedef struct sap_cloud_rows {
    int64_t count;
    const int32_t* ids; // of the points, or the rows of the queries
    const void* coords; // real[count][dims], with room for a register more
    const int64_t *starts, *found;
    const int32_t* neighbors; // NULL: only counted
    const void* distance2;    // real, beside neighbors
} sap_cloud_rows;

// What is looked for. With k above 0 rows hold the k nearest points within the limit, the point itself among them if
// `with_self`, ascending by (distance2, id); else all points within the limit, the point itself among them, in the
// tree's own order.
typedef struct sap_cloud_search {
    const sap_tree* tree;
    const sap_rows* queries; // NULL: the tree's own points, which are shown with their ids; else with their rows
    int32_t k;
    bool with_self;  // k above 0 and the tree's own points only
    bool count_only; // k 0 only
    double limit2;
    // Called by several threads at once, `worker` being nobody else's at that time.
    void (*consume)(void* context, const sap_cloud_rows* rows, int32_t worker);
    void* context;
    sap_progress_state* progress; // of the call: each point is added once
} sap_cloud_search;

// SAP_OK, SAP_ERROR_MEMORY or SAP_ERROR_CANCELLED. What is shown does not depend on the threads.
sap_status sap_cloud_search_cpu(const sap_cloud_search* search);

#endif
