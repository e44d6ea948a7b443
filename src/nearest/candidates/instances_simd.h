// Instances of a search for each kind of list up to SAP_LIST_MAX, by its INSTANCES and EACH: EACH_LIST names them, one for
// every eight places.
#ifndef SAPWOOD_NEAREST_CANDIDATES_INSTANCES_SIMD_H
#define SAPWOOD_NEAREST_CANDIDATES_INSTANCES_SIMD_H

#include "nearest/candidates/list_simd.h"

#if REGISTER_LISTS
enum { KIND_8 = 1, KIND_16 = 2, KIND_24 = 3, KIND_32 = 4 };
INSTANCES(8)
INSTANCES(16)
INSTANCES(24)
INSTANCES(32)
#define EACH_LIST EACH(8), EACH(16), EACH(24), EACH(32)
#else
INSTANCES(SORTED)
#define EACH_LIST EACH(SORTED), EACH(SORTED), EACH(SORTED), EACH(SORTED)
#endif

#endif
