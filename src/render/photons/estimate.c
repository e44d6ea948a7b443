// The light of photons at points: their nearest ones, of which those on the right side count.
#include "base/assert.h"
#include "base/team.h"
#include "device/reserved.h"
#include "render/photons/map.h"
#include "sapwood/points.h"

#include <string.h>

enum { ROOM = 1 << 20, CHUNK = 1 << 14, GRAIN = 64 };

// A number of points whose rows of nearest photons are here.
typedef struct look {
    const sap_photons* map;
    const sap_photon_search* search;
    sap_points points;    // all
    const float* normals; // of all
    float* light;
    const int32_t* which; // [count] of the points
    float* coords;        // [3*count] theirs
    int64_t count;
    int64_t want;           // photons in a row
    bool all;               // rows hold all photons that may count
    const int64_t* offsets; // of rows; NULL: each has `want`
    const int32_t* ids;
    const float* distance2;
    uint8_t* open; // [count] whether a longer row is needed
} look;

static double part_of(const sap_photon_search* search) { return search->shrink > 0 ? (double)search->shrink : 1; }

static void estimate_row(look* l, int64_t row) {
    const int64_t point = l->which[row], from = l->offsets ? l->offsets[row] : row * l->want,
                  end = l->offsets ? l->offsets[row + 1] : from + l->want;
    const float* normal = l->normals + 3 * point;
    const int32_t k = l->search->k;
    int64_t counted = 0, last;
    double radius2 = (double)(l->search->radius * l->search->radius), farthest = 0;
    bool full = false;
    for (last = from; last < end && l->ids[last] >= 0; last++) {
        if (!sap_photon_counts(&l->map->photons[l->ids[last]], normal)) continue;
        farthest = (double)l->distance2[last];
        if (k && counted == k) {
            full = true;
            break;
        }
        counted++;
    }
    l->open[row] = !full && last == end && !l->all;
    if (l->open[row]) return;
    if (full || l->search->radius == 0) radius2 = farthest;
    radius2 *= part_of(l->search);
    float* light = l->light + 3 * point;
    if (!(radius2 > 0) || !isfinite(radius2)) return;
    double sum[3] = {0, 0, 0};
    for (int64_t i = from; i < last; i++) {
        const sap_photon* photon = &l->map->photons[l->ids[i]];
        if ((double)l->distance2[i] > radius2) break;
        if (!sap_photon_counts(photon, normal)) continue;
        const double weight = sap_photon_weight((int)l->search->filter, (double)l->distance2[i], radius2);
        for (int a = 0; a < 3; a++) sum[a] += weight * (double)photon->power[a];
    }
    for (int a = 0; a < 3; a++) light[a] = (float)(sum[a] / (SAP_PI * radius2));
}

static void estimate_range(void* context, int64_t from, int64_t to, int32_t worker) {
    (void)worker;
    for (int64_t i = from; i < to; i++) estimate_row(context, i);
}

static sap_points chosen(look* l) {
    const int64_t stride = l->points.stride ? l->points.stride : 3;
    for (int64_t i = 0; i < l->count; i++)
        memcpy(l->coords + 3 * i, l->points.coords + l->which[i] * stride, 3 * sizeof(float));
    return (sap_points){.coords = l->coords, .count = l->count, .dims = 3};
}

// All photons within the radius.
static sap_status look_within(look* l) {
    sap_neighbors* found = NULL;
    const double part = part_of(l->search), radius = (double)l->search->radius;
    // Photons at the edge are told apart by their squared distances.
    const sap_search search = {.radius = part < 1 ? radius * sqrt(part) * (1 + 0x1p-20) : radius, .sorted = true};
    sap_status status = sap_radius_search(l->map->tree, chosen(l), &search, &found);
    if (status == SAP_OK) {
        l->all = true;
        l->offsets = found->offsets;
        l->ids = found->ids;
        l->distance2 = found->distance2;
        sap_team_loop(l->map->device->options.threads, l->count, GRAIN, estimate_range, l);
    }
    sap_neighbors_free(found);
    return status;
}

static sap_status look_nearest(look* l, int32_t* ids, float* distance2) {
    const sap_search search = {.k = (int32_t)l->want, .radius = (double)l->search->radius};
    sap_status status = sap_nearest(l->map->tree, chosen(l), &search, ids, distance2);
    l->ids = ids;
    l->distance2 = distance2;
    if (status == SAP_OK) sap_team_loop(l->map->device->options.threads, l->count, GRAIN, estimate_range, l);
    return status;
}

// Looks up the points of which[0 … all - 1]; those that need longer rows stay in `which`, *all of them.
static sap_status look_all(look* l, int32_t* which, int64_t* all, int64_t chunk, int32_t* ids, float* distance2) {
    int64_t left = 0;
    sap_status status = SAP_OK;
    for (int64_t from = 0; from < *all && status == SAP_OK; from += chunk) {
        l->which = which + from;
        l->count = *all - from < chunk ? *all - from : chunk;
        status = l->search->k ? look_nearest(l, ids, distance2) : look_within(l);
        for (int64_t i = 0; i < l->count && status == SAP_OK; i++)
            if (l->open[i]) which[left++] = which[from + i];
    }
    *all = left;
    return status;
}

static sap_status look_rounds(look* l) {
    sap_device* device = l->map->device;
    const int64_t n = l->map->info.count, k = l->search->k, first = k + 1 + k / 4;
    sap_scratch list = {0}, rows = {0};
    sap_status status = SAP_OK;
    if (!sap_scratch_take(device, (size_t)l->points.count * sizeof(int32_t) + 1, &list))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)l->points.count);
    int32_t* which = (int32_t*)(void*)list.memory;
    int64_t left = l->points.count;
    for (int64_t i = 0; i < left; i++) which[i] = (int32_t)i;
    for (int64_t want = first; left && status == SAP_OK; want *= 4) {
        l->want = want < n ? want : n;
        l->all = l->want == n;
        int64_t chunk = ROOM / l->want < 1 ? 1 : ROOM / l->want < CHUNK ? ROOM / l->want : CHUNK;
        if (chunk > left) chunk = left;
        const size_t entries = (size_t)(chunk * l->want), bytes = entries * 8 + (size_t)chunk * 13;
        if (!sap_scratch_take(device, bytes, &rows)) {
            status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for rows of %lld photons", (long long)l->want);
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

sap_status sap_photon_search_check(const sap_device* device, const sap_photon_search* search) {
    if (search->k < 0 || (search->k == 0 && !(search->radius > 0)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: negative, or 0 without a radius");
    if (!(search->radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: negative or NaN");
    if (!(search->shrink >= 0 && search->shrink <= 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.shrink: not in 0…1");
    if ((int)search->filter < 0 || search->filter > SAP_PHOTON_EPANECHNIKOV)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.filter: unknown");
    return sap_reserved_check(device, search->reserved, "search");
}

sap_status sap_photons_estimate(const sap_photons* photons, sap_points points, const float* normals,
                                const sap_photon_search* search, float* light) {
    if (!photons) return SAP_ERROR_ARGUMENT;
    const sap_device* device = photons->device;
    if (!search || points.count < 0 || (points.count && (!points.coords || !normals || !light)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points, normals, search or light: NULL, or fewer than 0");
    if (points.count > INT32_MAX) return sap_fail(device, SAP_ERROR_RANGE, "points: more than 2^31-1");
    if (points.dims != 3 || (points.stride && points.stride < 3))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points: must have 3 coordinates");
    sap_status status = sap_photon_search_check(device, search);
    if (status != SAP_OK || points.count == 0) return status;
    memset(light, 0, (size_t)points.count * 3 * sizeof *light);
    if (photons->info.count == 0) return SAP_OK;
    look l = {.map = photons, .search = search, .points = points, .normals = normals, .light = light};
    return look_rounds(&l);
}
