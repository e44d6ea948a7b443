// Which pairs of an alignment count by what all of them look like: one pair a point of the target, the nearest part of
// them, and the scale of a kernel. On the host, whatever the processor: it takes all pairs in one order.
#include "cloud/align.h"
#include "cloud/sort.h"
#include <math.h>
#include <string.h>

#define LEAST_OVERLAP 0.3

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

uint32_t sap_align_ranked(const uint32_t* keys, int64_t count, int64_t rank) {
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

// The bits of a float that is not negative stand in the order of the numbers. Squares are divided by that of the size.
static uint32_t key_of(double square, double size2) {
    const float part = (float)(square / size2);
    uint32_t key;
    memcpy(&key, &part, sizeof key);
    return key;
}

static double square_of(uint32_t key, double size2) {
    float part;
    memcpy(&part, &key, sizeof part);
    return (double)part * size2;
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
        a->keys[keys] = key_of(squares[i], size2);
        keys += a->points.counts[i] > 0;
    }
    return keys;
}

// The number of pairs, from 0.3 of all points on, with the least mean of squares over the third power of their part: the
// same as the least sum over the fourth power of their number.
static int64_t find_overlap(sap_aligning* a, int64_t keys, int64_t count) {
    const bool is_spare = sap_cloud_sort_32(a->keys, a->numbers, a->spare_keys, a->numbers + count, keys, 32);
    const uint32_t* sorted = is_spare ? a->spare_keys : a->keys;
    double sum = 0, least = (double)INFINITY;
    int64_t best = keys;
    for (int64_t i = 0; i < keys; i++) {
        const double part = (double)(i + 1) / (double)count;
        sum += square_of(sorted[i], 1);
        const double value = sum / (part * part * part * part);
        if (part < LEAST_OVERLAP && i + 1 < keys) continue;
        if (value < least) {
            least = value;
            best = i + 1;
        }
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
        a->nearest_key = sap_align_ranked(a->keys, keys, most > 0 ? most - 1 : 0);
    }
    for (int64_t i = 0; i < count; i++)
        if (key_of(s->distance2[i], size2) > a->nearest_key) s->counts[i] = 0;
}

static void find_scale(sap_aligning* a, int64_t count) {
    static const double factors[] = {0, 1.345, 4.685, 2.385};
    const double factor = 1.4826 * factors[a->rule.kernel], size2 = a->rule.size * a->rule.size;
    const int64_t keys = gather_keys(a, a->points.residual2, count);
    const double middle = keys ? square_of(sap_align_ranked(a->keys, keys, keys / 2), size2) : 0;
    // Where more than half of the pairs fit exactly, all that do not are outliers: but no scale is 0.
    const double least = size2 * 1e-24;
    a->rule.scale2 = factor * factor * (middle > least ? middle : least);
}

bool sap_align_chooses(const sap_align_options* o) {
    return o->one_to_one || o->find_overlap || o->overlap < 1 ||
           (o->kernel != SAP_KERNEL_NONE && !(o->kernel_scale > 0));
}

void sap_align_choose(sap_aligning* a, int64_t count) {
    const sap_align_options* o = &a->job->options;
    if (o->one_to_one) keep_one_to_one(a, count);
    if (o->find_overlap || o->overlap < 1) trim(a, count);
    if (o->kernel != SAP_KERNEL_NONE && !(o->kernel_scale > 0)) find_scale(a, count);
}
