// The lamps of a scene.
#include "base/assert.h"
#include "render/picture.h"

// One soft light above the camera's left shoulder, a quarter of the mesh wide.
static void default_lamp(const sap_picture* picture, sap_lamp* lamp) {
    const sap_lens* lens = &picture->scene.lens;
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
    SAP_ASSERT(picture->lamp_count == scene->light_count);
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
