// One point of a scan that relaxes, in the worker: its neighbours, its normal, and where the next step takes it, each by the call
// that the steps themselves make.
#include "cloud.h"
#include "space_fields.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The point that is seen along a ray: of those within a spacing of it the one in front, else the one nearest to the ray.
static int64_t find(const double eye[3], const double direction[3]) {
    const cloud_work* w = &cloud_here;
    double length2 = 0, front = INFINITY, least = INFINITY;
    int64_t seen = -1, beside = -1;
    for (int a = 0; a < 3; a++) length2 += direction[a] * direction[a];
    for (int64_t i = 0; i < w->given.count; i++) {
        double along = 0, away2 = 0;
        for (int a = 0; a < 3; a++) along += ((double)w->now[3 * i + a] - eye[a]) * direction[a] / length2;
        for (int a = 0; a < 3; a++) {
            const double off = (double)w->now[3 * i + a] - eye[a] - along * direction[a];
            away2 += off * off;
        }
        if (away2 <= w->spacing * w->spacing && along < front) {
            front = along;
            seen = i;
        }
        if (away2 < least) {
            least = away2;
            beside = i;
        }
    }
    return seen >= 0 ? seen : beside;
}

// Where a step would take a point, along the plane of its neighbours.
static sap_status find_move(const double* force, int64_t id, double* move) {
    const cloud_work* w = &cloud_here;
    const double radius = force[CLOUD_FORCE_RADIUS] * w->spacing;
    const sap_relax_options options = {.k = radius > 0 ? 0 : (int32_t)force[CLOUD_FORCE_K],
                                       .radius = radius,
                                       .step = force[CLOUD_FORCE_STRENGTH],
                                       .is_free = true};
    float* moved = malloc((size_t)w->given.count * 12 + 12);
    sap_relax_info info = {.steps = 0};
    if (!moved) return cloud_no_memory();
    const sap_status status =
        sap_cloud_relax(page_cpu(), (sap_points){w->now, w->given.count, 3, 0}, &options, moved, NULL, &info);
    for (int a = 0; a < 3 && status == SAP_OK; a++) move[a] = (double)moved[3 * id + a] - (double)w->now[3 * id + a];
    free(moved);
    return status;
}

// How far neighbours lie from the plane through their middle.
static double off_plane(const float* places, int32_t count, const float* normal) {
    double mean[3] = {0, 0, 0}, sum = 0;
    for (int32_t i = 0; i < 3 * count; i++) mean[i % 3] += (double)places[i] / count;
    for (int32_t i = 0; i < count; i++) {
        double off = 0;
        for (int a = 0; a < 3; a++) off += ((double)places[3 * i + a] - mean[a]) * (double)normal[a];
        sum += off * off;
    }
    return sqrt(sum / count);
}

static sap_status tell(page_job* job, int64_t id, int32_t k) {
    const cloud_work* w = &cloud_here;
    int32_t ids[64];
    float distance2[64];
    float* places = page_answer(job, (size_t)k * 12);
    if (!places) return SAP_ERROR_MEMORY;
    const sap_status status =
        sap_nearest(w->around, (sap_points){w->now + 3 * id, 1, 3, 0}, &(sap_search){.k = k}, ids, distance2);
    if (status != SAP_OK) return status;
    for (int32_t i = 0; i < k; i++) memcpy(places + 3 * (size_t)i, w->now + 3 * (int64_t)ids[i], 12);
    double* number = job->number;
    number[CLOUD_POINT_ID] = (double)id;
    for (int a = 0; a < 3; a++) {
        number[CLOUD_POINT_X + a] = (double)w->now[3 * id + a];
        number[CLOUD_POINT_NORMAL_X + a] = (double)w->axes[3 * id + a];
    }
    number[CLOUD_POINT_DENSITY] = w->densities[id] / w->mean_density;
    number[CLOUD_POINT_OFF] = off_plane(places, k, w->axes + 3 * id);
    number[CLOUD_POINT_FARTHEST] = sqrt((double)distance2[k - 1]);
    number[CLOUD_POINT_POINTS] = (double)w->given.count;
    number[CLOUD_POINT_SPACING] = w->spacing;
    number[CLOUD_POINT_STEPS] = w->steps;
    number[CLOUD_POINT_ERROR] = w->error;
    return SAP_OK;
}

// Job: the point that is seen along a ray (space_ray, cloud_ask; cloud_point).
PAGE_EXPORT sap_status job_cloud_point(page_job* job) {
    const cloud_work* w = &cloud_here;
    double asked[CLOUD_ASK_FORCE + 3];
    memcpy(asked, job->number, sizeof asked);
    memset(job->number, 0, sizeof job->number);
    job->number[CLOUD_POINT_ID] = -1;
    if (!w->now || w->aligns) return SAP_OK;
    const int64_t id = find(asked + SPACE_RAY_EYE, asked + SPACE_RAY_DIRECTION);
    const int32_t k = w->given.count < CLOUD_NORMAL_K ? (int32_t)w->given.count : CLOUD_NORMAL_K;
    sap_status status = id < 0 ? SAP_OK : tell(job, id, k);
    if (status == SAP_OK && id >= 0) status = find_move(asked + CLOUD_ASK_FORCE, id, job->number + CLOUD_POINT_MOVE_X);
    return status;
}
