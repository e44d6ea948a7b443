// The points in boxes, on a balanced tree.
#include "box/walk_simd.h"

const sap_box_kernels SAP_KERNEL(box_kernels) = {search};
