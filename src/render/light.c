// Lamps and the sky.
#include "base/memory.h"
#include "device/device.h"
#include "render/picture.h"

// One soft light above the camera's left shoulder, a quarter of the mesh wide.
static void default_lamp(const sap_picture* picture, sap_lamp* lamp) {
    const sap_lens* lens = &picture->lens;
    sap_vector right = sap_unit(lens->right), above = sap_unit(lens->up), to;
    to = sap_plus(sap_plus(sap_times(right, -0.8f), sap_times(above, 1.2f)), sap_times(lens->forward, -0.7f));
    float radius = (float)picture->radius;
    sap_vector u, v, unit = sap_unit(to);
    sap_frame_of(unit, &u, &v);
    lamp->position = sap_plus(picture->middle, sap_times(unit, radius * 3));
    lamp->color = (sap_vector){0.95f, 0.88f, 0.78f};
    lamp->side[0] = sap_times(u, radius * 0.5f);
    lamp->side[1] = sap_times(v, radius * 0.5f);
    lamp->reach2 = 9 * picture->radius * picture->radius;
}

sap_status sap_lamps_prepare(sap_picture* picture, const sap_scene* scene) {
    if (!scene->lights) {
        default_lamp(picture, picture->lamps);
        return SAP_OK;
    }
    for (int32_t i = 0; i < scene->light_count; i++) {
        const sap_light* light = &scene->lights[i];
        sap_lamp* lamp = &picture->lamps[i];
        lamp->position = sap_vector_of(light->position);
        lamp->color = sap_vector_of(light->color);
        for (int s = 0; s < 2; s++) lamp->side[s] = sap_vector_of(light->side[s]);
        if (!sap_finite(lamp->position) || !sap_finite(lamp->color) || !sap_finite(lamp->side[0]) ||
            !sap_finite(lamp->side[1]))
            return sap_fail(picture->device, SAP_ERROR_ARGUMENT,
                            "scene.lights: light %d has a number that is not finite", (int)i);
        double distance = sap_length(sap_minus(lamp->position, picture->middle));
        if (!(distance > 0)) distance = picture->radius;
        lamp->reach2 = distance * distance;
    }
    return SAP_OK;
}

// What one lamp would shed on a surface, and the ray that tells whether it does.
static sap_vector reach_for(const sap_lamp* lamp, const sap_surface* surface, sap_pair place, sap_ray* shadow) {
    sap_vector from = sap_plus(sap_times(lamp->side[0], place.x - 0.5f), sap_times(lamp->side[1], place.y - 0.5f));
    sap_vector to = sap_minus(sap_plus(lamp->position, from), surface->point);
    sap_vector direction = sap_unit(to);
    double distance = sap_length(to);
    float cosine = sap_dot(direction, surface->normal), shine = 0;
    *shadow = (sap_ray){{surface->point.x, surface->point.y, surface->point.z}, 0, {to.x, to.y, to.z}, -1};
    if (!(cosine > 0) || !(distance > 0)) return (sap_vector){0, 0, 0};
    shadow->t_max = 1;
    float strength = (float)(lamp->reach2 / (distance * distance));
    if (sap_largest(surface->highlight) > 0) {
        sap_vector mirrored = sap_minus(sap_times(surface->normal, 2 * cosine), direction);
        float base = sap_dot(mirrored, surface->view);
        shine = base > 0 ? 1 : 0;
        for (int32_t n = surface->exponent; n && shine > 0; n >>= 1, base *= base)
            if (n & 1) shine *= base;
    }
    sap_vector sum = sap_plus(sap_times(surface->diffuse, cosine), sap_times(surface->highlight, shine));
    return sap_times(sap_filter(sum, lamp->color), strength);
}

static bool is_lit(const sap_surface* surface) {
    return sap_largest(surface->diffuse) > 0 || sap_largest(surface->highlight) > 0;
}

static void ask_lamp(const sap_picture* picture, sap_batch* batch, int32_t number, uint32_t purpose) {
    const sap_lamp* lamp = &picture->lamps[number];
#pragma omp parallel for schedule(static) num_threads(picture->threads)
    for (int64_t i = 0; i < batch->live; i++) {
        const sap_path* path = &batch->paths[i];
        batch->lit[i] = (sap_vector){0, 0, 0};
        batch->shadows[i] = (sap_ray){.t_max = -1}; // hits nothing
        if (!is_lit(&batch->surfaces[i])) continue;
        sap_pair place = sap_sample(path->pixel, path->sample, purpose);
        batch->lit[i] = reach_for(lamp, &batch->surfaces[i], place, &batch->shadows[i]);
    }
}

sap_status sap_light_surfaces(sap_picture* picture, sap_batch* batch, int32_t bounce) {
    for (int32_t number = 0; number < picture->lamp_count; number++) {
        // Purposes of paths are below 4 * 65, see sap_shade.
        ask_lamp(picture, batch, number, 1024 + (uint32_t)number * 128 + (uint32_t)bounce);
        sap_status status = sap_occluded(picture->tree, batch->shadows, batch->live, batch->dark);
        if (status != SAP_OK) return status;
        picture->rays += batch->live;
#pragma omp parallel for schedule(static) num_threads(picture->threads)
        for (int64_t i = 0; i < batch->live; i++) {
            sap_vector* found = &batch->found[batch->paths[i].slot];
            if (!batch->dark[i]) *found = sap_plus(*found, batch->lit[i]);
        }
    }
    return SAP_OK;
}

sap_vector sap_sky(const sap_picture* picture, sap_vector direction) {
    static const sap_vector ground = {0.60f, 0.59f, 0.57f}, horizon = {0.82f, 0.87f, 0.93f},
                            zenith = {0.25f, 0.42f, 0.72f};
    float height = sap_dot(sap_unit(direction), picture->sky_up);
    sap_vector end = height < 0 ? ground : zenith;
    float part = height < 0 ? -height * 4 : height; // the ground begins soon below the horizon
    if (part > 1) part = 1;
    if (height >= 0) part = part * (2 - part);
    return sap_plus(sap_times(horizon, 1 - part), sap_times(end, part));
}
