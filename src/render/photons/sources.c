// What sends photons: lamps, faces that shine, the sky.
#include "base/assert.h"
#include "render/lighting.h"
#include "render/photons/map.h"

enum { SKY_DIRECTIONS = 4096 };

// The mean light of the sky, over directions that follow each other at equal heights.
static void sky_mean(const sap_scene_data* scene, double mean[3]) {
    for (int a = 0; a < 3; a++) mean[a] = 0;
    for (uint32_t i = 0; i < SKY_DIRECTIONS; i++) {
        const sap_vector light = sap_sky(scene, sap_any_direction(sap_sample(1, i, 0)));
        mean[0] += (double)light.x / SKY_DIRECTIONS;
        mean[1] += (double)light.y / SKY_DIRECTIONS;
        mean[2] += (double)light.z / SKY_DIRECTIONS;
    }
}

static double largest(const double v[3]) { return fmax(v[0], fmax(v[1], v[2])); }

// The power of a source, and in `sky` the factor of what a direction gives.
static void power_of(const sap_picture* p, const sap_source* source, double power[3], double* sky) {
    const sap_scene_data* scene = &p->scene;
    if (source->kind == SAP_SOURCE_LAMP) {
        const sap_lamp* lamp = &scene->lamps[source->number];
        const float color[3] = {lamp->color.x, lamp->color.y, lamp->color.z};
        for (int a = 0; a < 3; a++) power[a] = 4 * SAP_PI * SAP_PI * lamp->reach2 * fmax(0, (double)color[a]);
    } else if (source->kind == SAP_SOURCE_FACE) {
        const sap_material* material = &scene->materials[scene->material_ids[source->number]];
        const double area = sap_face_area(scene, source->number);
        for (int a = 0; a < 3; a++) power[a] = 2 * SAP_PI * area * fmax(0, (double)material->emission[a]);
    } else {
        sky_mean(scene, power);
        *sky = 4 * SAP_PI * SAP_PI * p->radius * p->radius * (double)scene->ambient;
        for (int a = 0; a < 3; a++) power[a] *= *sky;
    }
}

sap_status sap_sources_fill(sap_picture* p, sap_scratch* memory) {
    const sap_scene_data* scene = &p->scene;
    const int64_t triangles = p->file->mesh.triangle_count;
    int64_t most = (int64_t)p->lamp_count + 1, count = 0;
    for (int64_t i = 0; i < triangles; i++) most += sap_face_power(scene, (int32_t)i) > 0;
    if (most > INT32_MAX || !sap_scratch_take(p->device, (size_t)most * sizeof(sap_source), memory))
        return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for %lld sources of light", (long long)most);
    sap_source* sources = (sap_source*)(void*)memory->memory;
    for (int32_t i = 0; i < p->lamp_count; i++) sources[count++] = (sap_source){.kind = SAP_SOURCE_LAMP, .number = i};
    for (int64_t i = 0; i < triangles; i++)
        if (sap_face_power(scene, (int32_t)i) > 0)
            sources[count++] = (sap_source){.kind = SAP_SOURCE_FACE, .number = (int32_t)i};
    if (scene->ambient > 0) sources[count++] = (sap_source){.kind = SAP_SOURCE_SKY};
    double all = 0, sky = 0, one[3];
    for (int64_t i = 0; i < count; i++) {
        power_of(p, &sources[i], one, &sky);
        for (int a = 0; a < 3; a++) p->source_power[a] += one[a];
        all += largest(one);
        sources[i].until = all;
    }
    double before = 0;
    for (int64_t i = 0; i < count && all > 0; i++) {
        power_of(p, &sources[i], one, &sky);
        const double until = sources[i].until, part = (until - before) / all, each = part > 0 ? 1 / part : 0;
        if (sources[i].kind == SAP_SOURCE_SKY) one[0] = one[1] = one[2] = sky;
        sources[i].power = sap_vector_make((float)(one[0] * each), (float)(one[1] * each), (float)(one[2] * each));
        sources[i].until = i + 1 == count ? 1 : until / all;
        before = until;
    }
    p->sources = sources;
    p->source_count = all > 0 ? (int32_t)count : 0;
    return SAP_OK;
}
