#include "compare/distance.h"
#include "base/assert.h"
#include "device/reserved.h"
#include <math.h>
#include <string.h>

sap_status sap_distance_check(const sap_device* device, const sap_distance_options* given, sap_distance_options* o) {
    *o = given ? *given : (sap_distance_options){0};
    const sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (!(o->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g is negative or not a number", o->radius);
    if (!(o->quantile >= 0 && o->quantile <= 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.quantile: %g is not 0 to 1", o->quantile);
    if (o->radius == 0) o->radius = (double)INFINITY;
    return SAP_OK;
}

sap_status sap_distance_tell(const sap_device* device, int64_t done, int64_t all) {
    if (sap_progress_tell(device, (double)done / (double)all)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

static uint64_t bits_of(double distance) {
    const double size = fabs(distance);
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return bits;
}

// The size of rank `rank` among those that are finite, counted from 0: bits of numbers that are not negative ascend as
// the numbers do, so the answer is found eight bits at a time, from the highest.
static double find_rank(const double* distances, int64_t count, int64_t rank) {
    const uint64_t infinite = bits_of((double)INFINITY);
    uint64_t found = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        int64_t counts[256] = {0};
        for (int64_t i = 0; i < count; i++) {
            const uint64_t bits = bits_of(distances[i]);
            // Shifting by 64 would not be defined.
            if (bits < infinite && bits >> shift >> 8 == found >> shift >> 8) counts[bits >> shift & 255]++;
        }
        uint64_t digit = 0;
        while (rank >= counts[digit]) rank -= counts[digit++];
        SAP_ASSERT(digit < 256);
        found |= digit << shift;
    }
    double value;
    memcpy(&value, &found, sizeof value);
    return value;
}

// The least rank, counted from 1, that is no less than this part of all. The product is off by a rounding at most, and
// where the quotient says so the rank is the one beside it: 7 of 100 are 0.07 of them.
static int64_t rank_of(double quantile, int64_t count) {
    const double n = (double)count;
    int64_t rank = (int64_t)ceil(quantile * n);
    rank = rank < 1 ? 1 : rank > count ? count : rank;
    while (rank > 1 && (double)(rank - 1) / n >= quantile) rank--;
    while (rank < count && (double)rank / n < quantile) rank++;
    return rank;
}

sap_status sap_distance_check_points(const sap_device* device, const sap_distance_options* given,
                                     sap_distance_options* o) {
    const sap_status status = sap_distance_check(device, given, o);
    if (status != SAP_OK || !o->is_signed) return status;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "options.is_signed: points have no inside; meshes do");
}

void sap_distance_sum_up(const sap_distance_options* o, double* distances, int64_t count, sap_distance_info* info) {
    double sum = 0, squares = 0, sizes = 0;
    *info = (sap_distance_info){.farthest = -1};
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs(distances[i]);
        if (!(size <= o->radius && isfinite(size))) {
            distances[i] = (double)INFINITY;
            continue;
        }
        info->count++;
        sum += distances[i];
        sizes += size;
        squares += size * size;
        if (info->farthest >= 0 && size <= info->greatest) continue;
        info->greatest = size;
        info->farthest = i;
    }
    if (!info->count) return;
    const double n = (double)info->count;
    info->mean = sizes / n;
    info->mean_square = squares / n;
    info->bias = sum / n;
    if (o->quantile > 0) info->quantile = find_rank(distances, count, rank_of(o->quantile, info->count) - 1);
}
