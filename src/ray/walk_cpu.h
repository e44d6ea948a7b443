// The shared texts as the CPU compiles them.
#ifndef SAPWOOD_RAY_WALK_CPU_H
#define SAPWOOD_RAY_WALK_CPU_H

#include "mesh/access.h"
#include "ray/ray.h"

#define SAP_MESH_STACK SAP_MESH_DEPTH_MAX
#include "ray/intersect.h"

#include "ray/closest.h"
#include "ray/walk.h"

static inline sap_prepared_ray sap_ray_prepare_cpu(const sap_ray* ray, float magnitude) {
    return sap_ray_prepare(sap_vector_of(ray->origin), sap_vector_of(ray->direction), ray->t_min, ray->t_max,
                           magnitude);
}

static inline sap_ray_result sap_ray_walk_cpu(const sap_mesh_tree* tree, const sap_ray* ray, float magnitude,
                                              bool any) {
    return sap_ray_walk(tree, sap_ray_prepare_cpu(ray, magnitude), sap_mesh_lower(tree), sap_mesh_upper(tree), any);
}

// First hits by the shared walk, one ray after the other, and how many nodes it visits if that is asked for.
static inline void sap_rays_walk_cpu(const sap_ray_run* run) {
    for (int64_t i = 0; i < run->job.count; i++) {
        const sap_ray_result found = sap_ray_walk_cpu(run->tree, run->job.rays + i, run->magnitude, false);
        run->job.hits[i] = found.triangle < 0 ? (sap_hit){__builtin_inff(), 0, 0, -1}
                                              : (sap_hit){found.t, found.u, found.v, found.triangle};
        if (run->job.visits) run->job.visits[i] = found.visits;
    }
}

#endif
