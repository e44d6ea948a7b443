// What a processor does with points that come and go.
#ifndef SAPWOOD_SET_OPS_H
#define SAPWOOD_SET_OPS_H

#include "nearest/ops.h"
#include "radius/ops.h"
#include "sapwood/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

// A closed box of doubles, and on which side of it points go.
typedef struct sap_set_box {
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    bool cuts; // the points inside go; else those outside
} sap_set_box;

typedef struct sap_set_ops {
    // Fills in what the processor keeps of a set that has device, dims, real_bits and in_background; close frees that.
    sap_status (*open)(sap_set* set);
    void (*close)(sap_set* set);
    // Tells of trees, memory and removed points.
    void (*describe)(const sap_set* set, sap_set_info* info);
    // The next three leave the set as it was if they fail. ids NULL: counted up from the set's next id.
    sap_status (*insert)(sap_set* set, const sap_rows* points, const int32_t* ids, int32_t* given);
    // *removed: how many of the ids were in the set, or how many points the box took away.
    sap_status (*remove)(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed);
    sap_status (*trim)(sap_set* set, const sap_set_box* box, int64_t* removed);
    sap_status (*nearest)(const sap_set* set, const sap_nearest_job* job);
    sap_status (*radius)(const sap_set* set, const sap_radius_job* job); // counts, or found with sorted rows
} sap_set_ops;

sap_status sap_set_open_cpu(sap_set* set);
void sap_set_close_cpu(sap_set* set);
void sap_set_describe_cpu(const sap_set* set, sap_set_info* info);
sap_status sap_set_insert_cpu(sap_set* set, const sap_rows* points, const int32_t* ids, int32_t* given);
sap_status sap_set_remove_cpu(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed);
sap_status sap_set_trim_cpu(sap_set* set, const sap_set_box* box, int64_t* removed);
sap_status sap_set_nearest_cpu(const sap_set* set, const sap_nearest_job* job);
sap_status sap_set_radius_cpu(const sap_set* set, const sap_radius_job* job);

sap_status sap_set_open_cuda(sap_set* set);
void sap_set_close_cuda(sap_set* set);
void sap_set_describe_cuda(const sap_set* set, sap_set_info* info);
sap_status sap_set_insert_cuda(sap_set* set, const sap_rows* points, const int32_t* ids, int32_t* given);
sap_status sap_set_remove_cuda(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed);
sap_status sap_set_trim_cuda(sap_set* set, const sap_set_box* box, int64_t* removed);
sap_status sap_set_nearest_cuda(const sap_set* set, const sap_nearest_job* job);
sap_status sap_set_radius_cuda(const sap_set* set, const sap_radius_job* job);

#ifdef __cplusplus
}
#endif
#endif
