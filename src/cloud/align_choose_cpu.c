// Which pairs of an alignment count by what all of them look like: one pair a point of the target, the nearest part of
// them, and the scale of a kernel.
#include "cloud/align.h"
#include "cloud/align_choose.h"
#include "cloud/sort.h"
#include <math.h>

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

// The key of the given rank, counted from 0, of keys[count]; rank < count.
static uint32_t ranked(const uint32_t* keys, int64_t count, int64_t rank) {
    uint32_t prefix = 0, known = 0;
    for (int shift = 32 - DIGIT; shift > -DIGIT; shift -= DIGIT) {
        const int down = shift > 0 ? shift : 0;
        int64_t counts[DIGITS] = {0};
        for (int64_t i = 0; i < count; i++)
            if ((keys[i] & known) == prefix) counts[keys[i] >> down & (DIGITS - 1)]++;
        uint32_t digit = 0;
        while (rank >= counts[digit]) rank -= counts[digit++];
        prefix |= digit << down;
        known |= (uint32_t)(DIGITS - 1) << down;
    }
    return prefix;
}

// Of the points that share a point of the target only the nearest counts.
static void keep_one_to_one(sap_aligning* a, int64_t count) {
    sap_align_points* s = &a->points;
    for (int64_t i = 0; i < count; i++)
        if (s->pairs[i] >= 0) a->owners[s->pairs[i]] = -1;
    for (int64_t i = 0; i < count; i++) {
        if (!(s->counts[i] > 0)) continue;
        const int32_t other = s->pairs[i], owner = a->owners[other];
        if (owner >= 0) {
            const double own = s->distance2[i], least = s->distance2[owner];
            if (own > least || (own == least && s->ids[i] > s->ids[owner])) {
                s->counts[i] = 0;
                continue;
            }
            s->counts[owner] = 0;
        }
        a->owners[other] = (int32_t)i;
    }
}

// Keys of the pairs that count, one after another.
static int64_t gather_keys(sap_aligning* a, const double* squares, int64_t count) {
    const double size2 = a->rule.size * a->rule.size;
    int64_t keys = 0;
    for (int64_t i = 0; i < count; i++) {
        a->keys[keys] = sap_choose_key(squares[i], size2);
        keys += a->points.counts[i] > 0;
    }
    return keys;
}

// The number of pairs, from 0.3 of all points on, with the least mean of squares over the third power of their part.
static int64_t find_overlap(sap_aligning* a, int64_t keys, int64_t count) {
    const bool is_spare = sap_cloud_sort_32(a->keys, a->numbers, a->spare_keys, a->numbers + count, keys, 32);
    const uint32_t* sorted = is_spare ? a->spare_keys : a->keys;
    double before = 0, least = (double)INFINITY;
    int64_t best = keys;
    for (int64_t first = 0; first < keys; first += SAP_CHOOSE_BLOCK) {
        double sum = 0;
        for (int64_t i = first; i < keys && i < first + SAP_CHOOSE_BLOCK; i++) {
            const double part = (double)(i + 1) / (double)count;
            sum += sap_choose_square(sorted[i], 1);
            const double value = sap_choose_value(before + sum, part);
            if (part < SAP_LEAST_OVERLAP && i + 1 < keys) continue;
            if (value < least) {
                least = value;
                best = i + 1;
            }
        }
        before += sum;
    }
    // Those that are as far count too.
    while (best < keys && sorted[best] == sorted[best - 1]) best++;
    a->nearest_key = best ? sorted[best - 1] : 0;
    return best;
}

static void trim(sap_aligning* a, int64_t count) {
    const sap_align_options* o = &a->job->options;
    sap_align_points* s = &a->points;
    const double size2 = a->rule.size * a->rule.size;
    const int64_t keys = gather_keys(a, s->distance2, count);
    a->job->out.overlap = o->find_overlap ? 0 : o->overlap;
    if (!keys) return;
    if (o->find_overlap) {
        a->job->out.overlap = (double)find_overlap(a, keys, count) / (double)count;
    } else {
        const int64_t most = (int64_t)ceil(o->overlap * (double)count);
        if (most >= keys) return;
        a->nearest_key = ranked(a->keys, keys, most > 0 ? most - 1 : 0);
    }
    for (int64_t i = 0; i < count; i++)
        if (sap_choose_key(s->distance2[i], size2) > a->nearest_key) s->counts[i] = 0;
}

static void find_scale(sap_aligning* a, int64_t count) {
    const double size2 = a->rule.size * a->rule.size;
    const int64_t keys = gather_keys(a, a->points.residual2, count);
    sap_align_set_scale(a, keys ? sap_choose_square(ranked(a->keys, keys, keys / 2), size2) : 0);
}

void sap_align_choose(sap_aligning* a, int64_t count) {
    const sap_align_options* o = &a->job->options;
    if (o->one_to_one) keep_one_to_one(a, count);
    if (o->find_overlap || o->overlap < 1) trim(a, count);
    if (o->kernel != SAP_KERNEL_NONE && !(o->kernel_scale > 0)) find_scale(a, count);
}
