// What the worker's parts of the scene Cloud share: scans are made or read (cloud_scan.c), steps are made (cloud_steps.c),
// and all of it is compared with brute force (cloud_check.c).
#ifndef SAPWOOD_PAGE_CLOUD_H
#define SAPWOOD_PAGE_CLOUD_H

#include "../page.h"
#include "cloud_fields.h"

enum {
    CLOUD_MOST = 8000000, // points of a file that the page takes
    CLOUD_NORMAL_K = 16   // neighbours that normals are made of
};
static const double cloud_density_range = 3; // spacings

// Points in the page's lengths: the box of all scans has its middle at 0 and a diagonal of 2.
typedef struct cloud_scan {
    float* points; // malloc's
    float* axes;   // the same: which way its normals point; or NULL
    int64_t count;
} cloud_scan;

// What is at work.
typedef struct cloud_work {
    bool aligns;
    cloud_scan still;  // aligning: stands still
    cloud_scan given;  // what moves, as it was at first
    float* now;        // [3*given.count] where it is
    sap_tree* tree;    // of `still`, or, relaxing, of `given`
    sap_tree* around;  // relaxing: of `now`
    float* still_axes; // [3*still.count] normals
    float* given_axes; // [3*given.count]
    float* axes;       // [3*given.count] of `now`
    double* densities; // [given.count] relaxing
    int32_t* ids;      // [given.count] nearest points of the tree
    float* distance2;  // [given.count]
    double pose[16];   // takes `given` to `now`
    double out[9];     // rows of the turn that took `given` out of its place
    bool knows_place;
    double spacing, mean_density, error, overlap;
    double lower[3], upper[3];
    int32_t steps;
    enum cloud_end end;
} cloud_work;

extern cloud_work cloud_here;

sap_status cloud_no_memory(void);
void cloud_scan_free(cloud_scan* scan);
// The numbers beside the steps: of the file.
typedef struct cloud_source {
    double unit;
    double given, not_finite;
} cloud_source;
extern cloud_source cloud_from;

// Begins with scans that it takes over, `still` being empty for a scan that relaxes.
sap_status cloud_begin_work(cloud_scan still, cloud_scan moves);
// The answer of a job: cloud_state, cloud_buffer.
sap_status cloud_answer(page_job* job);

#endif
