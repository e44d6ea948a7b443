// Points projected onto the surface of a cloud: steps are those of their definition, bit for bit on every instruction set and
// for any number of threads; noise and outliers go; bad input.
#include "cases.h"
#include "progress_host.h"
#include "sapwood/cloud.h"
#include "stage.h"
#include "tree/leaves.h"
#include <float.h>

enum { MOST = 700, LANES_OF_SUMS = 16, SIBLINGS = 16 };

// ---- The definition

typedef struct sums {
    double offset[3], weight;
} sums;

static float distance2_of(const sap_leaf_block* leaf, int32_t slot, const float at[3], float d[3]) {
    float distance2 = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = ((const float*)(const void*)leaf->coords)[a * leaf->stride + slot] - at[a];
        const float square = d[a] * d[a];
        distance2 = distance2 + square;
    }
    return distance2;
}

typedef enum weighing { DENSITY, MEAN, MEDIAN, PUSH } weighing;

static float weight_of(float distance2, float limit2, weighing what) {
    const float inverse = 1 / limit2, q = distance2 * inverse, part = 1 - q, square = part * part, t = square * square;
    const float least = fmaxf(limit2 * 0x1p-80f, FLT_TRUE_MIN);
    if (!(distance2 <= limit2) || (what >= MEDIAN && distance2 < least)) return 0;
    return what == PUSH ? t / q : what == MEDIAN ? t / sqrtf(q) : t;
}

// Around a place, over all leaves whether near or not. weights: by id, or NULL.
static sums sums_of(const sap_tree* tree, const float at[3], float limit2, const float* weights, weighing what) {
    static float lanes[4][LANES_OF_SUMS];
    double all[4][LANES_OF_SUMS / 2];
    memset(all, 0, sizeof all);
    memset(lanes, 0, sizeof lanes);
    for (int64_t l = 0; l < sap_leaf_places(tree); l++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, l);
        for (int32_t i = 0; i < leaf.count; i++) {
            float d[3], *lane = &lanes[0][i % LANES_OF_SUMS];
            const float distance2 = distance2_of(&leaf, i, at, d);
            float w = weight_of(distance2, limit2, what);
            if (!(w > 0)) continue;
            if (weights) w = w * weights[leaf.ids[i]];
            for (int a = 0; a < 3; a++) {
                const float term = w * d[a];
                lane[a * LANES_OF_SUMS] = lane[a * LANES_OF_SUMS] + term;
            }
            lane[3 * LANES_OF_SUMS] = lane[3 * LANES_OF_SUMS] + w;
        }
        if (l % SIBLINGS != SIBLINGS - 1 && l != sap_leaf_places(tree) - 1) continue;
        for (int s = 0; s < 4; s++)
            for (int i = 0; i < LANES_OF_SUMS / 2; i++) {
                const float both = lanes[s][i] + lanes[s][i + LANES_OF_SUMS / 2];
                all[s][i] += (double)both;
            }
        memset(lanes, 0, sizeof lanes);
    }
    double sum[4] = {0, 0, 0, 0};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < LANES_OF_SUMS / 2; i++) sum[s] += all[s][i];
    return (sums){{sum[0], sum[1], sum[2]}, sum[3]};
}

static void densities_of(const sap_tree* tree, const float* points, int64_t count, float limit2, bool inverse,
                         float* weights) {
    for (int64_t i = 0; i < count; i++) {
        const double sum = sums_of(tree, points + 3 * i, limit2, NULL, DENSITY).weight;
        weights[i] = (float)(inverse ? 1 / sum : sum);
    }
}

static void expect_step(const sap_tree* given, const float* given_weights, const sap_tree* moving, const float* from,
                        int64_t count, float limit2, const sap_project_options* o, float* to) {
    const double push = o->push > 0 ? o->push : 0.45;
    static float weights[MOST];
    densities_of(moving, from, count, limit2, false, weights);
    for (int64_t i = 0; i < count; i++) {
        const sums drawn = sums_of(given, from + 3 * i, limit2, given_weights, o->to_median ? MEDIAN : MEAN);
        const sums pushed = sums_of(moving, from + 3 * i, limit2, weights, PUSH);
        for (int a = 0; a < 3; a++) {
            const double draw = drawn.weight > 0 ? drawn.offset[a] / drawn.weight : 0;
            const double away = pushed.weight > 0 ? pushed.offset[a] / pushed.weight : 0;
            to[3 * i + a] = (float)(((double)from[3 * i + a] + draw) - push * away);
        }
    }
}

// Points of evenly spread ranks in the order of the leaves.
static void expect_starts(const sap_tree* tree, int64_t count, float* starts) {
    int64_t rank = 0, next = 0;
    for (int64_t l = 0; l < sap_leaf_places(tree); l++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, l);
        for (int32_t i = 0; i < leaf.count; i++, rank++)
            if (next < count && rank == (2 * next + 1) * tree->shape.count / (2 * count))
                sap_leaf_point(tree, &leaf, i, starts + 3 * next++);
    }
    CHECK(next == count);
}

static float* packed(const cloud* points) {
    float* at = malloc((size_t)points->count * 3 * sizeof *at + 1);
    for (int64_t i = 0; i < 3 * points->count; i++) at[i] = (float)cloud_get(points, i / 3, (int32_t)(i % 3));
    return at;
}

// Returns how many steps could be done before a point went out of the range of coordinates.
static int32_t expect(sap_device* device, const cloud* points, const sap_project_options* o, float* at) {
    static float next[3 * MOST], weights[MOST];
    float* own = packed(points);
    sap_tree *given = NULL, *moving = NULL;
    const float limit2 = (float)oracle_limit2(o->radius, 32);
    int32_t step = 0;
    CHECK_STATUS(build(device, points, NULL, &given), SAP_OK);
    if (o->starts)
        memcpy(at, o->starts, (size_t)o->count * 3 * sizeof *at);
    else
        expect_starts(given, o->count, at);
    if (o->by_density) densities_of(given, own, points->count, limit2, true, weights);
    for (; step < o->steps && limit2 >= FLT_MIN; step++) {
        const sap_points now = {at, o->count, 3, 0};
        const sap_status status = moving ? sap_tree_rebuild(moving, now) : sap_tree_build(device, now, NULL, &moving);
        if (status == SAP_ERROR_NOT_FINITE) break;
        expect_step(given, o->by_density ? weights : NULL, moving, at, o->count, limit2, o, next);
        memcpy(at, next, (size_t)o->count * 3 * sizeof *at);
    }
    sap_tree_free(given);
    sap_tree_free(moving);
    free(own);
    return limit2 >= FLT_MIN ? step : o->steps;
}

static void check_floats(const float* got, const float* expected, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (got[i] == expected[i]) continue;
        NOTE("number %lld is %a, not %a", (long long)i, (double)got[i], (double)expected[i]);
        CHECK(false);
        return;
    }
}

static void try_case(const devices* all, family kind, int64_t size, uint64_t chance) {
    static float expected[3 * MOST], got[3 * MOST], starts[3 * MOST];
    cloud points = cloud_of_family(kind, size, 3, 32, chance % 3 ? 0 : 4, chance);
    const double radius = 3 * case_radius(&points, &points, chance);
    sap_project_options o = {.count = size > 4 ? size / (1 + (int64_t)(chance / 2 % 4)) : size, .steps = 2};
    o.radius = radius > 1e-40 && isfinite(radius) ? radius : 0.25;
    o.push = chance / 8 % 2 ? 0 : 0.3;
    o.by_density = chance / 16 % 2;
    o.to_median = chance / 64 % 2;
    if (chance / 32 % 2 && size) {
        uint64_t state = chance;
        o.starts = starts;
        for (int64_t i = 0; i < 3 * o.count; i++)
            starts[i] = (float)cloud_get(&points, random_below(&state, size), (int32_t)(i % 3));
    }
    if (size == 0) o.count = 0;
    const int32_t steps = o.count ? expect(all->open[0], &points, &o, expected) : o.steps;
    for (int d = 0; d < all->count; d++) {
        sap_project_info info = {0};
        NOTE("%s n %d of %d radius %g device %d", family_name(kind), (int)o.count, (int)size, o.radius, d);
        const sap_status status = sap_cloud_project(all->open[d], cloud_f32(&points), &o, got, &info);
        CHECK_STATUS(status, steps == o.steps ? SAP_OK : SAP_ERROR_NOT_FINITE);
        if (status != SAP_OK) continue;
        CHECK(info.count == o.count && info.radius == o.radius);
        check_floats(got, expected, 3 * o.count);
    }
    cloud_free(&points);
}

TEST(steps_are_those_of_their_definition) {
    static const int64_t sizes[] = {0, 1, 2, 5, 33, 600};
    devices all = devices_open(0);
    try_families(&all, sizes, 6, try_case);
    devices_close(&all);
}

// ---- What must come out

// A noise whose distribution is near enough to Gauss's, of standard deviation 1.
static double noise(uint64_t* state) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += random_unit(state);
    return sum - 6;
}

static void on_sphere(uint64_t* state, double p[3]) {
    double length;
    do {
        length = 0;
        for (int a = 0; a < 3; a++) {
            p[a] = 2 * random_unit(state) - 1;
            length += p[a] * p[a];
        }
    } while (length > 1 || length < 0.01);
    for (int a = 0; a < 3; a++) p[a] /= sqrt(length);
}

// The root of the mean of squares of how far points are from the unit sphere.
static double off_sphere(const float* points, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)points[3 * i], y = (double)points[3 * i + 1], z = (double)points[3 * i + 2];
        const double off = sqrt(x * x + y * y + z * z) - 1;
        sum += off * off;
    }
    return sqrt(sum / (double)count);
}

// The least and the mean distance of a point to its nearest.
static void spacings(sap_device* device, const float* points, int64_t count, double* least, double* mean) {
    sap_tree* tree = NULL;
    float* distance2 = malloc((size_t)count * sizeof *distance2);
    *least = (double)INFINITY;
    *mean = 0;
    CHECK_STATUS(sap_tree_build(device, (sap_points){points, count, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_nearest_self(tree, &(sap_search){.k = 1}, NULL, distance2), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        *least = fmin(*least, sqrt((double)distance2[i]));
        *mean += sqrt((double)distance2[i]) / (double)count;
    }
    sap_tree_free(tree);
    free(distance2);
}

// A sphere with noise, and with outliers a fifth of which would spoil a mean.
TEST(a_noisy_sphere_becomes_round_and_even) {
    enum { POINTS = 20000, OUTLIERS = 1000, KEPT = POINTS / 20 };
    devices all = devices_open(0);
    float *points = malloc(sizeof(float) * 3 * POINTS), *made = malloc(sizeof(float) * 3 * KEPT);
    float* first = malloc(sizeof(float) * 3 * KEPT);
    uint64_t state = 9;
    for (int64_t i = 0; i < POINTS; i++) {
        double p[3];
        on_sphere(&state, p);
        const double length = i < OUTLIERS ? 0.8 + 0.4 * random_unit(&state) : 1 + 0.02 * noise(&state);
        for (int a = 0; a < 3; a++) points[3 * i + a] = (float)(p[a] * length);
    }
    const double before = off_sphere(points, POINTS);
    for (int d = 0; d < all.count; d++) {
        sap_project_info info;
        double least, mean;
        const sap_project_options o = {.radius = 0.3};
        CHECK_STATUS(sap_cloud_project(all.open[d], (sap_points){points, POINTS, 3, 0}, &o, made, &info), SAP_OK);
        spacings(all.open[d], made, KEPT, &least, &mean);
        // A hexagonal lattice of 1000 points on the sphere has distances of 0.12.
        NOTE("off %g before, %g after; least distance %g, mean %g", before, off_sphere(made, KEPT), least, mean);
        CHECK(before > 0.03 && off_sphere(made, KEPT) < 0.012);
        CHECK(least > 0.04 && mean > 0.09);
        CHECK(info.count == KEPT && info.steps == 35 && info.movement > 0 && info.movement < 0.01);
        if (d == 0) memcpy(first, made, sizeof(float) * 3 * KEPT);
        check_floats(made, first, (int64_t)3 * KEPT);
    }
    free(points);
    free(made);
    free(first);
    devices_close(&all);
}

// A plane with noise becomes flat; without noise it stays flat to the last bit. The scale changes nothing.
TEST(a_noisy_plane_becomes_flat) {
    enum { POINTS = 10000, KEPT = POINTS / 20 };
    static const double scales[] = {1, 1e-6, 1e7};
    sap_device* device = NULL;
    float *points = malloc(sizeof(float) * 3 * POINTS), *made = malloc(sizeof(float) * 3 * KEPT);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &device), SAP_OK);
    for (int c = 0; c < 6; c++) {
        const double scale = scales[c % 3], rough = c < 3 ? 0.01 : 0;
        uint64_t state = 4;
        double before = 0, after = 0;
        sap_project_info info;
        for (int64_t i = 0; i < 3 * POINTS; i++)
            points[i] = (float)(scale * (i % 3 < 2 ? random_unit(&state) : rough * noise(&state)));
        CHECK_STATUS(sap_cloud_project(device, (sap_points){points, POINTS, 3, 0}, NULL, made, &info), SAP_OK);
        for (int64_t i = 0; i < POINTS; i++) before += pow((double)points[3 * i + 2] / scale, 2) / POINTS;
        for (int64_t i = 0; i < KEPT; i++) after += pow((double)made[3 * i + 2] / scale, 2) / KEPT;
        NOTE("scale %g: off %g before, %g after; radius %g", scale, sqrt(before), sqrt(after), info.radius / scale);
        CHECK(rough > 0 ? sqrt(after) < 0.25 * sqrt(before) : after == 0);
        CHECK(info.radius > 0.05 * scale && info.radius < 0.15 * scale);
        CHECK(info.count == KEPT && info.steps == 35);
    }
    free(points);
    free(made);
    sap_device_close(device);
}

// Dense parts draw points: with options.by_density less so.
TEST(weights_undo_uneven_sampling) {
    enum { DENSE = 9000, SPARSE = 1000, KEPT = 200 };
    sap_device* device = NULL;
    float *points = malloc(sizeof(float) * 3 * (DENSE + SPARSE)), made[3 * KEPT], starts[3 * KEPT];
    double means[2];
    uint64_t state = 8;
    // A square whose left quarter is dense.
    for (int64_t i = 0; i < DENSE + SPARSE; i++) {
        points[3 * i] = (float)(i < DENSE ? 0.25 * random_unit(&state) : random_unit(&state));
        points[3 * i + 1] = (float)random_unit(&state);
        points[3 * i + 2] = (float)(0.003 * noise(&state));
    }
    for (int64_t i = 0; i < 3 * KEPT; i++) starts[i] = i % 3 < 2 ? (float)random_unit(&state) : 0.0f;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int c = 0; c < 2; c++) {
        const sap_project_options o = {.count = KEPT, .starts = starts, .radius = 0.2, .by_density = c == 1};
        CHECK_STATUS(sap_cloud_project(device, (sap_points){points, DENSE + SPARSE, 3, 0}, &o, made, NULL), SAP_OK);
        means[c] = 0;
        for (int i = 0; i < KEPT; i++) means[c] += (double)made[3 * i] / KEPT;
    }
    NOTE("mean of x: %g without weights, %g with them", means[0], means[1]);
    CHECK(means[1] > means[0] + 0.01 && fabs(means[1] - 0.5) < 0.05);
    free(points);
    sap_device_close(device);
}

TEST(steps_follow_each_other) {
    enum { POINTS = 400, KEPT = 40 };
    sap_device* device = NULL;
    cloud points = cloud_of_family(FAMILY_SHELL, POINTS, 3, 32, 0, 4);
    static float at[3 * KEPT], next[3 * KEPT], all[3 * KEPT];
    sap_project_options o = {.count = KEPT, .radius = 0.5, .steps = 3};
    sap_project_info info;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    CHECK_STATUS(sap_cloud_project(device, cloud_f32(&points), &o, all, &info), SAP_OK);
    CHECK(info.steps == 3 && info.movement > 0);
    o.steps = 1;
    CHECK_STATUS(sap_cloud_project(device, cloud_f32(&points), &o, at, NULL), SAP_OK);
    o.starts = at;
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(sap_cloud_project(device, cloud_f32(&points), &o, next, NULL), SAP_OK);
        memcpy(at, next, sizeof at);
    }
    check_floats(at, all, (int64_t)3 * KEPT);
    o = (sap_project_options){.radius = 0.5, .steps = 100000, .tolerance = 0.01};
    CHECK_STATUS(sap_cloud_project(device, cloud_f32(&points), &o, all, &info), SAP_OK);
    CHECK(info.count == POINTS / 20 && info.steps > 1 && info.steps < 100000 && info.movement < 0.01 * 0.5);
    cloud_free(&points);
    sap_device_close(device);
}

// ---- Bad input

TEST(what_nothing_draws_stays) {
    sap_device* device = NULL;
    float same[300], made[30], starts[6] = {1, 2, 3, 4, 5, 6};
    sap_project_info info;
    for (int i = 0; i < 300; i++) same[i] = (float)(i % 3);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    // All points at one place have no spacing.
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 100, 3, 0}, NULL, made, &info), SAP_OK);
    CHECK(info.count == 5 && info.radius == 0 && info.steps == 0 && info.movement == 0);
    check_floats(made, same, 15);
    const sap_project_options reached = {.radius = 1, .by_density = true};
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 100, 3, 0}, &reached, made, &info), SAP_OK);
    CHECK(info.steps == 35 && info.movement == 0);
    check_floats(made, same, 15);
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 1, 3, 0}, NULL, made, &info), SAP_OK);
    CHECK(info.count == 1 && info.steps == 0);
    check_floats(made, same, 3);
    // Starts far off.
    const sap_project_options alone = {.count = 2, .starts = starts, .radius = 0.5};
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 0, 3, 0}, &alone, made, &info), SAP_OK);
    check_floats(made, starts, 6);
    CHECK_STATUS(sap_cloud_project(device, (sap_points){NULL, 0, 3, 0}, &alone, made, &info), SAP_OK);
    check_floats(made, starts, 6);
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 100, 3, 0}, &alone, made, &info), SAP_OK);
    check_floats(made, starts, 6);
    // A radius that all are within, and one whose square is no normal float.
    const sap_project_options huge = {.count = 2, .starts = starts, .radius = 1e200, .push = 1e-30};
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 100, 3, 0}, &huge, made, &info), SAP_OK);
    for (int i = 0; i < 6; i++) CHECK(fabs((double)made[i] - i % 3) < 1e-3);
    const sap_project_options tiny = {.count = 2, .starts = starts, .radius = 1e-20};
    CHECK_STATUS(sap_cloud_project(device, (sap_points){same, 100, 3, 0}, &tiny, made, &info), SAP_OK);
    CHECK(info.steps == 0);
    check_floats(made, starts, 6);
    sap_device_close(device);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    float made[300];
    const sap_points points = {s.coords, 10, 3, 0};
    sap_project_options o = {0};
    CHECK_STATUS(sap_cloud_project(NULL, points, NULL, made, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_project(s.device, points, NULL, made, NULL), SAP_OK);
    CHECK_STATUS(sap_cloud_project(s.device, (sap_points){NULL, 0, 3, 0}, NULL, NULL, NULL), SAP_OK);
    REFUSED(sap_cloud_project(s.device, points, NULL, NULL, NULL), SAP_ERROR_ARGUMENT, "projected");
    REFUSED(sap_cloud_project(s.device, (sap_points){NULL, 5, 3, 0}, NULL, made, NULL), SAP_ERROR_ARGUMENT, "points");
    REFUSED(sap_cloud_project(s.device, (sap_points){s.coords, 5, 2, 0}, NULL, made, NULL), SAP_ERROR_ARGUMENT,
            "points.dims");
    o = (sap_project_options){.count = -1};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.count");
    o = (sap_project_options){.count = 11};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.count");
    o = (sap_project_options){.starts = s.coords};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.count");
    o = (sap_project_options){.starts = s.coords, .count = INT64_C(1) << 31};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_RANGE, "options.count");
    o = (sap_project_options){.radius = -1};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_project_options){.radius = (double)INFINITY};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_project_options){.steps = -1};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.steps");
    o = (sap_project_options){.push = 0.6};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.push");
    o = (sap_project_options){.push = (double)NAN};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.push");
    o = (sap_project_options){.tolerance = (double)NAN};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.tolerance");
    o = (sap_project_options){.reserved = {1}};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_ARGUMENT, "options.reserved");
    float starts[6] = {0, 0, 0, 0, NAN, 0};
    o = (sap_project_options){.count = 2, .starts = starts};
    REFUSED(sap_cloud_project(s.device, points, &o, made, NULL), SAP_ERROR_NOT_FINITE, "options.starts");
    s.coords[7] = NAN;
    REFUSED(sap_cloud_project(s.device, points, NULL, made, NULL), SAP_ERROR_NOT_FINITE, "2");
    close_stage(&s);
}

TEST(progress_is_told_and_cancels) {
    enum { POINTS = 40000 };
    float *coords = malloc((size_t)3 * POINTS * sizeof *coords), *made = malloc((size_t)3 * POINTS / 20 * sizeof *made);
    uint64_t state = 4;
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = (float)random_unit(&state);
    for (int c = 0; c < 3; c++) {
        progress_host host = {.stop_at = c == 0 ? 0 : c == 1 ? 2 : 5};
        sap_device* device = NULL;
        const sap_device_options options = {
            .processor = SAP_CPU, .threads = 2, .progress = progress_host_report, .progress_user = &host};
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        const sap_project_options o = {.steps = 5, .by_density = c < 2};
        const sap_status status = sap_cloud_project(device, (sap_points){coords, POINTS, 3, 0}, &o, made, NULL);
        NOTE("case %d: %d reports", c, (int)host.reports);
        CHECK_STATUS(status, c ? SAP_ERROR_CANCELLED : SAP_OK);
        CHECK(host.reports > 1 && (c || host.last == 1));
        sap_device_close(device);
    }
    free(coords);
    free(made);
}

TEST_MAIN()
