// Fast point feature histograms, one text for all processors: what a pair of points adds to the histogram of the first, and
// the mean of histograms over a neighbourhood. Angles are compared, not computed: no library rounds an arc's tangent.
#ifndef SAPWOOD_CLOUD_GLOBAL_DESCRIBE_H
#define SAPWOOD_CLOUD_GLOBAL_DESCRIBE_H

#include "math/dialect.h"
#include "sapwood/align.h"

enum { SAP_FEATURE_BINS = 11, SAP_FEATURE_MIDDLE = SAP_FEATURE_BINS / 2 };

// Counts of a point's own pairs.
typedef struct sap_feature_counts {
    int32_t counts[SAP_FEATURE_NUMBERS], pairs;
} sap_feature_counts;

// Weighted sums of the histograms around a point.
typedef struct sap_feature_sums {
    double sums[SAP_FEATURE_NUMBERS], weights;
} sap_feature_sums;

SAP_FN double sap_feature_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

SAP_FN void sap_feature_cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// Of length 1; false where it has none.
SAP_FN bool sap_feature_unit(double v[3]) {
    const double length = sqrt(sap_feature_dot(v, v));
    if (!(length > 0 && length <= DBL_MAX)) return false;
    for (int c = 0; c < 3; c++) v[c] /= length;
    return true;
}

SAP_FN bool sap_feature_normal(const float* normals, int32_t id, double normal[3]) {
    for (int c = 0; c < 3; c++) normal[c] = (double)normals[3 * (int64_t)id + c];
    return sap_feature_unit(normal);
}

// The bin of a cosine from -1 to 1. Borders belong to the bin nearer to the middle, so that -x is in the mirrored bin of x.
SAP_FN int sap_feature_bin_of_cosine(double x) {
    int steps = 0;
    for (int i = 1; i < SAP_FEATURE_BINS; i += 2) steps += fabs(x) * SAP_FEATURE_BINS > i;
    return x < 0 ? SAP_FEATURE_MIDDLE - steps : SAP_FEATURE_MIDDLE + steps;
}

// The bin of the angle of (x, y), from -pi to pi.
SAP_FN int sap_feature_bin_of_angle(double x, double y) {
    // The directions of the angles pi/11, 3 pi/11, … 9 pi/11.
    const double cosines[5] = {0.95949297361449739, 0.65486073394528506, 0.14231483827328514, -0.41541501300188643,
                               -0.84125353283118117};
    const double sines[5] = {0.28173255684142970, 0.75574957435425829, 0.98982144188093273, 0.90963199535451837,
                             0.54064081745759558};
    int steps = 0;
    SAP_UNROLL
    for (int i = 0; i < 5; i++) steps += cosines[i] * fabs(y) - sines[i] * x > 0;
    return y < 0 ? SAP_FEATURE_MIDDLE - steps : SAP_FEATURE_MIDDLE + steps;
}

// The three bins of a pair of points with normals n and m, `along` being the way from the first to the second, of length
// 1; false where they have none.
SAP_FN bool sap_feature_bins(const double n[3], const double m[3], const double along[3], int bins[3]) {
    double u[3], v[3], w[3], way[3], other[3];
    const bool is_turned = fabs(sap_feature_dot(n, along)) < fabs(sap_feature_dot(m, along));
    // The frame is that of the point whose normal is nearer to the line.
    for (int c = 0; c < 3; c++) {
        u[c] = is_turned ? m[c] : n[c];
        other[c] = is_turned ? n[c] : m[c];
        way[c] = is_turned ? -along[c] : along[c];
    }
    sap_feature_cross(way, u, v);
    if (!sap_feature_unit(v)) return false;
    sap_feature_cross(u, v, w);
    bins[0] = sap_feature_bin_of_angle(sap_feature_dot(u, other), sap_feature_dot(w, other));
    bins[1] = SAP_FEATURE_BINS + sap_feature_bin_of_cosine(sap_feature_dot(v, other));
    bins[2] = 2 * SAP_FEATURE_BINS + sap_feature_bin_of_cosine(sap_feature_dot(u, way));
    return true;
}

// Counts a pair of points, whose normals have length 1, m belonging to the one that lies at `along` from the other.
SAP_FN void sap_feature_count(sap_feature_counts* s, bool is_oriented, const double n[3], double m[3],
                              double along[3]) {
    int bins[3];
    if (!sap_feature_unit(along)) return;
    if (!is_oriented && sap_feature_dot(n, m) < 0)
        for (int c = 0; c < 3; c++) m[c] = -m[c];
    if (!sap_feature_bins(n, m, along, bins)) return;
    for (int h = 0; h < 3; h++) s->counts[bins[h]]++;
    s->pairs++;
}

SAP_FN void sap_feature_histogram(const sap_feature_counts* s, float* histogram) {
    for (int b = 0; b < SAP_FEATURE_NUMBERS; b++)
        histogram[b] = s->pairs ? (float)(100.0 * s->counts[b] / s->pairs) : 0.0f;
}

// What a histogram becomes when all normals are turned: angles and heights change their signs.
SAP_FN int sap_feature_turned_bin(int bin) {
    return bin < SAP_FEATURE_BINS       ? SAP_FEATURE_BINS - 1 - bin
           : bin < 2 * SAP_FEATURE_BINS ? bin
                                        : 5 * SAP_FEATURE_BINS - 1 - bin;
}

// Where nobody knows which side is out: normals point to where the surface bends to, or twists to where it does not bend.
SAP_FN bool sap_feature_is_inside_out(const double sums[SAP_FEATURE_NUMBERS]) {
    for (int h = 2; h >= 0; h -= 2) {
        const double* middle = sums + h * SAP_FEATURE_BINS + SAP_FEATURE_MIDDLE;
        double moment = 0;
        for (int b = 1; b <= SAP_FEATURE_MIDDLE; b++) moment += b * (middle[b] - middle[-b]);
        if (moment != 0) return moment < 0;
    }
    return false;
}

// Adds the histogram of a neighbour, whose squared distance is above 0.
SAP_FN void sap_feature_add(sap_feature_sums* s, const float* other, bool is_turned, double distance2) {
    const double weight = 1 / sqrt(distance2);
    for (int b = 0; b < SAP_FEATURE_NUMBERS; b++)
        s->sums[b] += weight * (double)other[is_turned ? sap_feature_turned_bin(b) : b];
    s->weights += weight;
}

// The feature of a point with the histogram `own`; the sums are used up.
SAP_FN void sap_feature_finish(sap_feature_sums* s, const float* own, bool is_oriented, float* feature) {
    for (int b = 0; b < SAP_FEATURE_NUMBERS; b++)
        s->sums[b] = s->weights > 0 ? ((double)own[b] + s->sums[b] / s->weights) / 2 : (double)own[b];
    const bool is_turned = !is_oriented && sap_feature_is_inside_out(s->sums);
    for (int b = 0; b < SAP_FEATURE_NUMBERS; b++)
        feature[b] = (float)s->sums[is_turned ? sap_feature_turned_bin(b) : b];
}

#endif
