// The points within one radius for all queries.
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_kernels) = {search};
