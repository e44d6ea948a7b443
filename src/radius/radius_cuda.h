// The radius search on CUDA devices: what its files share.
#ifndef SAPWOOD_RADIUS_RADIUS_CUDA_H
#define SAPWOOD_RADIUS_RADIUS_CUDA_H

#include "device/cuda.h"
#include "radius/neighbors.h"
#include "radius/ops.h"

// One pass over the queries, which counts or collects. All arrays lie on the GPU.
typedef struct sap_radius_pass {
    const void* boxes;   // see tree/tree_cuda.h
    const int64_t* bad;  // the same
    const void* queries; // real[][stride], see sap_cuda_queries
    const int32_t* rows; // the answer's row of each, -1: it is not answered; NULL: its own number
    int64_t count, stride;
    double limit2;
    int32_t share;          // queries a warp, 1 … 32
    int32_t merged;         // lowest levels of a balanced tree whose leaves are scanned as one
    bool by_row;            // see sap_cuda_queries
    bool self;              // only ids above the query's row count
    int64_t* counts;        // to write: how many there are, by row
    const int64_t* offsets; // [all_rows + 1]: where each row begins
    int64_t all_rows, room;
    bool cut;        // hits without room are left out; else, if there are any, nothing is written
    int32_t* ids;    // [room]
    void* distance2; // real[room], or NULL
} sap_radius_pass;

// ---- radius/neighbors_cuda.cu: sap_neighbors_sort for rows that lie on the GPU.
sap_status sap_neighbors_sort_cuda(sap_device* device, const sap_neighbors* rows);
// ---- radius/shorten_cuda.cu: leaves the first `most` places of each row, which are sorted.
sap_status sap_neighbors_shorten_cuda(sap_device* device, const sap_neighbors* neighbors, int32_t most);

#endif
