// Photons of the scene Photons, told: the way of one, the tree of the global map, and a search in it, as the library makes
// it to find the light at a place.
#include "photons.h"
#include "render/photons/map.h"
#include "tree/layout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BOUNCES = 17, PLANES = 31 };

// How many surfaces a photon has met, if it met dull ones alone: `at` is its first stop.
static int64_t stops_from(const photons_swarm* s, int64_t at) {
    int64_t n = 0;
    while (at + n < s->count && s->photons[at + n].number == s->photons[at].number && s->photons[at + n].bounce == n)
        n++;
    return n;
}

// The way of the photon with the most stops, from the lamp on; and how many landed after so many surfaces.
static sap_status tell_ways(page_job* job, const photons_swarm* s) {
    int64_t longest = 0, best = 0;
    double landed[MOST_BOUNCES] = {0};
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t n = stops_from(s, i);
        if (n > longest) {
            longest = n;
            best = i;
        }
        landed[s->photons[i].bounce < MOST_BOUNCES ? s->photons[i].bounce : MOST_BOUNCES - 1]++;
    }
    double* to = page_answer(job, (size_t)(longest + 1) * PHOTONS_STOP_FIELDS * sizeof *to);
    double* all = to ? page_answer(job, sizeof landed) : NULL;
    if (!all) return SAP_ERROR_MEMORY;
    memcpy(all, landed, sizeof landed);
    for (int64_t n = 0; n <= longest; n++, to += PHOTONS_STOP_FIELDS) {
        const sap_photon* p = &s->photons[best + (n ? n - 1 : 0)];
        for (int a = 0; a < 3; a++) {
            to[PHOTONS_STOP_X + a] = (double)(n ? p->position : photons_here.lamp.position)[a];
            to[PHOTONS_STOP_RED + a] = (double)p->power[a];
        }
    }
    return SAP_OK;
}

static sap_status tell_planes(page_job* job, const sap_tree* tree) {
    sap_tree_info info;
    sap_status status = sap_tree_describe(tree, &info);
    if (status != SAP_OK) return status;
    const int32_t behind = info.depth < 5 ? 1 << info.depth : PLANES + 1;
    double(*row)[PHOTONS_PLANE_FIELDS] = page_answer(job, (size_t)(behind - 1) * sizeof *row);
    if (!row) return SAP_ERROR_MEMORY;
    for (int32_t node = 1; node < behind; node++) {
        double* to = row[node - 1];
        const double* above = row[node / 2 - (node > 1)];
        const int axis = (tree->arrays + tree->shape.axis_at)[node];
        memcpy(to + PHOTONS_PLANE_LOWER, node > 1 ? above + PHOTONS_PLANE_LOWER : info.lower, 3 * sizeof *to);
        memcpy(to + PHOTONS_PLANE_UPPER, node > 1 ? above + PHOTONS_PLANE_UPPER : info.upper, 3 * sizeof *to);
        if (node > 1)
            to[(node % 2 ? PHOTONS_PLANE_LOWER : PHOTONS_PLANE_UPPER) + (int)above[PHOTONS_PLANE_AXIS]] =
                above[PHOTONS_PLANE_SPLIT];
        to[PHOTONS_PLANE_AXIS] = axis;
        to[PHOTONS_PLANE_SPLIT] = (double)((const float*)(const void*)(tree->arrays + tree->shape.split_at))[node];
    }
    job->number[PHOTONS_TOLD_DEPTH] = info.depth;
    job->number[PHOTONS_TOLD_LEAVES] = (double)info.leaves;
    return SAP_OK;
}

static bool counts(const sap_photon* p, const float* normal) {
    float way = 0, side = 0;
    for (int a = 0; a < 3; a++) {
        way += p->direction[a] * normal[a];
        side += p->normal[a] * normal[a];
    }
    return way < 0 && side > 0;
}

// The k nearest photons that count at a place, and the light there.
static sap_status gather(page_job* job, const photons_swarm* s, const sap_photon_search* search, const float* at,
                         const float* normal) {
    const sap_points point = {at, 1, 3, 0};
    const int32_t k = search->k, all = (int32_t)s->count;
    const double radius = (double)search->radius;
    sap_search_stats stats;
    double limit2 = radius * radius;
    int32_t* ids = malloc((size_t)all * 4);
    float *distance2 = malloc((size_t)all * 4), *places = page_answer(job, (size_t)k * 12), light[3];
    sap_status status = ids && distance2 && places ? SAP_OK : photons_no_memory();
    int32_t found = 0;
    bool full = false;
    // Those that do not count make a longer row necessary.
    for (int32_t want = k + 1; status == SAP_OK && !full; want *= 4) {
        if (want > all) want = all;
        stats = (sap_search_stats){0};
        status = sap_nearest(s->map->tree, point,
                             &(sap_search){.k = want, .radius = radius, .walk = SAP_WALK_STACK, .stats = &stats}, ids,
                             distance2);
        found = 0;
        for (int32_t i = 0; i < want && ids[i] >= 0 && status == SAP_OK && !full; i++) {
            const sap_photon* p = &s->photons[ids[i]];
            if (!counts(p, normal)) continue;
            full = found == k;
            if (full)
                limit2 = (double)distance2[i];
            else
                memcpy(places + 3 * (int64_t)found++, p->position, 12);
        }
        if (want == all || ids[want - 1] < 0) break;
    }
    if (status == SAP_OK) status = sap_photons_estimate(s->map, point, normal, search, light);
    free(ids);
    free(distance2);
    if (status != SAP_OK) return status;
    job->out_bytes[PHOTONS_TOLD_BUFFER_FOUND] = (uint32_t)found * 12;
    double* number = job->number;
    number[PHOTONS_TOLD_RADIUS] = sqrt(limit2);
    number[PHOTONS_TOLD_SEEN_NODES] = (double)stats.nodes;
    number[PHOTONS_TOLD_SEEN_LEAVES] = (double)stats.leaves;
    number[PHOTONS_TOLD_SEEN_PHOTONS] = (double)stats.points;
    for (int a = 0; a < 3; a++) {
        number[PHOTONS_TOLD_X + a] = (double)at[a];
        number[PHOTONS_TOLD_NORMAL_X + a] = (double)normal[a];
        number[PHOTONS_TOLD_RED + a] = (double)light[a];
    }
    return SAP_OK;
}

// (photons_tell; photons_told, photons_told_buffer)
PAGE_EXPORT sap_status job_photons_told(page_job* job) {
    const photons_swarm* s = &photons_kept.swarms[PHOTONS_GLOBAL];
    double asked[PAGE_MOST_NUMBERS];
    memcpy(asked, job->number, sizeof asked);
    memset(job->number, 0, sizeof asked);
    if (photons_kept.share < 1 || !s->count) return SAP_OK;
    const float at[2] = {(float)asked[PHOTONS_TELL_X] + 0.5f, (float)asked[PHOTONS_TELL_Y] + 0.5f};
    const sap_photon_search search = photons_search(asked);
    photons_places places = {0};
    asked[PHOTONS_LIGHT_RAYS] = 0; // of all photons of the map
    asked[PHOTONS_LIGHT_MAPS] = PHOTONS_MAP_GLOBAL;
    sap_status status = photons_plant(asked, &photons_kept);
    if (status == SAP_OK) status = tell_ways(job, s);
    if (status == SAP_OK) status = tell_planes(job, s->map->tree);
    if (status == SAP_OK) status = photons_look(asked, at, 1, &places);
    if (status == SAP_OK && places.count) status = gather(job, s, &search, places.points, places.normals);
    photons_places_free(&places);
    job->number[PHOTONS_TOLD_PHOTONS] = (double)s->count;
    job->number[PHOTONS_TOLD_PASS] = photons_sum.pass;
    job->number[PHOTONS_TOLD_PART] = sap_photon_radius(1, photons_sum.pass);
    job->number[PHOTONS_TOLD_CHANGED] = photons_sum.light > 0 ? photons_sum.changed / photons_sum.light : 0;
    return status;
}
