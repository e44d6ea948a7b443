// Densities and outliers: those of brute force, bit for bit, on every device; closed forms; bad input.
#include "cases.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 400 };

typedef struct expected_values {
    double counts[MOST], distances[MOST], kernels[MOST], means[MOST];
    uint8_t crowded[MOST]; // has at least K_RADIUS others within the radius
} expected_values;

enum { K = 7, K_RADIUS = 3 };

static double value_at(const void* distance2, int32_t real_bits, int64_t i) {
    return real_bits == 64 ? ((const double*)distance2)[i] : (double)((const float*)distance2)[i];
}

static void expect_point(const cloud* points, const uint8_t* dropped, const sap_tree* tree, int64_t id, double radius,
                         double factor, expected_values* e) {
    int32_t ids[MOST];
    double room[MOST], sum = 0;
    const oracle_rules rules = {
        .dropped = dropped, .limit2 = oracle_limit2((double)INFINITY, points->real_bits), .self = true};
    const oracle_rules within = {.dropped = dropped, .limit2 = oracle_limit2(radius, points->real_bits)};
    const cloud query = cloud_part(points, id, 1);
    sap_neighbors* found = NULL;
    CHECK(oracle_nearest(points, points, id, K, &rules, ids, room));
    int64_t others = 0;
    for (; others < K && ids[others] >= 0; others++) sum += sqrt(value_at(room, points->real_bits, others));
    e->means[id] = others ? sum / (double)others : 0;
    e->distances[id] = others == K ? sqrt(value_at(room, points->real_bits, K - 1)) : (double)INFINITY;
    e->counts[id] = (double)(oracle_radius(points, &query, 0, &within, ids, NULL) - 1);
    e->crowded[id] = e->counts[id] >= K_RADIUS;
    CHECK_STATUS(radius_collect(tree, &query, radius, &found), SAP_OK); // for the tree's own order
    CHECK(found->offsets[1] == (int64_t)e->counts[id] + 1);
    sum = 0;
    for (int64_t j = 0; j < found->offsets[1]; j++) {
        const double d = found->distance2 ? (double)found->distance2[j] : found->distance2_f64[j];
        const double part = 1 - d * (1 / (radius * radius));
        sum += part > 0 ? part * part : 0;
    }
    e->kernels[id] = factor * sum;
    sap_neighbors_free(found);
}

static void check_values(const double* got, const double* expected, int64_t n, const char* what) {
    for (int64_t i = 0; i < n; i++) {
        if (got[i] == expected[i]) continue;
        NOTE("%s[%lld] is %a, not %a", what, (long long)i, got[i], expected[i]);
        CHECK(false);
        return;
    }
}

// The sum over the points of what they are away from `from`, or of the squares of that: numbers 32 apart first, then those
// of 1024 that stand together, then all.
static double sum_in_blocks(const expected_values* e, const uint8_t* dropped, int64_t n, double from, bool squared) {
    double sum = 0;
    for (int64_t first = 0; first < n; first += 1024) {
        double block = 0;
        for (int64_t lane = first; lane < first + 32; lane++) {
            double own = 0;
            for (int64_t i = lane; i < n && i < first + 1024; i += 32) {
                const double d = e->means[i] - from;
                if (!dropped[i]) own += squared ? d * d : d;
            }
            block += own;
        }
        sum += block;
    }
    return sum;
}

// What statistical outliers are, in the words of cloud.h.
static int64_t expect_kept(const expected_values* e, const uint8_t* dropped, int64_t n, double ratio, uint8_t* keep,
                           sap_outliers_info* info) {
    double points = 0;
    *info = (sap_outliers_info){0};
    for (int64_t i = 0; i < n; i++) points += !dropped[i];
    info->mean = points > 0 ? sum_in_blocks(e, dropped, n, 0, false) / points : 0;
    info->deviation = points > 1 ? sqrt(sum_in_blocks(e, dropped, n, info->mean, true) / (points - 1)) : 0;
    info->limit = fmax(info->mean + ratio * info->deviation, info->mean * (1 + 0x1p-40));
    for (int64_t i = 0; i < n; i++) {
        keep[i] = !dropped[i] && e->means[i] <= info->limit;
        info->kept += keep[i];
    }
    return info->kept;
}

static void check_outliers(const sap_tree* tree, const expected_values* e, const uint8_t* dropped, int64_t n,
                           double radius) {
    uint8_t keep[MOST], expected[MOST];
    sap_outliers_info info, expected_info;
    memset(keep, 9, sizeof keep);
    expect_kept(e, dropped, n, 0.5, expected, &expected_info);
    CHECK_STATUS(sap_cloud_outliers(tree, &(sap_outliers_options){.k = K, .ratio = 0.5}, keep, &info), SAP_OK);
    CHECK(!memcmp(keep, expected, (size_t)n));
    CHECK(info.kept == expected_info.kept && info.mean == expected_info.mean && info.limit == expected_info.limit &&
          info.deviation == expected_info.deviation);
    const sap_outliers_options o = {.kind = SAP_OUTLIERS_RADIUS, .k = K_RADIUS, .radius = radius};
    CHECK_STATUS(sap_cloud_outliers(tree, &o, keep, &info), SAP_OK);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK_EQUAL(keep[i], !dropped[i] && e->crowded[i]);
        kept += keep[i];
    }
    CHECK(info.kept == kept && info.mean == 0 && info.limit == 0);
}

static void try_case(const devices* all, const search_case* c) {
    static expected_values e;
    double got[MOST];
    uint8_t dropped[MOST] = {0};
    cloud points = case_points(c);
    double radius = case_radius(&points, &points, c->chance) * 3;
    if (!(radius > 0 && radius < 1e18)) radius = 0.3;
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    memset(&e, 0, sizeof e);
    for (int64_t i = 0; i < c->size; i++) e.distances[i] = (double)INFINITY;
    for (int d = 0; d < all->count; d++) {
        sap_tree* tree = NULL;
        NOTE("%s n %d dims %d f%d split %d leaf %d drop %d radius %g device %d", family_name(c->kind), (int)c->size,
             c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size, c->options.drop_duplicates, radius, d);
        CHECK_STATUS(build(all->open[d], &points, &c->options, &tree), SAP_OK);
        // The factor by the call itself: a point alone has a sum of 1. That it is right is tested below.
        double factor = 0;
        float one[SAP_MAX_DIMS] = {0};
        sap_tree* alone = NULL;
        const sap_density_options kernel = {.kind = SAP_DENSITY_KERNEL, .radius = radius};
        CHECK_STATUS(sap_tree_build(all->open[d], (sap_points){one, 1, c->dims, 0}, NULL, &alone), SAP_OK);
        const double power = pow(radius, c->dims > 2 ? c->dims : 2);
        const bool is_usual = power > 1e-289 && power < 1e289; // no case is near this limit
        CHECK_STATUS(sap_cloud_density(alone, &kernel, &factor), is_usual ? SAP_OK : SAP_ERROR_ARGUMENT);
        for (int64_t i = 0; i < c->size && d == 0; i++)
            if (!dropped[i]) expect_point(&points, dropped, tree, i, radius, factor, &e);
        CHECK_STATUS(sap_cloud_density(tree, &(sap_density_options){.radius = radius}, got), SAP_OK);
        check_values(got, e.counts, c->size, "counts");
        CHECK_STATUS(sap_cloud_density(tree, &(sap_density_options){.kind = SAP_DENSITY_DISTANCE, .k = K}, got),
                     SAP_OK);
        check_values(got, e.distances, c->size, "distances");
        if (is_usual) {
            CHECK_STATUS(sap_cloud_density(tree, &kernel, got), SAP_OK);
            check_values(got, e.kernels, c->size, "kernels");
        }
        check_outliers(tree, &e, dropped, c->size, radius);
        sap_tree_free(alone);
        sap_tree_free(tree);
    }
    cloud_free(&points);
}

TEST(densities_are_those_of_brute_force) {
    devices all = devices_open(0);
    search_case c;
    int tried = 0;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c)) continue;
        if (c.size > MOST) c.size = MOST - 7;
        if (++tried % CASE_STEP == 0) try_case(&all, &c);
    }
    devices_close(&all);
}

// ---- Closed forms

TEST(kernels_count_points_in_a_unit) {
    // A lattice of spacing 1/2 in a few dimensions: 2^dims points a unit; on a plane in space 4 a unit of area.
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int dims = 1; dims <= 3; dims++) {
        const int side = dims == 3 ? 21 : 41, count = dims == 1 ? side : dims == 2 ? side * side : side * side * side;
        float* coords = calloc((size_t)count * 3, sizeof *coords);
        double* densities = malloc((size_t)count * sizeof *densities);
        for (int i = 0; i < count; i++)
            for (int a = 0, rest = i; a < dims; a++, rest /= side) coords[3 * i + a] = 0.5f * (float)(rest % side);
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, count, 3, 0}, NULL, &tree), SAP_OK);
        const sap_density_options o = {.kind = SAP_DENSITY_KERNEL, .radius = 4.7, .dims = dims};
        CHECK_STATUS(sap_cloud_density(tree, &o, densities), SAP_OK);
        const double expected = dims == 1 ? 2 : dims == 2 ? 4 : 8;
        NOTE("dims %d: %g", dims, densities[count / 2]);
        CHECK(fabs(densities[count / 2] - expected) < 0.01 * expected);
        sap_tree_free(tree);
        free(coords);
        free(densities);
    }
    sap_device_close(device);
}

TEST(periods_are_known) {
    // A ring of ten points: all are alike, which they would not be on a line.
    float coords[10];
    double densities[10];
    uint8_t keep[10];
    devices all = devices_open(2);
    for (int i = 0; i < 10; i++) coords[i] = (float)i;
    for (int d = 0; d < 2 * all.count; d++) {
        sap_tree* tree = NULL;
        const sap_tree_options options = {.period = {10}, .leaf_size = 2, .split = (sap_split)(d % 2)};
        CHECK_STATUS(sap_tree_build(all.open[d / 2], (sap_points){coords, 10, 1, 0}, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_cloud_density(tree, &(sap_density_options){.radius = 2}, densities), SAP_OK);
        for (int i = 0; i < 10; i++) CHECK(densities[i] == 4);
        CHECK_STATUS(sap_cloud_density(tree, &(sap_density_options){.kind = SAP_DENSITY_DISTANCE, .k = 5}, densities),
                     SAP_OK);
        for (int i = 0; i < 10; i++) CHECK(densities[i] == 3);
        CHECK_STATUS(sap_cloud_outliers(tree, &(sap_outliers_options){.k = 3, .ratio = 0.1}, keep, NULL), SAP_OK);
        for (int i = 0; i < 10; i++) CHECK(keep[i] == 1);
        sap_tree_free(tree);
    }
    devices_close(&all);
}

TEST(many_equal_points_are_quick) {
    const int64_t count = TEST_SANITIZED ? 20000 : 300000;
    float* coords = malloc((size_t)count * 3 * sizeof *coords);
    uint8_t* keep = malloc((size_t)count);
    double* densities = malloc((size_t)count * sizeof *densities);
    for (int64_t i = 0; i < 3 * count; i++) coords[i] = -1;
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_outliers_info info;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){coords, count, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_outliers(tree, NULL, keep, &info), SAP_OK);
    CHECK(info.kept == count && info.mean == 0 && info.deviation == 0);
    const sap_outliers_options o = {.kind = SAP_OUTLIERS_RADIUS, .radius = 1e-9, .k = 100};
    CHECK_STATUS(sap_cloud_outliers(tree, &o, keep, &info), SAP_OK);
    CHECK_EQUAL(info.kept, count);
    CHECK_STATUS(sap_cloud_density(tree, &(sap_density_options){.radius = 1}, densities), SAP_OK);
    CHECK(densities[0] == (double)count - 1 && densities[count - 1] == (double)count - 1);
    sap_tree_free(tree);
    sap_device_close(device);
    free(coords);
    free(keep);
    free(densities);
}

// ---- Bad input

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    double densities[10];
    uint8_t keep[10];
    sap_density_options o = {.radius = 1};
    sap_outliers_options q = {0};
    CHECK_STATUS(sap_cloud_density(NULL, &o, densities), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_outliers(NULL, NULL, keep, NULL), SAP_ERROR_ARGUMENT);
    REFUSED(sap_cloud_density(s.tree, NULL, densities), SAP_ERROR_ARGUMENT, "options");
    REFUSED(sap_cloud_density(s.tree, &o, NULL), SAP_ERROR_ARGUMENT, "densities");
    o = (sap_density_options){0};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_density_options){.radius = (double)INFINITY};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_density_options){.kind = SAP_DENSITY_KERNEL, .radius = (double)NAN};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_density_options){.kind = (sap_density)3, .radius = 1};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.kind");
    o = (sap_density_options){.kind = SAP_DENSITY_DISTANCE, .k = -1};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.k");
    o = (sap_density_options){.kind = SAP_DENSITY_KERNEL, .radius = 1, .dims = 4};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.dims");
    o = (sap_density_options){.radius = 1, .reserved = {0, 0, 0, 1}};
    REFUSED(sap_cloud_density(s.tree, &o, densities), SAP_ERROR_ARGUMENT, "options.reserved");
    REFUSED(sap_cloud_outliers(s.tree, NULL, NULL, NULL), SAP_ERROR_ARGUMENT, "keep");
    q = (sap_outliers_options){.kind = (sap_outliers)2};
    REFUSED(sap_cloud_outliers(s.tree, &q, keep, NULL), SAP_ERROR_ARGUMENT, "options.kind");
    q = (sap_outliers_options){.kind = SAP_OUTLIERS_RADIUS};
    REFUSED(sap_cloud_outliers(s.tree, &q, keep, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    q = (sap_outliers_options){.ratio = -1};
    REFUSED(sap_cloud_outliers(s.tree, &q, keep, NULL), SAP_ERROR_ARGUMENT, "options.ratio");
    q = (sap_outliers_options){.ratio = (double)NAN};
    REFUSED(sap_cloud_outliers(s.tree, &q, keep, NULL), SAP_ERROR_ARGUMENT, "options.ratio");
    q = (sap_outliers_options){.k = -3};
    REFUSED(sap_cloud_outliers(s.tree, &q, keep, NULL), SAP_ERROR_ARGUMENT, "options.k");
    q = (sap_outliers_options){.reserved = {1}};
    REFUSED(sap_cloud_outliers(s.tree, &q, keep, NULL), SAP_ERROR_ARGUMENT, "options.reserved");
    close_stage(&s);
}

TEST_MAIN()
