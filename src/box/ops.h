// What a processor does to find the points in boxes.
#ifndef SAPWOOD_BOX_OPS_H
#define SAPWOOD_BOX_OPS_H

#include "device/device.h"
#include "sapwood/points.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rows in the caller's memory.
typedef struct sap_box_rows {
    int64_t* offsets; // [lower.count + 1]
    int64_t capacity;
    int32_t* ids; // [capacity]
} sap_box_rows;

// What a box search is asked.
typedef struct sap_box_job {
    sap_rows lower, upper;    // as many rows each, of the tree's dims and precision
    int64_t* counts;          // count only: [lower.count], else NULL
    sap_neighbors** found;    // collect, else NULL
    const sap_box_rows* into; // collect into the caller's memory, else NULL
} sap_box_job;

typedef struct sap_box_ops {
    sap_status (*search)(const sap_tree* tree, const sap_box_job* job);
} sap_box_ops;

sap_status sap_box_cpu(const sap_tree* tree, const sap_box_job* job);
sap_status sap_box_cuda(const sap_tree* tree, const sap_box_job* job);

#ifdef __cplusplus
}
#endif
#endif
