// Squared Euclidean distances, with a mask and a radius for each query.
#define METRIC METRIC_L2
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_told) = {search};
