// Rays that go through a tree over instances together, a bit of a word for each.
#ifndef SAPWOOD_INSTANCE_BUNDLE_H
#define SAPWOOD_INSTANCE_BUNDLE_H

#include "instance/layout.h"

enum { SAP_BUNDLE = 64 };

typedef struct sap_bundle {
    float origin[3][SAP_BUNDLE];
    float inverse[3][SAP_BUNDLE];               // 1 / direction, or NaN: the axis rules out no box
    float far[SAP_BUNDLE];                      // the largest magnitude of a coordinate of the origin
    float t_min[SAP_BUNDLE], t_max[SAP_BUNDLE]; // hits beyond t_max do not count
    uint64_t backward[3];                       // the rays with a negative component along each axis
} __attribute__((aligned(64))) sap_bundle;

// The inner loop on the CPU, one per instruction set.
typedef struct sap_instance_kernels {
    // Which of some rays of a bundle meet a node's box.
    uint64_t (*meet)(const sap_bundle* bundle, const sap_instance_node* node, uint64_t rays);
} sap_instance_kernels;

#endif
