// What sends photons, and where to: lamps, faces that shine, the sky.
#include "base/assert.h"
#include "render/lighting.h"
#include "render/photons/map.h"

#include <string.h>

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

// The power of a source, all ways, and in `sky` the factor of what a direction gives.
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

// The part of a source's power that goes to the target; seen from its middle.
static float part_of(const sap_picture* p, const sap_photon_aim* aim, const sap_source* source) {
    const sap_scene_data* scene = &p->scene;
    const float radius = (float)aim->radius;
    if (source->kind == SAP_SOURCE_LAMP)
        return sap_ball_cap(sap_minus(aim->middle, scene->lamps[source->number].position), radius) / 2;
    if (source->kind == SAP_SOURCE_FACE) {
        const sap_facet facet = sap_facet_of(scene->vertices, scene->triangles, source->number);
        const sap_hit middle = {.u = 1.0f / 3, .v = 1.0f / 3};
        const float cap = sap_ball_cap(sap_minus(aim->middle, sap_blend(facet.corners, &middle)), radius);
        return sap_face_aims(cap) ? cap : 1;
    }
    return (float)(aim->radius * aim->radius / (p->radius * p->radius));
}

static bool any_material(const sap_picture* p, bool (*holds)(const sap_material* material)) {
    bool any = false;
    for (int32_t i = 0; p->scene.materials && i < p->file->material_count; i++) any |= holds(&p->scene.materials[i]);
    return any;
}

static bool shines(const sap_material* m) { return sap_largest(sap_vector_of(m->emission)) > 0; }
static bool begins_caustics(const sap_material* m) { return sap_begins_caustics(m); }

// The ball around the box of all faces that mirror or are clear: false if there are none.
static bool surround_specular(const sap_picture* p, sap_photon_aim* aim) {
    const sap_scene_data* scene = &p->scene;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, middle[3];
    if (!any_material(p, begins_caustics)) return false;
    for (int64_t i = 0; i < 3 * p->file->mesh.triangle_count; i++) {
        const int32_t material = scene->material_ids[i / 3];
        if (material < 0 || !sap_begins_caustics(&scene->materials[material])) continue;
        const float* corner = scene->vertices + 3 * (int64_t)scene->triangles[i];
        for (int a = 0; a < 3; a++) {
            lower[a] = fmin(lower[a], (double)corner[a]);
            upper[a] = fmax(upper[a], (double)corner[a]);
        }
    }
    if (!(lower[0] <= upper[0])) return false;
    double d2 = 0;
    for (int a = 0; a < 3; a++) {
        middle[a] = (lower[a] + upper[a]) / 2;
        d2 += (upper[a] - lower[a]) * (upper[a] - lower[a]) / 4;
    }
    aim->middle = sap_vector_make((float)middle[0], (float)middle[1], (float)middle[2]);
    const double moved = (double)sap_largest_magnitude(aim->middle) * 0x1p-22; // by rounding it
    aim->radius = fmin(sqrt(d2) + moved, p->radius);
    return true;
}

// Fills in how likely each source is, and what its photons have. `sources` says which they are.
static void aim_sources(const sap_picture* p, sap_photon_aim* aim, sap_source* sources, int64_t count) {
    double all = 0, before = 0, sky = 0, one[3];
    for (int64_t i = 0; i < count; i++) {
        const float part = part_of(p, aim, &sources[i]);
        power_of(p, &sources[i], one, &sky);
        all += largest(one) * (double)part;
        sources[i].until = all;
        sources[i].aimed = part;
    }
    for (int64_t i = 0; i < count && all > 0; i++) {
        power_of(p, &sources[i], one, &sky);
        const double until = sources[i].until, part = (until - before) / all;
        const double each = part > 0 ? (double)sources[i].aimed / part : 0;
        if (sources[i].kind == SAP_SOURCE_SKY) one[0] = one[1] = one[2] = sky;
        sources[i].power = sap_vector_make((float)(one[0] * each), (float)(one[1] * each), (float)(one[2] * each));
        sources[i].until = i + 1 == count ? 1 : until / all;
        if (!(sources[i].aimed > 0)) sources[i].aimed = 1; // it has no power, and is divided by
        before = until;
    }
    aim->sources = sources;
    aim->count = all > 0 ? (int32_t)count : 0;
}

sap_status sap_sources_fill(sap_picture* p, sap_scratch* memory) {
    const sap_scene_data* scene = &p->scene;
    const int64_t triangles = any_material(p, shines) ? p->file->mesh.triangle_count : 0;
    int64_t most = (int64_t)p->lamp_count + 1, count = 0;
    for (int64_t i = 0; i < triangles; i++) most += sap_face_power(scene, (int32_t)i) > 0;
    if (most > INT32_MAX || !sap_scratch_take(p->device, 2 * (size_t)most * sizeof(sap_source), memory))
        return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for %lld sources of light", (long long)most);
    sap_source* sources = (sap_source*)(void*)memory->memory;
    for (int32_t i = 0; i < p->lamp_count; i++) sources[count++] = (sap_source){.kind = SAP_SOURCE_LAMP, .number = i};
    for (int64_t i = 0; i < triangles; i++)
        if (sap_face_power(scene, (int32_t)i) > 0)
            sources[count++] = (sap_source){.kind = SAP_SOURCE_FACE, .number = (int32_t)i};
    if (scene->ambient > 0) sources[count++] = (sap_source){.kind = SAP_SOURCE_SKY};
    double sky = 0, one[3];
    for (int64_t i = 0; i < count; i++) {
        power_of(p, &sources[i], one, &sky);
        for (int a = 0; a < 3; a++) p->source_power[a] += one[a];
    }
    p->aims[SAP_AIM_SCENE] = (sap_photon_aim){.middle = p->middle, .radius = p->radius};
    memcpy(sources + count, sources, (size_t)count * sizeof *sources);
    aim_sources(p, &p->aims[SAP_AIM_SCENE], sources, count);
    if (surround_specular(p, &p->aims[SAP_AIM_CAUSTICS]))
        aim_sources(p, &p->aims[SAP_AIM_CAUSTICS], sources + count, count);
    return SAP_OK;
}
