// Squared Euclidean distances, with a mask and a radius for each query.
#define METRIC METRIC_L2
#include "nearest/told_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_told) = {search};
