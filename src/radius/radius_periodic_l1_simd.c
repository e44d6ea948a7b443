// Sums of the lengths along the axes, by the shorter way around axes with periods.
#define METRIC   METRIC_L1
#define PERIODIC 1
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_periodic_l1) = {search};
