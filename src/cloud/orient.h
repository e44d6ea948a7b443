// Normals that are turned as those of their neighbours, on every processor that finds these.
#ifndef SAPWOOD_CLOUD_ORIENT_H
#define SAPWOOD_CLOUD_ORIENT_H

#include "cloud/ops.h"
#include "device/progress.h"
#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline void sap_orient_turn(float* normal) {
    for (int a = 0; a < 3; a++) normal[a] = normal[a] == 0 ? 0.0f : -normal[a];
}

// Memory for the graph, near[source_count][k] filled with -1: the k nearest others of each point.
sap_status sap_orient_take_graph(const sap_orient_job* job, int32_t* k, sap_scratch* memory);
// Turns the job's normals, which lie on the host as do the arrays of its tree, by a graph that is filled in.
sap_status sap_orient_alike(const sap_orient_job* job, int32_t k, const int32_t* near);
// Finds the neighbours and turns the job's normals, on the CPU; adds the points of the tree to the progress.
sap_status sap_orient_alike_cpu(const sap_orient_job* job, sap_progress_state* progress);
// The same for a tree that lies on a device, which finds the neighbours; normals lie on the host.
sap_status sap_orient_alike_apart(const sap_orient_job* job);

#ifdef __cplusplus
}
#endif
#endif
