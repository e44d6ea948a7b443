// Densities and outliers on the CPU: a number for each point from its neighbours, as they are found.
#include "cloud/cloud.h"
#include "cloud/density.h"
#include "device/cpu.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

typedef struct measuring {
    const sap_cloud_kernels* kernels;
    int32_t k;
    double radius2, factor; // of the kernel
    double* values;
    uint8_t* keep;
    sap_progress_state progress;
} measuring;

static void count(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) m->values[rows->ids[i]] = (double)(rows->found[i] - 1);
}

static void keep_with_enough(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) m->keep[rows->ids[i]] = rows->found[i] - 1 >= m->k;
}

static void last_distance_f32(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->found[i] == m->k)
            m->values[rows->ids[i]] = sqrt((double)((const float*)rows->distance2)[rows->starts[i] + m->k - 1]);
}

static void last_distance_f64(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->found[i] == m->k)
            m->values[rows->ids[i]] = sqrt(((const double*)rows->distance2)[rows->starts[i] + m->k - 1]);
}

static void mean_distance(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    (void)worker;
    m->kernels->means(rows, m->values);
}

static void kernel_sum(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    (void)worker;
    m->kernels->kernel_sums(rows, m->radius2, m->factor, m->values);
}

// One over the integral of (1 - d^2 / r^2)^2 over the ball of radius r: the volume of the ball of radius 1 in n dimensions
// is 2 pi / n times that in n - 2, and the mean of the term over the ball is 8 / ((n + 2) (n + 4)).
double sap_density_factor(int32_t dims, double radius) {
    double volume = dims % 2 ? 2 : 1;
    for (int32_t n = dims % 2 ? 3 : 2; n <= dims; n += 2) volume = volume * 6.283185307179586477 / n;
    for (int32_t n = 0; n < dims; n++) volume = volume * radius;
    return (dims + 2.0) * (dims + 4.0) / (8 * volume);
}

static sap_status finish(const sap_tree* tree, measuring* m, sap_status status) {
    if (status == SAP_OK && !sap_progress_finish(&m->progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    return status;
}

sap_status sap_cloud_density_cpu(const sap_density_job* job) {
    const sap_tree* tree = job->tree;
    const sap_density_options* o = &job->options;
    measuring m = {.kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->cloud,
                   .k = o->k,
                   .values = job->densities,
                   .progress = sap_progress_begin(tree->device, tree->shape.count)};
    sap_cloud_search search = {
        .tree = tree, .limit2 = sap_limit2(tree, o->radius), .context = &m, .progress = &m.progress};
    for (int64_t i = 0; i < tree->shape.source_count; i++)
        job->densities[i] = o->kind == SAP_DENSITY_DISTANCE ? (double)INFINITY : 0;
    switch (o->kind) {
    case SAP_DENSITY_COUNT:
        search.count_only = true;
        search.consume = count;
        break;
    case SAP_DENSITY_KERNEL:
        m.radius2 = o->radius * o->radius;
        m.factor = sap_density_factor(o->dims, o->radius);
        search.consume = kernel_sum;
        break;
    default:
        search.k = o->k;
        search.limit2 = sap_limit2(tree, (double)INFINITY);
        search.consume = tree->shape.real_bits == 64 ? last_distance_f64 : last_distance_f32;
    }
    return finish(tree, &m, sap_cloud_search_cpu(&search));
}

// The sum of the differences between the points' means and `from`, or of the squares of these.
static double sum_means(const sap_outliers_job* job, const double* means, double from, bool squared) {
    const int64_t n = job->tree->shape.source_count;
    double sum = 0;
    for (int64_t first = 0; first < n; first += SAP_SUM_BLOCK) {
        double lanes[SAP_SUM_LANES] = {0}, block = 0;
        const int64_t end = n - first < SAP_SUM_BLOCK ? n : first + SAP_SUM_BLOCK;
        for (int64_t i = first; i < end; i++) {
            const double d = job->keep[i] ? means[i] - from : 0;
            lanes[(i - first) % SAP_SUM_LANES] += squared ? d * d : d;
        }
        for (int l = 0; l < SAP_SUM_LANES; l++) block += lanes[l];
        sum += block;
    }
    return sum;
}

// Points of the tree have a flag of 1 in `keep`.
static void judge(sap_outliers_job* job, const double* means) {
    const int64_t points = job->tree->shape.count;
    sap_outliers_mean(&job->info, points, sum_means(job, means, 0, false));
    sap_outliers_limit(&job->info, points, sum_means(job, means, job->info.mean, true), job->options.ratio);
    for (int64_t i = 0; i < job->tree->shape.source_count; i++)
        job->keep[i] = job->keep[i] && means[i] <= job->info.limit;
}

static void mark(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const measuring* m = context;
    mean_distance(context, rows, worker);
    for (int64_t i = 0; i < rows->count; i++) m->keep[rows->ids[i]] = 1;
}

static sap_status find_statistical(sap_outliers_job* job, measuring* m) {
    const sap_tree* tree = job->tree;
    const size_t n = (size_t)tree->shape.source_count;
    sap_scratch memory = {NULL, 0};
    if (!sap_scratch_take(tree->device, n * sizeof(double) + 1, &memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the mean distances of %lld points",
                        (long long)n);
    m->values = (double*)(void*)memory.memory;
    if (n) memset(job->keep, 0, n);
    const sap_cloud_search search = {.tree = tree,
                                     .k = job->options.k,
                                     .limit2 = sap_limit2(tree, (double)INFINITY),
                                     .consume = mark,
                                     .context = m,
                                     .progress = &m->progress};
    const sap_status status = sap_cloud_search_cpu(&search);
    if (status == SAP_OK) judge(job, m->values);
    sap_scratch_give(tree->device, &memory);
    return status;
}

sap_status sap_cloud_outliers_cpu(sap_outliers_job* job) {
    const sap_tree* tree = job->tree;
    measuring m = {.kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->cloud,
                   .k = job->options.k,
                   .keep = job->keep,
                   .progress = sap_progress_begin(tree->device, tree->shape.count)};
    sap_status status;
    if (job->options.kind == SAP_OUTLIERS_STATISTICAL) {
        status = find_statistical(job, &m);
    } else {
        const sap_cloud_search search = {.tree = tree,
                                         .count_only = true,
                                         .limit2 = sap_limit2(tree, job->options.radius),
                                         .consume = keep_with_enough,
                                         .context = &m,
                                         .progress = &m.progress};
        if (tree->shape.source_count) memset(job->keep, 0, (size_t)tree->shape.source_count);
        status = sap_cloud_search_cpu(&search);
    }
    for (int64_t i = 0; status == SAP_OK && i < tree->shape.source_count; i++) job->info.kept += job->keep[i];
    return finish(tree, &m, status);
}
