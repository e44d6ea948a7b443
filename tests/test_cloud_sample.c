// Samples: farthest points are those of the plain greedy algorithm, Poisson disks those of trying one point after another;
// on every device and every tree.
#include "cases.h"
#include "progress_host.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 300 };

// The greedy algorithm by the book; points of the sample are at distance -1.
static int64_t expect_farthest(const cloud* points, const uint8_t* dropped, int64_t most, int32_t start, int32_t* ids) {
    double least[MOST];
    int64_t count = 0;
    int32_t next = -1;
    for (int32_t i = 0; i < points->count; i++) {
        least[i] = dropped[i] ? -1 : (double)INFINITY;
        if (!dropped[i] && (next < 0 || (next < start && i >= start))) next = i;
    }
    while (next >= 0 && count < most) {
        ids[count++] = next;
        least[next] = -1;
        int32_t farthest = -1;
        for (int32_t i = 0; i < points->count; i++) {
            if (least[i] < 0) continue;
            const double d = oracle_distance2(points, next, points, i);
            if (d < least[i]) least[i] = d;
            if (farthest < 0 || least[i] > least[farthest]) farthest = i;
        }
        next = farthest;
    }
    return count;
}

static void check_farthest(const sap_tree* tree, const cloud* points, const uint8_t* dropped, int64_t most,
                           int32_t start) {
    int32_t ids[MOST + 1], expected[MOST] = {0};
    int64_t count = -1;
    memset(ids, 0x55, sizeof ids);
    const sap_sample_options o = {.most = most, .start = start};
    CHECK_STATUS(sap_cloud_sample(tree, &o, ids, &count), SAP_OK);
    CHECK_EQUAL(count, expect_farthest(points, dropped, most, start, expected));
    for (int64_t i = 0; i < count; i++) CHECK_EQUAL(ids[i], expected[i]);
    CHECK(ids[count] == 0x55555555);
}

// What a sample is to be, whatever the order; and that it follows from the seed alone.
static void check_poisson(const sap_tree* tree, const cloud* points, const uint8_t* dropped, double radius,
                          int32_t* before, int64_t* count_before) {
    int32_t ids[MOST + 1];
    int64_t count = -1;
    const double limit2 = oracle_limit2(radius, points->real_bits);
    bool taken[MOST] = {false};
    memset(ids, 0x55, sizeof ids);
    const sap_sample_options o = {.kind = SAP_SAMPLE_POISSON, .radius = radius, .seed = 5};
    CHECK_STATUS(sap_cloud_sample(tree, &o, ids, &count), SAP_OK);
    CHECK(ids[count] == 0x55555555);
    for (int64_t i = 0; i < count; i++) {
        CHECK(!dropped[ids[i]] && (i == 0 || ids[i] > ids[i - 1]));
        taken[ids[i]] = true;
    }
    for (int64_t i = 0; i < points->count; i++) {
        int64_t near = 0;
        for (int64_t j = 0; j < count; j++) near += oracle_distance2(points, i, points, ids[j]) <= limit2;
        CHECK(dropped[i] || (taken[i] ? near == 1 : near >= 1));
    }
    if (*count_before >= 0) CHECK(count == *count_before && !memcmp(ids, before, (size_t)count * sizeof *ids));
    *count_before = count;
    memcpy(before, ids, sizeof ids);
}

static void try_case(const devices* all, const search_case* c) {
    uint8_t dropped[MOST] = {0};
    int32_t before[MOST + 1];
    int64_t count_before = -1;
    cloud points = case_points(c);
    const double near = case_radius(&points, &points, c->chance);
    const double radius = near > 0 && near < 1e150 ? 3 * near : 0.2;
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    for (int d = 0; d < all->count; d++) {
        sap_tree* tree = NULL;
        const int64_t most = c->chance % 3 ? 1 + (int64_t)(c->chance / 3 % 50) : MOST;
        const int32_t start = points.count ? (int32_t)(c->chance / 150 % (uint64_t)points.count) : 0;
        NOTE("%s n %d dims %d f%d split %d leaf %d drop %d radius %g most %d start %d device %d", family_name(c->kind),
             (int)c->size, c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size,
             c->options.drop_duplicates, radius, (int)most, (int)start, d);
        CHECK_STATUS(build(all->open[d], &points, &c->options, &tree), SAP_OK);
        check_farthest(tree, &points, dropped, most, start);
        check_poisson(tree, &points, dropped, radius, before, &count_before);
        sap_tree_free(tree);
    }
    cloud_free(&points);
}

TEST(samples_are_those_of_the_plain_algorithms) {
    devices all = devices_open(0);
    search_case c;
    for (int i = 0, tried = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c)) continue;
        if (c.size > MOST) c.size = MOST;
        if (++tried % (2 * CASE_STEP) == 0) try_case(&all, &c);
    }
    devices_close(&all);
}

// Enough points for several blocks of a GPU.
TEST(samples_of_many_points_are_the_same_everywhere) {
    enum { POINTS = 9000, MANY = 60 };
    devices all = devices_open(0);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 32, 0, 4);
    static int32_t ids[2][POINTS];
    for (int kind = 0; kind < 2; kind++) {
        int64_t counts[2] = {-1, -1};
        for (int d = 0; d < all.count; d++) {
            const sap_sample_options o = {.kind = (sap_sampling)kind, .most = MANY, .start = 7, .radius = 0.02};
            sap_tree* tree = NULL;
            NOTE("kind %d, device %d", kind, d);
            CHECK_STATUS(build(all.open[d], &points, NULL, &tree), SAP_OK);
            CHECK_STATUS(sap_cloud_sample(tree, &o, ids[d > 0], &counts[d > 0]), SAP_OK);
            CHECK(counts[0] > 0 && counts[d > 0] == counts[0]);
            for (int64_t i = 0; d > 0 && i < counts[0]; i++) CHECK_EQUAL(ids[1][i], ids[0][i]);
            sap_tree_free(tree);
        }
    }
    cloud_free(&points);
    devices_close(&all);
}

TEST(periods_are_known_to_disks_alone) {
    stage s;
    open_stage(&s);
    const float ring[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    int32_t ids[10];
    int64_t count = 0;
    sap_tree* tree = NULL;
    const sap_tree_options options = {.period = {10}};
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){ring, 10, 1, 0}, &options, &tree), SAP_OK);
    for (uint64_t seed = 0; seed < 20; seed++) {
        const sap_sample_options o = {.kind = SAP_SAMPLE_POISSON, .radius = 3, .seed = seed};
        CHECK_STATUS(sap_cloud_sample(tree, &o, ids, &count), SAP_OK);
        CHECK(count == 2); // of 4 to 6 apart both ways around
        CHECK(ids[1] - ids[0] >= 4 && ids[1] - ids[0] <= 6);
    }
    REFUSED(sap_cloud_sample(tree, &(sap_sample_options){.most = 2}, ids, &count), SAP_ERROR_UNSUPPORTED, "periods");
    sap_tree_free(tree);
    close_stage(&s);
}

TEST(many_equal_points_are_quick) {
    const int64_t points = TEST_SANITIZED ? 20000 : 1000000;
    float* coords = malloc((size_t)points * 3 * sizeof *coords);
    int32_t* ids = malloc((size_t)points * sizeof *ids);
    for (int64_t i = 0; i < 3 * points; i++) coords[i] = 4;
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    int64_t count = 0;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){coords, points, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_sample(tree, &(sap_sample_options){.most = 5000}, ids, &count), SAP_OK);
    CHECK_EQUAL(count, 5000);
    for (int32_t i = 0; i < 5000; i++) CHECK_EQUAL(ids[i], i);
    const sap_sample_options disks = {.kind = SAP_SAMPLE_POISSON, .radius = 1};
    CHECK_STATUS(sap_cloud_sample(tree, &disks, ids, &count), SAP_OK);
    CHECK_EQUAL(count, 1);
    sap_tree_free(tree);
    sap_device_close(device);
    free(coords);
    free(ids);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    int32_t ids[10];
    int64_t count = 0;
    sap_sample_options o = {.most = 3};
    CHECK_STATUS(sap_cloud_sample(NULL, &o, ids, &count), SAP_ERROR_ARGUMENT);
    REFUSED(sap_cloud_sample(s.tree, NULL, ids, &count), SAP_ERROR_ARGUMENT, "options");
    REFUSED(sap_cloud_sample(s.tree, &o, NULL, &count), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_cloud_sample(s.tree, &o, ids, NULL), SAP_ERROR_ARGUMENT, "count");
    o.most = 0;
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.most");
    o = (sap_sample_options){.most = 3, .start = 10};
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.start");
    o.start = -1;
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.start");
    o = (sap_sample_options){.kind = SAP_SAMPLE_POISSON};
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.radius");
    o.radius = (double)NAN;
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_sample_options){.kind = (sap_sampling)2};
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.kind");
    o = (sap_sample_options){.most = 3, .reserved = {0, 0, 1}};
    REFUSED(sap_cloud_sample(s.tree, &o, ids, &count), SAP_ERROR_ARGUMENT, "options.reserved");
    close_stage(&s);
}

TEST(progress_cancels) {
    enum { POINTS = 20000 };
    float* coords = malloc(POINTS * 3 * sizeof *coords);
    int32_t* ids = malloc(POINTS * sizeof *ids);
    uint64_t state = 4;
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = (float)random_unit(&state);
    for (int kind = 0; kind < 2; kind++) {
        progress_host host = {0};
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        int64_t count = -3;
        const sap_device_options options = {
            .processor = SAP_CPU, .progress = progress_host_report, .progress_user = &host};
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, POINTS, 3, 0}, NULL, &tree), SAP_OK);
        host = (progress_host){.stop_at = 2};
        const sap_sample_options o = {.kind = (sap_sampling)kind, .most = 2000, .radius = 0.02};
        CHECK_STATUS(sap_cloud_sample(tree, &o, ids, &count), SAP_ERROR_CANCELLED);
        CHECK(host.reports == 2 && count == -3);
        sap_tree_free(tree);
        sap_device_close(device);
    }
    free(coords);
    free(ids);
}

TEST_MAIN()
