// Counts of pairs of trees with periods.
#define PERIODIC 1
#include "pairs/count_simd.h"

const sap_count_kernels SAP_KERNEL(count_periodic_kernels) = {narrow, count};
