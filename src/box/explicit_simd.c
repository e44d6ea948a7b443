// The points in boxes, on an explicit tree.
#define EXPLICIT 1
#include "box/walk_simd.h"

const sap_box_kernels SAP_KERNEL(box_explicit_kernels) = {search};
