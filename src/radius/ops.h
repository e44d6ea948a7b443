// What a processor does to find the points within a radius.
#ifndef SAPWOOD_RADIUS_OPS_H
#define SAPWOOD_RADIUS_OPS_H

#include "device/device.h"
#include "sapwood/points.h"
#include "tree/told.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rows in the caller's memory.
typedef struct sap_radius_rows {
    int64_t* offsets; // [queries.count + 1]
    int64_t capacity;
    int32_t* ids;    // [capacity]
    void* distance2; // real[capacity] or NULL
} sap_radius_rows;

// What a radius search is asked.
typedef struct sap_radius_job {
    sap_rows queries;            // self and from: coords NULL, count = that tree's source_count
    const sap_tree* from;        // the queries are this tree's points, or NULL. CUDA only
    double limit2;               // largest squared distance that counts
    const sap_told* told;        // more than that, or NULL
    bool self;                   // pairs: queries are the tree's own points; only greater ids are found
    int64_t* counts;             // count only: [queries.count], else NULL
    sap_neighbors** found;       // collect, else NULL
    const sap_radius_rows* into; // collect into the caller's memory, else NULL
} sap_radius_job;

typedef struct sap_radius_ops {
    sap_status (*search)(const sap_tree* tree, const sap_radius_job* job);
    bool is_told; // search looks at job->told
    // (optional) No count is more than `most` any more. NULL: counts lie in host memory.
    sap_status (*cut_counts)(sap_device* device, int64_t* counts, int64_t rows, int64_t most);
} sap_radius_ops;

sap_status sap_radius_cpu(const sap_tree* tree, const sap_radius_job* job);
sap_status sap_radius_cuda(const sap_tree* tree, const sap_radius_job* job);
sap_status sap_radius_cut_counts_cuda(sap_device* device, int64_t* counts, int64_t rows, int64_t most);
sap_status sap_radius_gl(const sap_tree* tree, const sap_radius_job* job);
// The part of it that lists points.
sap_status sap_radius_rows_gl(const sap_tree* tree, const sap_radius_job* job);

#ifdef __cplusplus
}
#endif
#endif
