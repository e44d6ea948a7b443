// Sums over the neighbours of a batch of points, then their axes, where a lane is a point.
#include "cloud/axes.h"
#include "cloud/moments_simd.h"

enum { AHEAD = 4 }; // points whose neighbours are on their way

#define SMALL_SCALE 0x1p-60 // a sum of 2^31 squares of the largest differences does not overflow

// The sums of a batch, and what becomes of them.
typedef struct sums {
    double weight[SAP_CLOUD_BATCH];
    double scale[SAP_CLOUD_BATCH];   // of differences: 1, but where squares of doubles would overflow
    double push[3][SAP_CLOUD_BATCH]; // of forces only
    double covariance[6][SAP_CLOUD_BATCH];
    double value[3][SAP_CLOUD_BATCH], least_axis[3][SAP_CLOUD_BATCH], greatest_axis[3][SAP_CLOUD_BATCH];
} sums;

// The covariance of the neighbours of point i, with a scale.
INLINE void add_up(const sap_neighborhoods* near, const real* points, const sap_cloud_rows* rows, int64_t i,
                   const bool weighted, double scale, sums* s) {
    four own;
    moments m;
    load_point(points, rows->ids[i], &own);
    add_moments(near, points, rows, i, &own, weighted, scale, &m);
    s->weight[i] = m.weight;
    s->scale[i] = scale;
    const double one = m.weight > 0 ? m.weight : 1;
    const four mean = m.first / one;
    const four squares = m.squares / one - mean * mean;
    const four products = m.products / one - mean * NEXT_AXES(mean);
    s->covariance[0][i] = squares[0] < 0 ? 0 : squares[0];
    s->covariance[1][i] = products[0];
    s->covariance[2][i] = products[2];
    s->covariance[3][i] = squares[1] < 0 ? 0 : squares[1];
    s->covariance[4][i] = products[1];
    s->covariance[5][i] = squares[2] < 0 ? 0 : squares[2];
}

// The same with the scale that it takes.
INLINE void add_up_safely(const sap_axes_job* job, const real* points, const sap_cloud_rows* rows, int64_t i,
                          const bool weighted, sums* s) {
    add_up(&job->near, points, rows, i, weighted, 1, s);
#if SAP_REAL_BITS == 64
    const double trace = s->covariance[0][i] + s->covariance[3][i] + s->covariance[5][i];
    if (!(trace < 1e300)) add_up(&job->near, points, rows, i, weighted, SMALL_SCALE, s);
#endif
}

static void find_axes(sums* s, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        sap_symmetric m;
        m.xx = s->covariance[0][i], m.xy = s->covariance[1][i], m.xz = s->covariance[2][i];
        m.yy = s->covariance[3][i], m.yz = s->covariance[4][i], m.zz = s->covariance[5][i];
        const sap_principal p = sap_principal_of(m);
        s->value[0][i] = p.least, s->value[1][i] = p.middle, s->value[2][i] = p.greatest;
        s->least_axis[0][i] = p.least_axis.x, s->least_axis[1][i] = p.least_axis.y,
        s->least_axis[2][i] = p.least_axis.z;
        s->greatest_axis[0][i] = p.greatest_axis.x, s->greatest_axis[1][i] = p.greatest_axis.y,
        s->greatest_axis[2][i] = p.greatest_axis.z;
    }
}

INLINE sap_neighborhood kind_of(const sums* s, int64_t i, int64_t found, const real* own) {
    const double half_unit = SAP_REAL_BITS == 32 ? 0x1p-24 : 0x1p-53;
    const sap_principal p = {s->value[0][i],
                             s->value[1][i],
                             s->value[2][i],
                             {s->least_axis[0][i], s->least_axis[1][i], s->least_axis[2][i]},
                             {s->greatest_axis[0][i], s->greatest_axis[1][i], s->greatest_axis[2][i]}};
    const double noise = sap_noise_across(p, (double)own[0] * s->scale[i], (double)own[1] * s->scale[i],
                                          (double)own[2] * s->scale[i], half_unit);
    if (found < 3 || !(s->weight[i] > 0)) return SAP_NEIGHBORHOOD_FEW;
    if (!(p.greatest > 0)) return SAP_NEIGHBORHOOD_POINT;
    return p.middle <= noise ? SAP_NEIGHBORHOOD_LINE : SAP_NEIGHBORHOOD_SURFACE;
}

INLINE void write_axis(float* axis, const double from[3][SAP_CLOUD_BATCH], int64_t i, bool is_there) {
    for (int a = 0; a < 3; a++) axis[a] = is_there ? (float)from[a][i] : 0.0f;
}

INLINE void write_row(const sap_axes_job* job, const real* points, const sap_cloud_rows* rows, int64_t i,
                      const sums* s) {
    const sap_cloud_axes* out = &job->out;
    const int64_t id = rows->ids[i];
    const double greatest = s->value[2][i] > 0 ? s->value[2][i] : 0;
    const double least = s->value[0][i] > 0 ? s->value[0][i] : 0;
    const double middle = s->value[1][i] > least ? s->value[1][i] : least, sum = least + middle + greatest;
    const sap_neighborhood kind = kind_of(s, i, rows->found[i], points + 4 * id);
    if (out->normals) write_axis(out->normals + 3 * id, s->least_axis, i, kind == SAP_NEIGHBORHOOD_SURFACE);
    if (out->directions) write_axis(out->directions + 3 * id, s->greatest_axis, i, kind >= SAP_NEIGHBORHOOD_LINE);
    if (out->curvatures) out->curvatures[id] = sum > 0 ? (float)(least / sum) : 0.0f;
    if (out->planarities) out->planarities[id] = greatest > 0 ? (float)((middle - least) / greatest) : 0.0f;
    if (out->linearities) out->linearities[id] = greatest > middle ? (float)((greatest - middle) / greatest) : 0.0f;
    if (out->counts) out->counts[id] = (int32_t)rows->found[i];
    if (out->kinds) out->kinds[id] = (uint8_t)kind;
    const double unscale = 1 / (s->scale[i] * s->scale[i]);
    if (out->covariances)
        for (int a = 0; a < 6; a++) out->covariances[6 * id + a] = (float)(s->covariance[a][i] * unscale);
    if (out->eigenvalues) {
        out->eigenvalues[3 * id] = (float)(least * unscale);
        out->eigenvalues[3 * id + 1] = (float)(middle * unscale);
        out->eigenvalues[3 * id + 2] = (float)((greatest > middle ? greatest : middle) * unscale);
    }
}

static void axes(const sap_axes_job* job, const void* points, const sap_cloud_rows* rows) {
    sums s;
    SAP_ASSERT(rows->count <= SAP_CLOUD_BATCH);
    const bool weighted = is_weighted(&job->near);
    for (int64_t i = 0; i < rows->count; i++) {
        if (i + AHEAD < rows->count) fetch_neighbors(points, rows, i + AHEAD);
        if (weighted)
            add_up_safely(job, points, rows, i, true, &s);
        else
            add_up_safely(job, points, rows, i, false, &s);
    }
    const sap_cloud_axes* out = &job->out;
    if (out->normals || out->directions || out->curvatures || out->planarities || out->linearities || out->kinds ||
        out->eigenvalues)
        find_axes(&s, rows->count);
    for (int64_t i = 0; i < rows->count; i++) write_row(job, points, rows, i, &s);
}

// ---- Forces

enum { TERMS = 256 };

#if SAP_REAL_BITS == 32

// What point i is pushed by: the sum over its neighbours of (1 / |d| - 1 / r) d, d being the difference to the neighbour,
// with the signs of d. A neighbour at the same place does not push.
INLINE void add_pushes(const real* points, const sap_cloud_rows* rows, int64_t i, double range, double push[3]) {
    const int32_t* ids = rows->neighbors + rows->starts[i];
    const real* distance2 = (const real*)rows->distance2 + rows->starts[i];
    four own, d, sum = {0, 0, 0, 0};
    load_point(points, rows->ids[i], &own);
    for (int64_t first = 0; first < rows->found[i]; first += TERMS) {
        double factors[TERMS];
        const int64_t count = rows->found[i] - first < TERMS ? rows->found[i] - first : TERMS;
        for (int64_t j = 0; j < count; j++) {
            const float distance = sqrtf(distance2[first + j]);
            const double factor = (double)(1 / distance) - 1 / range;
            factors[j] = distance > 0 && factor > 0 ? factor : 0;
        }
        for (int64_t j = 0; j < count; j++) {
            load_point(points, ids[first + j], &d);
            sum += (d - own) * factors[j];
        }
    }
    for (int a = 0; a < 3; a++) push[a] = sum[a];
}

// Where that moves a point: on the surface, or along the line, that its neighbours lie on, by the force over the greatest
// second derivative that the energies of its pairs can have together.
INLINE void find_move(const sap_relax_job* job, const sums* s, int64_t i, int64_t found, double range,
                      sap_neighborhood kind, double move[3]) {
    const bool is_line = kind == SAP_NEIGHBORHOOD_LINE;
    const double factor = job->options.step * range / (double)(2 * (found - 1));
    double along = 0;
    for (int a = 0; a < 3; a++) {
        move[a] = -factor * s->push[a][i];
        along += move[a] * (is_line ? s->greatest_axis[a][i] : s->least_axis[a][i]);
    }
    for (int a = 0; a < 3; a++)
        move[a] = is_line ? along * s->greatest_axis[a][i] : move[a] - along * s->least_axis[a][i];
}

static void relax(const sap_relax_job* job, const void* points, const sap_cloud_rows* rows) {
    sap_neighborhoods near = job->near;
    double ranges[SAP_CLOUD_BATCH];
    sums s;
    const sums* made = &s;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t last = rows->starts[i] + rows->found[i] - 1;
        double push[3] = {0, 0, 0};
        if (i + AHEAD < rows->count) fetch_neighbors(points, rows, i + AHEAD);
        if (!(job->near.radius > 0)) near.radius = sqrt((double)((const real*)rows->distance2)[last]);
        ranges[i] = near.radius;
        add_up(&near, points, rows, i, true, 1, &s);
        add_pushes(points, rows, i, near.radius, push);
        for (int a = 0; a < 3; a++) s.push[a][i] = push[a];
    }
    find_axes(&s, rows->count);
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t id = rows->ids[i];
        const real* own = (const real*)points + 4 * id;
        const sap_neighborhood kind = kind_of(made, i, rows->found[i], own);
        double move[3] = {0, 0, 0};
        if (kind >= SAP_NEIGHBORHOOD_LINE) find_move(job, made, i, rows->found[i], ranges[i], kind, move);
        for (int a = 0; a < 3; a++) job->moved[3 * id + a] = (float)((double)own[a] + move[a]);
        if (job->normals) write_axis(job->normals + 3 * id, made->least_axis, i, kind == SAP_NEIGHBORHOOD_SURFACE);
    }
}
#else
#define relax NULL // points that are moved are floats
#endif

// ---- Sums over distances: terms are made by vectors, and added one by one

static void means(const sap_cloud_rows* rows, double* out) {
    for (int64_t i = 0; i < rows->count; i++) {
        const real* distance2 = (const real*)rows->distance2 + rows->starts[i];
        double sum = 0;
        for (int64_t first = 0; first < rows->found[i]; first += TERMS) {
            double roots[TERMS];
            const int64_t count = rows->found[i] - first < TERMS ? rows->found[i] - first : TERMS;
            for (int64_t j = 0; j < count; j++) roots[j] = sqrt((double)distance2[first + j]);
            for (int64_t j = 0; j < count; j++) sum += roots[j];
        }
        out[rows->ids[i]] = rows->found[i] ? sum / (double)rows->found[i] : 0;
    }
}

static void kernel_sums(const sap_cloud_rows* rows, double limit2, double factor, double* out) {
    for (int64_t i = 0; i < rows->count; i++) {
        const real* distance2 = (const real*)rows->distance2 + rows->starts[i];
        double sum = 0;
        for (int64_t first = 0; first < rows->found[i]; first += TERMS) {
            double terms[TERMS];
            const int64_t count = rows->found[i] - first < TERMS ? rows->found[i] - first : TERMS;
            for (int64_t j = 0; j < count; j++) {
                const double part = 1 - (double)distance2[first + j] * (1 / limit2);
                terms[j] = part > 0 ? part * part : 0;
            }
            for (int64_t j = 0; j < count; j++) sum += terms[j];
        }
        out[rows->ids[i]] = factor * sum;
    }
}

const sap_cloud_kernels SAP_KERNEL(cloud_kernels) = {axes, means, kernel_sums, relax};
