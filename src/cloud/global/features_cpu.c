// Fast point feature histograms on the CPU. First each point's own histograms of its pairs with its neighbours, then for each
// point their means over the neighbourhood. Angles are compared, not computed: no library rounds an arc's tangent.
#include "cloud/global/global.h"
#include "cloud/points_cpu.h"
#include "cloud/rows_cpu.h"
#include "device/cpu.h"
#include "tree/queries.h"
#include <math.h>

enum { BINS = 11, MIDDLE = BINS / 2, NUMBERS = SAP_FEATURE_NUMBERS };

typedef struct describing {
    const sap_features_job* job;
    const void* points;   // real[source_count][4]
    const float* normals; // [3*source_count]
    float* histograms;    // [NUMBERS*source_count] each point's own
    sap_progress_state progress;
} describing;

static void point_at(const describing* d, int32_t id, double point[3]) {
    for (int c = 0; c < 3; c++)
        point[c] = d->job->tree->shape.real_bits == 64 ? ((const double*)d->points)[4 * (int64_t)id + c]
                                                       : (double)((const float*)d->points)[4 * (int64_t)id + c];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// Of length 1; false where it has none.
static bool unit(double v[3]) {
    const double length = sqrt(dot(v, v));
    if (!(length > 0 && isfinite(length))) return false;
    for (int c = 0; c < 3; c++) v[c] /= length;
    return true;
}

static bool normal_at(const describing* d, int32_t id, double normal[3]) {
    for (int c = 0; c < 3; c++) normal[c] = (double)d->normals[3 * (int64_t)id + c];
    return unit(normal);
}

// The bin of a cosine from -1 to 1. Borders belong to the bin nearer to the middle, so that -x is in the mirrored bin of x.
static int bin_of_cosine(double x) {
    int steps = 0;
    for (int i = 1; i < BINS; i += 2) steps += fabs(x) * BINS > i;
    return x < 0 ? MIDDLE - steps : MIDDLE + steps;
}

// The bin of the angle of (x, y), from -pi to pi.
static int bin_of_angle(double x, double y) {
    // The directions of the angles pi/11, 3 pi/11, … 9 pi/11.
    static const double cosines[5] = {0.95949297361449739, 0.65486073394528506, 0.14231483827328514,
                                      -0.41541501300188643, -0.84125353283118117};
    static const double sines[5] = {0.28173255684142970, 0.75574957435425829, 0.98982144188093273, 0.90963199535451837,
                                    0.54064081745559758};
    int steps = 0;
    for (int i = 0; i < 5; i++) steps += cosines[i] * fabs(y) - sines[i] * x > 0;
    return y < 0 ? MIDDLE - steps : MIDDLE + steps;
}

// The three bins of a pair of points with normals n and m, `along` being the way from the first to the second, of length
// 1; false where they have none.
static bool bins_of(const double n[3], const double m[3], const double along[3], int bins[3]) {
    double u[3], v[3], w[3], way[3], other[3];
    const bool is_turned = fabs(dot(n, along)) < fabs(dot(m, along));
    // The frame is that of the point whose normal is nearer to the line.
    for (int c = 0; c < 3; c++) {
        u[c] = is_turned ? m[c] : n[c];
        other[c] = is_turned ? n[c] : m[c];
        way[c] = is_turned ? -along[c] : along[c];
    }
    cross(way, u, v);
    if (!unit(v)) return false;
    cross(u, v, w);
    bins[0] = bin_of_angle(dot(u, other), dot(w, other));
    bins[1] = BINS + bin_of_cosine(dot(v, other));
    bins[2] = 2 * BINS + bin_of_cosine(dot(u, way));
    return true;
}

static void count_pairs(const describing* d, const sap_cloud_rows* rows, int64_t row) {
    const int32_t id = rows->ids[row];
    int32_t counts[NUMBERS] = {0}, pairs = 0;
    double own[3], n[3];
    float* histogram = d->histograms + NUMBERS * (int64_t)id;
    point_at(d, id, own);
    for (int64_t i = 0; normal_at(d, id, n) && i < rows->found[row]; i++) {
        const int32_t neighbor = rows->neighbors[rows->starts[row] + i];
        double m[3], along[3];
        int bins[3];
        if (neighbor == id || !normal_at(d, neighbor, m)) continue;
        point_at(d, neighbor, along);
        for (int c = 0; c < 3; c++) along[c] -= own[c];
        if (!unit(along)) continue;
        if (!d->job->options.is_oriented && dot(n, m) < 0)
            for (int c = 0; c < 3; c++) m[c] = -m[c];
        if (!bins_of(n, m, along, bins)) continue;
        for (int h = 0; h < 3; h++) counts[bins[h]]++;
        pairs++;
    }
    for (int b = 0; b < NUMBERS; b++) histogram[b] = pairs ? (float)(100.0 * counts[b] / pairs) : 0.0f;
}

static void count_rows(void* context, const sap_cloud_rows* rows, int32_t worker) {
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) count_pairs(context, rows, i);
}

// What a histogram becomes when all normals are turned: angles and heights change their signs.
static int turned_bin(int bin) { return bin < BINS ? BINS - 1 - bin : bin < 2 * BINS ? bin : 5 * BINS - 1 - bin; }

// Where nobody knows which side is out: normals point to where the surface bends to, or twists to where it does not bend.
static bool is_inside_out(const double sums[NUMBERS]) {
    for (int h = 2; h >= 0; h -= 2) {
        double moment = 0;
        for (int b = 1; b <= MIDDLE; b++) moment += b * (sums[h * BINS + MIDDLE + b] - sums[h * BINS + MIDDLE - b]);
        if (moment != 0) return moment < 0;
    }
    return false;
}

static void mean_of_row(const describing* d, const sap_cloud_rows* rows, int64_t row) {
    const int32_t id = rows->ids[row];
    const float* own = d->histograms + NUMBERS * (int64_t)id;
    float* feature = d->job->features + NUMBERS * (int64_t)id;
    double sums[NUMBERS] = {0}, weights = 0, n[3], m[3];
    const bool has_normal = normal_at(d, id, n);
    for (int64_t i = 0; has_normal && i < rows->found[row]; i++) {
        const int64_t at = rows->starts[row] + i;
        const int32_t neighbor = rows->neighbors[at];
        const double distance2 = d->job->tree->shape.real_bits == 64 ? ((const double*)rows->distance2)[at]
                                                                     : (double)((const float*)rows->distance2)[at];
        if (neighbor == id || !(distance2 > 0) || !normal_at(d, neighbor, m)) continue;
        const float* other = d->histograms + NUMBERS * (int64_t)neighbor;
        const bool is_turned = !d->job->options.is_oriented && dot(n, m) < 0;
        const double weight = 1 / sqrt(distance2);
        for (int b = 0; b < NUMBERS; b++) sums[b] += weight * (double)other[is_turned ? turned_bin(b) : b];
        weights += weight;
    }
    for (int b = 0; b < NUMBERS; b++) sums[b] = weights > 0 ? ((double)own[b] + sums[b] / weights) / 2 : (double)own[b];
    const bool is_turned = !d->job->options.is_oriented && is_inside_out(sums);
    for (int b = 0; b < NUMBERS; b++) feature[b] = (float)sums[is_turned ? turned_bin(b) : b];
}

static void mean_rows(void* context, const sap_cloud_rows* rows, int32_t worker) {
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) mean_of_row(context, rows, i);
}

static sap_status describe(describing* d) {
    const sap_features_job* job = d->job;
    sap_cloud_search search = {.tree = job->tree,
                               .k = job->near.k,
                               .limit2 = job->near.limit2,
                               .consume = count_rows,
                               .context = d,
                               .progress = &d->progress};
    sap_status status = sap_cloud_search_cpu(&search);
    search.consume = mean_rows;
    if (status == SAP_OK) status = sap_cloud_search_cpu(&search);
    if (status == SAP_OK && !sap_progress_finish(&d->progress))
        return sap_fail(job->tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    return status;
}

static sap_status find_normals(const sap_tree* tree, float* normals) {
    sap_progress_mute(true);
    const sap_status status = sap_cloud_normals(tree, NULL, normals, NULL);
    sap_progress_mute(false);
    return status;
}

sap_status sap_cloud_features_cpu(const sap_features_job* job) {
    const sap_tree* tree = job->tree;
    const size_t n = (size_t)tree->shape.source_count;
    const size_t numbers = NUMBERS + (job->options.normals ? 0 : 3);
    sap_scratch memory = {NULL, 0};
    sap_cloud_points points = {.points = NULL};
    size_t bytes;
    if (!sap_size_multiply(n, numbers * sizeof(float), &bytes) || !sap_scratch_take(tree->device, bytes + 1, &memory) ||
        !sap_cloud_points_open(tree, &points)) {
        sap_scratch_give(tree->device, &memory);
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the features of %lld points", (long long)n);
    }
    float* histograms = (float*)(void*)memory.memory;
    memset(histograms, 0, bytes);
    if (n) memset(job->features, 0, n * NUMBERS * sizeof(float));
    sap_status status = job->options.normals ? SAP_OK : find_normals(tree, histograms + n * NUMBERS);
    describing d = {.job = job,
                    .points = points.points,
                    .normals = job->options.normals ? job->options.normals : histograms + n * NUMBERS,
                    .histograms = histograms,
                    .progress = sap_progress_begin(tree->device, 2 * tree->shape.count)};
    if (status == SAP_OK) status = describe(&d);
    sap_cloud_points_close(tree, &points);
    sap_scratch_give(tree->device, &memory);
    return status;
}
