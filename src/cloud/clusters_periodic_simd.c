// Clusters of the points of trees with periods.
#define PERIODIC 1
#include "cloud/clusters_simd.h"

const sap_clusters_kernels SAP_KERNEL(clusters_periodic) = {mark_cores, join_small, join_own, join_leaf, label_border};
