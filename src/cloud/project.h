// Points that are projected onto the surface of a cloud: the inner loops of the CPU, one set for each instruction set.
#ifndef SAPWOOD_CLOUD_PROJECT_H
#define SAPWOOD_CLOUD_PROJECT_H

#include "cloud/ops.h"

typedef struct sap_project_kernels {
    // What sap_project_ops does, for the points of leaves from … to - 1 of the tree, or of that of those that move.
    void (*densities)(const sap_tree* tree, double limit2, bool inverse, int64_t from, int64_t to, float* weights);
    void (*move)(const sap_project_step* step, int64_t from, int64_t to);
} sap_project_kernels;

#endif
