// Squared Euclidean distances, by the shorter way around axes with periods.
#define METRIC   METRIC_L2
#define PERIODIC 1
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_periodic_told) = {search};
