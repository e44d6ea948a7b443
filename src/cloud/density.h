// What densities and outliers are made of on every processor.
#ifndef SAPWOOD_CLOUD_DENSITY_H
#define SAPWOOD_CLOUD_DENSITY_H

#include "cloud/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

// One over the integral of (1 - d^2 / r^2)^2 over the ball of radius r.
double sap_density_factor(int32_t dims, double radius);
// Which points are outliers by their mean distances: those of the tree have a flag of 1 in job->keep. By one thread, on
// the host.
void sap_outliers_judge(sap_outliers_job* job, const double* means);

#ifdef __cplusplus
}
#endif
#endif
