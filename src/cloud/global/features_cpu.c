// Fast point feature histograms on the CPU. First each point's own histograms of its pairs with its neighbours, then for each
// point their means over the neighbourhood.
#include "cloud/global/describe.h"
#include "cloud/global/global.h"
#include "cloud/points_cpu.h"
#include "cloud/rows_cpu.h"
#include "device/cpu.h"
#include "tree/queries.h"

enum { NUMBERS = SAP_FEATURE_NUMBERS };

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

static void count_pairs(const describing* d, const sap_cloud_rows* rows, int64_t row) {
    const int32_t id = rows->ids[row];
    sap_feature_counts counts = {.pairs = 0};
    double own[3], n[3];
    point_at(d, id, own);
    const bool has_normal = sap_feature_normal(d->normals, id, n);
    for (int64_t i = 0; has_normal && i < rows->found[row]; i++) {
        const int32_t neighbor = rows->neighbors[rows->starts[row] + i];
        double m[3], along[3];
        if (neighbor == id || !sap_feature_normal(d->normals, neighbor, m)) continue;
        point_at(d, neighbor, along);
        for (int c = 0; c < 3; c++) along[c] -= own[c];
        sap_feature_count(&counts, d->job->options.is_oriented, n, m, along);
    }
    sap_feature_histogram(&counts, d->histograms + NUMBERS * (int64_t)id);
}

static void count_rows(void* context, const sap_cloud_rows* rows, int32_t worker) {
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) count_pairs(context, rows, i);
}

static void mean_of_row(const describing* d, const sap_cloud_rows* rows, int64_t row) {
    const int32_t id = rows->ids[row];
    const bool is_oriented = d->job->options.is_oriented;
    sap_feature_sums sums = {.weights = 0};
    double n[3], m[3];
    const bool has_normal = sap_feature_normal(d->normals, id, n);
    for (int64_t i = 0; has_normal && i < rows->found[row]; i++) {
        const int64_t at = rows->starts[row] + i;
        const int32_t neighbor = rows->neighbors[at];
        const double distance2 = d->job->tree->shape.real_bits == 64 ? ((const double*)rows->distance2)[at]
                                                                     : (double)((const float*)rows->distance2)[at];
        if (neighbor == id || !(distance2 > 0) || !sap_feature_normal(d->normals, neighbor, m)) continue;
        sap_feature_add(&sums, d->histograms + NUMBERS * (int64_t)neighbor, !is_oriented && sap_feature_dot(n, m) < 0,
                        distance2);
    }
    sap_feature_finish(&sums, d->histograms + NUMBERS * (int64_t)id, is_oriented,
                       d->job->features + NUMBERS * (int64_t)id);
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
