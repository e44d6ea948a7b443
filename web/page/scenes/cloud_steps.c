// The steps of the scene Cloud: points that relax, a scan that is aligned with another, and what the page is told of it.
#include "cloud.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_RELAXING = 1000, // steps
    MOST_ALIGNING = 200,
    MOST_LINES = 500 // pairs that are drawn
};
static const double at_rest = 0.004; // spacings that points move in their last step

cloud_work cloud_here;

static sap_points moving(void) { return (sap_points){cloud_here.now, cloud_here.given.count, 3, 0}; }

// ---- What is known of the points

static void forget(void) {
    cloud_work* w = &cloud_here;
    sap_tree_free(w->tree);
    sap_tree_free(w->around);
    cloud_scan_free(&w->still);
    cloud_scan_free(&w->given);
    void* const arrays[7] = {w->now, w->still_axes, w->given_axes, w->axes, w->densities, w->ids, w->distance2};
    for (int i = 0; i < 7; i++) free(arrays[i]);
}

static double largest_length(double value) { return isfinite(value) && value > 0 ? value : 1e-3; }

// The mean distance of neighbours, from that to the sixth other point, or to the farthest where there are fewer.
static sap_status find_spacing(const sap_tree* tree, int64_t count) {
    const int32_t others = count > 6 ? 6 : (int32_t)count - 1;
    const sap_density_options options = {.kind = SAP_DENSITY_DISTANCE, .k = others};
    double *far = malloc((size_t)count * 8 + 8), sum = 0;
    int64_t known = 0;
    if (!far) return cloud_no_memory();
    sap_status status = sap_cloud_density(tree, &options, far);
    for (int64_t i = 0; status == SAP_OK && i < count; i++) {
        sum += isfinite(far[i]) ? far[i] : 0;
        known += isfinite(far[i]);
    }
    free(far);
    cloud_here.spacing = largest_length(sum / (double)known * sqrt(3.141592653589793 / (others + 1)));
    return status;
}

static sap_status find_densities(void) {
    cloud_work* w = &cloud_here;
    const sap_density_options options = {
        .kind = SAP_DENSITY_KERNEL, .radius = cloud_density_range * w->spacing, .dims = 2};
    sap_status status =
        w->around ? sap_tree_rebuild(w->around, moving()) : sap_tree_build(page_cpu(), moving(), NULL, &w->around);
    if (status == SAP_OK) status = sap_cloud_density(w->around, &options, w->densities);
    double sum = 0, squares = 0;
    for (int64_t i = 0; status == SAP_OK && i < w->given.count; i++) sum += w->densities[i];
    w->mean_density = sum / (double)w->given.count;
    for (int64_t i = 0; status == SAP_OK && i < w->given.count; i++) {
        const double off = w->densities[i] / w->mean_density - 1;
        squares += off * off;
    }
    w->error = sqrt(squares / (double)w->given.count);
    return status;
}

// Normals that point as those that are known already do; without such ones they are only consistent.
static sap_status find_normals(const sap_tree* tree, const float* known, int64_t count, float* normals) {
    const sap_normals_options options = {.k = CLOUD_NORMAL_K,
                                         .orient = known ? SAP_ORIENT_NONE : SAP_ORIENT_CONSISTENT};
    const sap_status status = sap_cloud_normals(tree, &options, normals, NULL);
    for (int64_t i = 0; known && status == SAP_OK && i < 3 * count; i += 3) {
        const float along = known[i] * normals[i] + known[i + 1] * normals[i + 1] + known[i + 2] * normals[i + 2];
        for (int a = 0; along < 0 && a < 3; a++) normals[i + a] = -normals[i + a];
    }
    return status;
}

// Normals of where the points are now, pointing as those before.
static sap_status follow_normals(void) {
    cloud_work* w = &cloud_here;
    float* found = malloc((size_t)w->given.count * 12 + 12);
    if (!found) return cloud_no_memory();
    const sap_status status = find_normals(w->around, w->axes, w->given.count, found);
    free(w->axes);
    w->axes = found;
    return status;
}

// The nearest points of the scan that stands still; `error` of all pairs.
static sap_status find_pairs(void) {
    cloud_work* w = &cloud_here;
    const sap_search search = {.k = 1};
    double sum = 0;
    const sap_status status = sap_nearest(w->tree, moving(), &search, w->ids, w->distance2);
    for (int64_t i = 0; status == SAP_OK && i < w->given.count; i++) sum += (double)w->distance2[i];
    w->error = sqrt(sum / (double)w->given.count);
    return status;
}

// ---- The beginning

static float* floats(int64_t count) { return malloc((size_t)count * 4 + 4); }

static bool make_room(void) {
    cloud_work* w = &cloud_here;
    const int64_t n = w->given.count;
    w->now = floats(3 * n);
    w->given_axes = floats(3 * n);
    w->axes = floats(3 * n);
    w->still_axes = floats(3 * w->still.count);
    w->distance2 = floats(n);
    w->ids = malloc((size_t)n * 4 + 4);
    w->densities = malloc((size_t)n * 8 + 8);
    if (!w->now || !w->given_axes || !w->axes || !w->still_axes || !w->distance2 || !w->ids || !w->densities)
        return false;
    memcpy(w->now, w->given.points, (size_t)n * 12);
    return true;
}

static void widen_box(const cloud_scan* scan) {
    for (int64_t i = 0; scan->points && i < 3 * scan->count; i++) {
        cloud_here.lower[i % 3] = fmin(cloud_here.lower[i % 3], (double)scan->points[i]);
        cloud_here.upper[i % 3] = fmax(cloud_here.upper[i % 3], (double)scan->points[i]);
    }
}

static sap_status begin(void) {
    cloud_work* w = &cloud_here;
    const cloud_scan* held = w->aligns ? &w->still : &w->given;
    if (!page_cpu() || !make_room()) return cloud_no_memory();
    sap_status status = sap_tree_build(page_cpu(), (sap_points){held->points, held->count, 3, 0}, NULL, &w->tree);
    if (status == SAP_OK) status = find_spacing(w->tree, held->count);
    if (status == SAP_OK)
        status = find_normals(w->tree, held->axes, held->count, w->aligns ? w->still_axes : w->given_axes);
    if (status == SAP_OK)
        status = sap_tree_build(page_cpu(), (sap_points){w->given.points, w->given.count, 3, 0}, NULL, &w->around);
    if (status == SAP_OK && w->aligns) status = find_normals(w->around, w->given.axes, w->given.count, w->given_axes);
    if (status != SAP_OK) return status;
    memcpy(w->axes, w->given_axes, (size_t)w->given.count * 12);
    return w->aligns ? find_pairs() : find_densities();
}

sap_status cloud_begin_work(cloud_scan still, cloud_scan moves) {
    forget();
    cloud_here = (cloud_work){.aligns = still.points != NULL,
                              .still = still,
                              .given = moves,
                              .lower = {INFINITY, INFINITY, INFINITY},
                              .upper = {-INFINITY, -INFINITY, -INFINITY},
                              .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                              .overlap = 1};
    widen_box(&still);
    widen_box(&moves);
    sap_status status = SAP_OK;
    if (moves.count < 3 || (still.points && still.count < 3))
        status = page_fail(SAP_ERROR_ARGUMENT, "There are too few points.");
    if (status == SAP_OK) status = begin();
    if (status != SAP_OK) {
        forget();
        cloud_here = (cloud_work){.steps = 0};
    }
    return status;
}

// ---- What the page is told

// Degrees that the scan is still turned: the angle of its pose after the turn that took it out of its place.
static double turn_left(void) {
    const cloud_work* w = &cloud_here;
    double trace = 0;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) trace += w->pose[4 * r + k] * w->out[3 * k + r];
    return acos(fmax(-1, fmin(1, (trace - 1) / 2))) * 57.29577951308232;
}

static float* put_vertices(float* to, const float* points, const float* axes, int64_t count) {
    for (int64_t i = 0; i < count; i++, to += CLOUD_VERTEX_FIELDS) {
        memcpy(to + CLOUD_VERTEX_X, points + 3 * i, 12);
        memcpy(to + CLOUD_VERTEX_NORMAL_X, axes + 3 * i, 12);
        to[CLOUD_VERTEX_VALUE] = 0;
    }
    return to;
}

static int by_value(const void* a, const void* b) {
    const float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

// The greatest squared distance of the pairs that count.
static bool find_limit(float* limit2) {
    const cloud_work* w = &cloud_here;
    *limit2 = INFINITY;
    if (w->overlap >= 1 || w->given.count == 0) return true;
    float* sorted = floats(w->given.count);
    if (!sorted) return false;
    memcpy(sorted, w->distance2, (size_t)w->given.count * 4);
    qsort(sorted, (size_t)w->given.count, sizeof *sorted, by_value);
    const int64_t last = (int64_t)(w->overlap * (double)w->given.count);
    *limit2 = sorted[last > 0 ? last - 1 : 0];
    free(sorted);
    return true;
}

// Some of the pairs that count, evenly chosen.
static bool put_pairs(page_job* job) {
    const cloud_work* w = &cloud_here;
    const int64_t n = w->aligns ? w->given.count : 0, every = n / MOST_LINES + 1;
    float limit2 = 0, *to = page_answer(job, (size_t)(n / every + 1) * 24), *const first = to;
    if (!to || (n && !find_limit(&limit2))) return false;
    for (int64_t i = 0; i < n; i += every) {
        if (w->distance2[i] > limit2 || w->ids[i] < 0) continue;
        memcpy(to, w->now + 3 * i, 12);
        memcpy(to + 3, w->still.points + 3 * (int64_t)w->ids[i], 12);
        to += 6;
    }
    job->out_bytes[CLOUD_BUFFER_PAIRS] = (uint32_t)((to - first) * 4);
    return true;
}

sap_status cloud_answer(page_job* job) {
    const cloud_work* w = &cloud_here;
    const int64_t still = w->still.count, moves = w->given.count;
    float* const vertices = page_answer(job, (size_t)(still + moves) * CLOUD_VERTEX_FIELDS * 4);
    if (!vertices) return SAP_ERROR_MEMORY;
    float* values = put_vertices(vertices, w->still.points, w->still_axes, still) + CLOUD_VERTEX_VALUE;
    put_vertices(values - CLOUD_VERTEX_VALUE, w->now, w->axes, moves);
    for (int64_t i = 0; i < moves; i++, values += CLOUD_VERTEX_FIELDS)
        *values = (float)(w->aligns ? sqrt((double)w->distance2[i]) / w->spacing : w->densities[i] / w->mean_density);
    if (!put_pairs(job)) return cloud_no_memory();
    double* number = job->number;
    number[CLOUD_STATE_POINTS] = (double)(still + moves);
    number[CLOUD_STATE_STILL] = (double)still;
    number[CLOUD_STATE_STEPS] = w->steps;
    number[CLOUD_STATE_END] = w->end;
    number[CLOUD_STATE_ERROR] = w->error;
    number[CLOUD_STATE_PAIRS] = w->overlap;
    number[CLOUD_STATE_LEFT] = w->knows_place ? turn_left() : -1;
    number[CLOUD_STATE_SPACING] = w->spacing;
    number[CLOUD_STATE_UNIT] = cloud_from.unit;
    number[CLOUD_STATE_GIVEN] = cloud_from.given;
    number[CLOUD_STATE_NOT_FINITE] = cloud_from.not_finite;
    memcpy(number + CLOUD_STATE_LOWER_X, w->lower, sizeof w->lower);
    memcpy(number + CLOUD_STATE_UPPER_X, w->upper, sizeof w->upper);
    return SAP_OK;
}

// ---- Steps

static sap_status there_is_none(void) { return page_fail(SAP_ERROR_ARGUMENT, "There is no scan yet."); }

// A step was made.
static void end(bool rests, int32_t most) {
    cloud_here.steps++;
    cloud_here.end = rests ? CLOUD_END_REST : cloud_here.steps >= most ? CLOUD_END_STOPPED : CLOUD_END_NONE;
}

// Puts points that have moved along their tangent planes back on the surface: on the plane through the nearest point of the
// scan as it was given. sap_cloud_relax would take the points of the last step for that scan: each call makes one step.
static sap_status put_back(float* moved) {
    cloud_work* w = &cloud_here;
    const sap_search search = {.k = 1};
    const sap_status status =
        sap_nearest(w->tree, (sap_points){moved, w->given.count, 3, 0}, &search, w->ids, w->distance2);
    for (int64_t i = 0; status == SAP_OK && i < w->given.count; i++) {
        const float *on = w->given.points + 3 * (int64_t)w->ids[i], *normal = w->given_axes + 3 * (int64_t)w->ids[i];
        double off = 0;
        for (int a = 0; a < 3; a++) off += ((double)moved[3 * i + a] - (double)on[a]) * (double)normal[a];
        for (int a = 0; a < 3; a++) moved[3 * i + a] = (float)((double)moved[3 * i + a] - off * (double)normal[a]);
    }
    return status;
}

// A step of points that repel each other (cloud_force; cloud_state).
PAGE_EXPORT sap_status job_cloud_relax(page_job* job) {
    cloud_work* w = &cloud_here;
    if (!w->now || w->aligns) return there_is_none();
    const double radius = job->number[CLOUD_FORCE_RADIUS] * w->spacing;
    const sap_relax_options options = {.k = radius > 0 ? 0 : (int32_t)job->number[CLOUD_FORCE_K],
                                       .radius = radius,
                                       .step = job->number[CLOUD_FORCE_STRENGTH],
                                       .is_free = true};
    float* moved = floats(3 * w->given.count);
    if (!moved) return cloud_no_memory();
    sap_relax_info info = {.steps = 0};
    sap_status status = sap_cloud_relax(page_cpu(), moving(), &options, moved, NULL, &info);
    if (status == SAP_OK) status = put_back(moved);
    if (status != SAP_OK) {
        free(moved);
        return status;
    }
    free(w->now);
    w->now = moved;
    status = find_densities();
    if (status == SAP_OK) status = follow_normals();
    if (status != SAP_OK) return status;
    end(info.movement < at_rest * w->spacing, MOST_RELAXING);
    return cloud_answer(job);
}

static void turn_normals(void) {
    const cloud_work* w = &cloud_here;
    for (int64_t i = 0; i < 3 * w->given.count; i += 3)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += w->pose[4 * r + k] * (double)w->given_axes[i + k];
            w->axes[i + r] = (float)sum;
        }
}

// A step of a scan towards the one that stands still (cloud_fit; cloud_state).
PAGE_EXPORT sap_status job_cloud_align(page_job* job) {
    cloud_work* w = &cloud_here;
    if (!w->now || !w->aligns) return there_is_none();
    sap_align_options options = {.method = (sap_align_method)job->number[CLOUD_FIT_METHOD],
                                 .find_overlap = job->number[CLOUD_FIT_FINDS_OVERLAP] != 0,
                                 .iterations = 1,
                                 .tolerance = 1e-5,
                                 .source_normals = w->given_axes,
                                 .target_normals = w->still_axes};
    memcpy(options.start, w->pose, sizeof options.start);
    const sap_points given = {w->given.points, w->given.count, 3, 0};
    sap_alignment found;
    sap_status status = sap_cloud_align(w->tree, given, &options, &found);
    if (status == SAP_OK) status = sap_transform_points(found.transform, given, w->now);
    if (status != SAP_OK) return status;
    memcpy(w->pose, found.transform, sizeof w->pose);
    status = find_pairs();
    if (status != SAP_OK) return status;
    turn_normals();
    w->error = found.rmse;
    w->overlap = found.overlap;
    end(found.reason != SAP_ALIGN_ITERATIONS, MOST_ALIGNING);
    return cloud_answer(job);
}
