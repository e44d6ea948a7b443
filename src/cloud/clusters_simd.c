// Clusters of the points of open trees.
#include "cloud/clusters_simd.h"

const sap_clusters_kernels SAP_KERNEL(clusters_kernels) = {join_small, join_leaf, label_border};
