// The shared texts as CUDA: every thread is a query. This program is compiled, not run.
#include "math/dialect.h"
#include "tree/layout.h"

#define SAP_STACK SAP_MAX_DEPTH

#define SAP_SPECIAL_TEXT "walk_kernels.cuh"
#include "math/specialise_all.h"
