// The nearest-neighbour kernels of sets on the CPU and their arguments; there is one set for each instruction set and
// precision.
#ifndef SAPWOOD_SET_SEARCH_H
#define SAPWOOD_SET_SEARCH_H

#include "nearest/nearest.h"
#include "set/set.h"

typedef struct sap_set_kernels {
    // Answers a run of queries; run.tree, home and skip_self are not looked at.
    void (*search)(const sap_set* set, sap_nearest_run* run);
} sap_set_kernels;

#endif
