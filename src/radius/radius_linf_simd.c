// The longest of the lengths along the axes.
#define METRIC METRIC_LINF
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_linf) = {search};
