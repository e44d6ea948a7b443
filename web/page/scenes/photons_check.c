// Brute force over the photons of the scene Photons: the light at some places that the picture shows, bit by bit.
#include "photons.h"
#include <math.h>
#include <stdlib.h>

typedef struct candidate {
    float distance2;
    int32_t id;
} candidate;

static bool is_before(candidate a, candidate b) {
    return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.id < b.id);
}

static int in_order(const void* a, const void* b) {
    return is_before(*(const candidate*)a, *(const candidate*)b) ? -1 : 1;
}

static float along(const float* a, const float* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Keeps the `most` first in a heap whose top comes last.
static void consider(candidate* heap, int32_t* count, int32_t most, candidate c) {
    int32_t at;
    if (*count < most) {
        for (at = (*count)++; at > 0 && is_before(heap[(at - 1) / 2], c); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
    } else if (is_before(c, heap[0])) {
        at = 0;
        for (int32_t child; (child = 2 * at + 1) < most; at = child) {
            if (child + 1 < most && is_before(heap[child], heap[child + 1])) child++;
            if (!is_before(c, heap[child])) break;
            heap[at] = heap[child];
        }
    } else {
        return;
    }
    heap[at] = c;
}

// The light that all photons say falls on a place.
static void brute_force(const photons_swarm* s, const sap_photon_search* search, const float* at, const float* normal,
                        candidate* heap, float light[3]) {
    const int32_t k = search->k;
    const double within2 = (double)search->radius * (double)search->radius;
    int32_t count = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const sap_photon* p = &s->photons[i];
        const float x = at[0] - p->position[0], y = at[1] - p->position[1], z = at[2] - p->position[2];
        const candidate c = {x * x + y * y + z * z, (int32_t)i};
        if (within2 > 0 && (double)c.distance2 > within2) continue;
        if (along(p->direction, normal) < 0 && along(p->normal, normal) > 0) consider(heap, &count, k + 1, c);
    }
    qsort(heap, (size_t)count, sizeof *heap, in_order);
    const bool full = count > k;
    const float given = search->radius * search->radius;
    const double farthest = count ? (double)heap[full ? k : count - 1].distance2 : 0,
                 radius2 = full || !(search->radius > 0) ? farthest : (double)given;
    double sum[3] = {0, 0, 0};
    for (int32_t i = 0; i < (full ? k : count); i++) {
        const double part = (double)heap[i].distance2 / radius2;
        const double weight = search->filter == SAP_PHOTON_CONE           ? 3 * (1 - sqrt(part))
                              : search->filter == SAP_PHOTON_EPANECHNIKOV ? 2 * (1 - part)
                                                                          : 1;
        for (int a = 0; a < 3; a++) sum[a] += weight * (double)s->photons[heap[i].id].power[a];
    }
    for (int a = 0; a < 3; a++) light[a] = radius2 > 0 ? (float)(sum[a] / (3.141592653589793 * radius2)) : 0;
}

static sap_status compare(const double* asked, const photons_places* places, double* right, double* photons) {
    const sap_photon_search search = photons_search(asked);
    const sap_points points = {places->points, places->count, 3, 0};
    candidate* heap = malloc(((size_t)search.k + 1) * sizeof *heap);
    float* light = malloc((size_t)places->count * 12 + 12);
    bool* same = malloc((size_t)places->count + 1);
    sap_status status = heap && light && same ? SAP_OK : photons_no_memory();
    for (int64_t p = 0; p < places->count && status == SAP_OK; p++) same[p] = true;
    for (int i = 0; i < 3 && status == SAP_OK; i++) {
        const photons_swarm* s = &photons_kept.swarms[i];
        if (!photons_asks(asked, i)) continue;
        status = sap_photons_estimate(s->map, points, places->normals, &search, light);
        *photons += (double)s->count;
        for (int64_t p = 0; p < places->count && status == SAP_OK; p++) {
            float truth[3];
            brute_force(s, &search, places->points + 3 * p, places->normals + 3 * p, heap, truth);
            for (int a = 0; a < 3; a++) same[p] = same[p] && truth[a] == light[3 * p + a];
        }
    }
    for (int64_t p = 0; p < places->count && status == SAP_OK; p++) *right += same[p];
    free(heap);
    free(light);
    free(same);
    return status;
}

// Compares the light at what some pixels show with brute force (photons_light; photons_checked).
PAGE_EXPORT sap_status job_photons_check(page_job* job) {
    photons_places places = {0};
    double right = 0, photons = 0;
    if (!photons_here.tree || !(photons_kept.share > 0)) return photons_there_is_none();
    sap_status status = photons_plant(job->number, &photons_kept);
    if (status == SAP_OK) status = photons_look(job->number, job->in[0], (int32_t)(job->in_bytes[0] / 8), &places);
    if (status == SAP_OK) status = compare(job->number, &places, &right, &photons);
    job->number[PHOTONS_CHECKED_PLACES] = (double)places.count;
    job->number[PHOTONS_CHECKED_RIGHT] = right;
    job->number[PHOTONS_CHECKED_PHOTONS] = photons;
    photons_places_free(&places);
    return status;
}
