// A prepared search of a mesh: what a single call would find out anew each time.
#ifndef SAPWOOD_RAY_QUERY_H
#define SAPWOOD_RAY_QUERY_H

#include "mesh/layout.h"
#include "ray/ray.h"
#include "sapwood/query.h"

// One ray or one point at a time, for an instruction set. They read the tree anew in each call, so that it may have
// been rebuilt.
typedef struct sap_mesh_query_kernels {
    bool (*trace)(const sap_mesh_tree* tree, const sap_ray* ray, sap_hit* hit);
    bool (*occluded)(const sap_mesh_tree* tree, const sap_ray* ray);
} sap_mesh_query_kernels;

typedef struct sap_closest_kernels {
    // limit2: the largest squared distance that counts, finite.
    bool (*closest)(const sap_mesh_tree* tree, const float* point, float limit2, sap_closest* closest);
    // Of up to `lanes` points at once, [3*count] and how far each may search, which should lie near each other.
    void (*packet)(const sap_mesh_tree* tree, const float* points, const float* limits, int32_t count,
                   sap_closest* closest);
    int32_t lanes;
} sap_closest_kernels;

struct sap_mesh_query {
    bool (*trace)(const sap_mesh_tree* tree, const sap_ray* ray, sap_hit* hit);
    bool (*occluded)(const sap_mesh_tree* tree, const sap_ray* ray);
    bool (*closest)(const sap_mesh_tree* tree, const float* point, float limit2, sap_closest* closest);
    const sap_mesh_tree* tree;
    float limit2;
};

#endif
