// What densities and outliers are made of on every processor.
#ifndef SAPWOOD_CLOUD_DENSITY_H
#define SAPWOOD_CLOUD_DENSITY_H

#include "cloud/ops.h"
#include "math/dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

// One over the integral of (1 - d^2 / r^2)^2 over the ball of radius r.
double sap_density_factor(int32_t dims, double radius);

// The mean of the points' mean distances, which add up to `sum`; then what the squares of the differences to it, which add
// up to `squares`, say of them.
SAP_FN void sap_outliers_mean(sap_outliers_info* info, int64_t points, double sum) {
    info->mean = points ? sum / (double)points : 0;
}
SAP_FN void sap_outliers_limit(sap_outliers_info* info, int64_t points, double squares, double ratio) {
    info->deviation = points > 1 ? sqrt(squares / (double)(points - 1)) : 0;
    const double limit = info->mean + ratio * info->deviation;
    const double alike = info->mean * (1 + 0x1p-40); // means that are all alike may differ from their rounded mean
    info->limit = limit > alike ? limit : alike;
}

#ifdef __cplusplus
}
#endif
#endif
