// The longest of the lengths along the axes.
#define METRIC METRIC_LINF
#include "nearest/told_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_linf) = {search};
