// The light of photons at points on the CPU: their nearest ones, of which those on the right side count.
#include "base/team.h"
#include "render/photons/near.h"
#include "render/photons/swarm.h"
#include "sapwood/points.h"

#include <string.h>

enum { ROOM = 1 << 20, CHUNK = 1 << 14, GRAIN = 64 };

// Points whose rows of nearest photons are looked up together.
typedef struct look {
    const sap_photons* map;
    const sap_points* points; // all
    sap_photon_rows rows;
    float* coords; // [3*count] of the points in `rows`
    uint8_t* open; // [count] whether a longer row is needed
    int64_t count;
} look;

static void estimate_range(void* context, int64_t from, int64_t to, int32_t worker) {
    (void)worker;
    look* l = context;
    for (int64_t i = from; i < to; i++) l->open[i] = !sap_photon_row(&l->rows, i);
}

static sap_points chosen(look* l) {
    for (int64_t i = 0; i < l->count; i++)
        memcpy(l->coords + 3 * i, l->points->coords + l->rows.which[i] * l->points->stride, 3 * sizeof(float));
    return (sap_points){.coords = l->coords, .count = l->count, .dims = 3};
}

// All photons within the radius.
static sap_status look_within(look* l) {
    sap_neighbors* found = NULL;
    const sap_search search = {.radius = sap_photon_reach(&l->rows.search), .sorted = true};
    sap_status status = sap_radius_search(l->map->tree, chosen(l), &search, &found);
    if (status == SAP_OK) {
        l->rows.all = true;
        l->rows.offsets = found->offsets;
        l->rows.ids = found->ids;
        l->rows.distance2 = found->distance2;
        sap_team_loop(l->map->device->options.threads, l->count, GRAIN, estimate_range, l);
    }
    sap_neighbors_free(found);
    return status;
}

static sap_status look_nearest(look* l, int32_t* ids, float* distance2) {
    const sap_search search = {.k = (int32_t)l->rows.want, .radius = (double)l->rows.search.radius};
    sap_status status = sap_nearest(l->map->tree, chosen(l), &search, ids, distance2);
    l->rows.ids = ids;
    l->rows.distance2 = distance2;
    if (status == SAP_OK) sap_team_loop(l->map->device->options.threads, l->count, GRAIN, estimate_range, l);
    return status;
}

// Looks up the points of which[0 … all - 1]; those that need longer rows stay in `which`, *all of them.
static sap_status look_all(look* l, int32_t* which, int64_t* all, int64_t chunk, int32_t* ids, float* distance2) {
    int64_t left = 0;
    sap_status status = SAP_OK;
    for (int64_t from = 0; from < *all && status == SAP_OK; from += chunk) {
        l->rows.which = which + from;
        l->count = *all - from < chunk ? *all - from : chunk;
        status = l->rows.search.k ? look_nearest(l, ids, distance2) : look_within(l);
        for (int64_t i = 0; i < l->count && status == SAP_OK; i++)
            if (l->open[i]) which[left++] = which[from + i];
    }
    *all = left;
    return status;
}

// `open` says which points to look up; NULL: all.
static sap_status look_rounds(look* l, const uint8_t* open) {
    sap_device* device = l->map->device;
    const int64_t n = l->map->info.count, k = l->rows.search.k, first = k + 1 + k / 4;
    sap_scratch list = {0}, rows = {0};
    sap_status status = SAP_OK;
    if (!sap_scratch_take(device, (size_t)l->points->count * sizeof(int32_t) + 1, &list))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)l->points->count);
    int32_t* which = (int32_t*)(void*)list.memory;
    int64_t left = 0;
    for (int64_t i = 0; i < l->points->count; i++)
        if (!open || open[i]) which[left++] = (int32_t)i;
    for (int64_t want = first; left && status == SAP_OK; want *= 4) {
        l->rows.want = want < n ? want : n;
        l->rows.all = l->rows.want == n;
        int64_t chunk = ROOM / l->rows.want < 1 ? 1 : ROOM / l->rows.want < CHUNK ? ROOM / l->rows.want : CHUNK;
        if (chunk > left) chunk = left;
        const size_t entries = (size_t)(chunk * l->rows.want), bytes = entries * 8 + (size_t)chunk * 13;
        if (!sap_scratch_take(device, bytes, &rows)) {
            status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for rows of %lld photons", (long long)l->rows.want);
            break;
        }
        int32_t* ids = (int32_t*)(void*)rows.memory;
        float* distance2 = (float*)(void*)(ids + entries);
        l->coords = distance2 + entries;
        l->open = (uint8_t*)(l->coords + 3 * chunk);
        status = look_all(l, which, &left, chunk, ids, distance2);
        sap_scratch_give(device, &rows);
    }
    sap_scratch_give(device, &list);
    return status;
}

sap_status sap_photons_estimate_cpu(const sap_photons* map, const sap_points* points, const float* normals,
                                    const sap_photon_search* search, float* light) {
    look l = {.map = map, .points = points};
    memset(light, 0, (size_t)points->count * 3 * sizeof *light);
    if (map->info.count == 0) return SAP_OK;
    l.rows = (sap_photon_rows){.photons = map->photons, .search = *search, .normals = normals, .light = light};
    if (!map->sides || search->k > SAP_NEAR_MOST) return look_rounds(&l, NULL);
    sap_scratch scratch = {0};
    uint8_t* open;
    sap_status status = sap_near_estimate(map, points, &l.rows, &scratch, &open);
    if (status == SAP_OK && open) status = look_rounds(&l, open);
    sap_scratch_give(map->device, &scratch);
    return status;
}
