// Brute force over the points of the scene Cloud, with sums of its own.
#include "cloud.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct neighbor {
    float distance2;
    int32_t id;
} neighbor;

static float distance2_of(const float* a, const float* b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

static int nearer_first(const void* a, const void* b) {
    const neighbor *x = a, *y = b;
    if (x->distance2 != y->distance2) return x->distance2 < y->distance2 ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void distances(const float* from, const float* points, int64_t count, neighbor* all) {
    for (int64_t i = 0; i < count; i++) all[i] = (neighbor){distance2_of(from, points + 3 * i), (int32_t)i};
}

static bool is_density(int64_t id, const neighbor* all) {
    const cloud_work* w = &cloud_here;
    const double radius = cloud_density_range * w->spacing;
    double sum = 0;
    for (int64_t i = 0; i < w->given.count; i++) {
        const double part = (double)all[i].distance2 / (radius * radius);
        if (part <= 1) sum += (1 - part) * (1 - part);
    }
    const double truth = sum * 3 / (3.141592653589793 * radius * radius);
    return fabs(w->densities[id] - truth) <= 1e-5 * truth;
}

// Whether a normal is the axis in which the neighbours spread least: it is turned into itself by their covariance, and in
// no direction at right angles to it they spread less.
static bool is_normal(int64_t id, const neighbor* nearest) {
    const float *points = cloud_here.now, *normal = cloud_here.axes + 3 * id;
    double mean[3] = {0, 0, 0}, c[3][3] = {{0}}, turned[3], across[2][3], spread[3] = {0, 0, 0}, trace = 0, off = 0;
    for (int i = 0; i < CLOUD_NORMAL_K; i++)
        for (int a = 0; a < 3; a++) mean[a] += (double)points[3 * (int64_t)nearest[i].id + a] / CLOUD_NORMAL_K;
    for (int i = 0; i < CLOUD_NORMAL_K; i++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                c[a][b] += ((double)points[3 * (int64_t)nearest[i].id + a] - mean[a]) *
                           ((double)points[3 * (int64_t)nearest[i].id + b] - mean[b]) / CLOUD_NORMAL_K;
    for (int a = 0; a < 3; a++) trace += c[a][a];
    const double length2 = (double)normal[0] * (double)normal[0] + (double)normal[1] * (double)normal[1] +
                           (double)normal[2] * (double)normal[2];
    if (length2 == 0) return true; // of neighbours on a line or at one place nothing is said
    if (fabs(length2 - 1) > 1e-5) return false;
    const int least = fabsf(normal[0]) < fabsf(normal[1]) ? (fabsf(normal[0]) < fabsf(normal[2]) ? 0 : 2)
                                                          : (fabsf(normal[1]) < fabsf(normal[2]) ? 1 : 2);
    for (int a = 0; a < 3; a++) across[0][a] = (a == least) - (double)normal[a] * (double)normal[least];
    const double length = sqrt(across[0][0] * across[0][0] + across[0][1] * across[0][1] + across[0][2] * across[0][2]);
    for (int a = 0; a < 3; a++) across[0][a] /= length;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        across[1][a] = (double)normal[b] * across[0][d] - (double)normal[d] * across[0][b];
    }
    double own = 0;
    for (int a = 0; a < 3; a++) {
        turned[a] = 0;
        for (int b = 0; b < 3; b++) turned[a] += c[a][b] * (double)normal[b];
        own += turned[a] * (double)normal[a];
    }
    for (int a = 0; a < 3; a++) off += fabs(turned[a] - own * (double)normal[a]);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            spread[0] += c[a][b] * across[0][a] * across[0][b];
            spread[1] += c[a][b] * across[0][a] * across[1][b];
            spread[2] += c[a][b] * across[1][a] * across[1][b];
        }
    const double half = 0.5 * (spread[0] - spread[2]);
    const double second = 0.5 * (spread[0] + spread[2]) - sqrt(half * half + spread[1] * spread[1]);
    return off <= 1e-5 * trace && own <= second + 1e-5 * trace;
}

// Compares some points, their numbers being the input, with what all points say (cloud_checked).
PAGE_EXPORT sap_status job_cloud_check(page_job* job) {
    const cloud_work* w = &cloud_here;
    const int32_t* at = job->in[0];
    const int64_t samples = job->in_bytes[0] / 4, count = w->aligns ? w->still.count : w->given.count;
    neighbor* all = malloc((size_t)count * sizeof *all + sizeof *all);
    if (!all) return cloud_no_memory();
    double right = 0, normals = 0;
    for (int64_t n = 0; n < samples; n++) {
        const int64_t id = at[n];
        if (id < 0 || id >= w->given.count) continue;
        distances(w->now + 3 * id, w->aligns ? w->still.points : w->now, count, all);
        if (w->aligns) {
            neighbor best = all[0];
            for (int64_t i = 1; i < count; i++)
                if (nearer_first(&all[i], &best) < 0) best = all[i];
            right += best.id == w->ids[id] && best.distance2 == w->distance2[id];
        } else {
            right += is_density(id, all);
            qsort(all, (size_t)count, sizeof *all, nearer_first);
            normals += count < CLOUD_NORMAL_K || is_normal(id, all);
        }
    }
    free(all);
    job->number[CLOUD_CHECKED_SAMPLES] = (double)samples;
    job->number[CLOUD_CHECKED_RIGHT] = right;
    job->number[CLOUD_CHECKED_NORMALS] = normals;
    return SAP_OK;
}
