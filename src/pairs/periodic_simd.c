// Pairs of trees with periods.
#define PERIODIC 1
#include "pairs/collect_simd.h"
#include "pairs/count_simd.h"

const sap_pair_walks SAP_KERNEL(pair_walks_periodic) = {narrow, count, collect};
