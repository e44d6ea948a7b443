// The CPU's ways to answer a radius job.
#ifndef SAPWOOD_RADIUS_RADIUS_CPU_H
#define SAPWOOD_RADIUS_RADIUS_CPU_H

#include "radius/ops.h"
#include "tree/layout.h"

// radius/into_cpu.c: a job that collects into the caller's memory.
sap_status sap_radius_into_cpu(const sap_tree* tree, const sap_radius_job* job);
// radius/walk_cpu.c: counts or collects on any tree, through the shared texts.
sap_status sap_radius_walk_cpu(const sap_tree* tree, const sap_radius_job* job);

#endif
