// The same where axes have periods.
#define PERIODIC 1
#include "nearest/explicit_simd.h"

const sap_nearest_kernels SAP_KERNEL(nearest_explicit_periodic) = {search};
