// A start for an alignment where none is known: clouds are thinned, their points described by features, and the largest
// set of matches that agree with one another says how one lies on the other.
#ifndef SAPWOOD_CLOUD_GLOBAL_GLOBAL_H
#define SAPWOOD_CLOUD_GLOBAL_GLOBAL_H

#include "cloud/ops.h"
#include "cloud/rigid.h"

// Takes p to turn * p + shift.
typedef struct sap_motion {
    double turn[9], shift[3];
    int64_t agreeing; // matches that it takes onto each other
} sap_motion;

static inline void sap_motion_point(const sap_motion* m, const float p[3], double to[3]) {
    const double from[3] = {(double)p[0], (double)p[1], (double)p[2]};
    sap_turn_vector(m->turn, from, to);
    for (int c = 0; c < 3; c++) to[c] += m->shift[c];
}

// One of the two clouds: first all its points, then those that are left of them in units of the spacing. On the host but for
// the first.
typedef struct sap_global_cloud {
    int64_t all_count;
    float* all; // [3*all_count] from `middle`, times `scale`; where the device works
    double middle[3];
    int64_t count;   // that are left
    sap_tree* tree;  // of them
    float* points;   // [3*count]
    float* normals;  // [3*count]
    float* spreads;  // [3*count] eigenvalues of the neighbours of each: the first is the square of the noise there
    float* features; // [SAP_FEATURE_NUMBERS*count]
    float* weights;  // [count] how much each feature differs from what most look like, squared
    sap_scratch memory;
    sap_scratch all_here,
        all_there; // the memory of `all`: on the host, and where the device works if that is elsewhere
} sap_global_cloud;

// A point of the source and one of the target whose features are alike.
typedef struct sap_match {
    int32_t source, target;
    float distance2; // of the features
} sap_match;

// Features that are compared, all of one cloud with all of another: on the host.
typedef struct sap_feature_matching {
    sap_device* device;
    const float* features; // [count][33]
    int64_t count;
    const float* others; // [33][padded] number by number; what pads is infinite
    int64_t padded;      // a multiple of 16
    int32_t* ids;        // [count] to be filled in: the one most like each, of equally like ones the first; -1: none is
    float* distance2;    // [count] beside them
} sap_feature_matching;

typedef sap_status sap_feature_match(const sap_feature_matching* matching);

typedef struct sap_globe {
    sap_global_job* job;
    sap_device* device;
    sap_feature_match* match; // the processor's
    sap_global_cloud source, target;
    double scale;   // of both: a power of two
    double spacing; // in units of what is scaled
    sap_match* matches;
    int64_t match_count;
    sap_scratch match_memory;
} sap_globe;

// The inner loop of the CPU.
typedef struct sap_feature_kernels {
    void (*nearest)(const float* features, int64_t count, const float* others, int64_t padded, int32_t* ids,
                    float* distance2);
} sap_feature_kernels;

// Finds the motion. All that is done with many points is done by the device's own functions; what they compare on the way is
// a few thousand points, and lies on the host. The job's clouds are readable there.
sap_status sap_global_run(sap_global_job* job, sap_feature_match* match);

// Takes all points of both clouds.
sap_status sap_global_take(sap_globe* g);
// The spacing, then what is left of both clouds, and its features.
sap_status sap_global_thin(sap_globe* g);
void sap_global_cloud_free(sap_globe* g, sap_global_cloud* cloud);

// Pairs of points, each being that whose feature is most like the other's.
sap_status sap_global_match(sap_globe* g);
// The motions that most matches agree with, no two alike, best first; *count of at most `most`.
sap_status sap_global_propose(sap_globe* g, sap_motion* motions, int64_t most, int64_t* count);

#endif
