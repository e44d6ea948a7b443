// The shared texts as CUDA: every thread is a query. This program is compiled, not run.
#include "math/dialect.h"
#include "tree/layout.h"

#define SAP_STACK SAP_MAX_DEPTH

#define SAP_REAL_BITS 32
#define SAP_AXES      2
#include "walk_kernels.cuh"
#undef SAP_AXES
#define SAP_AXES 3
#include "walk_kernels.cuh"
#undef SAP_AXES
#define SAP_AXES 4
#include "walk_kernels.cuh"
#undef SAP_AXES
#define SAP_AXES 16
#include "walk_kernels.cuh"
#undef SAP_AXES
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#define SAP_AXES      3
#include "walk_kernels.cuh"
#undef SAP_AXES
#define SAP_AXES 16
#include "walk_kernels.cuh"
