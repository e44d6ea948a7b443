// Clusters of the points of trees with periods.
#define PERIODIC 1
#include "cloud/clusters_simd.h"

const sap_clusters_kernels SAP_KERNEL(clusters_periodic) = {join_small, join_leaf, label_border};
