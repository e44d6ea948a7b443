// CPU devices: threads, and the inner loops that suit the vector instructions of the machine.
#ifndef SAPWOOD_DEVICE_CPU_H
#define SAPWOOD_DEVICE_CPU_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// The inner loops of each room for one instruction set and precision, compiled from the files called *_simd.c; the
// rooms declare the tables. Those of meshes, rays and surfaces are of floats, whatever the precision.
typedef struct sap_cpu_kernels {
    const struct sap_build_kernels* build;
    const struct sap_accept_kernels* accept; // NULL: trees are checked without
    const struct sap_query_kernels* query;
    const struct sap_groups_kernels* groups;            // NULL: searches of explicit trees go node by node
    const struct sap_nearest_kernels* nearest;          // on balanced trees
    const struct sap_nearest_kernels* nearest_self;     // by a balanced tree's own points; NULL: as any queries
    const struct sap_nearest_kernels* nearest_explicit; // on explicit trees that have groups
    const struct sap_nearest_kernels* nearest_told[3];  // with a mask and radii, by sap_metric; NULL: the shared text
    const struct sap_nearest_kernels* nearest_periodic[3]; // the same on trees with periods
    const struct sap_nearest_kernels* nearest_explicit_periodic;
    const struct sap_one_kernels* one;                // one query a call
    const struct sap_radius_kernels* radius;          // on balanced trees
    const struct sap_radius_kernels* radius_explicit; // on explicit trees that have groups
    const struct sap_radius_kernels* radius_told[3];
    const struct sap_radius_kernels* radius_periodic[3];
    const struct sap_box_kernels* box;          // on balanced trees
    const struct sap_box_kernels* box_explicit; // on explicit trees that have groups
    const struct sap_pairs_kernels* pairs;
    const struct sap_pair_walks* pairs_periodic; // pairs of trees with periods
    const struct sap_set_kernels* set;           // nearest points of a set
    const struct sap_clusters_kernels* clusters; // of open trees
    const struct sap_clusters_kernels* clusters_periodic;
    const struct sap_farthest_kernels* farthest; // samples of points far from one another
    const struct sap_cloud_kernels* cloud;       // normals and covariances
    const struct sap_align_kernels* align;
    const struct sap_feature_kernels* feature; // of floats, whatever the precision
    const struct sap_project_kernels* project; // of floats
    const struct sap_near_kernels* near;       // light of photons near points, of floats
    const struct sap_gather_kernels* gather;   // sums over neighbours
    const struct sap_compact_kernels* compact;
    const struct sap_mesh_kernels* mesh;
    const struct sap_refit_kernels* refit; // NULL: trees are not refitted
    const struct sap_ray_kernels* ray;
    const struct sap_mesh_query_kernels* mesh_query; // one ray a call
    const struct sap_closest_kernels* closest;       // one point a call
    const struct sap_instance_kernels* instance;
    const struct sap_surface_kernels* surface;
} sap_cpu_kernels;

// The kernels that a CPU device uses for reals of 32 or 64 bits.
const sap_cpu_kernels* sap_cpu_kernels_of(const sap_device* device, int32_t real_bits);
// Those of an instruction set, for reals of 32 and of 64 bits; NULL if this build lacks them. In src/processors/cpu.c.
const sap_cpu_kernels* sap_cpu_kernels_built(sap_simd simd);
// Host threads that a device uses, when so many were asked for (0: all).
int32_t sap_cpu_threads(int32_t asked);

// What src/processors/cpu.c names.
sap_status sap_cpu_open(sap_device* device);
void sap_cpu_close(sap_device* device);
sap_status sap_cpu_describe(const sap_device* device, sap_device_info* info);

#ifdef __cplusplus
}
#endif
#endif
