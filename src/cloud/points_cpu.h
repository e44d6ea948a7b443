// The points of a tree by id, four numbers each, so that one load finds a neighbour.
#ifndef SAPWOOD_CLOUD_POINTS_CPU_H
#define SAPWOOD_CLOUD_POINTS_CPU_H

#include "base/team.h"
#include "tree/leaves.h"

typedef struct sap_cloud_points {
    void* points; // real[source_count][4]: up to three coordinates, then zeros
    sap_scratch memory;
} sap_cloud_points;

// False without memory. The rows of points that the tree has left out hold anything.
bool sap_cloud_points_open(const sap_tree* tree, sap_cloud_points* points);
static inline void sap_cloud_points_close(const sap_tree* tree, sap_cloud_points* points) {
    sap_scratch_give(tree->device, &points->memory);
}

#endif
