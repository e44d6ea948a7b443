// The motions of many clouds that suit the motions of pairs best.
#ifndef SAPWOOD_CLOUD_GLOBAL_POSES_H
#define SAPWOOD_CLOUD_GLOBAL_POSES_H

#include "sapwood/align.h"

// All of one problem. Transforms are 16 numbers each.
typedef struct sap_poses {
    int32_t count;
    int64_t pair_count;
    double* transforms;   // [16*count] the starts, then where the clouds lie
    int32_t* groups;      // [count]
    sap_many_pair* pairs; // [pair_count] residual, weight and kept are to be filled in
    double scale2;        // 0: to be found
    double rmse;          // the median of the pairs, found
    double* matrix;       // [36*count*count] room
    double* right;        // [6*count] room
    double* sorted;       // [pair_count] room
} sap_poses;

// product = a * b, and the inverse of a motion.
void sap_motion_product(const double a[16], const double b[16], double product[16]);
void sap_motion_inverse(const double m[16], double inverse[16]);

void sap_poses_solve(sap_poses* g);

#endif
