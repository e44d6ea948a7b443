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

// One of the two clouds: first all its points, then those that are left of them in units of the spacing.
typedef struct sap_global_cloud {
    int64_t all_count;
    float* all; // [3*all_count] from `middle`, times `scale`
    double middle[3];
    int64_t count;   // that are left
    sap_tree* tree;  // of them
    float* points;   // [3*count]
    float* normals;  // [3*count]
    float* spreads;  // [3*count] eigenvalues of the neighbours of each: the first is the square of the noise there
    float* features; // [SAP_FEATURE_NUMBERS*count]
    float* weights;  // [count] how much each feature differs from what most look like, squared
    sap_scratch memory, all_memory;
} sap_global_cloud;

// A point of the source and one of the target whose features are alike.
typedef struct sap_match {
    int32_t source, target;
    float distance2; // of the features
} sap_match;

typedef struct sap_globe {
    sap_global_job* job;
    sap_device* device;
    sap_global_cloud source, target;
    double scale;   // of both: a power of two
    double spacing; // in units of what is scaled
    sap_match* matches;
    int64_t match_count;
    sap_scratch match_memory;
} sap_globe;

typedef struct sap_feature_kernels {
    // For each of `count` features the one most like it of `others` ones, given number by number, [33][padded]: of
    // equally like ones the first. padded is a multiple of 16, and what pads is infinite.
    void (*nearest)(const float* features, int64_t count, const float* others, int64_t padded, int32_t* ids,
                    float* distance2);
} sap_feature_kernels;

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
