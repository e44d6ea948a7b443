// Clusters of the points of open trees.
#include "cloud/clusters_simd.h"

const sap_clusters_kernels SAP_KERNEL(clusters_kernels) = {mark_cores, join_small, join_own, join_leaf, label_border};
