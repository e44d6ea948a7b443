// Sums of the lengths along the axes, by the shorter way around axes with periods.
#define METRIC   METRIC_L1
#define PERIODIC 1
#include "nearest/told_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_periodic_l1) = {search};
