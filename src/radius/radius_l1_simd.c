// Sums of the lengths along the axes.
#define METRIC METRIC_L1
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_l1) = {search};
