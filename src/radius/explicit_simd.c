// The points within one radius for all queries, on an explicit tree.
#define EXPLICIT 1
#include "radius/walk_simd.h"

const sap_radius_kernels SAP_KERNEL(radius_explicit_kernels) = {search};
