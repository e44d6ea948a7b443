// Squared Euclidean distances on an explicit tree.
#include "nearest/explicit_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_explicit_kernels) = {search};
