// Sums of the lengths along the axes.
#define METRIC METRIC_L1
#include "nearest/told_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_l1) = {search};
