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

sap_status sap_sources_make(const sap_picture* p, int64_t total, sap_scratch* memory, sap_source_table* table,
                            double power[3]) {
    const sap_scene_data* scene = &p->scene;
    const int64_t triangles = p->file->mesh.triangle_count;
    int64_t most = (int64_t)p->lamp_count + 1;
    for (int pass = 0; pass < 2; pass++) {
        sap_source* sources = (sap_source*)(void*)memory->memory;
        int64_t count = 0;
        for (int32_t i = 0; i < p->lamp_count && pass; i++)
            sources[count++] = (sap_source){.kind = SAP_SOURCE_LAMP, .number = i};
        for (int64_t i = 0; i < triangles && scene->materials; i++) {
            const int32_t material = scene->material_ids[i];
            if (material < 0 || !(sap_largest(sap_vector_of(scene->materials[material].emission)) > 0)) continue;
            if (pass)
                sources[count++] = (sap_source){.kind = SAP_SOURCE_FACE, .number = (int32_t)i};
            else
                most++;
        }
        if (pass && scene->ambient > 0) sources[count++] = (sap_source){.kind = SAP_SOURCE_SKY};
        if (pass)
            table->count = (int32_t)count;
        else if (most > INT32_MAX || !sap_scratch_take(p->device, (size_t)most * sizeof(sap_source), memory))
            return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for %lld sources of light", (long long)most);
    }
    sap_source* sources = (sap_source*)(void*)memory->memory;
    double all = 0, sky = 0, one[3];
    for (int a = 0; a < 3; a++) power[a] = 0;
    for (int32_t i = 0; i < table->count; i++) {
        power_of(p, &sources[i], one, &sky);
        for (int a = 0; a < 3; a++) power[a] += one[a];
        all += largest(one);
        sources[i].until = all;
    }
    double before = 0;
    for (int32_t i = 0; i < table->count && all > 0; i++) {
        power_of(p, &sources[i], one, &sky);
        const double until = sources[i].until, part = (until - before) / all,
                     each = part > 0 ? 1 / (part * (double)total) : 0;
        if (sources[i].kind == SAP_SOURCE_SKY) one[0] = one[1] = one[2] = sky;
        sources[i].power = sap_vector_make((float)(one[0] * each), (float)(one[1] * each), (float)(one[2] * each));
        sources[i].until = i + 1 == table->count ? 1 : until / all;
        before = until;
    }
    if (!(all > 0)) table->count = 0;
    table->sources = sources;
    table->middle = p->middle;
    table->radius = (float)p->radius;
    return SAP_OK;
}
