// Faces that shine, as lamps: a ray from each surface to a point of one of them, weighed against the scattered rays that
// find the same light (multiple importance sampling by the balance heuristic, Veach and Guibas 1995).
#ifndef SAPWOOD_RENDER_SHINE_H
#define SAPWOOD_RENDER_SHINE_H

#include "render/surface.h"

SAP_FN int32_t sap_shiner_find(const sap_shiner* shiners, int32_t count, double part) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const int32_t half = low + (high - low) / 2;
        if (part < shiners[half].until)
            high = half;
        else
            low = half + 1;
    }
    return low;
}

// The light of a point of a shining face on the surface of a path if nothing is between, and the ray that finds out.
SAP_FN sap_vector sap_shiner_reach(const sap_scene_data* scene, const sap_surface* surface, const sap_path* path,
                                   uint32_t purpose, sap_ray* shadow) {
    const sap_vector none = sap_vector_make(0, 0, 0);
    *shadow = sap_ray_make(none, none, -1);
    if (!(sap_largest(surface->diffuse) > 0) || surface->exponent == 0) return none;
    const sap_pair choice = sap_sample(path->pixel, path->sample, purpose),
                   place = sap_sample(path->pixel, path->sample, purpose + SAP_BOUNCES_MOST);
    sap_hit hit;
    hit.triangle = scene->shiners[sap_shiner_find(scene->shiners, scene->shiner_count, (double)choice.x)].triangle;
    hit.t = 0;
    hit.u = sqrtf(place.x) * (1 - place.y);
    hit.v = sqrtf(place.x) * place.y;
    const sap_facet facet = sap_scene_facet(scene, hit.triangle);
    const sap_vector away = sap_minus(sap_blend(facet.corners, &hit), surface->point);
    const sap_meeting m = sap_meet(scene, away, &hit);
    const sap_vector to = sap_plus(away, sap_times(m.face, m.reach)); // or the ray would meet the face itself
    const double distance = sap_length(to);
    const float here = sap_dot(m.in, surface->normal), there = -sap_dot(m.in, m.face);
    if (!(here > 0) || !(there > 0) || !(distance > 0)) return none;
    *shadow = sap_ray_make(surface->point, to, 1);
    // By solid angle, the densities of the two ways in which this direction may be chosen.
    const double bright = (double)sap_largest(m.emission);
    const float direct = (float)(bright * scene->shine_part * distance * distance) / there,
                scattered = surface->scatter * here * SAP_OVER_PI;
    return sap_times(sap_filter(surface->diffuse, m.emission), here * SAP_OVER_PI / (direct + scattered));
}

#endif
