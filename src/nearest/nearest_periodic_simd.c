// Squared Euclidean distances, by the shorter way around axes with periods.
#define METRIC   METRIC_L2
#define PERIODIC 1
#include "nearest/told_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_periodic_told) = {search};
