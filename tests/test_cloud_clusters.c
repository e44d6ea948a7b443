// Clusters: those of brute force, whatever the tree, the device and the number of threads; bad input.
#include "cases.h"
#include "progress_host.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 400 };

typedef struct expected_clusters {
    int32_t labels[MOST];
    uint8_t kinds[MOST];
    int64_t count;
} expected_clusters;

static double distance2_of(const cloud* points, const oracle_metric* metric, int64_t i, int64_t j) {
    return metric ? oracle_distance(metric, points, i, points, j) : oracle_distance2(points, i, points, j);
}

// Floods clusters from their smallest core point on, in the order of ids.
static void flood(const cloud* points, const oracle_metric* metric, double limit2, const bool* core,
                  expected_clusters* e) {
    int32_t waiting[MOST];
    e->count = 0;
    for (int64_t i = 0; i < points->count; i++) {
        int64_t count = 0;
        if (!core[i] || e->labels[i] >= 0) continue;
        e->labels[i] = (int32_t)e->count;
        waiting[count++] = (int32_t)i;
        while (count > 0) {
            const int32_t from = waiting[--count];
            for (int32_t j = 0; j < points->count; j++) {
                if (!core[j] || e->labels[j] >= 0 || !(distance2_of(points, metric, from, j) <= limit2)) continue;
                e->labels[j] = (int32_t)e->count;
                waiting[count++] = j;
            }
        }
        e->count++;
    }
}

static void expect(const cloud* points, const uint8_t* dropped, const oracle_metric* metric,
                   const sap_clusters_options* o, expected_clusters* e) {
    const double limit2 = oracle_limit2(o->radius, points->real_bits);
    bool core[MOST] = {false};
    int64_t sizes[MOST] = {0}, next = 0;
    for (int64_t i = 0; i < points->count; i++) {
        int64_t near = 0;
        for (int64_t j = 0; j < points->count; j++)
            near += !dropped[i] && !dropped[j] && distance2_of(points, metric, i, j) <= limit2;
        core[i] = !dropped[i] && near >= o->fewest;
        e->labels[i] = -1;
    }
    flood(points, metric, limit2, core, e);
    for (int64_t i = 0; i < points->count; i++) {
        double least = (double)INFINITY;
        for (int64_t j = 0; j < points->count && !core[i] && !dropped[i]; j++) {
            const double d = core[j] ? distance2_of(points, metric, i, j) : (double)INFINITY;
            if (!(d <= limit2) || !(d < least)) continue;
            least = d;
            e->labels[i] = e->labels[j];
        }
    }
    for (int64_t i = 0; i < points->count; i++)
        if (e->labels[i] >= 0) sizes[e->labels[i]]++;
    for (int64_t c = 0; c < e->count; c++) sizes[c] = sizes[c] >= o->least ? next++ : -1;
    for (int64_t i = 0; i < points->count; i++) {
        if (e->labels[i] >= 0) e->labels[i] = (int32_t)sizes[e->labels[i]];
        e->kinds[i] = (uint8_t)(e->labels[i] < 0 ? SAP_CLUSTER_NOISE : core[i] ? SAP_CLUSTER_CORE : SAP_CLUSTER_BORDER);
    }
    e->count = next;
}

static void check_tree(const sap_tree* tree, const sap_clusters_options* o, const expected_clusters* e, int64_t n) {
    int32_t labels[MOST + 1];
    uint8_t kinds[MOST + 1];
    int64_t count = -5;
    memset(labels, 0x55, sizeof labels);
    memset(kinds, 0x55, sizeof kinds);
    CHECK_STATUS(sap_cloud_clusters(tree, o, labels, kinds, &count), SAP_OK);
    CHECK_EQUAL(count, e->count);
    for (int64_t i = 0; i < n; i++) {
        CHECK_EQUAL(labels[i], e->labels[i]);
        CHECK_EQUAL(kinds[i], e->kinds[i]);
    }
    CHECK(labels[n] == 0x55555555 && kinds[n] == 0x55);
}

static void try_case(const devices* all, const search_case* c, bool is_periodic) {
    static expected_clusters e;
    uint8_t dropped[MOST] = {0};
    cloud points = case_points(c);
    search_case with = *c;
    double periods[SAP_MAX_DIMS] = {0};
    const oracle_metric metric = {.p = 2, .period = periods};
    const double near = case_radius(&points, &points, c->chance), parts[] = {1, 3, 0.3, 10};
    double radius = near > 0 && near < 1e150 ? near * parts[c->chance / 7 % 4] : c->chance % 2 ? 0 : 0.3;
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    const sap_clusters_options o = {.radius = radius,
                                    .fewest = (int32_t)(c->chance / 28 % 3 ? c->chance / 84 % 6 : 0),
                                    .least = (int64_t)(c->chance / 504 % 3 ? 0 : 4)};
    // Points of the unit cube, on a circle of 1 along every other axis; that they are wrapped changes nothing.
    for (int32_t a = 0; a < c->dims && is_periodic; a += 2) with.options.period[a] = periods[a] = 1;
    for (int d = 0; d < all->count; d++) {
        sap_tree* tree = NULL;
        NOTE("%s n %d dims %d f%d split %d leaf %d drop %d radius %g fewest %d least %d periodic %d device %d",
             family_name(c->kind), (int)c->size, c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size,
             c->options.drop_duplicates, radius, o.fewest, (int)o.least, is_periodic, d);
        if (d == 0) expect(&points, dropped, is_periodic ? &metric : NULL, &o, &e);
        CHECK_STATUS(build(all->open[d], &points, &with.options, &tree), SAP_OK);
        check_tree(tree, &o, &e, points.count);
        sap_tree_free(tree);
    }
    cloud_free(&points);
}

TEST(clusters_are_those_of_brute_force) {
    devices all = devices_open(0);
    search_case c;
    for (int i = 0, tried = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c)) continue;
        if (c.size > MOST) c.size = c.size > 1000 ? MOST : 150;
        if (++tried % CASE_STEP != 0) continue;
        try_case(&all, &c, false);
        if (c.kind == FAMILY_UNIFORM || c.kind == FAMILY_CLUSTERED) try_case(&all, &c, true);
    }
    devices_close(&all);
}

// Chains of points far beyond a leaf: many threads join them at once, again and again.
TEST(threads_find_the_same_clusters) {
    enum { POINTS = 30000, CHAINS = 7 };
    float* coords = malloc(POINTS * 3 * sizeof *coords);
    int32_t* labels = malloc(POINTS * sizeof *labels);
    for (int i = 0; i < POINTS; i++) {
        coords[3 * i] = (float)(i * 7919 % POINTS / CHAINS);
        coords[3 * i + 1] = (float)(i * 7919 % POINTS % CHAINS * 3);
        coords[3 * i + 2] = 0;
    }
    for (int32_t threads = 1; threads <= 4; threads++) {
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        int64_t count = 0;
        CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = threads}, &device), SAP_OK);
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, POINTS, 3, 0}, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_cloud_clusters(tree, &(sap_clusters_options){.radius = 1}, labels, NULL, &count), SAP_OK);
        CHECK_EQUAL(count, CHAINS);
        int32_t label_of[CHAINS] = {-1, -1, -1, -1, -1, -1, -1}, next = 0;
        for (int i = 0; i < POINTS; i++) {
            int32_t* label = &label_of[i * 7919 % POINTS % CHAINS];
            if (*label < 0) *label = next++;
            CHECK_EQUAL(labels[i], *label);
        }
        sap_tree_free(tree);
        sap_device_close(device);
    }
    free(coords);
    free(labels);
}

TEST(many_equal_points_are_quick) {
    const int64_t count = TEST_SANITIZED ? 20000 : 1000000;
    float* coords = malloc((size_t)count * 3 * sizeof *coords);
    int32_t* labels = malloc((size_t)count * sizeof *labels);
    for (int64_t i = 0; i < 3 * count; i++) coords[i] = 4;
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int split = 0; split < 2; split++) {
        sap_tree* tree = NULL;
        int64_t clusters = 0;
        const sap_tree_options options = {.split = (sap_split)split};
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, count, 3, 0}, &options, &tree), SAP_OK);
        for (int32_t fewest = 0; fewest < 20; fewest += 10) {
            const sap_clusters_options o = {.radius = fewest, .fewest = fewest};
            CHECK_STATUS(sap_cloud_clusters(tree, &o, labels, NULL, &clusters), SAP_OK);
            CHECK_EQUAL(clusters, 1);
            CHECK(labels[0] == 0 && labels[count - 1] == 0);
        }
        sap_tree_free(tree);
    }
    sap_device_close(device);
    free(coords);
    free(labels);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    int32_t labels[10];
    int64_t count = 0;
    sap_clusters_options o = {.radius = 1};
    CHECK_STATUS(sap_cloud_clusters(NULL, &o, labels, NULL, &count), SAP_ERROR_ARGUMENT);
    REFUSED(sap_cloud_clusters(s.tree, NULL, labels, NULL, &count), SAP_ERROR_ARGUMENT, "options");
    REFUSED(sap_cloud_clusters(s.tree, &o, NULL, NULL, &count), SAP_ERROR_ARGUMENT, "labels");
    REFUSED(sap_cloud_clusters(s.tree, &o, labels, NULL, NULL), SAP_ERROR_ARGUMENT, "count");
    o.radius = -1;
    REFUSED(sap_cloud_clusters(s.tree, &o, labels, NULL, &count), SAP_ERROR_ARGUMENT, "options.radius");
    o.radius = (double)INFINITY;
    REFUSED(sap_cloud_clusters(s.tree, &o, labels, NULL, &count), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_clusters_options){.radius = 1, .fewest = -1};
    REFUSED(sap_cloud_clusters(s.tree, &o, labels, NULL, &count), SAP_ERROR_ARGUMENT, "options.fewest");
    o = (sap_clusters_options){.radius = 1, .least = -1};
    REFUSED(sap_cloud_clusters(s.tree, &o, labels, NULL, &count), SAP_ERROR_ARGUMENT, "options.least");
    o = (sap_clusters_options){.radius = 1, .reserved = {0, 1}};
    REFUSED(sap_cloud_clusters(s.tree, &o, labels, NULL, &count), SAP_ERROR_ARGUMENT, "options.reserved");
    close_stage(&s);
}

TEST(progress_is_told_and_cancels) {
    enum { POINTS = 50000 };
    float* coords = malloc(POINTS * 3 * sizeof *coords);
    int32_t* labels = malloc(POINTS * sizeof *labels);
    uint64_t state = 4;
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = (float)random_unit(&state);
    for (int64_t stop_at = 0; stop_at < 3; stop_at++) {
        progress_host host = {0};
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        int64_t count = 0;
        const sap_device_options options = {
            .processor = SAP_CPU, .threads = 2, .progress = progress_host_report, .progress_user = &host};
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, POINTS, 3, 0}, NULL, &tree), SAP_OK);
        host = (progress_host){.stop_at = stop_at};
        const sap_clusters_options o = {.radius = 0.03, .fewest = 5};
        CHECK_STATUS(sap_cloud_clusters(tree, &o, labels, NULL, &count), stop_at ? SAP_ERROR_CANCELLED : SAP_OK);
        CHECK(stop_at ? host.reports == stop_at : host.last == 1);
        sap_tree_free(tree);
        sap_device_close(device);
    }
    free(coords);
    free(labels);
}

TEST_MAIN()
