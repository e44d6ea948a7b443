// The light of photon maps on the surfaces that paths have hit.
#include "base/assert.h"
#include "render/photons/swarm.h"

// The surfaces that a map lights, put together.
typedef struct lit_points {
    float *points, *normals, *light; // [3*count] each
    int32_t* paths;                  // [count] whose surfaces they are
    int64_t count;
} lit_points;

// Bytes of an array of three floats for each of so many paths.
static size_t row_of(int64_t room) { return sap_align((size_t)room * 3 * sizeof(float)); }

static void lay_out(lit_points* lit, int64_t room, unsigned char* memory) {
    const size_t row = row_of(room);
    lit->points = (float*)(void*)memory;
    lit->normals = (float*)(void*)(memory + row);
    lit->light = (float*)(void*)(memory + 2 * row);
    lit->paths = (int32_t*)(void*)(memory + 3 * row);
}

static void collect(const sap_picture* picture, bool by_caustics, lit_points* lit) {
    const sap_wavefront* w = &picture->wavefront;
    lit->count = 0;
    for (int64_t i = 0; i < w->live; i++) {
        const sap_surface* surface = &w->surfaces[i];
        if (!sap_is_lit(&picture->scene, surface, by_caustics)) continue;
        sap_vector_put(surface->point, lit->points + 3 * lit->count);
        sap_vector_put(surface->normal, lit->normals + 3 * lit->count);
        lit->paths[lit->count++] = (int32_t)i;
    }
}

static sap_status add_map(sap_picture* picture, const sap_photons* map, lit_points* lit) {
    const sap_wavefront* w = &picture->wavefront;
    if (map->info.count == 0) return SAP_OK;
    collect(picture, map == picture->caustics, lit);
    const sap_points points = {.coords = lit->points, .count = lit->count, .dims = 3};
    sap_status status = sap_photons_estimate(map, points, lit->normals, &picture->lighting.search, lit->light);
    for (int64_t i = 0; i < lit->count && status == SAP_OK; i++) {
        const int32_t path = lit->paths[i];
        SAP_ASSERT(w->paths[path].slot >= 0 && w->paths[path].slot < w->room);
        sap_add_irradiance(&w->surfaces[path], lit->light + 3 * i, &w->found[w->paths[path].slot]);
    }
    return status;
}

sap_status sap_lighting_add_cpu(sap_picture* picture) {
    lit_points lit;
    sap_scratch memory = {0};
    const int64_t room = picture->wavefront.live;
    if (!sap_scratch_take(picture->device, 3 * row_of(room) + (size_t)room * sizeof(int32_t), &memory))
        return sap_fail(picture->device, SAP_ERROR_MEMORY, "no memory for the light of photons");
    lay_out(&lit, room, memory.memory);
    sap_status status = add_map(picture, picture->caustics, &lit);
    if (status == SAP_OK) status = add_map(picture, picture->global, &lit);
    sap_scratch_give(picture->device, &memory);
    return status;
}
