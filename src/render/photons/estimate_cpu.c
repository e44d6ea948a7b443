// The light of photons at points on the CPU: their nearest ones, of which those on the right side count.
#include "base/team.h"
#include "device/progress.h"
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
    sap_progress_state progress;
} look;

// After so many points are done. Calls with few points report nothing.
static sap_status tell(look* l, int64_t done) {
    if (l->points->count <= SAP_NEAR_FEW || sap_progress_add(&l->progress, done)) return SAP_OK;
    return sap_fail(l->map->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

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
    sap_progress_mute(true);
    const sap_status status = sap_radius_search(l->map->tree, chosen(l), &search, &found);
    sap_progress_mute(false);
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

// The same for as many points at a time as rows have room for, and one at least. counts[count] is scratch memory.
static sap_status look_within_room(look* l, int64_t* counts) {
    look some = *l;
    sap_progress_mute(true);
    sap_status status = sap_radius_count(l->map->tree, chosen(&some), sap_photon_reach(&l->rows.search), counts);
    sap_progress_mute(false);
    for (int64_t from = 0, to; from < l->count && status == SAP_OK; from = to) {
        int64_t entries = counts[from];
        for (to = from + 1; to < l->count && entries + counts[to] <= ROOM; to++) entries += counts[to];
        some.rows.which = l->rows.which + from;
        some.open = l->open + from;
        some.count = to - from;
        status = look_within(&some);
        if (status == SAP_OK) status = tell(l, some.count);
    }
    return status;
}

static sap_status look_nearest(look* l, int32_t* ids, float* distance2) {
    const sap_search search = {.k = (int32_t)l->rows.want, .radius = (double)l->rows.search.radius};
    int64_t done = 0;
    sap_progress_mute(true);
    const sap_status status = sap_nearest(l->map->tree, chosen(l), &search, ids, distance2);
    sap_progress_mute(false);
    if (status != SAP_OK) return status;
    l->rows.ids = ids;
    l->rows.distance2 = distance2;
    sap_team_loop(l->map->device->options.threads, l->count, GRAIN, estimate_range, l);
    for (int64_t i = 0; i < l->count; i++) done += !l->open[i];
    return tell(l, done);
}

// Looks up the points of which[0 … all - 1]; those that need longer rows stay in `which`, *all of them.
static sap_status look_all(look* l, int32_t* which, int64_t* all, int64_t chunk, unsigned char* memory) {
    const size_t entries = (size_t)(chunk * l->rows.want);
    int32_t* ids = (int32_t*)(void*)memory;
    float* distance2 = (float*)(void*)(ids + entries);
    int64_t* counts = (int64_t*)(void*)memory; // without k: in place of rows of one
    l->coords = distance2 + entries;
    l->open = (uint8_t*)(l->coords + 3 * chunk);
    int64_t left = 0;
    sap_status status = SAP_OK;
    for (int64_t from = 0; from < *all && status == SAP_OK; from += chunk) {
        l->rows.which = which + from;
        l->count = *all - from < chunk ? *all - from : chunk;
        status = l->rows.search.k ? look_nearest(l, ids, distance2) : look_within_room(l, counts);
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
        const size_t bytes = (size_t)(chunk * l->rows.want) * 8 + (size_t)chunk * 13;
        if (!sap_scratch_take(device, bytes, &rows)) {
            status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for rows of %lld photons", (long long)l->rows.want);
            break;
        }
        status = look_all(l, which, &left, chunk, rows.memory);
        sap_scratch_give(device, &rows);
    }
    sap_scratch_give(device, &list);
    return status;
}

// Points in the order of space with short rows first, then those that need other ways.
static sap_status look_near(look* l) {
    sap_scratch scratch = {0};
    uint8_t* open;
    sap_status status = sap_near_estimate(l->map, l->points, &l->rows, &l->progress, &scratch, &open);
    if (status == SAP_OK && open && !l->progress.cancelled) status = look_rounds(l, open);
    sap_scratch_give(l->map->device, &scratch);
    return status;
}

sap_status sap_photons_estimate_cpu(const sap_photons* map, const sap_points* points, const float* normals,
                                    const sap_photon_search* search, float* light) {
    const bool near = map->sides && search->k <= SAP_NEAR_MOST, many = points->count > SAP_NEAR_FEW;
    look l = {.map = map, .points = points};
    if (near && search->k) return sap_photons_nearest_cpu(map, points, normals, search, light);
    memset(light, 0, (size_t)points->count * 3 * sizeof *light);
    if (map->info.count == 0) return SAP_OK;
    l.rows = (sap_photon_rows){.photons = map->photons, .search = *search, .normals = normals, .light = light};
    // Without k all points may be gone through twice.
    l.progress = sap_progress_begin(map->device, (near && many ? 2 : 1) * points->count);
    const sap_status status = near ? look_near(&l) : look_rounds(&l, NULL);
    if (status != SAP_OK || !many || sap_progress_finish(&l.progress)) return status;
    return sap_fail(map->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}
