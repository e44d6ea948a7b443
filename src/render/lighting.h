// The light on surfaces: from lamps and from the sky.
#ifndef SAPWOOD_RENDER_LIGHTING_H
#define SAPWOOD_RENDER_LIGHTING_H

#include "render/scene_data.h"

// Phong's highlight: a power of the cosine between where light is mirrored to and where it is seen from.
SAP_FN float sap_highlight(const sap_surface* surface, sap_vector direction, float cosine) {
    SAP_ASSERT(surface->exponent >= 1 && surface->exponent <= 10000);
    sap_vector mirrored = sap_minus(sap_times(surface->normal, 2 * cosine), direction);
    float base = sap_dot(mirrored, surface->view), shine = base > 0 ? 1.0f : 0.0f;
    for (int32_t n = surface->exponent; n && shine > 0; n >>= 1, base *= base)
        if (n & 1) shine *= base;
    return shine;
}

// The light of a lamp on the surface of a path if nothing is between, and the ray that finds out. A ray whose t_max is
// negative hits nothing.
SAP_FN sap_vector sap_lamp_reach(const sap_lamp* lamp, const sap_surface* surface, const sap_path* path,
                                 uint32_t purpose, sap_ray* shadow) {
    const sap_vector none = sap_vector_make(0, 0, 0);
    *shadow = sap_ray_make(none, none, -1);
    if (!(sap_largest(surface->diffuse) > 0 || sap_largest(surface->highlight) > 0) || surface->exponent == 0)
        return none;
    sap_pair place = sap_sample(path->pixel, path->sample, purpose);
    sap_vector from = sap_plus(sap_times(lamp->side[0], place.x - 0.5f), sap_times(lamp->side[1], place.y - 0.5f));
    sap_vector to = sap_minus(sap_plus(lamp->position, from), surface->point);
    sap_vector direction = sap_unit(to);
    double distance = sap_length(to);
    float cosine = sap_dot(direction, surface->normal), shine = 0;
    if (!(cosine > 0) || !(distance > 0)) return none;
    *shadow = sap_ray_make(surface->point, to, 1);
    float strength = (float)(lamp->reach2 / (distance * distance));
    if (sap_largest(surface->highlight) > 0) shine = sap_highlight(surface, direction, cosine);
    sap_vector sum = sap_plus(sap_times(surface->diffuse, cosine), sap_times(surface->highlight, shine));
    return sap_times(sap_filter(sum, lamp->color), strength);
}

SAP_FN sap_vector sap_sky(const sap_scene_data* scene, sap_vector direction) {
    const sap_vector ground = sap_vector_make(0.60f, 0.59f, 0.57f), horizon = sap_vector_make(0.82f, 0.87f, 0.93f),
                     zenith = sap_vector_make(0.25f, 0.42f, 0.72f);
    float height = sap_dot(sap_unit(direction), scene->sky_up);
    sap_vector end = height < 0 ? ground : zenith;
    float part = height < 0 ? -height * 4 : height; // the ground begins soon below the horizon
    if (part > 1) part = 1;
    if (height >= 0) part = part * (2 - part);
    return sap_plus(sap_times(horizon, 1 - part), sap_times(end, part));
}

// The light of a path that leaves the scene.
SAP_FN sap_vector sap_past_mesh(const sap_scene_data* scene, const sap_path* path, int32_t bounce,
                                sap_vector direction) {
    if (bounce == 0 && scene->has_background) return scene->background;
    sap_vector sky = sap_sky(scene, direction);
    return path->scattered ? sap_times(sky, scene->ambient) : sky;
}

#endif
